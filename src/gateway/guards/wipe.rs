//! The wipe guard: what a run has lost of the workflow it started from, over all its edits together.
//! Only the start and the result are compared, so an edit cut into many small ones is judged like one large one.

use super::change::{Edge, NodeKey, edges, keys};
use super::{WIPE, allow, ask};
use crate::n8n::{Node, Workflow};
use crate::policy::Decision;
use std::collections::{BTreeMap, BTreeSet};

/// What is lost of a base. Sticky notes are not counted: they run nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Names, in the base's order.
    pub lost: Vec<String>,
    pub total: usize,
}

impl Loss {
    pub fn is_wipe(&self) -> bool {
        self.lost.len() * 2 > self.total
    }
}

/// Whether a node can be where a run begins, by its type.
pub type Starts<'a> = &'a dyn Fn(&Node) -> bool;

/// A node of the base is lost when it is gone, became another type, was disabled, kept none of its parameters, has no
/// connection left while it had one, or was cut off from every start that led to it.
pub fn loss(base: &Workflow, after: &Workflow, starts: Starts<'_>) -> Loss {
    let (base_keys, after_keys) = (keys(base), keys(after));
    let connected = |workflow: &Workflow, keys: &[NodeKey]| -> BTreeSet<NodeKey> {
        edges(workflow, keys)
            .into_iter()
            .flat_map(|edge| [edge.from, edge.to])
            .collect()
    };
    let was_connected = connected(base, &base_keys);
    let is_connected = connected(after, &after_keys);
    let now: BTreeMap<&NodeKey, &Node> = after_keys.iter().zip(&after.nodes).collect();
    let (ran, runs) = led_to(base, after, &base_keys, &after_keys, starts);
    let mut loss = Loss {
        lost: Vec::new(),
        total: 0,
    };
    let mut heirs = successors(base, after, &base_keys, &after_keys);
    for (key, node) in base_keys.iter().zip(&base.nodes) {
        if node.is_sticky() {
            continue;
        }
        loss.total += 1;
        if !now.contains_key(key) && heirs.remove(key) {
            continue;
        }
        let kept = now.get(key).is_some_and(|other| {
            let cut = (was_connected.contains(key) && !is_connected.contains(key))
                || (ran.contains(key) && !runs.contains(key));
            let disabled = other.disabled() && !node.disabled();
            let emptied = has_parameters(node) && !keeps_a_parameter(node, other);
            node.node_type() == other.node_type() && !cut && !disabled && !emptied
        });
        if !kept {
            loss.lost.push(node.name().to_owned());
        }
    }
    loss
}

/// The nodes that a start leads to, in the base and now. In the base a start is what nothing leads to. Now it is one of those, or
/// a new node that can be one, or a node whose predecessors are all gone (they count themselves): a node that only had its
/// connections cut starts nothing. A sub-node runs when what it hangs on does.
fn led_to(
    base: &Workflow,
    after: &Workflow,
    base_keys: &[NodeKey],
    after_keys: &[NodeKey],
    starts: Starts<'_>,
) -> (BTreeSet<NodeKey>, BTreeSet<NodeKey>) {
    let (before, now) = (edges(base, base_keys), edges(after, after_keys));
    let there: BTreeSet<&NodeKey> = base_keys.iter().collect();
    let here: BTreeSet<&NodeKey> = after_keys.iter().collect();
    let bound = |edges| -> BTreeSet<&NodeKey> { follows(edges).chain(serves(edges)).collect() };
    let (bound_before, bound_now) = (bound(&before), bound(&now));
    // What came before each node of the base and is still there.
    let kept_before: BTreeSet<&NodeKey> = before
        .iter()
        .filter(|e| e.kind == MAIN && e.from != e.to && here.contains(&e.from))
        .map(|e| &e.to)
        .collect();
    let at_start: Vec<&NodeKey> = base_keys
        .iter()
        .filter(|key| !bound_before.contains(key))
        .collect();
    let begins = |key: &NodeKey, node: &Node| match there.contains(key) {
        true => !kept_before.contains(key) && !serves(&before).any(|sub| sub == key),
        false => starts(node),
    };
    let at_start_now: Vec<&NodeKey> = after_keys
        .iter()
        .zip(&after.nodes)
        .filter(|(key, node)| !bound_now.contains(key) && begins(key, node))
        .map(|(key, _)| key)
        .collect();
    (spread(&at_start, &before), spread(&at_start_now, &now))
}

