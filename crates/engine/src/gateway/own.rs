//! A change that a command of the user's makes: no agent and no policy decide about it, the guards do. It is journaled, snapshotted,
//! read back and taken back like any other change.

use super::call::Verdict;
use super::{CallContext, Gateway, Settled};
use crate::guards::rules;
use crate::toolset::{Change, Fault, Outcome, Plan, Reserved};
use agentctl_base::model::ToolCall;
use serde_json::{Value, json};

/// The rule that allows what the user does.
pub const USER_RULE: &str = "user.command";

/// What a command of the user's does.
pub struct ByUser<'a> {
    /// As it is typed after `agentctl`.
    pub command: &'a str,
    /// What the journal calls it; the name of no tool.
    pub name: &'a str,
    /// For the journal.
    pub arguments: Value,
    pub change: &'a dyn Change,
    /// What a person does to allow what this guard asks, in words.
    pub allowing: &'a (dyn Fn(&str) -> String + Sync),
}

impl Gateway {
    pub async fn by_user(
        &self,
        cx: &mut CallContext<'_>,
        own: &ByUser<'_>,
    ) -> Result<Settled, Fault> {
        let exact = json!({"role": cx.role, "tool": own.name, "arguments": own.arguments});
        let call = self.journaled(&ToolCall {
            id: format!("c{}", cx.guards.tool_calls() + 1),
            name: own.name.to_owned(),
            arguments: own.arguments.to_string(),
        });
        let plan = match own
            .change
            .plan(&mut self.inner(cx, &call.id), &exact)
            .await?
        {
            Ok(plan) => plan,
            Err(Outcome::Refused(decision)) => return self.refuse(cx, &call, decision),
            Err(outcome) => {
                self.intent(cx, &call, rules::allow(USER_RULE), None, false)?;
                return self.finish(cx, &call, Ok(outcome), None, false);
            }
        };
        let Plan {
            act,
            mut reserved,
            expect,
            question: _,
        } = plan;
        let allowed = Reserved::new(rules::allow(USER_RULE), Default::default);
        reserved.insert(0, allowed);
        let decision = match self.verdict(cx, &reserved, &call, Some(act.as_ref())) {
            Verdict::Go(decision) => decision,
            Verdict::Refuse(decision) => return self.refuse(cx, &call, decision),
            Verdict::Ask(question) => return Ok(Settled::NeedsApproval(question)),
        };
        self.carry_out(cx, &call, (act, expect), decision, true)
            .await
    }
}
