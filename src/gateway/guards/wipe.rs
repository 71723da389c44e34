//! The wipe guard: what a run has lost of the workflow it started from, over all its edits together.
//! Only the start and the result are compared, so an edit cut into many small ones is judged like one large one.

use super::change::{Edge, Graph, NodeKey};
use super::{WIPE, allow, ask};
use crate::n8n::{Node, Workflow};
use crate::policy::Decision;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};

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
    let mut loss = Loss {
        lost: Vec::new(),
        total: base.nodes.iter().filter(|node| !node.is_sticky()).count(),
    };
    if base == after {
        return loss; // nothing was changed since
    }
    let (base, after) = (Graph::of(base), Graph::of(after));
    let connected = |graph: &Graph<'_>| -> HashSet<NodeKey> {
        let ends = graph.edges.iter().flat_map(|edge| [&edge.from, &edge.to]);
        ends.cloned().collect()
    };
    let was_connected = connected(&base);
    let is_connected = connected(&after);
    let now: HashMap<&NodeKey, &Node> = after.nodes().collect();
    let (ran, runs) = led_to(&base, &after, starts);
    let mut heirs = successors(&base, &after);
    for (key, node) in base.nodes() {
        if node.is_sticky() || (!now.contains_key(key) && heirs.remove(key)) {
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
fn led_to<'g>(
    base: &'g Graph<'_>,
    after: &'g Graph<'_>,
    starts: Starts<'_>,
) -> (HashSet<&'g NodeKey>, HashSet<&'g NodeKey>) {
    let there: HashSet<&NodeKey> = base.keys.iter().collect();
    let here: HashSet<&NodeKey> = after.keys.iter().collect();
    fn bound(edges: &BTreeSet<Edge>) -> HashSet<&NodeKey> {
        follows(edges).chain(serves(edges)).collect()
    }
    let (bound_before, bound_now) = (bound(&base.edges), bound(&after.edges));
    // What came before each node of the base and is still there.
    let kept_before: HashSet<&NodeKey> = base
        .edges
        .iter()
        .filter(|e| e.kind == MAIN && e.from != e.to && here.contains(&e.from))
        .map(|e| &e.to)
        .collect();
    let served_before: HashSet<&NodeKey> = serves(&base.edges).collect();
    let at_start = base.keys.iter().filter(|key| !bound_before.contains(key));
    let begins = |key: &NodeKey, node: &Node| match there.contains(key) {
        true => !kept_before.contains(key) && !served_before.contains(key),
        false => starts(node),
    };
    let at_start_now = after
        .nodes()
        .filter(|(key, node)| !bound_now.contains(key) && begins(key, node))
        .map(|(key, _)| key);
    (
        spread(at_start, &base.edges),
        spread(at_start_now, &after.edges),
    )
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
fn spread<'g>(
    from: impl Iterator<Item = &'g NodeKey>,
    edges: &'g BTreeSet<Edge>,
) -> HashSet<&'g NodeKey> {
    let mut next: HashMap<&NodeKey, Vec<&'g NodeKey>> = HashMap::new();
    for edge in edges {
        let (tail, head) = if edge.kind == MAIN {
            (&edge.from, &edge.to)
        } else {
            (&edge.to, &edge.from)
        };
        next.entry(tail).or_default().push(head);
    }
    let mut reached = HashSet::new();
    let mut open: Vec<&NodeKey> = from.collect();
    while let Some(key) = open.pop() {
        if reached.insert(key) {
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
fn successors(base: &Graph<'_>, after: &Graph<'_>) -> BTreeSet<NodeKey> {
    let (before, now) = (&base.edges, &after.edges);
    let (base_keys, after_keys) = (&base.keys, &after.keys);
    let asleep: BTreeSet<&NodeKey> = after
        .nodes()
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

/// Whether any top-level parameter of the one is still there in the other, and says something if it did.
fn keeps_a_parameter(node: &Node, other: &Node) -> bool {
    let (before, after) = (node.parameters(), other.parameters());
    before.is_some_and(|before| {
        before.keys().any(|key| {
            let now = after.and_then(|after| after.get(key));
            let was_blank = before.get(key).is_none_or(is_blank);
            now.is_some_and(|now| was_blank || !is_blank(now))
        })
    })
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(map) => map.values().all(is_blank),
        _ => false,
    }
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
