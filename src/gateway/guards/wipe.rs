//! The wipe guard: what a run has lost of the workflow it started from, over all its edits together.
//! Only the start and the result are compared, so an edit cut into many small ones is judged like one large one.

use super::change::same_nodes;
use super::graph::{Graph, Number, Set};
use super::{WIPE, allow, ask};
use crate::n8n::{Node, Workflow};
use crate::policy::Decision;
use serde_json::Value;
use std::collections::HashMap;

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
    if same_nodes(base, after) && base.edges().eq(after.edges()) {
        // No node is gone, and what led to each of them still does.
        let pairs = base.nodes.iter().zip(&after.nodes);
        let lost = pairs.filter(|(node, other)| !node.is_sticky() && !still_works(node, other));
        loss.lost = lost.map(|(node, _)| node.name().to_owned()).collect();
        return loss;
    }
    let [base, after] = Graph::pair(base, after);
    let connected =
        |graph: &Graph<'_>| graph.set(graph.edges.iter().flat_map(|edge| [edge.from, edge.to]));
    let was_connected = connected(&base);
    let is_connected = connected(&after);
    let (ran, runs) = led_to(&base, &after, starts);
    let mut heirs = successors(&base, &after);
    for (key, node) in base.order.iter().copied() {
        if node.is_sticky() || (!after.has(key) && heirs.remove(key)) {
            continue;
        }
        let kept = after.node(key).is_some_and(|other| {
            let cut = (was_connected.has(key) && !is_connected.has(key))
                || (ran.has(key) && !runs.has(key));
            !cut && still_works(node, other)
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
fn led_to(base: &Graph<'_>, after: &Graph<'_>, starts: Starts<'_>) -> (Set, Set) {
    // The nodes that another node leads to, and the sub-nodes.
    let bound = |graph: &Graph<'_>| {
        let follows = graph.flow().filter(|e| e.from != e.to).map(|e| e.to);
        graph.set(follows.chain(graph.served()))
    };
    let (bound_before, bound_now) = (bound(base), bound(after));
    // What came before each node of the base and is still there.
    let kept_before = base.set(
        base.flow()
            .filter(|e| e.from != e.to && after.has(e.from))
            .map(|e| e.to),
    );
    let served_before = base.set(base.served());
    let begins = |key: Number, node: &Node| match base.has(key) {
        true => !kept_before.has(key) && !served_before.has(key),
        false => starts(node),
    };
    let order = |graph: &Graph<'_>, bound: &Set, begins: &dyn Fn(Number, &Node) -> bool| {
        let free = graph.order.iter().copied();
        free.filter(|(key, node)| !bound.has(*key) && begins(*key, node))
            .map(|(key, _)| key)
            .collect::<Vec<Number>>()
    };
    (
        spread(base, order(base, &bound_before, &|_, _| true)),
        spread(after, order(after, &bound_now, &begins)),
    )
}

/// All that the nodes lead to; a sub-node's connection leads from its parent to it.
fn spread(graph: &Graph<'_>, mut open: Vec<Number>) -> Set {
    let mut next: HashMap<Number, Vec<Number>> = HashMap::new();
    for edge in &graph.edges {
        let (tail, head) = if edge.is_main() {
            (edge.from, edge.to)
        } else {
            (edge.to, edge.from)
        };
        next.entry(tail).or_default().push(head);
    }
    let mut reached = graph.set(std::iter::empty());
    while let Some(key) = open.pop() {
        if reached.insert(key) {
            open.extend(next.get(&key).into_iter().flatten());
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
fn successors(base: &Graph<'_>, after: &Graph<'_>) -> Set {
    let asleep = |key: Number| after.node(key).is_some_and(Node::disabled);
    let mut taken = base.set(std::iter::empty());
    let mut found = taken.clone();
    for edge in base.edges.iter().filter(|e| SINGLE.contains(&e.kind)) {
        let lone = (base.edges.iter())
            .filter(|e| e.from == edge.from || e.to == edge.from)
            .all(|e| e.kind == edge.kind);
        let gone = !after.has(edge.from) && after.has(edge.to);
        if !lone || !gone || found.has(edge.from) {
            continue;
        }
        let heir = after.edges.iter().find(|e| {
            e.kind == edge.kind
                && e.to == edge.to
                && !base.has(e.from)
                && !taken.has(e.from)
                && !asleep(e.from)
        });
        if let Some(heir) = heir {
            taken.insert(heir.from);
            found.insert(edge.from);
        }
    }
    found
}

/// What is still there and does something of what it did, as far as the node itself says.
fn still_works(node: &Node, other: &Node) -> bool {
    let disabled = other.disabled() && !node.disabled();
    let emptied = has_parameters(node) && !keeps_a_parameter(node, other);
    node.node_type() == other.node_type() && !disabled && !emptied
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
