//! Questions: who answers, what waits, how a run goes on days later.

use crate::support::{Shop, block_on, good, request, says};
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use agentctl_engine::run::{Answering, Asked, Asker, RunError, RunOptions, start};
use agentctl_engine::store::Event;
use serde_json::{Value, json};

fn asking(seen: &crate::support::Seen<'_>) -> agentctl_base::model::ModelAnswer {
    match seen.task() {
        "think" => says(json!({"plan": {"name": "Orders", "questions": [
            {"id": "q1", "topic": "size", "text": "Which size?", "options": [{"value": "big", "label": "Big"}], "recommended": "big", "required": true},
            {"id": "q2", "topic": "colour", "text": "Which colour?", "required": false}
        ]}})),
        _ => good(seen),
    }
}

fn answering(answers: Value, yes: bool) -> Answering {
    let Value::Object(answers) = answers else {
        panic!()
    };
    Answering { answers, yes }
}

fn given(events: &[Event]) -> Vec<(String, Value, AnsweredBy)> {
    events
        .iter()
        .filter_map(|e| match e {
            Event::AnswerGiven {
                question_id,
                value,
                by,
                ..
            } => Some((question_id.clone(), value.clone(), *by)),
            _ => None,
        })
        .collect()
}

#[test]
fn without_an_answer_the_run_waits_and_says_for_what() {
    let mut shop = Shop::new(asking);
    let report = shop.start(request("orders")).unwrap();
    assert_eq!((report.outcome, report.exit_code), (Outcome::Waiting, 4));
    let ids: Vec<&str> = report.questions.iter().map(|q| q.id.as_str()).collect();
    assert_eq!(ids, ["q1", "q2"]);
    // Resuming without an answer waits again and asks nobody twice.
    let asked = shop.asked_count();
    let report = shop.resume(None).unwrap();
    assert_eq!(
        (report.outcome, shop.asked_count()),
        (Outcome::Waiting, asked)
    );
    assert_eq!(
        shop.journal()
            .iter()
            .filter(|e| matches!(e, Event::QuestionAsked { .. }))
            .count(),
        2
    );

    assert!(
        matches!(shop.answer(json!({"q9": "x"})), Err(RunError::Usage(m)) if m.contains("open: q1, q2"))
    );
    assert!(
        matches!(shop.answer(json!({"q1": 4})), Err(RunError::Usage(m)) if m.contains("does not fit"))
    );
    let report = shop.answer(json!({"size": "small", "q2": "red"})).unwrap();
    assert_eq!(
        (report.outcome, report.questions.len()),
        (Outcome::Complete, 0)
    );
    assert_eq!(
        given(&shop.journal()),
        [
            ("q1".to_owned(), json!("small"), AnsweredBy::Command),
            ("q2".to_owned(), json!("red"), AnsweredBy::Command)
        ]
    );
    let asked = shop.asked.lock().unwrap();
    let make = asked.iter().find(|r| r.task.task == "make").unwrap();
    assert_eq!(make.task.input["answers"]["size"], json!("small"));
}

#[test]
fn answers_given_ahead_count_and_an_open_optional_question_does_not_block() {
    let mut shop = Shop::new(asking);
    let options = RunOptions {
        answering: answering(json!({"size": "small"}), false),
        ..request("orders")
    };
    let report = shop.start(options).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
    assert_eq!(
        given(&shop.journal()),
        [("q1".to_owned(), json!("small"), AnsweredBy::File)]
    );
}

#[test]
fn yes_takes_the_recommendation() {
    let mut shop = Shop::new(asking);
    let options = RunOptions {
        answering: answering(json!({}), true),
        ..request("orders")
    };
    assert_eq!(shop.start(options).unwrap().outcome, Outcome::Complete);
    assert_eq!(
        given(&shop.journal()),
        [("q1".to_owned(), json!("big"), AnsweredBy::Recommended)]
    );
}

struct Person(Vec<Asked>);
impl Asker for Person {
    fn ask(&mut self, _: &Question) -> Result<Asked, String> {
        Ok(self.0.remove(0))
    }
}

#[test]
fn a_person_is_asked_question_by_question() {
    let mut shop = Shop::new(asking);
    let mut person = Person(vec![Asked::Answer(json!("tiny")), Asked::Later]);
    let report = block_on(start(shop.context(Some(&mut person)), request("orders"))).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
    assert_eq!(
        given(&shop.journal()),
        [("q1".to_owned(), json!("tiny"), AnsweredBy::Terminal)]
    );
}

#[test]
fn ctrl_c_at_a_question_keeps_what_was_answered() {
    let mut shop = Shop::new(asking);
    let mut person = Person(vec![Asked::Answer(json!("tiny")), Asked::Interrupted]);
    let report = block_on(start(shop.context(Some(&mut person)), request("orders"))).unwrap();
    assert_eq!(
        (report.outcome, report.exit_code),
        (Outcome::Interrupted, 130)
    );
    let report = shop.resume(None).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
    assert_eq!(given(&shop.journal()).len(), 1);
}

#[test]
fn what_was_said_at_the_start_holds_after_a_stop() {
    for (answers, yes, by, value) in [
        (json!({}), true, AnsweredBy::Recommended, "big"),
        (json!({"size": "huge"}), false, AnsweredBy::File, "huge"),
    ] {
        let mut shop = Shop::new(asking).stopped_at(1, asking);
        let options = RunOptions {
            answering: answering(answers, yes),
            ..request("orders")
        };
        assert_eq!(shop.start(options).unwrap().outcome, Outcome::Interrupted);
        shop.cancel = agentctl_engine::run::Cancel::default();
        assert_eq!(shop.resume(None).unwrap().outcome, Outcome::Complete);
        assert_eq!(
            given(&shop.journal()),
            [("q1".to_owned(), json!(value), by)]
        );
    }
}
