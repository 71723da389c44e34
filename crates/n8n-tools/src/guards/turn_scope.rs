//! The scope of a turn: which nodes may get other values by the words of the user. Nodes that are new in the run may; of the others,
//! where the words name a node by its name or its service, those that the words name or touch; else all of them.

use super::{TURN_SCOPE, allow, deny};
use agentctl_base::decision::Decision;
use agentctl_engine::policy::Facts;
use agentctl_n8n::part::quoted;
use agentctl_n8n::{Node, NodeId, Workflow, short_type};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Shorter words say nothing about a node.
const SHORTEST: usize = 4;
/// So many words beside a node's name are about the node: "the Tell sales node".
const BESIDE: usize = 2;

/// May these nodes, by id, get other values? `is_new`: the node was not there when the run began.
pub fn turn_scope(
    nodes: &[NodeId],
    workflow: &Workflow,
    is_new: &dyn Fn(&Node) -> bool,
    said: &Facts,
) -> Decision {
    let named: Vec<&Node> = workflow
        .nodes
        .iter()
        .filter(|n| is_named(n, said))
        .collect();
    if named.is_empty() {
        return allow(TURN_SCOPE);
    }
    // "Tell sales" is no word about "Load sales".
    let taken: BTreeSet<String> = named.iter().flat_map(|node| names_of(node)).collect();
    let outside: Vec<String> = nodes
        .iter()
        .filter_map(|id| workflow.node(id))
        .filter(|node| !is_new(node) && !is_named(node, said) && !is_touched(node, &taken, said))
        .map(|node| format!("{:?}", node.name()))
        .collect();
    if outside.is_empty() {
        return allow(TURN_SCOPE);
    }
    let named: Vec<String> = named.iter().map(|n| format!("{:?}", n.name())).collect();
    deny(
        TURN_SCOPE,
        format!(
            "the user's message names {} and not {}",
            named.join(", "),
            outside.join(", ")
        ),
    )
}

/// The words hold the node's whole name, or the service that it is of. A longer text that the user quotes is a value, whatever name
/// stands in it.
pub(super) fn is_named(node: &Node, said: &Facts) -> bool {
    names(node).iter().any(|name| stands_alone(name, said))
}

/// What a node is called by: its name, and its service where that is no short word.
pub(super) fn names(node: &Node) -> Vec<String> {
    let service = words(short_type(node.node_type())).join(" ");
    let service = Some(service).filter(|service| service.chars().count() >= SHORTEST);
    [Some(node.name().to_owned()), service]
        .into_iter()
        .flatten()
        .collect()
}

fn stands_alone(name: &str, said: &Facts) -> bool {
    let held = |said: &Facts| said.are_users(&json!(name));
    if !held(said) {
        return false;
    }
    let mut bare = Facts::default();
    for text in texts(said, name) {
        bare.add_words(&text);
    }
    held(&bare)
}

/// What the user wrote, without what is quoted at greater length than the name.
pub(super) fn texts(said: &Facts, name: &str) -> Vec<String> {
    let own = words(name);
    // Marks around a name make no value of it, nor does a word or two beside it: the guard is kept where it is in doubt.
    let is_longer = |part: &&str| {
        let said = words(part);
        part.chars().count() > name.chars().count() && said.len() > own.len() + BESIDE
    };
    let cut = |text: &str| {
        let longer = quoted(text).filter(is_longer);
        longer.fold(text.to_owned(), |text, part| text.replace(part, " "))
    };
    said.said().map(cut).collect()
}

/// The words of a node's name and service.
fn names_of(node: &Node) -> Vec<String> {
    [node.name(), short_type(node.node_type())]
        .into_iter()
        .flat_map(words)
        .collect()
}

/// The words hold a part of its name, one of its values, or the name of one of its parameters; `taken`: what another node's name holds.
fn is_touched(node: &Node, taken: &BTreeSet<String>, said: &Facts) -> bool {
    let parameters = || node.parameters().into_iter().flatten();
    let names = words(node.name()).into_iter();
    let names = names.chain(parameters().flat_map(|(name, _)| words(name)));
    let mut telling = names.filter(|w| w.chars().count() >= SHORTEST && !taken.contains(w));
    telling.any(|word| said.are_users(&json!(word)))
        || parameters().any(|(_, value)| holds(value, taken, said))
}

fn holds(value: &Value, taken: &BTreeSet<String>, said: &Facts) -> bool {
    match value {
        Value::Object(map) => map.values().any(|value| holds(value, taken, said)),
        Value::Array(items) => items.iter().any(|value| holds(value, taken, said)),
        Value::String(text) => {
            let long = text.chars().count() >= SHORTEST;
            long && !taken.contains(&text.to_lowercase()) && said.are_users(value)
        }
        Value::Number(number) => !taken.contains(&number.to_string()) && said.are_users(value),
        _ => false,
    }
}

/// `googleSheets`, `Load figures` → its words in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
