//! What the loss count keeps of a state of a workflow: enough to tell later what is gone, cut off, disabled, emptied or replaced.
//! No value of a parameter is kept, only the hash of each.

use super::change::{by_name, texts_of};
use agentctl_base::canonical::sha256_hex;
use agentctl_n8n::catalog::Begins;
use agentctl_n8n::dead::{Ways, ways};
use agentctl_n8n::edit::references::{apart, is_python};
use agentctl_n8n::{Node, Workflow};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// What is known of a node type as the beginning of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    No,
    /// Nobody knows the type. In the base it counts as a start that begins by itself, and so does the same node now; a new one
    /// has shown nothing yet, and counts as one that a person presses.
    Unknown,
    Known(Begins),
}

/// By the type's name.
pub type Starts<'a> = &'a dyn Fn(&str) -> Start;

/// Hexadecimal digits kept of a hash: 64 bits, so that nobody finds a value that passes for another one.
const DIGITS: usize = 16;

/// A state, as far as losses are counted from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    pub(super) nodes: Vec<Sketch>,
    edges: Vec<Joint>,
    /// Runs are stopped after so many seconds; None: they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) timeout: Option<f64>,
}

/// A node of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Sketch {
    id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub node_type: String,
    #[serde(default, skip_serializing_if = "is_false")]
    pub disabled: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub sticky: bool,
    /// A trigger, or of a type that nobody knew.
    #[serde(default, skip_serializing_if = "is_false")]
    pub starts: bool,
    /// Its errors stop nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    silent: bool,
    #[serde(default, skip_serializing_if = "Ways::is_open")]
    pub ways: Ways,
    pub parameters: IndexMap<String, Said>,
}

/// What a top-level parameter says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Said {
    /// Nothing: null, an empty text, a list or an object of such.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blank: bool,
    /// The hashes of its values: each number, each line of each text.
    pub values: Vec<String>,
}

/// A connection, its ends by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Joint {
    from: String,
    pub kind: String,
    pub output: u32,
    to: String,
    pub input_kind: String,
    pub input: u32,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Outline {
    pub fn of(workflow: &Workflow, starts: Starts<'_>) -> Outline {
        let ids = Ids::of(workflow);
        Outline {
            nodes: workflow
                .nodes
                .iter()
                .map(|node| Sketch::of(node, &ids, starts))
                .collect(),
            edges: workflow
                .edges()
                .map(|(from, kind, output, link)| Joint {
                    from: from.to_owned(),
                    kind: kind.to_owned(),
                    output,
                    to: link.node.clone(),
                    input_kind: link.kind.clone(),
                    input: link.index,
                })
                .collect(),
            timeout: timeout(workflow),
        }
    }

    /// How many of its nodes count: sticky notes run nothing.
    pub fn total(&self) -> usize {
        self.nodes.iter().filter(|node| !node.sticky).count()
    }

    pub(super) fn key_texts(&self) -> Vec<Cow<'_, str>> {
        texts_of(self.nodes.iter().map(|n| (n.id.as_str(), n.name.as_str())))
    }

    pub(super) fn keyed_edges<'w>(
        &'w self,
        keys: &[Cow<'w, str>],
    ) -> impl Iterator<Item = (Cow<'w, str>, &'w Joint, Cow<'w, str>)> {
        let key = by_name(self.nodes.iter().map(|n| n.name.as_str()).zip(keys));
        let edges = self.edges.iter();
        edges.map(move |edge| (key(&edge.from), edge, key(&edge.to)))
    }

    /// Every node in its place, by id and name, and every connection: then nothing is gone or cut off.
    pub(super) fn same_graph(&self, other: &Workflow) -> bool {
        let mut nodes = self.nodes.iter().zip(&other.nodes);
        let mut edges = self.edges.iter().zip(other.edges());
        self.nodes.len() == other.nodes.len()
            && nodes.all(|(a, b)| a.id == b.id_text() && a.name == b.name())
            && self.edges.len() == other.edges().count()
            && edges.all(|(a, (from, kind, output, link))| {
                (a.from.as_str(), a.kind.as_str(), a.output) == (from, kind, output)
                    && (a.to.as_str(), a.input_kind.as_str(), a.input)
                        == (link.node.as_str(), link.kind.as_str(), link.index)
            })
    }
}

