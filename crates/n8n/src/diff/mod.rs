//! What differs between two versions of a workflow, exactly: the guards decide on it (scope of a fix, lost nodes, cut edges).
//! Nodes are paired by id; a node that has none on one side (servers fill ids in) is paired by name. Edges are compared between
//! paired nodes, so a rename alone changes no edge. Key order, node order and number spelling are no change.

mod pieces;
mod text;

use super::{
    edit::references,
    workflow::{Node, NodeId, Workflow},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};

pub use text::{shown_diff, text_diff};

/// A node as one version has it. The id is empty when the document has none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeRef {
    pub id: NodeId,
    pub name: String,
}

/// What of a node changed. `Settings` are the node-level keys without a word of their own (onError, notes, …).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Aspect {
    Id,
    Name,
    Type,
    TypeVersion,
    Parameters,
    Credentials,
    Disabled,
    Settings,
    Position,
}

/// One changed value; `pointer` is relative to the node, the settings or the document; None: the key is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueChange {
    pub pointer: String,
    pub old: Option<Value>,
    pub new: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeChange {
    pub before: NodeRef,
    pub after: NodeRef,
    pub aspects: BTreeSet<Aspect>,
    pub values: Vec<ValueChange>,
    /// The parameters changed only where expressions name a node that was renamed.
    pub follows_rename: bool,
}

/// An edge by the nodes it joins, each with the name it has where the edge stands. A dangling end has an empty id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EdgeRef {
    pub from: NodeRef,
    pub kind: String,
    pub output: u32,
    pub to: NodeRef,
    pub input_kind: String,
    pub input: u32,
}

/// Every difference between two versions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkflowDiff {
    pub nodes_added: Vec<NodeRef>,
    pub nodes_removed: Vec<NodeRef>,
    pub nodes_changed: Vec<NodeChange>,
    pub edges_added: Vec<EdgeRef>,
    pub edges_removed: Vec<EdgeRef>,
    /// Workflow settings, pointers below `settings`.
    pub settings: Vec<ValueChange>,
    /// All other top-level keys (name, active, pinData, tags, …), pointers below the document.
    pub document: Vec<ValueChange>,
}

/// Everything that changed from `before` to `after`.
pub fn changes(before: &Workflow, after: &Workflow) -> WorkflowDiff {
    let pairing = Pairing::new(before, after);
    let renames = pairing.renames();
    let (edges_added, edges_removed) = pairing.edge_changes();
    let (mut settings, mut document) = (Vec::new(), Vec::new());
    let empty = Map::new();
    let [old, new] = [before, after].map(|w| match w.head.get("settings") {
        Some(Value::Object(map)) => map,
        _ => &empty,
    });
    object_changes(old, new, "", &mut settings);
    let rest = |key: &str| !["nodes", "connections", "settings"].contains(&key);
    entry_changes(&before.head, &after.head, "", &rest, &mut document);
    let (added, removed) = (pairing.only_after(), pairing.only_before());
    WorkflowDiff {
        nodes_added: added.map(reference).collect(),
        nodes_removed: removed.map(reference).collect(),
        nodes_changed: pairing
            .pairs
            .iter()
            .filter_map(|(old, new)| node_change(old, new, &renames, before))
            .collect(),
        edges_added,
        edges_removed,
        settings,
        document,
    }
}

impl WorkflowDiff {
    pub fn is_empty(&self) -> bool {
        *self == WorkflowDiff::default()
    }

    /// Nothing but node positions changed.
    pub fn is_move_only(&self) -> bool {
        let rest = WorkflowDiff {
            nodes_changed: Vec::new(),
            ..self.clone()
        };
        rest.is_empty() && self.nodes_changed.iter().all(|c| !c.is_beyond_position())
    }
}

impl NodeChange {
    pub fn is_beyond_position(&self) -> bool {
        self.aspects.iter().any(|a| *a != Aspect::Position)
    }

    /// The change is only what a rename elsewhere does to expressions (and a position).
    pub fn only_follows_rename(&self) -> bool {
        let of_rename = |a: &Aspect| matches!(a, Aspect::Parameters | Aspect::Position);
        self.follows_rename && self.aspects.iter().all(of_rename)
    }
}

fn reference(node: &Node) -> NodeRef {
    NodeRef {
        id: node.id(),
        name: node.name().to_owned(),
    }
}

/// Which node of one version is which of the other.
struct Pairing<'a> {
    before: &'a Workflow,
    after: &'a Workflow,
    pairs: Vec<(&'a Node, &'a Node)>,
    /// Index in `after` by index in `before`.
    partner: Vec<Option<usize>>,
    /// By index in `after`: it is somebody's partner.
    taken: Vec<bool>,
}

