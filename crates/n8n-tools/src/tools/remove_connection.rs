//! `remove_connection`: whatever connects one node with another.

use super::edit::{Edits, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, text, workflow_id};
use crate::capability as can;
use crate::tool::Tool;
use agentctl_engine::toolset::Head;
use agentctl_n8n::{EditOp, Workflow, edit};
use serde_json::json;

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

impl Edits for RemoveConnection {
    const PART: Part = Part::Structure;

    fn workflow_id(&self) -> &str {
        &self.workflow_id
    }

    fn operations(&self, now: &Workflow, _: &N8n) -> Result<Vec<EditOp>, String> {
        let (from, to) = (
            edit::meant(now, &self.from)?.name(),
            edit::meant(now, &self.to)?.name(),
        );
        let between = |a: &str, b: &str| -> Vec<EditOp> {
            let edges = now.edges().filter(|(from, _, output, link)| {
                *from == a && link.node == b && self.output.is_none_or(|o| o == *output)
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
        let mut ops = between(from, to);
        if ops.is_empty() {
            // A sub-node and the node that it serves may be named in either order.
            ops = between(to, from);
            ops.retain(|op| !matches!(op, EditOp::Disconnect { kind, .. } if kind == "main"));
        }
        match ops.is_empty() {
            true => Err(format!("nothing connects {from:?} with {to:?}")),
            false => Ok(ops),
        }
    }
}
