//! `trigger_workflow`: one call of a published workflow from outside.

use super::n8n::{N8n, mark};
use crate::arguments::{arguments, text, workflow_id};
use crate::backend::{Stored, TriggerCall, Triggered};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::toolset::{
    Act, Change, Cx, Head, Keep, Outcome, Performed, Plan, Planning, Touches, error_content,
};
use agentctl_n8n::{Workflow, trigger_points};
use serde_json::{Map, Value, json};
use std::sync::Arc;

arguments! {
    TriggerWorkflow {
        required workflow_id: String = workflow_id();
        /// The trigger node's name; it may be left out when there is only one that can be called.
        optional node: Option<String> = text("the trigger node's name; needed only where several can be called");
        /// What is sent to it.
        #[serde(default)]
        optional payload: Map<String, Value> = json!({"type": "object", "description": "what is sent: a webhook's body, a form's fields by label, a chat's chatInput"});
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<TriggerWorkflow>(Head {
        destructive: true,
        idempotent: false,
        open_world: true,
        ..Head::new(
            "trigger_workflow",
            can::TRIGGER_WORKFLOW,
            "Call an active workflow's webhook, form or chat once with a payload. Returns the execution. On a backend that cannot execute it fails and says: not executed.",
            TriggerWorkflow::schema,
        )
    })
}

impl Change for On<N8n, TriggerWorkflow> {
    fn plan<'a>(&'a self, _: &'a mut Cx<'_>, _: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async {
            let n8n = &self.on;
            if !n8n.backend.can().execute {
                return Ok(Err(n8n.unable("execute workflows")));
            }
            let at = match n8n.current(&self.args.workflow_id).await? {
                Ok(stored) => stored,
                Err(outcome) => return Ok(Err(outcome)),
            };
            Ok(trigger_call(&at.workflow, &self.args).map(|call| {
                let n8n = Arc::clone(n8n);
                Plan::unguarded(Box::new(Trigger { n8n, at, call }))
            }))
        })
    }
}

struct Trigger {
    n8n: Arc<N8n>,
    at: Stored,
    call: TriggerCall,
}

impl Act for Trigger {
    /// Its document stays.
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn touches(&self) -> Touches {
        Touches::Existing(mark(&self.at))
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(async {
            let run = self.n8n.backend.trigger(&self.at.id, &self.call).await;
            let told = run.map(|run| triggered(&self.at, &self.call, &run));
            (told, None)
        })
    }
}

/// Only an execution that was found counts as one.
fn triggered(at: &Stored, call: &TriggerCall, run: &Triggered) -> Outcome {
    let content = json!({
        "id": at.id,
        "node": call.point.node,
        "executed": run.execution.is_some(),
        "execution": run.execution,
        "status": run.status,
        "answer": run.answer,
    });
    if run.execution.is_some() {
        return Outcome::Ok(content);
    }
    let mut failure = error_content(
        "the call started no execution that could be found",
        "trigger",
        "report it as not executed; see that the workflow is active and what it answered",
    );
    if let (Value::Object(failure), Value::Object(content)) = (&mut failure, content) {
        failure.extend(content);
    }
    Outcome::Failed(failure)
}

/// The call of the trigger that is meant; where it goes is read from the document alone.
fn trigger_call(workflow: &Workflow, trigger: &TriggerWorkflow) -> Result<TriggerCall, Outcome> {
    let mut points = trigger_points(workflow);
    let names: Vec<String> = points.iter().map(|p| format!("{:?}", p.node)).collect();
    let failed = |error: &str, hint: &str| Err(Outcome::failed(error, "trigger", hint));
    if let Some(wanted) = &trigger.node {
        points.retain(|point| point.node == *wanted);
    }
    match (points.pop(), points.is_empty(), names.is_empty()) {
        (Some(point), true, _) => Ok(TriggerCall::new(point, trigger.payload.clone())),
        (Some(_), false, _) => failed(
            "several triggers of the workflow can be called",
            &format!("name one of them as `node`: {}", names.join(", ")),
        ),
        (None, _, false) => failed(
            "no trigger of that name can be called from outside",
            &format!("those that can: {}", names.join(", ")),
        ),
        (None, _, true) => failed(
            "no enabled webhook, form or public chat starts this workflow, so it cannot be called from outside",
            "report it as not executed",
        ),
    }
}
