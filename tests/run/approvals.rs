//! What only a person may allow: the run stops before it happens, and goes on with the person's word.

use crate::support::{Seen, Shop, calls, creation, good, request, says};
use agentctl_base::{
    model::{ModelAnswer, ToolStatus},
    question::Outcome,
};
use agentctl_engine::run::{Answering, Counted, RunOptions};
use agentctl_engine::store::Event;
use serde_json::{Map, json};

/// Deletes the workflow `orders`, which an earlier run made, then makes one of its own.
fn deleting(seen: &Seen<'_>) -> ModelAnswer {
    match (seen.task(), seen.results().len()) {
        ("make", 0) => calls(&[("get_workflow", json!({"workflow_id": "orders"}))]),
        ("make", 1) => calls(&[("delete_workflow", json!({"workflow_id": "orders"}))]),
        ("make", 2) => calls(&[("create_workflow", creation("Other"))]),
        ("make", _) => says(json!({"workflow": {"id": "other"}})),
        ("look", 1) => says(json!({"qa_report": {"status": "pass"}, "edit_scope": []})),
        _ => good(seen),
    }
}

fn shop() -> Shop {
    let mut first = Shop::new(good);
    first.start(request("orders")).unwrap();
    let mut shop = Shop::at(first.dir, deleting);
    shop.effects = Counted::from(1_900_000_000);
    shop
}

fn files(shop: &Shop) -> Vec<String> {
    shop.workflows().into_iter().map(|(file, _)| file).collect()
}

fn deletions(shop: &Shop) -> Vec<ToolStatus> {
    shop.journal()
        .into_iter()
        .filter_map(|e| match e {
            Event::ToolFinished { result, .. } if result.name == "delete_workflow" => {
                Some(result.status)
            }
            _ => None,
        })
        .collect()
}

#[test]
fn a_deletion_waits_for_the_users_word_and_then_happens_once() {
    let mut shop = shop();
    let report = shop.start(request("clean up")).unwrap();
    assert_eq!((report.outcome, report.exit_code), (Outcome::Waiting, 4));
    let [question] = report.questions.as_slice() else {
        panic!("{:?}", report.questions)
    };
    assert!(
        question.approves.is_some() && question.id == "approve-1",
        "{question:?}"
    );
    assert_eq!(
        (files(&shop), deletions(&shop)),
        (vec!["orders.json".to_owned()], vec![])
    );
    // Waiting again does not ask again.
    assert_eq!(shop.resume(None).unwrap().questions, report.questions);

    let report = shop.answer(json!({"approve-1": "approve"})).unwrap();
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(
        (files(&shop), deletions(&shop)),
        (vec!["other.json".to_owned()], vec![ToolStatus::Ok])
    );
}

#[test]
fn a_no_is_told_to_the_model_and_the_run_goes_on() {
    let mut shop = shop();
    shop.start(request("clean up")).unwrap();
    let report = shop.answer(json!({"approve-1": "refuse"})).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
    assert_eq!(
        (files(&shop), deletions(&shop)),
        (
            vec!["orders.json".to_owned(), "other.json".to_owned()],
            vec![ToolStatus::Refused]
        )
    );
}

#[test]
fn neither_yes_nor_an_answer_written_before_the_question_is_an_approval() {
    let mut shop = shop();
    let answers = Map::from_iter([
        ("approve-1".to_owned(), json!("approve")),
        ("approve-owner".to_owned(), json!("approve")),
    ]);
    let options = RunOptions {
        answering: Answering { answers, yes: true },
        ..request("clean up")
    };
    assert_eq!(shop.start(options).unwrap().outcome, Outcome::Waiting);
    assert_eq!(files(&shop), ["orders.json"]);
}
