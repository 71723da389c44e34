//! `connect_nodes`: connections between nodes that are there. Of what type they are the catalog says, by what the one node puts out and
//! the other takes in; a sub-node and the node that it serves may be named in either order.

use super::edit::{Edits, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, object, text, workflow_id};
use crate::capability as can;
use crate::tool::Tool;
use agentctl_engine::toolset::Head;
use agentctl_n8n::catalog::{Catalog, Lookup, Port};
use agentctl_n8n::{EditOp, Node, Workflow, edit};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const MAIN: &str = "main";

arguments! {
    ConnectNodes {
        required workflow_id: String = workflow_id();
        required connections: Vec<Joined> = json!({"type": "array", "minItems": 1, "items": joined()});
    }
}

/// Two nodes, by id or name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joined {
    from: String,
    to: String,
    #[serde(default)]
    output: u32,
    #[serde(default)]
    input: u32,
}

fn joined() -> Value {
    object(
        json!({
            "from": text("source node"),
            "to": text("target node"),
            "output": {"type": "integer", "minimum": 0, "description": "which output of the source, from 0: an If has true (0) and false (1)"},
            "input": {"type": "integer", "minimum": 0},
        }),
        &["from", "to"],
    )
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<ConnectNodes>(Head {
        idempotent: false,
        ..Head::new(
            "connect_nodes",
            can::EDIT_STRUCTURE,
            "Connect nodes. The type of each connection follows from what the nodes put out and take in: a model, a memory or a tool is joined to its agent by naming the two.",
            ConnectNodes::schema,
        )
    })
}

impl Edits for ConnectNodes {
    const PART: Part = Part::Structure;

    fn workflow_id(&self) -> &str {
        &self.workflow_id
    }

    fn operations(&self, now: &Workflow, on: &N8n) -> Result<Vec<EditOp>, String> {
        let joins = self.connections.iter();
        joins.map(|join| operation(join, now, on.catalog)).collect()
    }
}

fn operation(join: &Joined, workflow: &Workflow, catalog: &Catalog) -> Result<EditOp, String> {
    let from = edit::meant(workflow, &join.from)?;
    let to = edit::meant(workflow, &join.to)?;
    let connect = |from: &Node, to: &Node, kind: String, output: u32, input: u32| EditOp::Connect {
        from: from.name().to_owned(),
        to: to.name().to_owned(),
        kind,
        output,
        input,
    };
    let turned = || common(to, from, catalog).filter(|kind| kind != MAIN);
    if let Some(kind) = common(from, to, catalog) {
        return Ok(connect(from, to, kind, join.output, join.input));
    }
    if let Some(kind) = turned() {
        return Ok(connect(to, from, kind, join.input, join.output));
    }
    Err(format!(
        "{:?} puts out {} and {:?} takes in {}, so nothing connects them",
        from.name(),
        told(outputs(from, catalog)),
        to.name(),
        told(inputs(to, catalog)),
    ))
}

/// The type of connection that the one node puts out and the other takes in.
fn common(from: &Node, to: &Node, catalog: &Catalog) -> Option<String> {
    let inputs = inputs(to, catalog);
    let short = from.node_type();
    let takes = |port: &Port| {
        inputs.iter().any(|input| {
            input.kind == port.kind
                && (input.only.is_empty() || input.only.iter().any(|t| t == short))
                && !input.except.iter().any(|t| t == short)
        })
    };
    let outputs = outputs(from, catalog);
    let kind = outputs.into_iter().find(takes);
    kind.map(|port| port.kind)
}

/// A type that the catalog does not know is taken for one with plain connections.
fn outputs(node: &Node, catalog: &Catalog) -> Vec<Port> {
    let empty = Map::new();
    let parameters = node.parameters().unwrap_or(&empty);
    match catalog.lookup(node.node_type(), node.type_version()) {
        Lookup::Known(known) => known.outputs_for(parameters, node.map()).into_owned(),
        _ => vec![Port::main()],
    }
}

fn inputs(node: &Node, catalog: &Catalog) -> Vec<Port> {
    let empty = Map::new();
    let parameters = node.parameters().unwrap_or(&empty);
    match catalog.lookup(node.node_type(), node.type_version()) {
        Lookup::Known(known) => known.inputs_for(parameters).into_owned(),
        _ => vec![Port::main()],
    }
}

fn told(ports: Vec<Port>) -> String {
    let mut kinds: Vec<String> = ports.into_iter().map(|port| port.kind).collect();
    kinds.dedup();
    match kinds.is_empty() {
        true => "nothing".to_owned(),
        false => kinds.join(", "),
    }
}
