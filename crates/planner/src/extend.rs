//! Extends an existing workflow to what a new plan needs: nodes of the same kind are kept and get the plan's values, missing
//! ones are added and wired. Nothing is removed, renamed or disconnected.

use super::modify::Modification;
use agentctl_n8n::edit::{EditOp, NewNode};
use agentctl_n8n::workflow::RUN_SETTINGS;
use agentctl_n8n::{Node, Workflow};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

pub fn extend(existing: &Workflow, wanted: &Workflow) -> Modification {
    let same = matches(existing, wanted);
    let mut ops = Vec::new();
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut taken: HashSet<String> = existing.nodes.iter().map(|n| n.name().to_owned()).collect();
    for node in &wanted.nodes {
        match same.get(node.name()) {
            Some(kept) => {
                names.insert(node.name(), kept.name().to_owned());
                ops.extend(values(kept, node));
            }
            None => {
                let name = unused(node.name(), &taken);
                taken.insert(name.clone());
                names.insert(node.name(), name.clone());
                ops.push(added(node, name));
            }
        }
    }
    for (from, kind, output, link) in wanted.edges() {
        let (Some(source), Some(target)) = (names.get(from), names.get(link.node.as_str())) else {
            continue;
        };
        let both_there = same.contains_key(from) && same.contains_key(link.node.as_str());
        if both_there && reaches(existing, source, target) {
            continue;
        }
        ops.push(EditOp::Connect {
            from: source.clone(),
            to: target.clone(),
            kind: kind.to_owned(),
            output,
            input: link.index,
        });
    }
    Modification {
        ops,
        ..Modification::default()
    }
}

/// Wanted node name → the existing node that does the same: type, resource and operation agree. Each is used once.
fn matches<'a>(existing: &'a Workflow, wanted: &Workflow) -> BTreeMap<String, &'a Node> {
    let mut used: HashSet<&str> = HashSet::new();
    let mut same = BTreeMap::new();
    for node in &wanted.nodes {
        let found = existing.nodes.iter().find(|n| {
            !used.contains(n.name())
                && n.node_type() == node.node_type()
                && ["resource", "operation"]
                    .iter()
                    .all(|key| parameter(n, key) == parameter(node, key))
        });
        if let Some(found) = found {
            used.insert(found.name());
            same.insert(node.name().to_owned(), found);
        }
    }
    same
}

fn parameter<'a>(node: &'a Node, key: &str) -> Option<&'a Value> {
    node.parameters()?.get(key)
}

/// The plan's values where they differ; placeholders and expressions of the plan never replace what is there.
fn values(kept: &Node, wanted: &Node) -> Vec<EditOp> {
    let none = Map::new();
    let parameters = wanted.parameters().unwrap_or(&none);
    let differing = parameters.iter().filter(|(key, value)| {
        let now = parameter(kept, key);
        now != Some(value) && (now.is_none() || is_concrete(value))
    });
    differing
        .map(|(key, value)| EditOp::SetParameter {
            node: kept.id().0,
            pointer: format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            value: value.clone(),
        })
        .collect()
}

fn is_concrete(value: &Value) -> bool {
    match value {
        Value::String(s) => !s.is_empty() && !s.starts_with('=') && !s.contains('<'),
        Value::Array(list) => !list.is_empty() && list.iter().all(is_concrete),
        Value::Object(map) => {
            !map.is_empty()
                && map
                    .values()
                    .all(|v| is_concrete(v) || v.as_str() == Some(""))
        }
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
    }
}

fn unused(name: &str, taken: &HashSet<String>) -> String {
    if !taken.contains(name) {
        return name.to_owned();
    }
    (2..)
        .map(|n| format!("{name} {n}"))
        .find(|candidate| !taken.contains(candidate))
        .unwrap_or_else(|| name.to_owned())
}

fn added(node: &Node, name: String) -> EditOp {
    let settings: Map<String, Value> = RUN_SETTINGS
        .into_iter()
        .chain(["webhookId"])
        .filter_map(|key| Some((key.to_owned(), node.map().get(key)?.clone())))
        .collect();
    EditOp::AddNode {
        node: NewNode {
            id: None,
            name,
            node_type: node.node_type().to_owned(),
            type_version: node.type_version(),
            position: None,
            parameters: node.parameters().cloned().unwrap_or_default(),
            settings,
        },
    }
}

/// Whether a way leads from one node to the other.
fn reaches(workflow: &Workflow, from: &str, to: &str) -> bool {
    let mut open = vec![from];
    let mut seen = HashSet::new();
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            open.extend(
                workflow
                    .edges()
                    .filter(|(source, ..)| *source == at)
                    .map(|(.., link)| link.node.as_str()),
            );
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentctl_n8n::edit;
    use serde_json::json;

    fn workflow(nodes: Value, connections: Value) -> Workflow {
        Workflow::from_value(json!({"name": "w", "nodes": nodes, "connections": connections}))
            .unwrap()
    }

    #[test]
    fn the_same_again_changes_nothing() {
        let one = workflow(
            json!([{"id": "1", "name": "A", "type": "x.hook", "parameters": {"path": "in"}}, {"id": "2", "name": "B", "type": "x.chat", "parameters": {"to": "#a"}}]),
            json!({"A": {"main": [[{"node": "B", "type": "main", "index": 0}]]}}),
        );
        assert_eq!(extend(&one, &one).ops, []);
    }

    #[test]
    fn values_are_set_missing_steps_added_and_what_was_there_stays() {
        let existing = workflow(
            json!([
                {"id": "1", "name": "Start", "type": "x.hook", "parameters": {"path": "orders"}},
                {"id": "2", "name": "Tell", "type": "x.chat", "parameters": {"to": "#a", "text": "hello"}},
            ]),
            json!({"Start": {"main": [[{"node": "Tell", "type": "main", "index": 0}]]}}),
        );
        let wanted = workflow(
            json!([
                {"id": "a", "name": "Hook", "type": "x.hook", "parameters": {"path": "=guess"}},
                {"id": "b", "name": "Chat", "type": "x.chat", "parameters": {"to": "#b", "text": "<text>"}},
                {"id": "c", "name": "Sheet", "type": "x.sheet", "parameters": {"tab": "Orders"}},
            ]),
            json!({"Hook": {"main": [[{"node": "Chat", "type": "main", "index": 0}, {"node": "Sheet", "type": "main", "index": 0}]]}}),
        );
        let change = extend(&existing, &wanted);
        let after = edit::apply(&existing, &change.ops, &mut || "new".to_owned()).unwrap();
        assert_eq!(after.nodes[0], existing.nodes[0]);
        assert_eq!(
            after.nodes[1].parameters().unwrap().get("to"),
            Some(&json!("#b"))
        );
        assert_eq!(
            after.nodes[1].parameters().unwrap().get("text"),
            Some(&json!("hello"))
        );
        assert_eq!(after.nodes[2].name(), "Sheet");
        let edges: Vec<(String, String)> = after
            .edges()
            .map(|(from, _, _, link)| (from.to_owned(), link.node.clone()))
            .collect();
        assert_eq!(
            edges,
            [
                ("Start".into(), "Tell".into()),
                ("Start".into(), "Sheet".into())
            ]
        );
    }
}
