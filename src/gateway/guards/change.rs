//! What differs between two states of a workflow, in terms that a rename or a reorder cannot hide: nodes by id, edges by
//! the ids of their ends.

use crate::n8n::diff::changes;
use crate::n8n::{Node, Workflow};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

/// A node's identity: its id; for a node without one (or with one that stands twice) its name, marked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeKey(String);

impl fmt::Display for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    pub from: NodeKey,
    pub kind: String,
    pub output: u32,
    pub to: NodeKey,
    pub input_kind: String,
    pub input: u32,
}

/// Everything that a change touched, positions excepted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphChange {
    pub added: BTreeSet<NodeKey>,
    pub removed: BTreeSet<NodeKey>,
    /// In both states, with another value at any key but `position`; those that only follow a rename are not listed.
    pub changed: BTreeSet<NodeKey>,
    /// In one of the two states only.
    pub edges: BTreeSet<Edge>,
    /// Keys of the document besides nodes and connections, e.g. `settings`, `name`.
    pub document: BTreeSet<String>,
}

/// The key of each node, in the order of `workflow.nodes`; no two are equal.
pub fn keys(workflow: &Workflow) -> Vec<NodeKey> {
    let mut taken: HashSet<String> = HashSet::with_capacity(workflow.nodes.len());
    workflow
        .nodes
        .iter()
        .enumerate()
        .map(|(i, node)| {
            let id = node.id().0;
            let key = if !id.is_empty() && !taken.contains(&id) {
                id
            } else {
                let named = format!("name:{}", node.name());
                if taken.contains(&named) {
                    format!("place:{i}:{}", node.name())
                } else {
                    named
                }
            };
            taken.insert(key.clone());
            NodeKey(key)
        })
        .collect()
}

/// A workflow with its nodes' keys and its edges by them: worked out once for all that a guard asks.
pub(super) struct Graph<'w> {
    pub workflow: &'w Workflow,
    pub keys: Vec<NodeKey>,
    pub edges: BTreeSet<Edge>,
}

impl<'w> Graph<'w> {
    pub fn of(workflow: &'w Workflow) -> Self {
        let keys = keys(workflow);
        let edges = edges(workflow, &keys);
        Graph {
            workflow,
            keys,
            edges,
        }
    }

    pub fn nodes(&self) -> impl Iterator<Item = (&NodeKey, &'w Node)> {
        self.keys.iter().zip(&self.workflow.nodes)
    }
}

/// The first node of each name (n8n itself refuses a second one). A name that no node has still gets a key of its own.
pub(super) fn key_of_name(names: &HashMap<&str, NodeKey>, name: &str) -> NodeKey {
    names
        .get(name)
        .cloned()
        .unwrap_or_else(|| NodeKey(format!("missing:{name}")))
}

pub(super) fn names_to_keys<'w>(
    workflow: &'w Workflow,
    keys: &[NodeKey],
) -> HashMap<&'w str, NodeKey> {
    let mut names = HashMap::new();
    for (node, key) in workflow.nodes.iter().zip(keys) {
        names.entry(node.name()).or_insert_with(|| key.clone());
    }
    names
}

pub(super) fn edges(workflow: &Workflow, keys: &[NodeKey]) -> BTreeSet<Edge> {
    let names = names_to_keys(workflow, keys);
    workflow
        .edges()
        .map(|(from, kind, output, link)| Edge {
            from: key_of_name(&names, from),
            kind: kind.to_owned(),
            output,
            to: key_of_name(&names, &link.node),
            input_kind: link.kind.clone(),
            input: link.index,
        })
        .collect()
}

impl GraphChange {
    pub fn between(before: &Workflow, after: &Workflow) -> Self {
        let (before_keys, after_keys) = (keys(before), keys(after));
        let old = by_key(before, &before_keys);
        let new = by_key(after, &after_keys);
        let mut change = GraphChange {
            edges: edges(before, &before_keys)
                .symmetric_difference(&edges(after, &after_keys))
                .cloned()
                .collect(),
            document: document_changes(&before.head, &after.head),
            ..GraphChange::default()
        };
        for (key, node) in &old {
            match new.get(key) {
                None => change.removed.insert((*key).clone()),
                Some(other) if !same_but_position(node, other) => {
                    change.changed.insert((*key).clone())
                }
                Some(_) => false,
            };
        }
        // Where expressions only follow the new name of another node, that other node is the change.
        for node in changes(before, after).nodes_changed {
            if node.only_follows_rename() && !node.before.id.0.is_empty() {
                change.changed.remove(&NodeKey(node.before.id.0));
            }
        }
        change.added = new
            .keys()
            .filter(|key| !old.contains_key(*key))
            .map(|key| (*key).clone())
            .collect();
        change
    }

    pub fn is_empty(&self) -> bool {
        *self == GraphChange::default()
    }
}

fn by_key<'w>(
    workflow: &'w Workflow,
    keys: &'w [NodeKey],
) -> BTreeMap<&'w NodeKey, &'w Map<String, Value>> {
    keys.iter()
        .zip(workflow.nodes.iter().map(|node| &node.0))
        .collect()
}

fn same_but_position(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    let without = |map: &Map<String, Value>| {
        let mut map = map.clone();
        map.remove("position");
        map
    };
    a == b || without(a) == without(b)
}

fn document_changes(before: &Map<String, Value>, after: &Map<String, Value>) -> BTreeSet<String> {
    before
        .keys()
        .chain(after.keys())
        .filter(|key| !matches!(key.as_str(), "nodes" | "connections"))
        .filter(|key| before.get(*key) != after.get(*key))
        .cloned()
        .collect()
}
