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
//! - a credential's display name when it has an id: the id is what n8n resolves. Without an id the name is all there is, and the
//!   ways to write it count as one: the bare name of old releases, and an object without an id or with null, which n8n makes of it;
//! - a node's `extendsCredential`, the editor's own note that no run reads and n8n's API does not take;
//! - the settings `binaryMode` and `timeSavedMode` where they say what n8n does anyway: its API does not take them;
//! - the setting `availableInMCP`: whom the instance lets at the workflow;
//! - the workflow's `id`, `name`, `active`, `versionId`, timestamps, `meta`, `tags`, `pinData`, `staticData`, sharing: identity,
//!   state and editor data, not the graph;
//! - absent and default spelled out are the same for flags (`false`), empty `parameters`, `credentials`, and null keys.

use super::workflow::{Link, Node, Workflow};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

const UNCOUNTED_NODE_KEYS: [&str; 6] = [
    "id",
    "position",
    "webhookId",
    "createdAt",
    "updatedAt",
    EDITORS_NODE_KEY,
];
/// A key of a node that the editor writes for itself.
pub const EDITORS_NODE_KEY: &str = "extendsCredential";
/// Settings that only the editor writes, and the value that means what their absence means.
const EDITORS_SETTINGS: [(&str, &str); 2] =
    [("binaryMode", "separate"), ("timeSavedMode", "fixed")];

/// A setting that opens a workflow to n8n's MCP server: the instance's business, not the graph's.
pub const IN_MCP: &str = "availableInMCP";

/// Whether a setting is one that the editor alone writes, saying what n8n does without it.
pub fn is_editors_default(key: &str, value: &Value) -> bool {
    EDITORS_SETTINGS
        .iter()
        .any(|(known, default)| *known == key && value == default)
}

/// SHA-256 (lower-case hex) over the canonical form of the graph.
pub fn graph_hash(workflow: &Workflow) -> String {
    let mut hasher = Sha256::new();
    let mut lines: Vec<String> = workflow.nodes.iter().map(canonical_node).collect();
    lines.sort_unstable();
    for line in &lines {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
    }
    let mut edges: Vec<String> = workflow.edges().map(canonical_edge).collect();
    edges.sort_unstable();
    edges.dedup();
    for edge in &edges {
        hasher.update(edge.as_bytes());
        hasher.update(b"\n");
    }
    if let Some(Value::Object(settings)) = workflow.head.get("settings") {
        let mut text = String::new();
        let counted = settings.iter().filter(|(key, value)| {
            !is_empty(value) && !is_editors_default(key, value) && *key != IN_MCP
        });
        write_object(counted, &mut text);
        hasher.update(text.as_bytes());
    }
    let mut hex = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(hex, "{byte:02x}"); // writing to a String cannot fail
    }
    hex
}

fn canonical_edge((from, kind, output, link): (&str, &str, u32, &Link)) -> String {
    let mut text = String::with_capacity(64);
    text.push('[');
    write_text(from, &mut text);
    text.push(',');
    write_text(kind, &mut text);
    let _ = write!(text, ",{output},");
    write_text(&link.node, &mut text);
    text.push(',');
    write_text(&link.kind, &mut text);
    let _ = write!(text, ",{}]", link.index);
    text
}

fn canonical_node(node: &Node) -> String {
    let counted = node.0.iter().filter(|(key, value)| {
        let emptied = matches!(key.as_str(), "parameters" | "credentials")
            && value.as_object().is_some_and(Map::is_empty);
        !is_empty(value) && !UNCOUNTED_NODE_KEYS.contains(&key.as_str()) && !emptied
    });
    let mut text = String::with_capacity(512);
    write_entries(counted, &mut text, |key, value, out| match value {
        Value::Object(credentials) if key == "credentials" => {
            write_entries(credentials.iter(), out, |_, value, out| {
                write_credential(value, out)
            });
        }
        other => write_canonical(other, out),
    });
    text
}

fn write_credential(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) if fields.get("id").is_some_and(|id| !id.is_null()) => {
            write_object(fields.iter().filter(|(key, _)| *key != "name"), out);
        }
        Value::Object(fields) => write_object(fields.iter().filter(|(key, _)| *key != "id"), out),
        Value::String(_) => write_object(std::iter::once((&"name".to_owned(), value)), out),
        other => write_canonical(other, out),
    }
}

/// Null and false on the first level of a node and of the settings mean what an absent key means.
fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false))
}

/// JSON with sorted keys, no spaces, and whole numbers without a fraction.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => write_object(map.iter(), out),
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
        Value::String(text) => write_text(text, out),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn write_object<'v>(entries: impl Iterator<Item = (&'v String, &'v Value)>, out: &mut String) {
    write_entries(entries, out, |_, value, out| write_canonical(value, out));
}

fn write_entries<'v>(
    entries: impl Iterator<Item = (&'v String, &'v Value)>,
    out: &mut String,
    write: impl Fn(&str, &Value, &mut String),
) {
    let mut sorted: Vec<(&String, &Value)> = entries.collect();
    sorted.sort_unstable_by_key(|(key, _)| key.as_str());
    out.push('{');
    for (i, (key, value)) in sorted.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_text(key, out);
        out.push(':');
        write(key, value, out);
    }
    out.push('}');
}

/// As a JSON text. Most texts hold nothing that has to be escaped.
fn write_text(text: &str, out: &mut String) {
    if text.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        let _ = write!(out, "{}", Value::from(text));
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod hash_tests;
