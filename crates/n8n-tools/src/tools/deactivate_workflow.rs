//! `deactivate_workflow`: the counterpart of `activate_workflow`.

use super::n8n::N8n;
use crate::arguments::{arguments, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Change, Cx, Head, Planning};
use serde_json::Value;

arguments! {
    DeactivateWorkflow {
        required workflow_id: String = workflow_id();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<DeactivateWorkflow>(Head {
        repeatable: true,
        destructive: true,
        open_world: true,
        ..Head::new(
            "deactivate_workflow",
            can::ACTIVATE_WORKFLOW,
            "Unpublish a workflow, so that its trigger no longer fires. Returns the state as read back.",
            DeactivateWorkflow::schema,
        )
    })
}

impl Change for On<N8n, DeactivateWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(
            self.on
                .plan_active(cx, &self.args.workflow_id, false, exact),
        )
    }
}
