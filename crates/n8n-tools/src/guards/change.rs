//! What differs between two states of a workflow, in terms that a rename or a reorder cannot hide: nodes by id, edges by
//! the ids of their ends.

use agentctl_n8n::diff::changes;
use agentctl_n8n::workflow::Link;
use agentctl_n8n::{Node, Workflow};
use serde_json::{Map, Value};
use std::borrow::Cow;
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

/// The key of each node as text, in the order of `workflow.nodes`; no two are equal.
pub(super) fn key_texts(workflow: &Workflow) -> Vec<Cow<'_, str>> {
    texts_of(workflow.nodes.iter().map(|n| (n.id_text(), n.name())))
}

/// The same of nodes that are given by id and name.
pub(super) fn texts_of<'w>(nodes: impl Iterator<Item = (&'w str, &'w str)>) -> Vec<Cow<'w, str>> {
    let mut taken: HashSet<Cow<'_, str>> = HashSet::with_capacity(nodes.size_hint().0);
    nodes
        .enumerate()
        .map(|(i, (id, name))| {
            let key = if !id.is_empty() && !taken.contains(id) {
                Cow::Borrowed(id)
            } else {
                let named = format!("name:{name}");
                Cow::Owned(if taken.contains(named.as_str()) {
                    format!("place:{i}:{name}")
                } else {
                    named
                })
            };
            taken.insert(key.clone());
            key
        })
        .collect()
}

/// The key of each node, in the order of `workflow.nodes`; no two are equal.
pub fn keys(workflow: &Workflow) -> Vec<NodeKey> {
    let texts = key_texts(workflow).into_iter();
    texts.map(|text| NodeKey(text.into_owned())).collect()
}

/// Every node in its place, by id and name: then their keys are the same too.
pub(super) fn same_nodes(before: &Workflow, after: &Workflow) -> bool {
    let mut pairs = before.nodes.iter().zip(&after.nodes);
    before.nodes.len() == after.nodes.len()
        && pairs.all(|(a, b)| a.id_text() == b.id_text() && a.name() == b.name())
}

/// Every edge, its ends by the keys of their nodes: the first node of each name (n8n itself refuses a second one). A name that
/// no node has still gets a key of its own.
pub(super) fn keyed_edges<'w>(
    workflow: &'w Workflow,
    keys: &[Cow<'w, str>],
) -> impl Iterator<Item = (Cow<'w, str>, &'w str, u32, Cow<'w, str>, &'w Link)> {
    let named = workflow.nodes.iter().map(Node::name).zip(keys);
    let key = by_name(named);
    let edges = workflow.edges();
    edges.map(move |(from, kind, output, link)| (key(from), kind, output, key(&link.node), link))
}

/// The key that an edge means by a name.
pub(super) fn by_name<'k, 'w: 'k>(
    named: impl Iterator<Item = (&'w str, &'k Cow<'w, str>)>,
) -> impl Fn(&str) -> Cow<'w, str> {
    let mut names: HashMap<&str, Cow<'w, str>> = HashMap::with_capacity(named.size_hint().0);
    for (name, key) in named {
        names.entry(name).or_insert_with(|| key.clone());
    }
    move |name| match names.get(name) {
        Some(key) => key.clone(),
        None => Cow::Owned(format!("missing:{name}")),
    }
}

pub(super) fn edges(workflow: &Workflow) -> BTreeSet<Edge> {
    keyed_edges(workflow, &key_texts(workflow))
        .map(|(from, kind, output, to, link)| Edge {
            from: NodeKey(from.into_owned()),
            kind: kind.to_owned(),
            output,
            to: NodeKey(to.into_owned()),
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
            edges: edges(before)
                .symmetric_difference(&edges(after))
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
        .zip(workflow.nodes.iter().map(Node::map))
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
