//! A workflow file of the user's own, put over a workflow or created: no agent and no policy decide about it, the guards do. It
//! is journaled, snapshotted, read back and taken back like any other change.

use super::call::{Reserved, Verdict};
use super::content::Outcome;
use super::created::misnamed;
use super::guards::{self, deny};
use super::plan::{Planned, Planning, Write, reserve};
use super::{CallContext, Gateway, GatewayError, Settled};
use agentctl_base::decision::Decision;
use agentctl_base::model::ToolCall;
use agentctl_engine::store::event::BaseHow;
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::Stored;
use serde_json::{Map, Value, json};

/// What the journal calls it.
const TOOL: &str = "push_workflow";
/// The rule that allows what the user does.
const USER: &str = "user.push";

/// What is pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct Push {
    /// For the journal.
    pub file: String,
    /// The whole workflow as it is to be.
    pub after: Workflow,
    /// The workflow to change, and its graph as the user was shown it; None: a new one.
    pub over: Option<(WorkflowId, String)>,
}

impl Gateway {
    pub async fn push(
        &self,
        cx: &mut CallContext<'_>,
        push: &Push,
    ) -> Result<Settled, GatewayError> {
        let arguments = json!({
            "file": push.file,
            "workflow_id": push.over.as_ref().map(|(id, _)| id),
            "graph_hash": graph_hash(&push.after),
        });
        let exact = json!({"role": cx.role, "tool": TOOL, "arguments": arguments});
        let call = self.journaled(&ToolCall {
            id: format!("c{}", cx.guards.tool_calls() + 1),
            name: TOOL.to_owned(),
            arguments: arguments.to_string(),
        });
        let planned = match &push.over {
            None => self.plan_new(push).await?,
            Some((id, seen)) => match self.current(&id.0).await? {
                Err(outcome) => Err(outcome),
                Ok(before) => self.plan_over(cx, before, seen, push, &exact)?,
            },
        };
        let planned = match planned {
            Ok(planned) => planned,
            Err(Outcome::Refused(decision)) => return self.refuse(cx, &call, decision),
            Err(outcome) => {
                self.intent(cx, &call, guards::allow(USER), None, false)?;
                return self.finish(cx, &call, Ok(outcome), None, false);
            }
        };
        let Planned {
            plan,
            mut reserved,
            expect,
            question: _,
        } = planned;
        let own = Reserved::new(guards::allow(USER), Default::default);
        reserved.insert(0, own);
        let decision = match self.verdict(cx, &reserved, &call, Some(&plan)) {
            Verdict::Go(decision) => decision,
            Verdict::Refuse(decision) => return self.refuse(cx, &call, decision),
            Verdict::Ask(question) => return Ok(Settled::NeedsApproval(question)),
        };
        let how = Some(BaseHow::Pushed);
        self.carry_out(cx, &call, (plan, expect), decision, how)
            .await
    }

    async fn plan_new(&self, push: &Push) -> Planning {
        if push.after.nodes.is_empty() {
            return Ok(Err(Outcome::Refused(deny(
                "arguments",
                "a workflow without nodes is not created",
            ))));
        }
        if let Some(why) = misnamed(&Workflow::empty(""), &push.after) {
            return Ok(Err(Outcome::Refused(deny("arguments", why))));
        }
        self.creation(push.after.clone(), Vec::new()).await
    }

    /// `seen`: the graph as the user was shown it.
    fn plan_over(
        &self,
        cx: &mut CallContext<'_>,
        before: Stored,
        seen: &str,
        push: &Push,
        exact: &Value,
    ) -> Planning {
        let stale = guards::stale(&before.graph_hash, Some(seen), None);
        if matches!(stale, Decision::Deny { .. }) {
            return Ok(Err(Outcome::Refused(stale)));
        }
        if let Some(why) = misnamed(&before.workflow, &push.after) {
            return Ok(Err(Outcome::Refused(deny("arguments", why))));
        }
        let credentials = guards::credentials(Some(&before.workflow), &push.after);
        let reserved = vec![reserve(
            credentials,
            &before,
            "change credentials in",
            exact,
        )];
        let write = Write {
            after: push.after.clone(),
            notes: Map::new(),
            scope: None,
        };
        self.plan_write(cx, before, write, exact, reserved)
    }
}
