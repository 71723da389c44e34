//! What a run looks back on: its snapshots, and the scope of a fix cycle with the workflow as it was when it was given.

use super::memory::{N8nMemory, memory};
use super::n8n::N8n;
use crate::backend::Stored;
use crate::guards;
use agentctl_base::decision::Decision;
use agentctl_engine::guards::SnapshotMark;
use agentctl_engine::store::StoreError;
use agentctl_engine::toolset::{Cx, Fault};
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::{Node, Workflow};
use std::sync::Arc;

/// A scope, and the workflow whose nodes its entries name.
pub(super) struct GivenScope {
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

impl N8n {
    /// The scope of this fix cycle, with the workflow as it was when the scope was given.
    pub(super) fn given_scope(
        &self,
        cx: &mut Cx<'_>,
        before: &Stored,
    ) -> Result<Option<GivenScope>, Fault> {
        let Some(entries) = cx.guards.scope().map(<[String]>::to_vec) else {
            return Ok(None);
        };
        let changed_since = match cx.guards.scope_base(&before.id.0).cloned() {
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
        cx: &mut Cx<'_>,
        mark: &SnapshotMark,
    ) -> Result<Option<Arc<Workflow>>, Fault> {
        if let Some(workflow) = memory(cx.guards).kept(&mark.file) {
            return Ok(Some(workflow));
        }
        let text = match cx.recorder.load_snapshot(&mark.file) {
            Err(StoreError::Changed { .. }) => return Ok(None),
            loaded => loaded?,
        };
        let Ok(workflow) = serde_json::from_str::<Workflow>(&text) else {
            return Ok(None);
        };
        if graph_hash(&workflow) != mark.revision {
            return Ok(None);
        }
        let workflow = Arc::new(workflow);
        if let Some(memory) = cx.guards.memory_mut::<N8nMemory>() {
            memory.keep(&mark.file, Arc::clone(&workflow));
        }
        Ok(Some(workflow))
    }
}
