//! `restore_workflow`: back to a snapshot that an earlier run of this project took. For flows: a conversation keeps which ones its turns
//! took, and takes its changes back one by one. No model needs it.

use super::n8n::{N8n, reserve};
use super::replace::Write;
use crate::arguments::{arguments, text, workflow_id};
use crate::backend::Stored;
use crate::capability as can;
use crate::guards;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Change, Cx, Head, Outcome, Planning};
use agentctl_n8n::Workflow;
use agentctl_n8n::hash::graph_hash;
use serde_json::{Map, Value, json};
use std::sync::Arc;

arguments! {
    RestoreWorkflow {
        required workflow_id: String = workflow_id();
        required run: String = text("the run that took the snapshot");
        required snapshot: String = text("the snapshot's file in that run");
        /// What the snapshot must hold.
        required graph_hash: String = text("the graph hash that the workflow had then");
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<RestoreWorkflow>(Head {
        destructive: true,
        ..Head::new(
            "restore_workflow",
            can::RESTORE_WORKFLOW,
            "Put a workflow back to a snapshot that an earlier run of this project took of it, if that is the one with this graph hash.",
            RestoreWorkflow::schema,
        )
    })
}

impl Change for On<N8n, RestoreWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let n8n = &self.on;
            match n8n.current(&self.args.workflow_id).await? {
                Ok(before) => n8n.plan_restore(cx, before, &self.args, exact),
                Err(outcome) => Ok(Err(outcome)),
            }
        })
    }
}

/// The workflow as the run kept it; Err: why it is not to be had.
fn kept(cx: &mut Cx<'_>, id: &str, args: &RestoreWorkflow) -> Result<Workflow, String> {
    let text = cx
        .recorder
        .earlier_snapshot(&args.run, id, &args.snapshot)?;
    let workflow: Workflow = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    match graph_hash(&workflow) == args.graph_hash {
        true => Ok(workflow),
        false => Err("it has another graph hash than the one that was named".to_owned()),
    }
}

impl N8n {
    fn plan_restore(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        before: Stored,
        args: &RestoreWorkflow,
        exact: &Value,
    ) -> Planning {
        let after = match kept(cx, &before.id.0, args) {
            Ok(after) => after,
            Err(why) => {
                return Ok(Err(Outcome::failed(
                    format!(
                        "the snapshot {:?} of the run {:?} cannot be taken: {why}; nothing was written",
                        args.snapshot, args.run
                    ),
                    "snapshot",
                    "agentctl undo takes back what a whole run did",
                )));
            }
        };
        let stale = guards::stale(&before.graph_hash, cx.guards.log().seen(&before.id.0), None);
        let reserved = vec![reserve(stale, &before, "restore", exact)];
        let named = format!("{}/{}", args.run, args.snapshot);
        let write = Write {
            after,
            notes: Map::from_iter([("restored".to_owned(), json!(named))]),
            scope: None, // a state of before, whole
        };
        self.plan_write(cx, before, write, exact, reserved)
    }
}