/// The nodes that another node leads to.
fn follows(edges: &BTreeSet<Edge>) -> impl Iterator<Item = &NodeKey> {
    let main = edges.iter().filter(|e| e.kind == MAIN && e.from != e.to);
    main.map(|e| &e.to)
}

/// The sub-nodes.
fn serves(edges: &BTreeSet<Edge>) -> impl Iterator<Item = &NodeKey> {
    edges.iter().filter(|e| e.kind != MAIN).map(|e| &e.from)
}

const MAIN: &str = "main";

/// All that the nodes lead to; a sub-node's connection leads from its parent to it.
fn spread(from: &[&NodeKey], edges: &BTreeSet<Edge>) -> BTreeSet<NodeKey> {
    let mut next: BTreeMap<&NodeKey, Vec<&NodeKey>> = BTreeMap::new();
    for edge in edges {
        let (tail, head) = if edge.kind == MAIN {
            (&edge.from, &edge.to)
        } else {
            (&edge.to, &edge.from)
        };
        next.entry(tail).or_default().push(head);
    }
    let mut reached = BTreeSet::new();
    let mut open: Vec<&NodeKey> = from.to_vec();
    while let Some(key) = open.pop() {
        if reached.insert(key.clone()) {
            open.extend(next.get(key).into_iter().flatten());
        }
    }
    reached
}

/// What hangs on a node by a connection that takes one sub-node only.
const SINGLE: [&str; 4] = [
    "ai_languageModel",
    "ai_memory",
    "ai_embedding",
    "ai_outputParser",
];

/// The sub-nodes of the base whose one place on the same parent a new node has taken over: exchanged, not lost. One new node
/// stands for one old one and must be enabled, the parent must still be there, and nothing else may hang on the old one.
fn successors(
    base: &Workflow,
    after: &Workflow,
    base_keys: &[NodeKey],
    after_keys: &[NodeKey],
) -> BTreeSet<NodeKey> {
    let (before, now) = (edges(base, base_keys), edges(after, after_keys));
    let asleep: BTreeSet<&NodeKey> = after_keys
        .iter()
        .zip(&after.nodes)
        .filter(|(_, node)| node.disabled())
        .map(|(key, _)| key)
        .collect();
    let mut taken: BTreeSet<NodeKey> = BTreeSet::new();
    let mut found = BTreeSet::new();
    for edge in before.iter().filter(|e| SINGLE.contains(&e.kind.as_str())) {
        let lone = before
            .iter()
            .filter(|e| e.from == edge.from || e.to == edge.from)
            .all(|e| e.kind == edge.kind);
        let gone = !after_keys.contains(&edge.from) && after_keys.contains(&edge.to);
        if !lone || !gone || found.contains(&edge.from) {
            continue;
        }
        let heir = now.iter().find(|e| {
            e.kind == edge.kind
                && e.to == edge.to
                && !base_keys.contains(&e.from)
                && !taken.contains(&e.from)
                && !asleep.contains(&e.from)
        });
        if let Some(heir) = heir {
            taken.insert(heir.from.clone());
            found.insert(edge.from.clone());
        }
    }
    found
}

fn has_parameters(node: &Node) -> bool {
    node.parameters().is_some_and(|p| !p.is_empty())
}

/// Whether any top-level parameter of the one is still there in the other.
fn keeps_a_parameter(node: &Node, other: &Node) -> bool {
    let (before, after) = (node.parameters(), other.parameters());
    before.is_some_and(|before| {
        before
            .keys()
            .any(|key| after.is_some_and(|after| after.contains_key(key)))
    })
}

pub fn wipe(base: &Workflow, after: &Workflow, starts: Starts<'_>) -> Decision {
    let loss = loss(base, after, starts);
    if !loss.is_wipe() {
        return allow(WIPE);
    }
    let shown: Vec<&str> = loss.lost.iter().take(8).map(String::as_str).collect();
    let more = loss.lost.len().saturating_sub(shown.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    ask(
        WIPE,
        format!(
            "this run would lose {} of the {} nodes it started from: {}{more}",
            loss.lost.len(),
            loss.total,
            shown.join(", ")
        ),
    )
}
