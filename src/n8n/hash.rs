//! The graph hash: one value for what a workflow does, equal for two documents that n8n would run alike.
//! It decides whether a write happened, whether somebody else changed the workflow, and whether two runs built the same.
//!
//! Counted: of each node its name, type, version, parameters, credentials, `disabled` and every other node-level key;
//! every edge; the workflow settings.
//! Not counted, and why:
//! - key order, node order, order of links in one bucket, number spelling (`1` or `1.0`): JSON noise;
//! - `position`: drawing only, and a person may tidy the canvas at any moment;
//! - a node's `id`, `webhookId`, `createdAt`, `updatedAt`: servers fill them in when they are missing, so they differ between
//!   what was sent and what is read back (edges are by name, so ids carry no meaning of their own);
//! - a credential's display name when it has an id: the id is what n8n resolves;
//! - the workflow's `id`, `name`, `active`, `versionId`, timestamps, `meta`, `tags`, `pinData`, `staticData`, sharing: identity,
//!   state and editor data, not the graph;
//! - absent and default spelled out are the same for flags (`false`), empty `parameters`, `credentials`, and null keys.

use super::workflow::{Node, Workflow};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const UNCOUNTED_NODE_KEYS: [&str; 5] = ["id", "position", "webhookId", "createdAt", "updatedAt"];

/// SHA-256 (lower-case hex) over the canonical form of the graph.
pub fn graph_hash(workflow: &Workflow) -> String {
    let mut canonical = String::new();
    let mut nodes: Vec<String> = workflow.nodes.iter().map(canonical_node).collect();
    nodes.sort_unstable();
    for node in nodes {
        canonical.push_str(&node);
        canonical.push('\n');
    }
    let edges: BTreeSet<String> = workflow
        .edges()
        .map(|(from, kind, output, link)| {
            Value::from(vec![
                Value::from(from),
                Value::from(kind),
                Value::from(output),
                Value::from(link.node.as_str()),
                Value::from(link.kind.as_str()),
                Value::from(link.index),
            ])
            .to_string()
        })
        .collect();
    for edge in edges {
        canonical.push_str(&edge);
        canonical.push('\n');
    }
    if let Some(Value::Object(settings)) = workflow.head.get("settings") {
        write_object(&without_empties(settings), &mut canonical);
    }
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(canonical.as_bytes()) {
        let _ = write!(hex, "{byte:02x}"); // writing to a String cannot fail
    }
    hex
}

fn canonical_node(node: &Node) -> String {
    let mut counted = without_empties(&node.0);
    for key in UNCOUNTED_NODE_KEYS {
        counted.remove(key);
    }
    for key in ["parameters", "credentials"] {
        if counted
            .get(key)
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
        {
            counted.remove(key);
        }
    }
    if let Some(Value::Object(credentials)) = counted.get_mut("credentials") {
        for credential in credentials.values_mut() {
            if let Value::Object(fields) = credential
                && fields.get("id").is_some_and(|id| !id.is_null())
            {
                fields.remove("name");
            }
        }
    }
    let mut text = String::new();
    write_object(&counted, &mut text);
    text
}

/// The object without null and false values on its first level.
fn without_empties(object: &Map<String, Value>) -> Map<String, Value> {
    object
        .iter()
        .filter(|(_, value)| !matches!(value, Value::Null | Value::Bool(false)))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// JSON with sorted keys, no spaces, and whole numbers without a fraction.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => write_object(map, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Number(n) if n.is_f64() => {
            let normal = n.as_f64().map_or(Value::Null, super::workflow::number);
            out.push_str(&normal.to_string());
        }
        other => out.push_str(&other.to_string()),
    }
}

fn write_object(map: &Map<String, Value>, out: &mut String) {
    let mut keys: Vec<&String> = map.keys().collect();
    keys.sort_unstable();
    out.push('{');
    for (i, key) in keys.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        write_canonical(map.get(key).unwrap_or(&Value::Null), out);
    }
    out.push('}');
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod hash_tests;
