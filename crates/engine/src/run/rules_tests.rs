//! The driver's pure rules: what a journal folds to, which claims hold, which answer is taken, when a limit is reached.

use super::{
    Asked, Asker, Cancel, Cause, LimitOverrides, RunError, RunUsage, exit_code,
    limits::Limits,
    questions::{self, Got},
};
use crate::{
    store::{Event, StoreError},
    testkit::{record, view},
    toolset::{BackendError, Fault},
};
use agentctl_base::{
    decision::Decision,
    model::{ModelAnswer, ToolCall, Usage},
    question::{AnsweredBy, Outcome, Question},
};
use agentctl_host::files::FileError;
use serde_json::{Map, Value, json};

#[test]
fn a_steps_trace_is_kept_while_it_runs() {
    let call = ToolCall {
        id: "c".into(),
        name: "look".into(),
        arguments: "{}".into(),
    };
    let intent = Event::ToolIntent {
        step: "s".into(),
        role: "maker".into(),
        call: call.into(),
        decision: Decision::Allow { rule: "r".into() },
        mutates: false,
        expect: None,
        carries: None,
    };
    let answered = Event::ModelAnswered {
        step: "s".into(),
        turn: 1,
        answer: ModelAnswer {
            text: "t".into(),
            tool_calls: vec![],
            finish: Default::default(),
            usage: Usage {
                input_tokens: 7,
                ..Usage::default()
            },
        }
        .into(),
    };
    let mut view = view(&[answered, intent.clone()]);
    let trace = view.trace("s").unwrap();
    assert_eq!(trace.answers.keys().collect::<Vec<_>>(), [&1]);
    assert_eq!(trace.begun["c"].intent.as_deref(), Some(&intent));
    assert_eq!((view.usage.model_calls, view.usage.input_tokens), (1, 7));
    view.apply(&record(&Event::StepFinished {
        step: "s".into(),
        output: Value::Null,
    }));
    assert_eq!(view.trace("s"), None);
}

#[test]
fn an_unknown_price_is_not_zero() {
    let mut usage = RunUsage::default();
    let answer = |cost_usd| Usage {
        cost_usd,
        ..Usage::default()
    };
    usage.add_answer(&answer(Some(0.5)));
    usage.add_answer(&answer(Some(0.25)));
    assert_eq!(usage.cost_usd, Some(0.75));
    usage.add_answer(&answer(None));
    usage.add_answer(&answer(Some(1.0)));
    assert_eq!((usage.cost_usd, usage.model_calls), (None, 4));
}

#[test]
fn a_limit_stops_before_the_next_call() {
    let policy = Limits {
        model_calls: Some(3),
        cost_usd: Some(1.0),
        wall_ms: Some(5_000),
        ..Limits::default()
    };
    let used = |model_calls, cost_usd| RunUsage {
        model_calls,
        cost_usd,
        ..RunUsage::default()
    };
    assert_eq!(policy.spent("the run", &used(2, Some(0.9)), 0), None);
    assert!(
        policy
            .spent("the run", &used(3, Some(0.0)), 0)
            .unwrap()
            .contains("3 model calls")
    );
    assert!(
        policy
            .spent("the run", &used(1, Some(1.0)), 0)
            .unwrap()
            .contains("1 USD")
    );
    // The policy's own limit does not need a price; one that the user sets does.
    assert_eq!(policy.spent("the run", &used(1, None), 0), None);
    let by_user = policy.lowered(&LimitOverrides {
        max_cost_usd: Some(2.0),
        ..LimitOverrides::default()
    });
    assert_eq!(by_user.cost_usd, Some(1.0));
    assert_eq!(by_user.spent("the run", &used(0, None), 0), None);
    assert!(
        by_user
            .spent("the run", &used(1, None), 0)
            .unwrap()
            .contains("unknown")
    );
    assert!(
        policy
            .spent("the run", &used(0, None), 5_000)
            .unwrap()
            .contains("5 seconds")
    );
    // A command line lowers and never raises.
    let asked = LimitOverrides {
        max_model_calls: Some(9),
        max_tokens: Some(10),
        ..LimitOverrides::default()
    };
    let lowered = policy.lowered(&asked);
    assert_eq!((lowered.model_calls, lowered.tokens), (Some(3), Some(10)));
}

fn question() -> Question {
    serde_json::from_value(json!({
        "id": "q1", "topic": "size", "text": "How big?", "recommended": 3,
        "schema": {"type": "integer", "minimum": 1}
    }))
    .unwrap()
}

