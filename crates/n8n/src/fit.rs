//! How well an existing workflow fits a request, as points from evidence: the same score for the same input, each part named.
//! Parts that the request says nothing about count for nothing; the rest is scaled to 100.

use super::workflow::{Node, NodeId, Workflow, short_type};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a request asks for, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// Full node types, triggers left out.
    pub node_types: Vec<String>,
    pub trigger_types: Vec<String>,
    /// Telling words of the request.
    pub words: Vec<String>,
    /// Values that the request names: a channel, a sheet, a URL.
    pub values: Vec<String>,
}

/// 0 to 100, and what it is made of: part, points, most points possible.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FitScore {
    pub score: u8,
    pub parts: Vec<(String, u8, u8)>,
}

const NODE_TYPES: u8 = 35;
const SERVICES: u8 = 15;
const TRIGGER: u8 = 20;
const WORDS: u8 = 15;
const VALUES: u8 = 15;

/// The points of an existing workflow for a request. Disabled nodes and sticky notes do not count as present.
pub fn fit_score(wanted: &Wanted, existing: &Workflow) -> FitScore {
    let present: Vec<&Node> = existing
        .nodes
        .iter()
        .filter(|n| !n.disabled() && !n.is_sticky())
        .collect();
    let types: BTreeSet<&str> = present.iter().map(|n| n.node_type()).collect();
    let services: BTreeSet<String> = types.iter().map(|t| service(t)).collect();
    let words = words_of(existing, &present);
    let mut texts = Vec::new();
    for node in &present {
        if let Some(parameters) = node.map().get("parameters") {
            collect_texts(parameters, &mut texts);
        }
    }
    let wanted_services: BTreeSet<String> = wanted.node_types.iter().map(|t| service(t)).collect();
    let has_value = |value: &String| {
        let value = plain_value(value);
        !value.is_empty() && texts.iter().any(|text| text.contains(&value))
    };
    let shares: [(&str, u8, Option<f64>); 5] = [
        (
            "node types",
            NODE_TYPES,
            share(&wanted.node_types, |t| types.contains(t.as_str())),
        ),
        (
            "services",
            SERVICES,
            share(&wanted_services, |s| services.contains(s)),
        ),
        (
            "trigger",
            TRIGGER,
            any(&wanted.trigger_types, |t| types.contains(t.as_str())),
        ),
        (
            "words",
            WORDS,
            share(&wanted.words, |w| words.contains(&stem(w))),
        ),
        ("values", VALUES, share(&wanted.values, has_value)),
    ];
    let mut parts = Vec::new();
    let (mut points, mut possible) = (0.0, 0.0);
    for (name, most, share) in shares {
        let Some(share) = share else { continue };
        parts.push((name.to_owned(), rounded(share * f64::from(most)), most));
        points += share * f64::from(most);
        possible += f64::from(most);
    }
    let score = if possible > 0.0 {
        rounded(100.0 * points / possible)
    } else {
        0
    };
    FitScore { score, parts }
}

/// The points as far as a listing tells them: by name and node types, without reading the workflow.
pub fn listed_score(wanted: &Wanted, name: &str, node_types: &[String]) -> u8 {
    let mut outline = Workflow::empty(name);
    for (at, node_type) in node_types.iter().enumerate() {
        let id = NodeId(at.to_string());
        let node = Node::new(
            id,
            node_type.as_str(),
            node_type,
            1.0,
            serde_json::Map::new(),
        );
        outline.nodes.push(node);
    }
    fit_score(wanted, &outline).score
}

/// The share of wanted things that are there; None when nothing is wanted.
fn share<'a, T: 'a>(
    wanted: impl IntoIterator<Item = &'a T>,
    found: impl Fn(&T) -> bool,
) -> Option<f64> {
    let (mut all, mut there) = (0u32, 0u32);
    for one in wanted {
        all += 1;
        there += u32::from(found(one));
    }
    (all > 0).then(|| f64::from(there) / f64::from(all))
}

/// One of several ways to start is enough.
fn any(wanted: &[String], found: impl Fn(&String) -> bool) -> Option<f64> {
    (!wanted.is_empty()).then(|| f64::from(u8::from(wanted.iter().any(found))))
}

fn rounded(points: f64) -> u8 {
    // In range by construction; the clamp keeps the conversion exact.
    points.round().clamp(0.0, 100.0) as u8
}

/// What a node talks to: its type without package, trigger and tool endings.
fn service(node_type: &str) -> String {
    let name = short_type(node_type);
    let name = name.strip_suffix("Trigger").unwrap_or(name);
    let name = name.strip_suffix("HitlTool").unwrap_or(name);
    name.strip_suffix("Tool").unwrap_or(name).to_lowercase()
}

fn words_of(workflow: &Workflow, nodes: &[&Node]) -> BTreeSet<String> {
    let names = nodes.iter().map(|n| n.name());
    let description = workflow.head.get("description").and_then(Value::as_str);
    names
        .chain([workflow.name()])
        .chain(description)
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(stem)
        .collect()
}

/// Lower case without a plural ending: enough to meet `orders` with `Order`.
fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    match word.strip_suffix('s') {
        Some(stem) if stem.chars().count() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    }
}

fn plain_value(value: &str) -> String {
    value.trim().trim_start_matches(['#', '@']).to_lowercase()
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.to_lowercase()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(map) => map.values().for_each(|item| collect_texts(item, texts)),
        _ => {}
    }
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod fit_tests;
