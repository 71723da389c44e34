//! A workflow file of the user's own, put over a workflow or created by a command of the user's: the guards decide about it.

use super::created::misnamed;
use super::n8n::{N8n, reserve};
use super::replace::Write;
use crate::backend::Stored;
use crate::guards::{self, deny};
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_engine::toolset::{Change, Cx, Outcome, Planning};
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::{Workflow, WorkflowId};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The key under which the journal has the target.
const TARGET: &str = "target";

/// What is pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct Push {
    /// For the journal.
    pub file: String,
    /// The whole workflow as it is to be.
    pub after: Workflow,
    /// The workflow to change, and its graph as the user was shown it; None: a new one.
    pub over: Option<(WorkflowId, String)>,
    /// The target of the settings that it goes to; None: the project's own n8n.
    pub target: Option<String>,
}

impl Push {
    /// What the journal calls it; no tool has this name.
    pub const NAME: &'static str = "push_workflow";

    /// As the journal has it.
    pub fn arguments(&self) -> Value {
        let mut arguments = json!({
            "file": self.file,
            "workflow_id": self.over.as_ref().map(|(id, _)| id),
            "graph_hash": graph_hash(&self.after),
        });
        if let (Some(target), Some(map)) = (&self.target, arguments.as_object_mut()) {
            map.insert(TARGET.to_owned(), json!(target));
        }
        arguments
    }

    /// Whether a call of the journal is a push to this target.
    pub fn is_to(tool: &str, arguments: &Value, target: &str) -> bool {
        tool == Self::NAME && arguments.get(TARGET).and_then(Value::as_str) == Some(target)
    }

    /// The change that it is.
    pub fn on(self, n8n: &Arc<N8n>) -> Box<dyn Change> {
        Box::new(Pushing {
            n8n: Arc::clone(n8n),
            push: self,
        })
    }
}

struct Pushing {
    n8n: Arc<N8n>,
    push: Push,
}

impl Change for Pushing {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let Some((id, seen)) = &self.push.over else {
                return self.plan_new().await;
            };
            match self.n8n.current(&id.0).await? {
                Ok(before) => self.plan_over(cx, before, seen, exact),
                Err(outcome) => Ok(Err(outcome)),
            }
        })
    }
}

impl Pushing {
    async fn plan_new(&self) -> Planning {
        if self.push.after.nodes.is_empty() {
            return Ok(Err(Outcome::Refused(deny(
                "arguments",
                "a workflow without nodes is not created",
            ))));
        }
        if let Some(why) = misnamed(&Workflow::empty(""), &self.push.after) {
            return Ok(Err(Outcome::Refused(deny("arguments", why))));
        }
        self.n8n.creation(self.push.after.clone(), Vec::new()).await
    }

    /// `seen`: the graph as the user was shown it.
    fn plan_over(&self, cx: &mut Cx<'_>, before: Stored, seen: &str, exact: &Value) -> Planning {
        let after = &self.push.after;
        let stale = guards::stale(&before.graph_hash, Some(seen), None);
        if matches!(stale, Decision::Deny { .. }) {
            return Ok(Err(Outcome::Refused(stale)));
        }
        if let Some(why) = misnamed(&before.workflow, after) {
            return Ok(Err(Outcome::Refused(deny("arguments", why))));
        }
        let credentials = guards::credentials(Some(&before.workflow), after);
        let reserved = vec![reserve(
            credentials,
            &before,
            "change credentials in",
            exact,
        )];
        let write = Write {
            after: after.clone(),
            notes: Map::new(),
            scope: None,
        };
        self.n8n.plan_write(cx, before, write, exact, reserved)
    }
}