impl<'a> Pairing<'a> {
    fn new(before: &'a Workflow, after: &'a Workflow) -> Self {
        let (partner, taken) =
            Self::in_place(before, after).unwrap_or_else(|| Self::by_id_and_name(before, after));
        let pairs = before.nodes.iter().zip(&partner);
        let pairs = pairs.filter_map(|(old, j)| Some((old, after.nodes.get((*j)?)?)));
        Pairing {
            before,
            after,
            pairs: pairs.collect(),
            partner,
            taken,
        }
    }

    /// The usual case: the same ids in the same order.
    fn in_place(before: &Workflow, after: &Workflow) -> Option<(Vec<Option<usize>>, Vec<bool>)> {
        let mut pairs = before.nodes.iter().zip(&after.nodes);
        let same = before.nodes.len() == after.nodes.len()
            && pairs.all(|(a, b)| !a.id_text().is_empty() && a.id_text() == b.id_text());
        let count = before.nodes.len();
        same.then(|| ((0..count).map(Some).collect(), vec![true; count]))
    }

    fn by_id_and_name(before: &Workflow, after: &Workflow) -> (Vec<Option<usize>>, Vec<bool>) {
        let mut by_id: HashMap<&str, Vec<usize>> = HashMap::with_capacity(after.nodes.len());
        for (j, node) in after.nodes.iter().enumerate().rev() {
            by_id.entry(node.id_text()).or_default().push(j);
        }
        by_id.remove(""); // no id
        let mut partner: Vec<Option<usize>> = before
            .nodes
            .iter()
            .map(|old| by_id.get_mut(old.id_text()).and_then(Vec::pop))
            .collect();
        let mut taken = vec![false; after.nodes.len()];
        for j in partner.iter().flatten() {
            take(&mut taken, *j);
        }
        for (old, partner) in before.nodes.iter().zip(&mut partner) {
            if partner.is_some() {
                continue;
            }
            let one_without_id = |new: &Node| {
                (old.id_text().is_empty() || new.id_text().is_empty()) && old.name() == new.name()
            };
            let mut free = after.nodes.iter().zip(&taken).enumerate();
            let found = free.find(|(_, (new, taken))| !**taken && one_without_id(new));
            if let Some(j) = found.map(|(j, _)| j) {
                *partner = Some(j);
                take(&mut taken, j);
            }
        }
        (partner, taken)
    }

    fn only_before(&self) -> impl Iterator<Item = &'a Node> {
        let nodes = self.before.nodes.iter().zip(&self.partner);
        nodes.filter(|(_, j)| j.is_none()).map(|(node, _)| node)
    }

    fn only_after(&self) -> impl Iterator<Item = &'a Node> {
        let nodes = self.after.nodes.iter().zip(&self.taken);
        nodes.filter(|(_, taken)| !**taken).map(|(node, _)| node)
    }

    fn renames(&self) -> Vec<(&'a str, &'a str)> {
        let names = self.pairs.iter().map(|(old, new)| (old.name(), new.name()));
        names.filter(|(old, new)| old != new).collect()
    }

    fn edge_changes(&self) -> (Vec<EdgeRef>, Vec<EdgeRef>) {
        let mut named = self.pairs.iter().map(|(old, new)| old.name() == new.name());
        let in_place = self.pairs.len() == self.after.nodes.len()
            && self.partner.iter().enumerate().all(|(i, j)| *j == Some(i));
        if in_place && named.all(|same| same) && self.before.edges().eq(self.after.edges()) {
            return Default::default();
        }
        let partner = |i: usize| self.partner.get(i).copied().flatten();
        let old = KeyedEdges::of(self.before, &|i| {
            partner(i).map_or(End::Before(i), End::Paired)
        });
        let new = KeyedEdges::of(self.after, &End::Paired);
        (new.missing_in(&old), old.missing_in(&new))
    }
}

fn take(taken: &mut [bool], at: usize) {
    if let Some(taken) = taken.get_mut(at) {
        *taken = true;
    }
}

/// One end of an edge in a form that is the same in both versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End<'a> {
    /// By the index in the newer version.
    Paired(usize),
    /// Only in the older version.
    Before(usize),
    /// No node has the name.
    Dangling(&'a str),
}

type EdgeKey<'a> = (End<'a>, &'a str, u32, End<'a>, &'a str, u32);

/// The edges of a version in the form that is the same in both, each with the names of its ends.
struct KeyedEdges<'a> {
    by_name: HashMap<&'a str, (usize, &'a Node)>,
    edges: HashMap<EdgeKey<'a>, (&'a str, &'a str)>,
}

