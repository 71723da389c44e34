//! `update_workflow`: a list of operations on a workflow, all or none.

use super::edit::{Edits, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, expect_hash, ops, text, todo, workflow_id};
use crate::capability as can;
use crate::tool::Tool;
use agentctl_engine::toolset::Head;
use agentctl_n8n::{EditOp, Workflow};

arguments! {
    UpdateWorkflow {
        required workflow_id: String = workflow_id();
        required ops: Vec<EditOp> = ops("applied in order, all or none");
        /// The graph hash that the caller planned on.
        optional expect_hash: Option<String> = expect_hash();
        /// As in `create_workflow`.
        #[serde(default)]
        optional todo: Vec<String> = todo();
        /// Whoever called reads it in the call again, too.
        optional why: Option<String> = text("in a fix: what was changed and why, one sentence");
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<UpdateWorkflow>(Head {
        destructive: true,
        idempotent: false,
        ..Head::new(
            "update_workflow",
            can::UPDATE_WORKFLOW,
            "Change a workflow by a list of operations, all or none. Returns what changed and the graph hash, as read back, and what a check says of it.",
            UpdateWorkflow::schema,
        )
    })
}

impl Edits for UpdateWorkflow {
    const PART: Part = Part::Whole;

    fn workflow_id(&self) -> &str {
        &self.workflow_id
    }

    fn expect_hash(&self) -> Option<&str> {
        self.expect_hash.as_deref()
    }

    fn operations(&self, _: &Workflow, _: &N8n) -> Result<Vec<EditOp>, String> {
        Ok(self.ops.clone())
    }
}
