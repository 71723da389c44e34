//! Changes that need no new document: back to a snapshot, deleted, published or not.

use super::{Plan, Planned, Planning, Write, reserve};
use crate::gateway::content::Outcome;
use crate::gateway::guards;
use crate::gateway::{CallContext, Gateway};
use agentctl_engine::store::event::MutationExpectation;
use agentctl_n8n::Workflow;
use agentctl_n8n_tools::backend::Stored;
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Gateway {
    pub(super) fn plan_rollback(
        &self,
        cx: &mut CallContext<'_>,
        before: Stored,
        snapshot: Option<&str>,
        exact: &Value,
    ) -> Planning {
        let marks = cx.guards.snapshots(&before.id);
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
        let stale = guards::stale(&before.graph_hash, cx.guards.seen(&before.id), None);
        let reserved = vec![reserve(stale, &before, "roll back", exact)];
        let notes = Map::from_iter([("rolled_back_to".to_owned(), json!(mark.file))]);
        let write = Write {
            after,
            notes,
            scope: None, // the way out of a bad fix
        };
        self.plan_write(cx, before, write, exact, reserved)
    }

    pub(super) fn plan_delete(
        &self,
        cx: &mut CallContext<'_>,
        before: Stored,
        expected: Option<&str>,
        exact: &Value,
    ) -> Planning {
        let stale = guards::stale(&before.graph_hash, cx.guards.seen(&before.id), expected);
        let own = cx.guards.owns(&before.id, &before.graph_hash);
        let owner = guards::owner(own, before.workflow.name());
        let mut reserved = vec![reserve(stale, &before, "delete", exact)];
        if let Some(scope) = self.given_scope(cx, &before)? {
            let decision = scope.judge(&before.workflow, &emptied(&before.workflow));
            reserved.push(reserve(decision, &before, "delete", exact));
        }
        reserved.push(reserve(owner, &before, "delete", exact));
        reserved.push(self.publish_reserve(&before));
        let expect = MutationExpectation {
            workflow_id: Some(before.id.0.clone()),
            before: Some(before.graph_hash.clone()),
            after: None,
            diff: None,
            rehearsal: None,
            created: None,
            counted: None,
        };
        Ok(Ok(Planned {
            plan: Plan::Delete(Box::new(before)),
            reserved,
            expect: Some(expect),
            question: None,
        }))
    }

    /// Publishing is the policy's to allow; taking somebody else's workflow out of service is asked like deleting it.
    pub(super) async fn plan_active(
        &self,
        cx: &mut CallContext<'_>,
        reference: &str,
        active: bool,
        exact: &Value,
    ) -> Planning {
        let at = match self.current(reference).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let mut reserved = Vec::new();
        if !active {
            let own = cx.guards.owns(&at.id, &at.graph_hash);
            let owner = guards::owner(own, at.workflow.name());
            reserved.push(reserve(owner, &at, "unpublish", exact));
        }
        Ok(Ok(Planned {
            plan: Plan::SetActive {
                at: Box::new(at),
                active,
            },
            reserved,
            expect: None,
            question: None,
        }))
    }
}

/// The document without its graph.
pub(in crate::gateway) fn emptied(workflow: &Workflow) -> Workflow {
    Workflow {
        head: workflow.head.clone(),
        ..Workflow::empty("")
    }
}
