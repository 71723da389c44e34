//! `edit_structure`: a list of operations on nodes and connections, all or none. What the tools of one operation each do, at once.

use super::edit::{Edits, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, expect_hash, ops, workflow_id};
use crate::capability as can;
use crate::tool::Tool;
use agentctl_engine::toolset::Head;
use agentctl_n8n::{EditOp, Workflow};

arguments! {
    EditStructure {
        required workflow_id: String = workflow_id();
        required ops: Vec<EditOp> = ops("applied in order, all or none; no values");
        optional expect_hash: Option<String> = expect_hash();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<EditStructure>(Head {
        destructive: true,
        idempotent: false,
        ..Head::new(
            "edit_structure",
            can::EDIT_STRUCTURE,
            "Change which nodes a workflow has and how they are connected, by a list of operations, all or none; also to rename, reorder and switch off. Sets no values. Returns what changed, and `hangs_free`: what nothing leads to any more.",
            EditStructure::schema,
        )
    })
}

impl Edits for EditStructure {
    const PART: Part = Part::Structure;

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
