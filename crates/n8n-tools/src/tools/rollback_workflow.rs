//! `rollback_workflow`: back to a snapshot that this run took.

use super::n8n::{N8n, reserve};
use super::replace::Write;
use crate::arguments::{arguments, text, workflow_id};
use crate::backend::Stored;
use crate::capability as can;
use crate::guards;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Change, Cx, Head, Outcome, Planning};
use serde_json::{Map, Value, json};
use std::sync::Arc;

arguments! {
    RollbackWorkflow {
        required workflow_id: String = workflow_id();
        /// The snapshot's file, as results name it.
        optional snapshot: Option<String> = text("a snapshot's file, as results of this run name it");
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<RollbackWorkflow>(Head {
        destructive: true,
        ..Head::new(
            "rollback_workflow",
            can::ROLLBACK_WORKFLOW,
            "Put a workflow back to a snapshot that this run took of it; the newest one when none is named.",
            RollbackWorkflow::schema,
        )
    })
}

impl Change for On<N8n, RollbackWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let n8n = &self.on;
            match n8n.current(&self.args.workflow_id).await? {
                Ok(before) => n8n.plan_rollback(cx, before, self.args.snapshot.as_deref(), exact),
                Err(outcome) => Ok(Err(outcome)),
            }
        })
    }
}

impl N8n {
    fn plan_rollback(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        before: Stored,
        snapshot: Option<&str>,
        exact: &Value,
    ) -> Planning {
        let marks = cx.guards.log().snapshots(&before.id.0);
        let mark = match snapshot {
            Some(file) => marks.iter().find(|mark| mark.file == file),
            None => marks.last(),
        };
        let Some(mark) = mark.cloned() else {
            let known: Vec<&str> = marks.iter().map(|mark| mark.file.as_str()).collect();
            let error = match snapshot {
                Some(file) => format!("this run took no snapshot {file:?} of `{}`", before.id),
                None => format!("this run took no snapshot of `{}`", before.id),
            };
            return Ok(Err(Outcome::failed(
                error,
                "snapshot",
                &format!("this run's snapshots of it: {}", known.join(", ")),
            )));
        };
        let Some(after) = self.snapshot_of(cx, &mark)?.map(Arc::unwrap_or_clone) else {
            return Ok(Err(Outcome::failed(
                format!(
                    "the snapshot {:?} is not the workflow that was taken: it was changed since, or cannot be read; nothing was written",
                    mark.file
                ),
                "snapshot",
                "name another snapshot",
            )));
        };
        let stale = guards::stale(&before.graph_hash, cx.guards.log().seen(&before.id.0), None);
        let reserved = vec![reserve(stale, &before, "roll back", exact)];
        let notes = Map::from_iter([("rolled_back_to".to_owned(), json!(mark.file))]);
        let write = Write {
            after,
            notes,
            scope: None, // the way out of a bad fix
        };
        self.plan_write(cx, before, write, exact, reserved)
    }
}
