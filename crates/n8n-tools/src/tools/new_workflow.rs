//! `new_workflow`: the nodes and connections of a new workflow, without values.

use super::create_workflow::CreateWorkflow;
use super::edit::Part;
use super::n8n::N8n;
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Change, Cx, Head, Planning};
use serde::Deserialize;
use serde_json::Value;

/// The same as for `create_workflow`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct NewWorkflow(CreateWorkflow);

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<NewWorkflow>(Head {
        makes_or_deletes: true,
        idempotent: false,
        ..Head::new(
            "new_workflow",
            can::EDIT_STRUCTURE,
            "Begin a workflow with its nodes and connections, without values. Ids and positions may be left out. Returns its id.",
            CreateWorkflow::schema,
        )
    })
}

impl Change for On<N8n, NewWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(
            self.on
                .plan_create(cx, &self.args.0, Part::Structure, exact),
        )
    }
}
