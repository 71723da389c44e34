//! Whole runs: stages, fields, questions, the fix cycle, the report.

use crate::support::{House, Seen, good, request, request_on, says};
use agentctl_base::model::ModelAnswer;
use agentctl_base::question::Outcome;
use agentctl_engine::store::{Event, StateFile};
use agentctl_engine::view::RunView;
use serde_json::json;

#[test]
fn a_run_writes_checks_mends_and_reports_a_list() {
    let mut house = House::new(good);
    let report = house.start(request("the house"));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(report.message, "Chores: 2 to do");
    let list = house.list("chores").unwrap();
    assert_eq!(list.lines(), ["[ ] i1 sweep (ann)", "[ ] i2 cook (bob)"]);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(
        json["list"],
        json!({
            "id": "chores", "name": "Chores", "file": "lists/chores.json",
            "item_count": 2, "revision": list.revision(),
        })
    );
    assert_eq!(
        json["review"],
        json!({"status": "pass", "error_count": 0, "cycle": 2})
    );
    // What the agents left out of the claims was filled in from the calls.
    assert_eq!(report.state["list"]["revision"], list.revision());
    let stages: Vec<String> = house
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::StageChanged { to, .. } => Some(to),
            _ => None,
        })
        .collect();
    assert_eq!(stages, ["write", "review", "done"]);
    let StateFile::Good(state) = StateFile::read(&house.project.state_file()).unwrap() else {
        panic!()
    };
    assert_eq!(
        state.state["list"],
        json!({"id": "chores", "name": "Chores", "item_count": 2, "revision": list.revision()})
    );
    assert!(house.project.result_file("list", "chores").is_file());
}

#[test]
fn the_view_of_the_run_knows_the_lists() {
    let mut house = House::new(good);
    house.start(request("the house"));
    let view = RunView::of(&house.records());
    assert_eq!(view.changed_resources(), ["chores"]);
    let changes: Vec<(bool, usize)> = view
        .changes
        .iter()
        .map(|changed| (changed.change.before.is_none(), changed.change.size))
        .collect();
    assert_eq!(changes, [(true, 2), (false, 2)]);
    let tools: Vec<&str> = view.calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(
        tools,
        [
            "create_list",
            "check_list",
            "read_list",
            "edit_list",
            "check_list"
        ]
    );
}

fn asking(seen: &Seen<'_>) -> ModelAnswer {
    match seen.task() {
        "intend" => says(json!({"intent": {"name": "Chores", "questions": [
            {"id": "who", "topic": "owner", "text": "Who cooks?", "options": ["ann", "bob"]}
        ]}})),
        "write" if seen.results().is_empty() => {
            assert_eq!(seen.input("answers", "who"), "bob");
            good(seen)
        }
        _ => good(seen),
    }
}

#[test]
fn a_question_is_waited_for_and_its_answer_reaches_the_agent() {
    let mut house = House::new(asking);
    let report = house.start(request("the house"));
    assert_eq!((report.outcome, report.exit_code), (Outcome::Waiting, 4));
    assert_eq!(report.questions[0].text, "Who cooks?");
    assert_eq!(house.list("chores"), None);
    let report = house.answer(json!({"who": "bob"}));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
}

#[test]
fn a_list_that_is_named_and_not_there_fails_the_run() {
    let mut house = House::new(good);
    let report = house.start(request_on("nothing"));
    assert_eq!(report.outcome, Outcome::Failed);
    assert!(
        report.message.contains("there is no list \"nothing\""),
        "{}",
        report.message
    );
}
