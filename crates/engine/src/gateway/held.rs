//! Calls with hidden values that wait for an approval. The journal keeps such a call with its secrets hidden, so another process
//! could not make it once it is approved: the arguments themselves are kept elsewhere, by whoever can keep a secret, until the
//! call is made, its time is over or its run ends. Decides nothing: the approval is still one of exactly these arguments.

use super::{CallContext, Gateway, strict_json};
use crate::redact::holds_mark;
use agentctl_base::model::ToolCall;
use agentctl_base::question::Question;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A call as the model made it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCall {
    pub step: String,
    pub call_id: String,
    pub role: String,
    pub tool: String,
    /// Raw, with nothing hidden.
    pub arguments: String,
    /// The hashes of the approvals that were asked for it.
    pub approves: Vec<String>,
    /// Until then the last of them counts.
    pub expires_at: String,
}

impl HeldCall {
    pub fn is_over(&self, now: Timestamp) -> bool {
        let expires = self.expires_at.parse::<Timestamp>();
        !expires.is_ok_and(|expires| now < expires)
    }
}

impl std::fmt::Debug for HeldCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let HeldCall { step, tool, .. } = self;
        write!(f, "HeldCall({tool} of {step})")
    }
}

/// Where such calls are kept: outside of the project, for this user only.
pub trait HeldCalls: Send + Sync {
    /// Keeps the call, in place of the one of the same step and id. Err: why it cannot be kept.
    fn hold(&self, run: &str, held: &HeldCall) -> Result<(), String>;
    fn find(&self, run: &str, step: &str, call_id: &str) -> Option<HeldCall>;
    /// The call was made, or refused.
    fn spent(&self, run: &str, step: &str, call_id: &str);
    /// The run is over.
    fn ended(&self, run: &str);
}

/// What keeps them; Err: why nothing does.
pub(super) type Keeper = Result<Arc<dyn HeldCalls>, String>;

impl Gateway {
    /// The call with its real arguments, when it is one of the journal's that was kept while it waited. None: it is as it is. Err:
    /// it was kept, and may not be made: why.
    pub(super) fn restored(
        &self,
        cx: &CallContext<'_>,
        call: &ToolCall,
    ) -> Result<Option<ToolCall>, String> {
        let (Ok(keeper), true) = (&self.held, call.arguments.contains(crate::redact::MARK)) else {
            return Ok(None);
        };
        let Some(held) = keeper.find(cx.guards.run_id(), cx.step, &call.id) else {
            return Ok(None);
        };
        let asked = |hash: &String| cx.guards.has_asked(hash);
        let same =
            held.role == cx.role && held.tool == call.name && held.approves.iter().any(asked);
        if !same || held.is_over(cx.recorder.now()) {
            return Ok(None);
        }
        let exact = ToolCall {
            arguments: held.arguments,
            ..call.clone()
        };
        // What is hidden must be all that differs, and must be hidden again in whatever is written from here on.
        if self.as_kept(&exact) != self.as_kept(call) {
            return Err("its hidden values were kept, but would not be hidden here as they were when the question was asked: the secrets that this program knows (variables, .mcp.json) have changed".to_owned());
        }
        Ok(Some(exact))
    }

    /// The arguments as they end up in the journal, however often they were hidden before.
    fn as_kept(&self, call: &ToolCall) -> Value {
        let text = self.redactor.text(&self.journaled(call).arguments);
        strict_json::object(&text).map_or(Value::String(text), Value::Object)
    }

    /// Before a question about the call is put: what the journal will not have of it is kept, and the question says so.
    pub(super) fn hold(&self, cx: &CallContext<'_>, call: &ToolCall, question: &mut Question) {
        let marked = |text: &str| match strict_json::object(text) {
            Ok(map) => holds_mark(&Value::Object(map)),
            Err(_) => text.contains(crate::redact::MARK),
        };
        if !marked(&self.journaled(call).arguments) || marked(&call.arguments) {
            return;
        }
        let (Some(proposal), Some(hash)) = (&mut question.proposal, &question.approves) else {
            return;
        };
        let run = cx.guards.run_id();
        let kept = match &self.held {
            Err(why) => Err(why.clone()),
            Ok(keeper) => {
                let before = keeper.find(run, cx.step, &call.id);
                let mut approves = before
                    .filter(|held| held.arguments == call.arguments)
                    .map_or_else(Vec::new, |held| held.approves);
                if !approves.contains(hash) {
                    approves.push(hash.clone());
                }
                keeper.hold(
                    run,
                    &HeldCall {
                        step: cx.step.to_owned(),
                        call_id: call.id.clone(),
                        role: cx.role.to_owned(),
                        tool: call.name.clone(),
                        arguments: call.arguments.clone(),
                        approves,
                        expires_at: proposal.expires_at.clone(),
                    },
                )
            }
        };
        proposal.hidden = Some(match kept {
            Ok(()) => "`agentctl approvals show --reveal` shows the hidden values, on a terminal"
                .to_owned(),
            Err(why) => format!(
                "the hidden values cannot be kept ({why}): approved by another command than this one, the call is refused"
            ),
        });
    }

    /// The call has its result: nothing of it is kept any longer. `call`: as the journal has it.
    pub(super) fn let_go(&self, cx: &CallContext<'_>, call: &ToolCall) {
        if let Ok(keeper) = &self.held
            && call.arguments.contains(crate::redact::MARK)
        {
            keeper.spent(cx.guards.run_id(), cx.step, &call.id);
        }
    }

    /// The run is over: none of its calls is made any more.
    pub fn run_ended(&self, run: &str) {
        if let Ok(keeper) = &self.held {
            keeper.ended(run);
        }
    }
}
