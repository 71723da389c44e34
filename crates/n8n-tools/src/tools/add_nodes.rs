//! `add_nodes`: new nodes, not connected yet.

use super::edit::{Edits, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, object, text, workflow_id};
use crate::capability as can;
use crate::tool::Tool;
use agentctl_engine::toolset::Head;
use agentctl_n8n::edit::NewNode;
use agentctl_n8n::{EditOp, Workflow};
use serde_json::{Value, json};

arguments! {
    AddNodes {
        required workflow_id: String = workflow_id();
        required nodes: Vec<NewNode> = json!({"type": "array", "minItems": 1, "items": node()});
    }
}

fn node() -> Value {
    object(
        json!({
            "name": text("unique in the workflow"),
            "type": text("full type name, e.g. n8n-nodes-base.slack"),
            "typeVersion": {"type": "number"},
            "parameters": {"type": "object", "description": "resource, operation, and what the node's connections follow from; no values"},
        }),
        &["name", "type"],
    )
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<AddNodes>(Head {
        idempotent: false,
        ..Head::new(
            "add_nodes",
            can::EDIT_STRUCTURE,
            "Add nodes to a workflow, without values; connect_nodes connects them.",
            AddNodes::schema,
        )
    })
}

impl Edits for AddNodes {
    const PART: Part = Part::Structure;

    fn workflow_id(&self) -> &str {
        &self.workflow_id
    }

    fn operations(&self, _: &Workflow, _: &N8n) -> Result<Vec<EditOp>, String> {
        let nodes = self.nodes.iter().cloned();
        Ok(nodes.map(|node| EditOp::AddNode { node }).collect())
    }
}
