//! How workflows look in results.

use crate::backend::Stored;
use agentctl_engine::toolset::Outcome;
use agentctl_n8n::{Finding, Node, Severity};
use serde_json::{Map, Value, json};

pub(super) fn bad_cursor(why: String) -> Outcome {
    Outcome::failed(
        why,
        "arguments",
        "use `next_cursor` as the answer before gave it",
    )
}

/// What every answer about one workflow starts with.
pub(super) fn head(stored: &Stored) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("id".into(), json!(stored.id));
    map.insert("name".into(), json!(stored.workflow.name()));
    map.insert("active".into(), json!(stored.active));
    if let Some(file) = &stored.file {
        map.insert("file".into(), json!(file));
    }
    map.insert("node_count".into(), json!(stored.workflow.nodes.len()));
    map.insert("graph_hash".into(), json!(stored.graph_hash));
    map
}

/// Name and type: enough to plan with, a tenth of the size.
pub(super) fn outline_of(node: &Node) -> Value {
    let mut map = Map::new();
    map.insert("id".into(), json!(node.id()));
    map.insert("name".into(), json!(node.name()));
    map.insert("type".into(), json!(node.node_type()));
    map.insert("typeVersion".into(), json!(node.type_version()));
    if node.disabled() {
        map.insert("disabled".into(), Value::Bool(true));
    }
    Value::Object(map)
}

/// How many findings of each severity there are.
pub(super) fn counts(findings: &[Finding]) -> (usize, usize, usize) {
    let of = |severity| findings.iter().filter(|f| f.severity == severity).count();
    (
        of(Severity::Error),
        of(Severity::Warning),
        of(Severity::Info),
    )
}
