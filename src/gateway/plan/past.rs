//! What a run looks back on: its snapshots, and the scope of a fix cycle with the workflow as it was when it was given.

use super::Plan;
use crate::gateway::guards;
use crate::gateway::{CallContext, Gateway, GatewayError, SnapshotMark};
use agentctl_base::decision::Decision;
use agentctl_engine::store::{Event, SnapshotRef, StoreError};
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::{Node, Workflow};
use agentctl_n8n_tools::backend::Stored;
use std::sync::Arc;

/// A scope, and the workflow whose nodes its entries name.
pub(in crate::gateway) struct GivenScope {
    entries: Vec<String>,
    given_on: Arc<Workflow>,
}

impl GivenScope {
    pub fn judge(&self, before: &Workflow, after: &Workflow) -> Decision {
        guards::edit_scope(&self.entries, &self.given_on, before, after)
    }

    /// `stays`: whether a node surely keeps what it gets inside n8n.
    pub fn judge_data(
        &self,
        before: &Workflow,
        after: &Workflow,
        stays: &dyn Fn(&Node) -> bool,
    ) -> Decision {
        guards::scope_data(&self.entries, &self.given_on, before, after, stays)
    }
}

impl Gateway {
    /// The scope of this fix cycle, with the workflow as it was when the scope was given.
    pub(super) fn given_scope(
        &self,
        cx: &mut CallContext<'_>,
        before: &Stored,
    ) -> Result<Option<GivenScope>, GatewayError> {
        let Some(entries) = cx.guards.edit_scope().map(<[String]>::to_vec) else {
            return Ok(None);
        };
        let changed_since = match cx.guards.scope_base(&before.id).cloned() {
            Some(mark) => Some(match self.snapshot_of(cx, &mark)? {
                Some(workflow) => workflow,
                // What the scope names is not known, so it names nothing.
                None => Arc::new(Workflow::empty("")),
            }),
            None => None,
        };
        let given_on = changed_since.unwrap_or_else(|| Arc::new(before.workflow.clone()));
        Ok(Some(GivenScope { entries, given_on }))
    }

    /// A snapshot of this run as a workflow; None when its text is none, or is another than was taken.
    pub(super) fn snapshot_of(
        &self,
        cx: &mut CallContext<'_>,
        mark: &SnapshotMark,
    ) -> Result<Option<Arc<Workflow>>, GatewayError> {
        if let Some(workflow) = cx.guards.kept(&mark.file) {
            return Ok(Some(workflow));
        }
        let text = match cx.recorder.load_snapshot(&mark.file) {
            Err(StoreError::Changed { .. }) => return Ok(None),
            loaded => loaded?,
        };
        let Ok(workflow) = serde_json::from_str::<Workflow>(&text) else {
            return Ok(None);
        };
        if graph_hash(&workflow) != mark.graph_hash {
            return Ok(None);
        }
        let workflow = Arc::new(workflow);
        cx.guards.keep(&mark.file, Arc::clone(&workflow));
        Ok(Some(workflow))
    }

    /// Writes the state before the change to disk and journals it. A failure stops the run: no change without its snapshot.
    pub(in crate::gateway) fn snapshot(
        &self,
        cx: &mut CallContext<'_>,
        plan: &Plan,
    ) -> Result<Option<SnapshotRef>, GatewayError> {
        let before = match plan {
            Plan::Replace { before, .. } | Plan::Delete(before) => before,
            _ => return Ok(None),
        };
        let taken = cx.recorder.snapshot(
            &before.id.0,
            &before.graph_hash,
            before.workflow.nodes.len(),
            &before.workflow.to_text(),
        )?;
        cx.record(
            Event::SnapshotTaken {
                workflow_id: before.id.0.clone(),
                file: taken.file.clone(),
                graph_hash: before.graph_hash.clone(),
                node_count: before.workflow.nodes.len(),
                sha256: taken.sha256.clone(),
            },
            false, // the file is on the disk; the durable intent that follows takes this line with it
        )?;
        Ok(Some(taken))
    }
}
