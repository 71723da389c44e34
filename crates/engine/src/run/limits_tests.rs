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
use proptest::prelude::*;
use serde_json::{Value, json};

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

fn next(input_tokens: u64, cost: Cost) -> Next {
    Next {
        input_tokens,
        model: std::sync::Arc::new(Priced(cost)),
    }
}

proptest! {
    /// Calls are asked for, answered (with what was estimated) and lost in any order, many at once: all together keep the limits.
    #[test]
    fn what_is_reserved_and_used_never_exceeds_a_limit(
        does in proptest::collection::vec((0..3u8, 1..60u64), 0..80),
        calls in 1..12u64, tokens in 1..400u64,
    ) {
        let limits = Limits {
            model_calls: Some(calls),
            tokens: Some(tokens),
            cost_usd: Some(1.0),
            ..Limits::default()
        };
        let (mut used, mut under_way) = (RunUsage::default(), Vec::<Next>::new());
        let mut made = RunUsage::default();
        for (what, n) in does {
            let reserved: Vec<RunUsage> = under_way.iter().map(Next::reserve).collect();
            let all = reserved.iter().fold(used, |sum, of| sum.plus(of));
            prop_assert!(all.model_calls <= calls && all.input_tokens <= tokens);
            prop_assert!(all.cost_usd.unwrap_or(0.0) <= 1.0 + 1e-9);
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let asked = next(n, Cost::Known(n as f64 / 100.0));
            match what {
                0 => {
                    let no = limits.spent("the run", &all, 0);
                    if no.or_else(|| limits.forbids("the run", &all, &asked)).is_none() {
                        made = made.plus(&asked.reserve());
                        under_way.push(asked);
                    }
                }
                1 if !under_way.is_empty() => {
                    let answered = under_way.swap_remove(usize::try_from(n).unwrap() % under_way.len());
                    used = used.plus(&answered.reserve());
                }
                _ => drop(under_way.pop()),
            }
        }
        prop_assert!(used.model_calls <= made.model_calls);
    }
}

#[test]
fn a_call_that_would_break_a_limit_is_not_made() {
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
            call: call.into(),
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
            }
            .into(),
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
