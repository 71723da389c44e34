//! Two versions of a workflow as edit operations: only what differs, parameters one by one.

use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

use agentctl_n8n::edit::NewNode;
use agentctl_n8n::{EditOp, Node, Workflow};

const OWN: &[&str] = &[
    "id",
    "name",
    "type",
    "typeVersion",
    "position",
    "parameters",
    "credentials",
    "disabled",
];

fn settings(node: &Node) -> Map<String, Value> {
    node.map()
        .iter()
        .filter(|(k, _)| !OWN.contains(&k.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

/// JSON pointers below `parameters` that differ, with the new value (null: gone). Objects are walked, lists are not.
fn changes(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    at: &str,
    out: &mut Vec<(String, Value)>,
) {
    let escape = |k: &str| k.replace('~', "~0").replace('/', "~1");
    for (key, value) in new {
        let pointer = format!("{at}/{}", escape(key));
        match (old.get(key), value) {
            (Some(before), after) if before == after => {}
            (Some(Value::Object(before)), Value::Object(after)) if !before.contains_key("__rl") => {
                changes(before, after, &pointer, out)
            }
            _ => out.push((pointer, value.clone())),
        }
    }
    for key in old.keys().filter(|k| !new.contains_key(*k)) {
        out.push((format!("{at}/{}", escape(key)), Value::Null));
    }
}

type Edge = (String, String, u32, String, u32);

fn edges(workflow: &Workflow) -> Vec<Edge> {
    workflow
        .edges()
        .map(|(from, kind, output, link)| {
            (
                from.to_owned(),
                kind.to_owned(),
                output,
                link.node.clone(),
                link.index,
            )
        })
        .collect()
}

/// Operations that make the new workflow of the old one. Renames are recognised by id.
pub(crate) fn between(old: &Workflow, new: &Workflow) -> Vec<EditOp> {
    let mut ops = Vec::new();
    if old.name() != new.name() {
        ops.push(EditOp::SetName {
            name: new.name().to_owned(),
        });
    }
    let mut gone = Vec::new();
    let there: HashMap<&str, &Node> = old.nodes.iter().rev().map(|n| (n.id_text(), n)).collect();
    let stays: HashSet<&str> = new.nodes.iter().map(Node::id_text).collect();
    for node in &old.nodes {
        if !stays.contains(node.id_text()) {
            gone.push(node.name().to_owned());
            ops.push(EditOp::RemoveNode {
                node: node.name().to_owned(),
            });
        }
    }
    for node in &new.nodes {
        match there.get(node.id_text()) {
            None => ops.push(EditOp::AddNode {
                node: NewNode {
                    id: Some(node.id().0),
                    name: node.name().to_owned(),
                    node_type: node.node_type().to_owned(),
                    type_version: node.type_version(),
                    position: None,
                    parameters: node.parameters().cloned().unwrap_or_default(),
                    settings: settings(node),
                },
            }),
            Some(before) => changed(before, node, &mut ops),
        }
    }
    // A node that got another name has its edges under that one by then.
    let renamed: HashMap<&str, &str> = new
        .nodes
        .iter()
        .filter_map(|n| Some((there.get(n.id_text())?.name(), n.name())))
        .collect();
    let named = |name: String| {
        renamed
            .get(name.as_str())
            .map_or(name.clone(), |n| (*n).to_owned())
    };
    let before: Vec<Edge> = edges(old)
        .into_iter()
        .map(|(from, kind, output, to, input)| (named(from), kind, output, named(to), input))
        .collect();
    let after = edges(new);
    let (was, is): (HashSet<&Edge>, HashSet<&Edge>) =
        (before.iter().collect(), after.iter().collect());
    for edge in &before {
        let (from, kind, output, to, input) = edge;
        // edges of a removed node go with it
        if !is.contains(edge) && !gone.contains(from) && !gone.contains(to) {
            ops.push(EditOp::Disconnect {
                from: from.clone(),
                to: to.clone(),
                kind: kind.clone(),
                output: *output,
                input: *input,
            });
        }
    }
    for edge in &after {
        if !was.contains(edge) {
            let (from, kind, output, to, input) = edge.clone();
            ops.push(EditOp::Connect {
                from,
                to,
                kind,
                output,
                input,
            });
        }
    }
    ops
}

fn changed(before: &Node, node: &Node, ops: &mut Vec<EditOp>) {
    let name = before.name().to_owned();
    let empty = Map::new();
    let mut list = Vec::new();
    changes(
        before.parameters().unwrap_or(&empty),
        node.parameters().unwrap_or(&empty),
        "",
        &mut list,
    );
    for (pointer, value) in list {
        ops.push(EditOp::SetParameter {
            node: name.clone(),
            pointer,
            value,
        });
    }
    let (old, new) = (settings(before), settings(node));
    let mut set = Map::new();
    for (key, value) in &new {
        if old.get(key) != Some(value) {
            set.insert(key.clone(), value.clone());
        }
    }
    for key in old.keys().filter(|k| !new.contains_key(*k)) {
        set.insert(key.clone(), Value::Null);
    }
    if !set.is_empty() {
        ops.push(EditOp::SetNodeSettings {
            node: name.clone(),
            settings: set,
        });
    }
    if before.disabled() != node.disabled() {
        ops.push(if node.disabled() {
            EditOp::DisableNode { node: name.clone() }
        } else {
            EditOp::EnableNode { node: name.clone() }
        });
    }
    if before.name() != node.name() {
        ops.push(EditOp::RenameNode {
            node: name,
            name: node.name().to_owned(),
        });
    }
}

/// The node whose own content an operation changes (edges are not content).
pub(crate) fn changed_node(op: &EditOp) -> Option<&str> {
    match op {
        EditOp::RemoveNode { node }
        | EditOp::SetParameter { node, .. }
        | EditOp::ReplaceParameters { node, .. }
        | EditOp::ReplaceText { node, .. }
        | EditOp::RenameNode { node, .. }
        | EditOp::EnableNode { node }
        | EditOp::DisableNode { node }
        | EditOp::SetNodeSettings { node, .. }
        | EditOp::SetCredential { node, .. }
        | EditOp::SetTypeVersion { node, .. } => Some(node),
        _ => None,
    }
}
