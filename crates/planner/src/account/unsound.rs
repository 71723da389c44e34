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
    let is_unsound = |n: &&Node| {
        destroys_anything(n)
            || destroys_by_a_guess(built, n)
            || is_sent_astray(n)
            || says_nothing(n)
    };
    for node in nodes.filter(is_unsound) {
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
    destroys(node) && values(node).filter_map(Value::as_str).any(modify::is_open)
}

/// Whether a node destroys what its own service gave just before, and takes the id from a part of that: such records carry their id
/// themselves.
fn destroys_by_a_guess(built: &Compiled, node: &Node) -> bool {
    let same_service = |name: &str| {
        let before = built.workflow.node_by_name(name);
        before.is_some_and(|before| before.node_type() == node.node_type())
    };
    destroys(node)
        && values(node)
            .filter_map(|value| value.as_str().or_else(|| value.get("value")?.as_str()))
            .any(is_of_a_part)
        && built
            .workflow
            .edges()
            .any(|(from, _, _, link)| link.node == node.name() && same_service(from))
}

/// `={{ $json.PART.id }}`.
fn is_of_a_part(value: &str) -> bool {
    let path = value.strip_prefix("={{ $json.");
    let path = path.and_then(|path| path.strip_suffix(".id }}"));
    path.is_some_and(|part| !part.is_empty() && part.chars().all(char::is_alphanumeric))
}

fn destroys(node: &Node) -> bool {
    let operation = node.parameters().and_then(|p| p.get("operation"));
    operation
        .and_then(Value::as_str)
        .is_some_and(frames::destroys)
}

fn values(node: &Node) -> impl Iterator<Item = &Value> {
    node.parameters().into_iter().flat_map(|p| p.values())
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
