//! A call that a person makes, outside of a run: arguments and bound values are given, no role is asked, nothing is journaled. What a tool
//! requires, where it may go and what its answer comes to are the same as in a run.

use crate::call::{Call, REQUIRES};
use crate::seen::ids;
use crate::toolset::{Made, Tools};
use agentctl_base::decision::Decision;
use agentctl_engine::toolset::{Outcome, error_content};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a person gives a call.
#[derive(Debug, Clone, Default)]
pub struct Given {
    pub args: Map<String, Value>,
    /// What the program would bind in a run.
    pub bound: Map<String, Value>,
    /// The arguments of the tool that must have answered before; None: it is not called.
    pub after: Option<Map<String, Value>>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Came {
    /// ok, failed, unknown, refused.
    pub status: &'static str,
    pub content: Value,
}

impl Came {
    fn of(outcome: Outcome) -> Came {
        let (status, content) = match outcome {
            Outcome::Ok(content) => ("ok", content),
            Outcome::Failed(content) => ("failed", content),
            Outcome::Unknown(content) => ("unknown", content),
            Outcome::Unread(error) => (
                "unknown",
                error_content(&error.to_string(), "tools.unread", ""),
            ),
            Outcome::Refused(decision) => ("refused", refusal(&decision)),
        };
        Came { status, content }
    }
}

fn refusal(decision: &Decision) -> Value {
    match decision {
        Decision::Deny { rule, reason } => error_content(reason, rule, ""),
        other => error_content(&format!("{other:?}"), "tools.refused", ""),
    }
}

impl Tools {
    /// Whether such a call changes something outside; None: there is no such tool, or it is a flow. A mock changes nothing, nor does what is not called.
    pub fn would_change(&self, tool: &str, args: &Map<String, Value>) -> Option<bool> {
        let call = self.direct(tool, args.clone())?;
        let of = &call.shared.surroundings;
        let calls = !call.made.is_mock(of) && !call.made.is_without_mock(of);
        Some(call.changes() && calls)
    }

    /// One call. None: there is no such tool, or it is a flow.
    pub async fn directly(&self, tool: &str, given: &Given) -> Option<Came> {
        let call = self.direct(tool, given.args.clone())?;
        let faults = call.made.faults(&given.args);
        if !faults.is_empty() {
            let content = error_content(
                &faults.join("; "),
                "arguments",
                "compare them with `agentctl tools show`",
            );
            return Some(Came {
                status: "refused",
                content,
            });
        }
        if let Some(requires) = call.made.tool.requires.clone() {
            let listed = match (&given.after, self.made(&requires.tool)) {
                (Some(after), Some(_)) => {
                    let list = self.direct(&requires.tool, after.clone())?;
                    match list.made(&given.bound).await {
                        Outcome::Ok(content) => Some(ids(&content)),
                        other => return Some(Came::of(other)),
                    }
                }
                _ => None,
            };
            if let Err(decision) = call.fits(&requires, listed.as_ref()) {
                debug_assert!(matches!(&decision, Decision::Deny { rule, .. } if rule == REQUIRES));
                return Some(Came::of(Outcome::Refused(decision)));
            }
        }
        Some(Came::of(call.made(&given.bound).await))
    }

    fn direct(&self, tool: &str, args: Map<String, Value>) -> Option<Call> {
        let made: &Arc<Made> = self.made(tool)?;
        made.work.as_ref()?;
        Some(Call {
            made: Arc::clone(made),
            shared: self.shared(),
            args,
            found: None,
            of: None,
        })
    }
}
