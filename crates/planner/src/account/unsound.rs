//! What a finished workflow cannot do, whatever its words are: read a field that no node gives, delete something that nobody
//! named, send to an address of another kind, or say what nobody said. The part of the request that it was made of is not built.

use super::frames;
use crate::compile::Compiled;
use crate::modify;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::validate::validate;
use agentctl_n8n::{Node, short_type};
use serde_json::Value;

/// The finding of a field that the node before cannot give.
const FIELD_NOT_THERE: &str = "agentctl/field-not-there";

/// The parts of the request of which such nodes were made; where none is known, the finding or the node.
pub(super) fn unsound(built: &Compiled) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut add = |part: String| {
        if !parts.contains(&part) {
            parts.push(part);
        }
    };
    for finding in validate(&built.workflow, Catalog::embedded()) {
        if finding.code != FIELD_NOT_THERE {
            continue;
        }
        let name = finding.node.as_deref();
        let reader = name.and_then(|name| built.workflow.node_by_name(name));
        add(part_of(built, reader).unwrap_or(finding.message));
    }
    let nodes = built.workflow.nodes.iter().filter(|n| !n.disabled());
    for node in nodes.filter(|n| destroys_anything(n) || is_sent_astray(n) || says_nothing(n)) {
        add(part_of(built, Some(node)).unwrap_or_else(|| node.name().to_owned()));
    }
    parts
}

fn part_of(built: &Compiled, node: Option<&Node>) -> Option<String> {
    let name = node?.name();
    let mut made = built.made.iter();
    let made = made.find(|m| !m.said.is_empty() && m.nodes.iter().any(|n| n == name))?;
    Some(made.said.clone())
}

/// Whether a node destroys something and does not know what.
fn destroys_anything(node: &Node) -> bool {
    let parameters = node.parameters();
    let operation = parameters.and_then(|p| p.get("operation"));
    let operation = operation.and_then(Value::as_str);
    let mut values = parameters.into_iter().flat_map(|p| p.values());
    operation.is_some_and(frames::destroys)
        && values.any(|v| v.as_str().is_some_and(modify::is_open))
}

/// Whether a node has an address of mail where a telephone number belongs.
fn is_sent_astray(node: &Node) -> bool {
    let short = short_type(node.node_type());
    let mut parameters = node.parameters().into_iter().flatten();
    parameters.any(|(key, value)| modify::is_astray(short, key, value))
}

/// Whether what a node is to say or write was not said.
fn says_nothing(node: &Node) -> bool {
    let mut parameters = node.parameters().into_iter().flatten();
    parameters.any(|(key, value)| modify::is_unsaid(key, value))
}
