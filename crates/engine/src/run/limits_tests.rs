//! Limits that look ahead: at the next call, and at a run that goes round in circles.

use super::{
    LimitOverrides, RunUsage,
    limits::{Limits, Next},
};
use crate::{store::Event, testkit::view};
use agentctl_base::{
    BoxFuture,
    decision::Decision,
    model::{Cost, Model, ModelAnswer, ModelError, ModelRequest, ToolCall, ToolResult, ToolStatus},
};
use serde_json::{Value, json};

#[test]
fn a_call_that_would_break_a_limit_is_not_made() {
    struct Priced(Cost);
    impl Model for Priced {
        fn is_paid(&self) -> bool {
            true
        }
        fn cost_of_input(&self, _: u64) -> Cost {
            self.0
        }
        fn call<'a>(
            &'a self,
            _: &'a ModelRequest,
            _: &'a (dyn Fn(&str) + Send + Sync),
        ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
            Box::pin(async { unreachable!() })
        }
    }
    let next = |input_tokens, cost| Next {
        input_tokens,
        model: std::sync::Arc::new(Priced(cost)),
    };
    let limits = Limits {
        tokens: Some(100),
        cost_usd: Some(1.0),
        ..Limits::default()
    };
    let usage = RunUsage {
        input_tokens: 50,
        output_tokens: 20,
        cost_usd: Some(0.75),
        ..RunUsage::default()
    };
    assert_eq!(
        limits.forbids("the run", &usage, &next(30, Cost::Known(0.25))),
        None
    );
    assert_eq!(
        limits
            .forbids("the run", &usage, &next(31, Cost::Untold))
            .unwrap(),
        "the next call needs about 31 tokens, and 70 of the run's 100 are used"
    );
    assert_eq!(
        limits
            .forbids("the run", &usage, &next(30, Cost::Known(0.26)))
            .unwrap(),
        "the next call costs at least 0.2600 USD, and 0.7500 of the run's 1 USD are spent"
    );
    assert_eq!(
        limits.forbids("the run", &usage, &next(30, Cost::Unknown)),
        None
    );
    let by_user = limits.lowered(&LimitOverrides {
        max_cost_usd: Some(2.0),
        ..LimitOverrides::default()
    });
    let why = by_user
        .forbids("the run", &usage, &next(0, Cost::Unknown))
        .unwrap();
    assert!(why.contains("price of the model is unknown"), "{why}");
}

#[test]
fn the_same_call_with_the_same_result_is_counted_through_the_whole_run() {
    let round = |step: &str, arguments: &str, content: Value| {
        let call = ToolCall {
            id: "c".into(),
            name: "get_node".into(),
            arguments: arguments.into(),
        };
        let intent = Event::ToolIntent {
            step: step.into(),
            role: "r".into(),
            call,
            decision: Decision::Allow { rule: "x".into() },
            mutates: false,
            expect: None,
            carries: None,
        };
        let finished = Event::ToolFinished {
            step: step.into(),
            role: "r".into(),
            result: ToolResult {
                call_id: "c".into(),
                name: "get_node".into(),
                status: ToolStatus::Ok,
                content,
            },
            change: None,
        };
        [intent, finished]
    };
    let mut events = Vec::new();
    for (step, arguments, content) in [
        ("a", r#"{"x": 1, "y": 2}"#, json!({"n": 1})),
        ("b", r#"{"y":2,"x":1}"#, json!({"n": 1})),
        ("b", r#"{"y":2,"x":1}"#, json!({"n": 2})),
        ("b", r#"{"y":3,"x":1}"#, json!({"n": 1})),
    ] {
        events.extend(round(step, arguments, content));
    }
    let view = view(&events);
    let most = view.most_repeated.unwrap();
    assert_eq!((most.tool.as_str(), most.times), ("get_node", 2));
    let limits = Limits {
        identical_calls: Some(2),
        ..Limits::default()
    };
    assert_eq!(
        limits.repeated(Some(&most)).unwrap(),
        "get_node was called 2 times with the same arguments and the same result"
    );
}
