//! `n8n/structure`: what n8n refuses on create, update and import. As in n8n, names, ids and connection ends are looked at
//! only when the shape of everything is right.

use super::{
    path::joined,
    report::{Draft, Report},
};
use crate::finding::Severity;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

const CODE: &str = "n8n/structure";

type IsRight = fn(&Value) -> bool;

pub(super) fn check(document: &Value, report: &mut Report) {
    let mut problems = Problems { found: Vec::new() };
    match document.as_object() {
        None => problems.add(String::new(), "the document is no JSON object"),
        Some(map) => {
            shape_of_nodes(map, &mut problems);
            shape_of_connections(map, &mut problems);
        }
    }
    if problems.found.is_empty() {
        names_and_ids(document, &mut problems);
        connection_ends(document, &mut problems);
    }
    for (pointer, message) in &problems.found {
        let key = message.as_str();
        report.place(
            node_at(document, pointer),
            Draft::new(CODE, Severity::Error, pointer.as_str(), key).key(key),
        );
    }
}

struct Problems {
    found: Vec<(String, String)>,
}

impl Problems {
    fn add(&mut self, pointer: String, message: impl Into<String>) {
        self.found.push((pointer, message.into()));
    }
}

/// Name and id of the node that a pointer leads into.
pub(super) fn node_at(document: &Value, pointer: &str) -> (Option<String>, Option<String>) {
    let mut tokens = pointer.split('/').skip(1);
    match tokens.next() {
        Some("nodes") => {
            let node = tokens
                .next()
                .and_then(|at| document.pointer(&format!("/nodes/{at}")));
            let text = |key: &str| node.and_then(|n| n.get(key)?.as_str()).map(str::to_owned);
            (text("name"), text("id"))
        }
        Some("connections") => {
            let name = tokens
                .next()
                .map(|t| t.replace("~1", "/").replace("~0", "~"));
            (name, None)
        }
        _ => (None, None),
    }
}

fn shape_of_nodes(document: &Map<String, Value>, problems: &mut Problems) {
    let nodes = match document.get("nodes") {
        Some(Value::Array(nodes)) => nodes,
        None => return problems.add("/nodes".into(), "`nodes` is missing; it lists the nodes"),
        Some(_) => return problems.add("/nodes".into(), "`nodes` is no array; it lists the nodes"),
    };
    for (i, node) in nodes.iter().enumerate() {
        // Written out only where something is wrong.
        let at = |key: &str| joined(&format!("/nodes/{i}"), key);
        let Some(node) = node.as_object() else {
            problems.add(format!("/nodes/{i}"), "the node is no JSON object");
            continue;
        };
        for key in ["name", "type"] {
            let problem = match node.get(key) {
                Some(Value::String(text)) if !text.is_empty() => continue,
                Some(Value::String(_)) => format!("the node's {key} is empty"),
                None => format!("the node has no {key}"),
                Some(_) => format!("the node's {key} is no text"),
            };
            problems.add(at(key), problem);
        }
        position(node, &|| at("position"), problems);
        let optional: [(&str, IsRight, &str); 4] = [
            ("parameters", Value::is_object, "an object"),
            ("id", Value::is_string, "a text"),
            ("typeVersion", Value::is_number, "a number"),
            ("disabled", Value::is_boolean, "true or false"),
        ];
        for (key, is_right, expected) in optional {
            if node.get(key).is_some_and(|value| !is_right(value)) {
                problems.add(at(key), format!("`{key}` of the node is not {expected}"));
            }
        }
    }
}

fn position(node: &Map<String, Value>, place: &dyn Fn() -> String, problems: &mut Problems) {
    match node.get("position") {
        Some(Value::Array(items)) => {
            if items.len() != 2 {
                problems.add(place(), "the node's position is not two numbers [x, y]");
            }
            if items.len() >= 2 {
                let wrong = items.iter().take(2).enumerate();
                for (i, _) in wrong.filter(|(_, v)| !v.is_number()) {
                    problems.add(format!("{}/{i}", place()), "the coordinate is no number");
                }
            }
        }
        None => problems.add(place(), "the node has no position; write [x, y]"),
        Some(_) => problems.add(place(), "the node's position is not two numbers [x, y]"),
    }
}

