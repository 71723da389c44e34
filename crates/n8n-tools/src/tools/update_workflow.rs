//! `update_workflow`: a list of operations on a workflow, all or none.

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
    UpdateWorkflow {
        required workflow_id: String = workflow_id();
        required ops: Vec<EditOp> = ops("applied in order, all or none");
        /// The graph hash that the caller planned on.
        optional expect_hash: Option<String> = expect_hash();
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

impl Change for On<N8n, UpdateWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let edit = Edit {
                workflow_id: &self.args.workflow_id,
                expect_hash: self.args.expect_hash.as_deref(),
                part: Part::Whole,
            };
            let ops = |_: &Workflow| Ok(self.args.ops.clone());
            self.on.plan_edit(cx, edit, &ops, exact).await
        })
    }
}
