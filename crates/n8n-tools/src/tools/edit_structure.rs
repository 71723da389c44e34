//! `edit_structure`: a list of operations on nodes and connections, all or none. What the tools of one operation each do, at once.

use super::edit::{Edit, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, expect_hash, ops, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Change, Cx, Head, Planning};
use agentctl_n8n::{EditOp, Workflow};
use serde_json::Value;

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

impl Change for On<N8n, EditStructure> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let edit = Edit {
                workflow_id: &self.args.workflow_id,
                expect_hash: self.args.expect_hash.as_deref(),
                part: Part::Structure,
            };
            let ops = |_: &Workflow| Ok(self.args.ops.clone());
            self.on.plan_edit(cx, edit, &ops, exact).await
        })
    }
}
