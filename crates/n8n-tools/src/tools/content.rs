//! How workflows look in results.

use crate::backend::Stored;
use agentctl_engine::toolset::Outcome;
use agentctl_n8n::{Finding, Severity, Workflow};
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

/// Names, types and wiring: enough to plan with, a tenth of the size.
pub(super) fn summary(workflow: &Workflow) -> (Vec<Value>, Vec<String>) {
    let nodes = workflow
        .nodes
        .iter()
        .map(|node| {
            let mut map = Map::new();
            map.insert("id".into(), json!(node.id()));
            map.insert("name".into(), json!(node.name()));
            map.insert("type".into(), json!(node.node_type()));
            map.insert("typeVersion".into(), json!(node.type_version()));
            if node.disabled() {
                map.insert("disabled".into(), Value::Bool(true));
            }
            Value::Object(map)
        })
        .collect();
    let edges = workflow
        .edges()
        .map(|(from, kind, output, link)| {
            let port = |kind: &str, index: u32| match (kind, index) {
                ("main", 0) => String::new(),
                ("main", n) => format!("[{n}]"),
                (kind, 0) => format!("[{kind}]"),
                (kind, n) => format!("[{kind} {n}]"),
            };
            format!(
                "{from}{} -> {}{}",
                port(kind, output),
                link.node,
                port(&link.kind, link.index)
            )
        })
        .collect();
    (nodes, edges)
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
