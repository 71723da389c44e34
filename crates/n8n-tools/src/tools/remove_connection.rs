//! `remove_connection`: whatever connects one node with another.

use super::edit::{Edit, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, text, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Change, Cx, Head, Planning};
use agentctl_n8n::{EditOp, NodeId, Workflow};
use serde_json::{Value, json};

arguments! {
    RemoveConnection {
        required workflow_id: String = workflow_id();
        required from: String = text("source node, by id or name");
        required to: String = text("target node");
        optional output: Option<u32> = json!({"type": "integer", "minimum": 0, "description": "only that of this output; default: all between the two"});
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<RemoveConnection>(Head {
        destructive: true,
        idempotent: false,
        ..Head::new(
            "remove_connection",
            can::EDIT_STRUCTURE,
            "Remove what connects two nodes, of whatever type. `hangs_free` names what nothing leads to any more.",
            RemoveConnection::schema,
        )
    })
}

impl Change for On<N8n, RemoveConnection> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let edit = Edit {
                workflow_id: &self.args.workflow_id,
                expect_hash: None,
                part: Part::Structure,
            };
            let ops = |now: &Workflow| operations(&self.args, now);
            self.on.plan_edit(cx, edit, &ops, exact).await
        })
    }
}

fn operations(args: &RemoveConnection, workflow: &Workflow) -> Result<Vec<EditOp>, String> {
    let name = |named: &str| {
        let by_id = workflow.node(&NodeId(named.to_owned()));
        let node = by_id.or_else(|| workflow.node_by_name(named));
        let node = node.ok_or_else(|| format!("there is no node {named:?}"))?;
        Ok::<_, String>(node.name().to_owned())
    };
    let (from, to) = (name(&args.from)?, name(&args.to)?);
    let between = |a: &str, b: &str| -> Vec<EditOp> {
        let edges = workflow.edges().filter(|(from, _, output, link)| {
            *from == a && link.node == b && args.output.is_none_or(|o| o == *output)
        });
        edges
            .map(|(from, kind, output, link)| EditOp::Disconnect {
                from: from.to_owned(),
                to: link.node.clone(),
                kind: kind.to_owned(),
                output,
                input: link.index,
            })
            .collect()
    };
    let mut ops = between(&from, &to);
    if ops.is_empty() {
        // A sub-node and the node that it serves may be named in either order.
        ops = between(&to, &from);
        ops.retain(|op| !matches!(op, EditOp::Disconnect { kind, .. } if kind == "main"));
    }
    match ops.is_empty() {
        true => Err(format!("nothing connects {from:?} with {to:?}")),
        false => Ok(ops),
    }
}