impl<'a> KeyedEdges<'a> {
    fn of(workflow: &'a Workflow, end: &dyn Fn(usize) -> End<'a>) -> Self {
        let nodes = workflow.nodes.iter().enumerate();
        let by_name: HashMap<&str, (usize, &Node)> =
            nodes.map(|(i, n)| (n.name(), (i, n))).collect();
        let resolve = |name: &'a str| match by_name.get(name) {
            Some((i, _)) => end(*i),
            None => End::Dangling(name),
        };
        let edges = workflow.edges().map(|(from, kind, output, link)| {
            let (to, input_kind) = (link.node.as_str(), link.kind.as_str());
            let ends = (resolve(from), resolve(to));
            let key = (ends.0, kind, output, ends.1, input_kind, link.index);
            (key, (from, to))
        });
        let edges = edges.collect();
        KeyedEdges { by_name, edges }
    }

    fn missing_in(&self, other: &Self) -> Vec<EdgeRef> {
        let node = |name: &str| match self.by_name.get(name) {
            Some((_, node)) => reference(node),
            None => NodeRef {
                id: NodeId(String::new()),
                name: name.to_owned(),
            },
        };
        let missing = |(key, _): &(&EdgeKey<'_>, _)| !other.edges.contains_key(*key);
        let edges = self.edges.iter().filter(missing);
        let mut edges: Vec<EdgeRef> = edges
            .map(
                |((_, kind, output, _, input_kind, input), (from, to))| EdgeRef {
                    from: node(from),
                    kind: (*kind).to_owned(),
                    output: *output,
                    to: node(to),
                    input_kind: (*input_kind).to_owned(),
                    input: *input,
                },
            )
            .collect();
        edges.sort();
        edges
    }
}

fn node_change(
    old: &Node,
    new: &Node,
    renames: &[(&str, &str)],
    before: &Workflow,
) -> Option<NodeChange> {
    if old == new {
        return None;
    }
    let mut values = Vec::new();
    object_changes(old.map(), new.map(), "", &mut values);
    // Of the node-level keys, an absent flag and `false`, an absent object and an empty one mean the same.
    values.retain(|change| {
        let node_level = change.pointer.matches('/').count() == 1;
        !(node_level && is_default(&change.old) && is_default(&change.new))
    });
    if values.is_empty() {
        return None;
    }
    let aspects: BTreeSet<Aspect> = values.iter().map(|v| aspect_of(&v.pointer)).collect();
    let follows_rename = !renames.is_empty() && aspects.contains(&Aspect::Parameters) && {
        let mut followed = old.clone();
        let is_node = |name: &str| before.node_by_name(name).is_some();
        for names in renames {
            references::rename_in_node(&mut followed, *names, &is_node);
        }
        let mut rest = Vec::new();
        let parameters = |n: &Node| n.parameters().cloned().unwrap_or_default();
        object_changes(&parameters(&followed), &parameters(new), "", &mut rest);
        rest.is_empty()
    };
    Some(NodeChange {
        before: reference(old),
        after: reference(new),
        aspects,
        values,
        follows_rename,
    })
}

fn is_default(value: &Option<Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => true,
        Some(Value::Object(map)) => map.is_empty(),
        _ => false,
    }
}

fn aspect_of(pointer: &str) -> Aspect {
    match pointer.split('/').nth(1).unwrap_or("") {
        "id" => Aspect::Id,
        "name" => Aspect::Name,
        "type" => Aspect::Type,
        "typeVersion" => Aspect::TypeVersion,
        "parameters" => Aspect::Parameters,
        "credentials" => Aspect::Credentials,
        "disabled" => Aspect::Disabled,
        "position" => Aspect::Position,
        _ => Aspect::Settings,
    }
}

fn object_changes(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    at: &str,
    out: &mut Vec<ValueChange>,
) {
    entry_changes(old, new, at, &|_| true, out);
}

/// Of the keys that are `wanted`.
fn entry_changes(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    at: &str,
    wanted: &dyn Fn(&str) -> bool,
    out: &mut Vec<ValueChange>,
) {
    let added = new.keys().filter(|key| !old.contains_key(*key));
    for key in old.keys().chain(added).filter(|key| wanted(key)) {
        let (old, new) = (old.get(key), new.get(key));
        if old != new {
            let escaped = key.replace('~', "~0").replace('/', "~1");
            value_changes(old, new, format!("{at}/{escaped}"), out);
        }
    }
}

fn value_changes(
    old: Option<&Value>,
    new: Option<&Value>,
    pointer: String,
    out: &mut Vec<ValueChange>,
) {
    match (old, new) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => object_changes(a, b, &pointer, out),
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for i in 0..a.len().max(b.len()) {
                value_changes(a.get(i), b.get(i), format!("{pointer}/{i}"), out);
            }
        }
        (Some(Value::Number(a)), Some(Value::Number(b))) if a.as_f64() == b.as_f64() => {}
        (a, b) if a == b => {}
        _ => out.push(ValueChange {
            pointer,
            old: old.cloned(),
            new: new.cloned(),
        }),
    }
}

#[cfg(test)]
mod diff_tests;