impl Sketch {
    fn of(node: &Node, ids: &Ids<'_>, starts: Starts<'_>) -> Sketch {
        let parameters = node.parameters().into_iter().flatten();
        Sketch {
            id: node.id_text().to_owned(),
            name: node.name().to_owned(),
            node_type: node.node_type().to_owned(),
            disabled: node.disabled(),
            sticky: node.is_sticky(),
            starts: starts(node.node_type()) != Start::No,
            silent: is_silent(node),
            ways: ways(node),
            parameters: parameters
                .map(|(key, value)| {
                    let mut values = Vec::new();
                    each_value(key, value, ids, &mut |hash| {
                        values.push(hash);
                        true
                    });
                    values.sort_unstable();
                    values.dedup();
                    let blank = is_blank(value);
                    (key.clone(), Said { blank, values })
                })
                .collect(),
        }
    }

    /// A start that does not begin: a trigger that is switched off.
    pub fn asleep(&self) -> bool {
        self.disabled && self.starts
    }

    /// Nothing of what the node said is left in it, or next to nothing: less than a quarter of its values.
    pub fn is_replaced(&self, other: &Node, ids: &Ids<'_>) -> bool {
        let total: usize = self.parameters.values().map(|said| said.values.len()).sum();
        if total == 0 {
            return false;
        }
        let mut kept = 0;
        for (key, value) in other.parameters().into_iter().flatten() {
            let Some(said) = self.parameters.get(key).filter(|s| !s.values.is_empty()) else {
                continue;
            };
            let mut found = Vec::new();
            each_value(key, value, ids, &mut |hash| {
                if !found.contains(&hash) && said.values.binary_search(&hash).is_ok() {
                    found.push(hash);
                }
                (kept + found.len()) * 4 < total
            });
            kept += found.len();
            if kept * 4 >= total {
                return false;
            }
        }
        true
    }
}

/// The parameters that say what a node is there for, by what they have in common: the address, the body, the code, the query.
const GIST: [&[&str]; 4] = [
    &["url"],
    &[
        "jsonBody",
        "body",
        "bodyParameters",
        "bodyParametersJson",
        "bodyParametersUi",
    ],
    &["jsCode", "pythonCode", "functionCode"],
    &["query"],
];

impl Sketch {
    /// Nothing is left of an address, a body, code or a query that it had, whatever else it says.
    pub fn is_gutted(&self, other: &Node, ids: &Ids<'_>) -> bool {
        let parameters = other.parameters();
        GIST.iter().any(|keys| {
            let said = keys
                .iter()
                .filter_map(|key| Some((key, self.parameters.get(*key)?)));
            let mut said = said.filter(|(_, said)| !said.values.is_empty()).peekable();
            said.peek().is_some()
                && said.all(|(key, said)| {
                    let now = parameters.and_then(|now| now.get(*key));
                    now.is_none_or(|now| {
                        each_value(key, now, ids, &mut |hash| {
                            said.values.binary_search(&hash).is_err()
                        })
                    })
                })
        })
    }

    /// Its errors stopped the run, and now they do not.
    pub fn falls_silent(&self, other: &Node) -> bool {
        !self.silent && is_silent(other)
    }

    /// Whether one of the texts and numbers of the node that are asked for was not there, in this parameter, before.
    pub fn says_new(&self, other: &Node, ids: &Ids<'_>, asked_for: &dyn Fn(&str) -> bool) -> bool {
        let parameters = other.parameters();
        parameters.into_iter().flatten().any(|(key, value)| {
            let said = self.parameters.get(key);
            let known =
                |hash: String| said.is_some_and(|said| said.values.binary_search(&hash).is_ok());
            let mut new = false;
            each_text(value, &mut |part| {
                let (asked, unmarked) = match part {
                    Value::String(text) => (asked_for(text), text.strip_prefix('=')),
                    other => (asked_for(&other.to_string()), None),
                };
                // The same expression, which only lacked the mark of one.
                let unmarked = unmarked.filter(|text| !text.trim().is_empty());
                let unmarked = unmarked.map(Value::from);
                let of = |part: &Value| each_value(key, part, ids, &mut |hash| known(hash));
                let asked = asked && !unmarked.is_some_and(|part| of(&part));
                new |= asked && !of(part);
            });
            new
        })
    }