struct Scripted(Vec<Asked>, Vec<String>);
impl Asker for Scripted {
    fn ask(&mut self, _: &Question) -> Result<Asked, String> {
        if self.0.is_empty() {
            return Err("no terminal".into());
        }
        Ok(self.0.remove(0))
    }
    fn refuse(&mut self, _: &Question, why: &str) {
        self.1.push(why.into());
    }
}

#[test]
fn an_answer_comes_from_the_file_then_the_recommendation_then_a_person() {
    let given = |key: &str, value: Value| Map::from_iter([(key.to_owned(), value)]);
    let find = |given: &Map<String, Value>, yes, asker: Option<&mut dyn Asker>| {
        let mut notes = Vec::new();
        (
            questions::find(&question(), Some(given), yes, asker, &mut notes),
            notes,
        )
    };
    let by_id = find(&given("q1", json!(5)), true, None);
    assert_eq!(by_id, (Got::Answer(json!(5), AnsweredBy::File), vec![]));
    let by_topic = find(&given("size", json!(6)), false, None).0;
    assert_eq!(by_topic, Got::Answer(json!(6), AnsweredBy::File));
    let (got, notes) = find(&given("size", json!("big")), true, None);
    assert_eq!(got, Got::Answer(json!(3), AnsweredBy::Recommended));
    assert!(
        notes.len() == 1 && notes[0].starts_with("the answer to \"q1\" does not fit"),
        "{notes:?}"
    );
    assert_eq!(find(&Map::new(), false, None).0, Got::Nothing);

    let mut person = Scripted(
        vec![Asked::Answer(json!(0)), Asked::Answer(json!(1))],
        vec![],
    );
    let got = find(&Map::new(), false, Some(&mut person)).0;
    assert_eq!(got, Got::Answer(json!(1), AnsweredBy::Terminal));
    assert_eq!(person.1.len(), 1, "told what did not fit");
    let (got, notes) = find(&Map::new(), false, Some(&mut person));
    assert_eq!((got, notes), (Got::Nothing, vec!["no terminal".to_owned()]));
    let mut person = Scripted(vec![Asked::Interrupted], vec![]);
    assert_eq!(
        find(&Map::new(), false, Some(&mut person)).0,
        Got::Interrupted
    );
}

#[test]
fn the_first_stop_counts() {
    let cancel = Cancel::default();
    assert_eq!(cancel.cause(), None);
    assert!(cancel.clone().request(Cause::Terminate));
    assert!(
        !cancel.request(Cause::Interrupt),
        "the second one is not the first"
    );
    assert_eq!(cancel.cause(), Some(Cause::Terminate));
}

#[test]
fn what_this_machine_lacks_is_no_fault_of_the_backend() {
    let stopped = |error| {
        let backend = "embedded".to_owned();
        let error = super::driver::gateway_error(Fault::Backend { backend, error });
        (error.exit_code(), error.to_string())
    };
    let full = FileError::io("write", "a.json")(std::io::Error::other("it is full"));
    assert_eq!(
        stopped(BackendError::from(full)),
        (1, "cannot write a.json: it is full".to_owned())
    );
    assert_eq!(
        stopped(BackendError::unavailable("nobody answers")),
        (
            7,
            "the embedded backend is not available: nobody answers".to_owned()
        )
    );
}

#[test]
fn endings_have_the_documented_exit_codes() {
    let of = |outcome| exit_code(outcome, None);
    assert_eq!(
        [
            of(Outcome::Complete),
            of(Outcome::Failed),
            of(Outcome::Blocked),
            of(Outcome::Waiting),
            of(Outcome::Refused),
            of(Outcome::Budget),
            of(Outcome::Interrupted),
            exit_code(Outcome::Interrupted, Some(Cause::Terminate)),
        ],
        [0, 1, 3, 4, 5, 8, 130, 143]
    );
    let signals = [
        (Cause::HangUp, 129),
        (Cause::Interrupt, 130),
        (Cause::Quit, 131),
    ];
    for (cause, code) in signals {
        assert_eq!(exit_code(Outcome::Interrupted, Some(cause)), code);
    }
    let none = RunError::Store(StoreError::NoSuchRun { id: "x".into() });
    assert_eq!(none.exit_code(), 2);
    assert_eq!(
        RunError::Store(StoreError::Locked { holder: None }).exit_code(),
        1
    );
}