fn shape_of_connections(document: &Map<String, Value>, problems: &mut Problems) {
    let at = "/connections";
    let sources = match document.get("connections") {
        Some(Value::Object(sources)) => sources,
        None => {
            return problems.add(
                at.into(),
                "`connections` is missing; write {} when there are none",
            );
        }
        Some(_) => {
            return problems.add(at.into(), "`connections` is no object keyed by node name");
        }
    };
    for (source, kinds) in sources {
        let at = || joined(at, source);
        let Some(kinds) = kinds.as_object() else {
            problems.add(
                at(),
                "the source's connections are no object keyed by type, like {\"main\": [...]}",
            );
            continue;
        };
        for (kind, buckets) in kinds {
            let at = || joined(&at(), kind);
            let Some(buckets) = buckets.as_array() else {
                problems.add(at(), "the outputs are no array");
                continue;
            };
            for (i, bucket) in buckets.iter().enumerate() {
                let at = || format!("{}/{i}", at());
                match bucket {
                    Value::Null => {}
                    Value::Array(links) => {
                        for (j, link) in links.iter().enumerate() {
                            shape_of_link(link, &|| format!("{}/{j}", at()), problems);
                        }
                    }
                    _ => problems.add(at(), "the output is neither a list of targets nor null"),
                }
            }
        }
    }
}

fn shape_of_link(link: &Value, at: &dyn Fn() -> String, problems: &mut Problems) {
    let Some(link) = link.as_object() else {
        return problems.add(at(), "the target is no object {node, type, index}");
    };
    for key in ["node", "type"] {
        let text = link.get(key).and_then(Value::as_str);
        if text.is_none_or(str::is_empty) {
            problems.add(joined(&at(), key), format!("the target has no {key}"));
        }
    }
    let whole = |v: &Value| v.as_f64().is_some_and(|n| n >= 0.0 && n.fract() == 0.0);
    if !link.get("index").is_some_and(whole) {
        problems.add(
            joined(&at(), "index"),
            "the target's index is no whole number from 0",
        );
    }
}

fn names_and_ids(document: &Value, problems: &mut Problems) {
    let nodes = document.get("nodes").and_then(Value::as_array);
    let mut names = FxHashSet::default();
    let mut ids: FxHashMap<&str, &str> = FxHashMap::default();
    for (i, node) in nodes.into_iter().flatten().enumerate() {
        let text = |key: &str| node.get(key).and_then(Value::as_str);
        let name = text("name").unwrap_or("");
        if let Some(id) = text("id").filter(|id| !id.is_empty()) {
            match ids.get(id) {
                Some(first) => problems.add(
                    format!("/nodes/{i}/id"),
                    format!("the nodes {first:?} and {name:?} have the same id {id:?}"),
                ),
                None => {
                    ids.insert(id, name);
                }
            }
        }
        if !names.insert(name) {
            problems.add(
                format!("/nodes/{i}/name"),
                format!("another node is named {name:?} too; names are unique"),
            );
        }
    }
}

fn connection_ends(document: &Value, problems: &mut Problems) {
    let nodes = document.get("nodes").and_then(Value::as_array);
    let names: FxHashSet<&str> = nodes
        .into_iter()
        .flatten()
        .filter_map(|n| n.get("name")?.as_str())
        .collect();
    let sources = document.get("connections").and_then(Value::as_object);
    for (source, kinds) in sources.into_iter().flatten() {
        let at = || joined("/connections", source);
        if !names.contains(source.as_str()) {
            problems.add(
                at(),
                format!("connections start at {source:?}, which is no node's name"),
            );
        }
        for (kind, buckets) in kinds.as_object().into_iter().flatten() {
            for (i, bucket) in buckets.as_array().into_iter().flatten().enumerate() {
                for (j, link) in bucket.as_array().into_iter().flatten().enumerate() {
                    let target = link.get("node").and_then(Value::as_str).unwrap_or("");
                    if !names.contains(target) {
                        problems.add(
                            format!("{}/{i}/{j}/node", joined(&at(), kind)),
                            format!("the connection leads to {target:?}, which is no node's name"),
                        );
                    }
                }
            }
        }
    }
}