    /// Whether a parameter of it had this line.
    pub fn has_line(&self, line: &str, ids: &Ids<'_>) -> bool {
        let line = ids.unnamed(line, false);
        let mut parameters = self.parameters.iter();
        parameters.any(|(key, said)| said.values.binary_search(&hash(key, line.trim())).is_ok())
    }
}

/// Every text and number of a value.
fn each_text(value: &Value, look: &mut dyn FnMut(&Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_text(item, look)),
        Value::Object(map) => map.values().for_each(|item| each_text(item, look)),
        Value::String(_) | Value::Number(_) => look(value),
        Value::Null | Value::Bool(_) => {}
    }
}

/// A failure of the node does not stop the run.
fn is_silent(node: &Node) -> bool {
    let map = node.map();
    match map.get("onError").and_then(Value::as_str) {
        Some(how) => how.starts_with("continue"),
        None => map.get("continueOnFail") == Some(&Value::Bool(true)),
    }
}

/// After so many seconds n8n stops a run of the workflow.
pub(super) fn timeout(workflow: &Workflow) -> Option<f64> {
    let settings = workflow.head.get("settings")?;
    let limit = settings.get("executionTimeout")?;
    let seconds = limit.as_f64().or_else(|| limit.as_str()?.parse().ok());
    seconds.filter(|seconds| *seconds > 0.0)
}

/// The ids of nodes by their names: a reference to a node means the node, whatever it is called.
pub(super) struct Ids<'w>(HashMap<&'w str, &'w str>);

impl<'w> Ids<'w> {
    pub fn of(workflow: &'w Workflow) -> Self {
        let nodes = workflow.nodes.iter();
        Ids(nodes.map(|n| (n.name(), n.id_text())).collect())
    }

    /// The text with the names in its references undone.
    fn unnamed<'t>(&self, text: &'t str, python: bool) -> Cow<'t, str> {
        if !text.contains('$') && !(python && text.contains('_')) {
            return Cow::Borrowed(text);
        }
        let mut plain = String::new();
        let mut done = 0;
        for reference in apart(text, python, |name| self.0.contains_key(name)) {
            let Some(id) = self.0.get(reference.node.as_str()) else {
                continue;
            };
            let before = text.get(done..reference.offset()).unwrap_or_default();
            plain.extend([before, "#", id]);
            done = reference.end();
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        plain.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(plain)
    }
}

/// Visits the hash of each value until `go_on` says no; what is blank or only true or false says too little to be one.
fn each_value(
    key: &str,
    value: &Value,
    ids: &Ids<'_>,
    go_on: &mut dyn FnMut(String) -> bool,
) -> bool {
    fn walk(
        top: &str,
        key: &str,
        value: &Value,
        ids: &Ids<'_>,
        go_on: &mut dyn FnMut(String) -> bool,
    ) -> bool {
        match value {
            Value::Null | Value::Bool(_) => true,
            Value::Number(number) => go_on(hash(top, &number.to_string())),
            Value::String(text) => {
                let text = ids.unnamed(text, is_python(key));
                let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                lines.all(|line| go_on(hash(top, line)))
            }
            Value::Array(items) => items.iter().all(|item| walk(top, key, item, ids, go_on)),
            Value::Object(map) => map
                .iter()
                .all(|(key, item)| walk(top, key, item, ids, go_on)),
        }
    }
    walk(key, key, value, ids, go_on)
}

fn hash(key: &str, text: &str) -> String {
    let mut hex = sha256_hex(format!("{key}\n{text}").as_bytes());
    hex.truncate(DIGITS);
    hex
}

pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(map) => map.values().all(is_blank),
        _ => false,
    }
}
