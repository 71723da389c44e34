//! What an agent has to have called before its answer is taken, and how its last call of it went. A fold of the step's own calls.

use crate::flow::MustCall;
use crate::view::Trace;
use agentctl_base::model::ToolStatus;

/// Whether a call did what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Called {
    Not,
    /// It was refused or failed, or its answer says `passed: false`.
    Failed,
    /// Something was changed since.
    Stale,
    Passed,
}

/// Why the answer is not taken, in words for the agent; None: it may be. A call passes when it is ok and its answer does not say
/// `passed: false`.
pub(super) fn not_called(must: &MustCall, trace: Option<&Trace>) -> Option<String> {
    let tool = &must.tool;
    Some(match called(must, trace) {
        Called::Passed => return None,
        Called::Not => format!("call {tool} before you answer"),
        Called::Failed => format!("{tool} did not pass; mend what it found and call it again"),
        Called::Stale => {
            format!("you changed something after {tool} passed; call it again before you answer")
        }
    })
}

fn called(must: &MustCall, trace: Option<&Trace>) -> Called {
    // Nothing has to be looked at before something was changed.
    let unless = match must.if_changed {
        true => Called::Passed,
        false => Called::Not,
    };
    let (mut last, mut called) = (unless, false);
    let Some(trace) = trace else { return last };
    for (id, result) in &trace.results {
        if result.name == must.tool {
            called = true;
            let passed = result.content.get("passed").and_then(|p| p.as_bool());
            last = match result.status == ToolStatus::Ok && passed != Some(false) {
                true => Called::Passed,
                false => Called::Failed,
            };
            continue;
        }
        let changes = trace.begun.get(id).is_some_and(|begun| begun.mutates);
        let may_have = matches!(result.status, ToolStatus::Ok | ToolStatus::Unknown);
        if changes && may_have && last == Called::Passed {
            last = match (called, must.fresh) {
                (false, _) => Called::Not,
                (true, true) => Called::Stale,
                (true, false) => last,
            };
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Begun;
    use agentctl_base::model::ToolResult;
    use serde_json::{Value, json};

    /// Calls in order: name, whether it changes something, status, answer.
    fn trace(calls: &[(&str, bool, ToolStatus, Value)]) -> Trace {
        let mut trace = Trace::default();
        for (at, (name, mutates, status, content)) in calls.iter().enumerate() {
            let id = format!("c{at}");
            let begun = Begun {
                mutates: *mutates,
                intent: None,
            };
            trace.begun.insert(id.clone(), begun);
            let result = ToolResult {
                call_id: id.clone(),
                name: (*name).to_owned(),
                status: *status,
                content: content.clone(),
            };
            trace.results.insert(id, result.into());
        }
        trace
    }

    #[test]
    fn an_answer_is_taken_after_a_check_that_passed_and_no_change_since() {
        use ToolStatus::{Failed, Ok, Refused, Unknown};
        let check = || ("check", false, Ok, json!({"passed": true}));
        let change = |status| ("change", true, status, json!({}));
        let must = |fresh| MustCall {
            tool: "check".into(),
            fresh,
            if_changed: false,
        };
        for (calls, wanted) in [
            (vec![], Called::Not),
            (vec![change(Ok)], Called::Not),
            (vec![check()], Called::Passed),
            (vec![change(Ok), check()], Called::Passed),
            (vec![check(), change(Ok)], Called::Stale),
            (vec![check(), change(Unknown)], Called::Stale),
            // What was not done changes nothing.
            (
                vec![check(), change(Refused), change(Failed)],
                Called::Passed,
            ),
            (vec![check(), change(Ok), check()], Called::Passed),
            (
                vec![check(), ("check", false, Ok, json!({"passed": false}))],
                Called::Failed,
            ),
            (vec![("check", false, Failed, json!({}))], Called::Failed),
            // An answer that says nothing of it is a success.
            (vec![("check", false, Ok, json!({}))], Called::Passed),
        ] {
            let trace = trace(&calls);
            assert_eq!(called(&must(true), Some(&trace)), wanted, "{calls:?}");
        }
        let changed = trace(&[check(), change(Ok)]);
        assert_eq!(not_called(&must(false), Some(&changed)), None);
        assert!(not_called(&must(true), Some(&changed)).is_some());
        assert!(not_called(&must(false), None).is_some());
    }

    #[test]
    fn where_nothing_was_changed_a_check_may_not_be_needed() {
        use ToolStatus::{Ok, Refused};
        let check = || ("check", false, Ok, json!({"passed": true}));
        let change = |status| ("change", true, status, json!({}));
        let must = MustCall {
            tool: "check".into(),
            fresh: true,
            if_changed: true,
        };
        assert_eq!(not_called(&must, None), None);
        for (calls, wanted) in [
            (vec![("read", false, Ok, json!({}))], Called::Passed),
            (vec![change(Refused)], Called::Passed),
            (vec![change(Ok)], Called::Not),
            (vec![change(Ok), check()], Called::Passed),
            (vec![check(), change(Ok)], Called::Stale),
        ] {
            let trace = trace(&calls);
            assert_eq!(called(&must, Some(&trace)), wanted, "{calls:?}");
        }
    }
}
