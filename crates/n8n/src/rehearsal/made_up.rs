//! What of a run rests on items that the test itself made up in the place of a simulated node's. It says nothing about the workflow:
//! what was seen there may be other than expected because the item is. Found by which nodes hand items on and whose items they read;
//! a node that works on whole items reads all of what comes in.

use super::reads::{each_text, passes};
use super::{NodePart, Part, Trace};
use crate::edit::references::named_by;
use crate::workflow::short_type;
use crate::{Node, Workflow};
use serde_json::Value;
use std::collections::BTreeMap;

/// Nodes that decide where the items go, or how many go on.
const DECIDES: &[&str] = &[
    "compareDatasets",
    "filter",
    "if",
    "limit",
    "removeDuplicates",
    "splitInBatches",
    "splitOut",
    "switch",
];
/// Of these nodes expressions alone say what they do with an item.
const BY_EXPRESSIONS: &[&str] = &[
    "filter",
    "if",
    "respondToWebhook",
    "set",
    "stopAndError",
    "switch",
];
/// How an expression reads the item that comes in.
const INPUT: &[&str] = &["$json", "$input", "$binary", "$data", "$node", "$items"];

/// By a node's name the simulated one that this is of.
type Of = BTreeMap<String, String>;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MadeUp {
    /// What it reads.
    read: Of,
    /// Whether the run comes to it.
    way: Of,
    /// What comes out of it.
    items: Of,
    /// How many come out of it.
    count: Of,
}

impl MadeUp {
    pub fn of(workflow: &Workflow, parts: &[NodePart], trace: &Trace) -> MadeUp {
        let mut before: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (from, kind, _, link) in workflow.edges() {
            if kind == "main" {
                before.entry(link.node.as_str()).or_default().push(from);
            }
        }
        let mut made = MadeUp::default();
        for part in parts {
            let is_made = matches!(&part.part, Part::Simulated { hands_on: Some(item), .. } if item.is_object());
            if is_made && trace.ran(&part.node) {
                for of in [&mut made.items, &mut made.count] {
                    of.insert(part.node.clone(), part.node.clone());
                }
            }
        }
        // Each round carries it on by one node at least.
        for _ in &workflow.nodes {
            let known = made.clone();
            for node in &workflow.nodes {
                let part = parts.iter().find(|part| part.node == node.name());
                let from = before.get(node.name()).map_or(&[][..], Vec::as_slice);
                made.carry(workflow, node, part.map(|part| &part.part), from);
            }
            if made == known {
                break;
            }
        }
        made
    }

    fn carry(&mut self, workflow: &Workflow, node: &Node, part: Option<&Part>, before: &[&str]) {
        let any = |of: &Of| before.iter().find_map(|from| of.get(*from)).cloned();
        let coming = any(&self.items);
        let named = named_by(node).nodes;
        let named = named
            .iter()
            .find_map(|other| self.items.get(other))
            .cloned();
        let input = coming.clone().filter(|_| reads_input(node, part));
        let read = named.or(input);
        let decides = |from: &&&str| {
            let node = workflow.node_by_name(from);
            node.is_some_and(|node| DECIDES.contains(&short_type(node.node_type())))
        };
        let decided = before.iter().filter(decides);
        let decided = decided
            .filter_map(|from| self.read.get(*from))
            .next()
            .cloned();
        let way = decided.or_else(|| any(&self.way));
        let count = any(&self.count).or_else(|| way.clone());
        let gives = matches!(part, Some(Part::Simulated { hands_on, .. }) if hands_on.is_some());
        let items = match passes(node) {
            true => coming.or_else(|| read.clone()),
            false => read.clone(),
        };
        let name = node.name();
        note(&mut self.read, name, read);
        note(&mut self.way, name, way);
        // What the test was given for a node is what it is.
        if !gives {
            note(&mut self.items, name, items);
            note(&mut self.count, name, count);
        }
    }

    /// The simulated node that what the node does with its items rests on: what it sends, and what goes wrong in it.
    pub fn work(&self, node: &str) -> Option<&str> {
        self.read.get(node).map(String::as_str)
    }

    /// The same of whether it is come to.
    pub fn way(&self, node: &str) -> Option<&str> {
        self.way.get(node).map(String::as_str)
    }

    /// The same of the items that it hands on.
    pub fn items(&self, node: &str) -> Option<&str> {
        let items = self.items.get(node).map(String::as_str);
        items.or_else(|| self.way(node))
    }

    /// The same of how many there are of them, or of its calls.
    pub fn count(&self, node: &str) -> Option<&str> {
        self.count.get(node).map(String::as_str)
    }

    /// The same of what the one who called the workflow was answered.
    pub fn answer(&self, workflow: &Workflow, trace: &Trace) -> Option<&str> {
        let responds = |node: &&Node| short_type(node.node_type()) == "respondToWebhook";
        let mut answering = workflow.nodes.iter().filter(responds).peekable();
        if answering.peek().is_none() {
            return self.items(trace.last_node.as_deref()?);
        }
        let rests = |node: &Node| self.work(node.name()).or_else(|| self.way(node.name()));
        answering.find_map(rests)
    }
}

fn note(of: &mut Of, name: &str, found: Option<String>) {
    if let Some(found) = found {
        of.entry(name.to_owned()).or_insert(found);
    }
}

fn reads_input(node: &Node, part: Option<&Part>) -> bool {
    let short = short_type(node.node_type());
    let parameter = |key: &str| node.parameters().and_then(|p| p.get(key));
    let is_whole = match short {
        // Older ones keep what comes in unless told otherwise.
        "set" => node.type_version().is_none_or(|version| version < 3.3),
        "respondToWebhook" => !matches!(
            parameter("respondWith").and_then(Value::as_str),
            Some("json" | "text" | "noData" | "redirect" | "jwt")
        ),
        _ => !matches!(part, Some(Part::Simulated { .. })) && !BY_EXPRESSIONS.contains(&short),
    };
    let mut reads = is_whole;
    each_text(node, &mut |_, _, text| {
        reads |= text.starts_with('=') && INPUT.iter().any(|sign| text.contains(sign));
    });
    reads
}

#[cfg(test)]
#[path = "made_up_tests.rs"]
mod made_up_tests;
