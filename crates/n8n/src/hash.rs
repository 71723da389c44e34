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
//! - the setting `callerPolicy` where it says what n8n takes anyway: n8n 1.x writes it into each workflow that has none;
//! - the setting `availableInMCP`: whom the instance lets at the workflow;
//! - the workflow's `id`, `name`, `active`, `versionId`, timestamps, `meta`, `tags`, `pinData`, `staticData`, sharing: identity,
//!   state and editor data, not the graph;
//! - absent and default spelled out are the same for flags (`false`), empty `parameters`, `credentials`, and null keys.

use super::workflow::{Link, Node, Workflow};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::ops::Range;

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

/// A setting that some releases write by themselves, with the value that means what its absence means. Others take it as it is sent.
const SERVERS_SETTING: (&str, &str) = ("callerPolicy", "workflowsFromSameOwner");

/// Whether a setting is one that some releases write by themselves, saying what n8n does without it.
pub fn is_servers_default(key: &str, value: &Value) -> bool {
    key == SERVERS_SETTING.0 && *value == SERVERS_SETTING.1
}

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
    let mut lines: Vec<&str> = workflow.nodes.iter().map(counted).collect();
    lines.sort_unstable();
    hash(&lines, &mut hasher);
    let mut text = Canonical::default();
    let edges = workflow.edges().map(|edge| text.line(|t| t.edge(edge)));
    let edges: Vec<Range<usize>> = edges.collect();
    let mut lines: Vec<&str> = edges.iter().map(|line| text.at(line)).collect();
    lines.sort_unstable();
    lines.dedup();
    hash(&lines, &mut hasher);
    if let Some(Value::Object(settings)) = workflow.head.get("settings") {
        let counted = settings.iter().filter(|(key, value)| {
            !is_empty(value)
                && !is_editors_default(key, value)
                && !is_servers_default(key, value)
                && *key != IN_MCP
        });
        let line = text.line(|t| t.object(counted));
        // None that counts is no settings at all.
        if text.at(&line) != "{}" {
            hasher.update(text.at(&line));
        }
    }
    let mut hex = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(hex, "{byte:02x}"); // writing to a String cannot fail
    }
    hex
}

/// Each with a newline.
fn hash(lines: &[&str], hasher: &mut Sha256) {
    for line in lines {
        hasher.update(line);
        hasher.update(b"\n");
    }
}

fn counted(node: &Node) -> &str {
    node.counted(|map| {
        let mut text = Canonical::default();
        text.node(map);
        text.text
    })
}

/// Null and false on the first level of a node and of the settings mean what an absent key means.
fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false))
}

/// JSON with sorted keys, no spaces, and whole numbers without a fraction: one text for all that is hashed.
#[derive(Default)]
struct Canonical<'v> {
    text: String,
    /// Of the objects that are being written.
    entries: Vec<(&'v str, &'v Value)>,
}

impl<'v> Canonical<'v> {
    /// Where in the text stands what was written.
    fn line(&mut self, write: impl FnOnce(&mut Self)) -> Range<usize> {
        let start = self.text.len();
        write(self);
        start..self.text.len()
    }

    fn at(&self, line: &Range<usize>) -> &str {
        self.text.get(line.clone()).unwrap_or_default()
    }

    fn edge(&mut self, (from, kind, output, link): (&str, &str, u32, &Link)) {
        self.text.push('[');
        self.string(from);
        self.text.push(',');
        self.string(kind);
        let _ = write!(self.text, ",{output},");
        self.string(&link.node);
        self.text.push(',');
        self.string(&link.kind);
        let _ = write!(self.text, ",{}]", link.index);
    }

    fn node(&mut self, node: &'v Map<String, Value>) {
        let counted = node.iter().filter(|(key, value)| {
            let emptied = matches!(key.as_str(), "parameters" | "credentials")
                && value.as_object().is_some_and(Map::is_empty);
            !is_empty(value) && !UNCOUNTED_NODE_KEYS.contains(&key.as_str()) && !emptied
        });
        self.entries(counted, |t, key, value| match value {
            Value::Object(credentials) if key == "credentials" => {
                t.entries(credentials.iter(), |t, _, value| t.credential(value));
            }
            other => t.value(other),
        });
    }

    fn credential(&mut self, value: &'v Value) {
        match value {
            Value::Object(fields) => {
                let known = fields.get("id").is_some_and(|id| !id.is_null());
                let other = if known { "name" } else { "id" };
                self.object(fields.iter().filter(|(key, _)| *key != other));
            }
            Value::String(name) => {
                self.text.push_str("{\"name\":");
                self.string(name);
                self.text.push('}');
            }
            other => self.value(other),
        }
    }

    fn value(&mut self, value: &'v Value) {
        match value {
            Value::Object(map) => self.object(map.iter()),
            Value::Array(items) => {
                self.text.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        self.text.push(',');
                    }
                    self.value(item);
                }
                self.text.push(']');
            }
            Value::Number(n) if n.is_f64() => {
                let normal = n.as_f64().map_or(Value::Null, super::workflow::number);
                let _ = write!(self.text, "{normal}");
            }
            Value::String(text) => self.string(text),
            other => {
                let _ = write!(self.text, "{other}");
            }
        }
    }

    fn object(&mut self, entries: impl Iterator<Item = (&'v String, &'v Value)>) {
        self.entries(entries, |t, _, value| t.value(value));
    }

    fn entries(
        &mut self,
        entries: impl Iterator<Item = (&'v String, &'v Value)>,
        write: impl Fn(&mut Self, &str, &'v Value),
    ) {
        let start = self.entries.len();
        self.entries
            .extend(entries.map(|(key, value)| (key.as_str(), value)));
        if let Some(own) = self.entries.get_mut(start..) {
            own.sort_unstable_by_key(|(key, _)| *key);
        }
        self.text.push('{');
        for at in start..self.entries.len() {
            let Some((key, value)) = self.entries.get(at).copied() else {
                break;
            };
            if at > start {
                self.text.push(',');
            }
            self.string(key);
            self.text.push(':');
            write(self, key, value);
        }
        self.text.push('}');
        self.entries.truncate(start);
    }

    /// As a JSON text. Most texts hold nothing that has to be escaped.
    fn string(&mut self, text: &str) {
        let odd = |odd, b| odd | (b < 0x20) | (b == b'"') | (b == b'\\');
        if text.bytes().fold(false, odd) {
            let _ = write!(self.text, "{}", Value::from(text));
        } else {
            self.text.push('"');
            self.text.push_str(text);
            self.text.push('"');
        }
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod hash_tests;
