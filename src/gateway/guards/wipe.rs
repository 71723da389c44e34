//! The wipe guard: what is lost of the last state of a workflow that a person accepted, over all that was done to it since.
//! Only the base and the result are compared, so an edit cut into many small ones, in as many runs, is judged like one large one.

use super::graph::{Graph, Number, Set, pair};
use super::outline::{Ids, Outline, Sketch, is_blank};
use super::{WIPE, allow, ask};
use crate::n8n::catalog::Begins;
use crate::n8n::dead::{Ways, ways};
use crate::n8n::{Node, Workflow};
use crate::policy::Decision;
use std::collections::HashMap;

/// Fewer nodes than this with all parameters replaced are an edit, however small the workflow is.
const LEAST_REPLACED: usize = 3;

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

/// What is known of a node type as the beginning of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    No,
    /// Nobody knows the type. In the base it counts as a start that begins by itself, and so does the same node now; a new one
    /// has shown nothing yet, and counts as one that a person presses.
    Unknown,
    Known(Begins),
}

/// By the type's name.
pub type Starts<'a> = &'a dyn Fn(&str) -> Start;

/// What became of a node of the base.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    /// It is there, and says something else altogether.
    Replaced,
    Lost,
}

/// A node of the base is lost when it is gone, became another type, was disabled, kept none of its parameters, has no
/// connection left while it had one, or was cut off from every start that led to it. What stands behind a node that passes
/// nothing on, or behind a start that never begins, is cut off; so is what a start that begins by itself led to, when only one that
/// another workflow calls or a person presses still does. Nodes whose parameters were replaced are lost when they are several.
pub fn loss(base: &Outline, after: &Workflow, starts: Starts<'_>) -> Loss {
    let fates = fates(base, after, starts);
    let replaced = fates.iter().filter(|f| **f == Fate::Replaced).count();
    let lost = |fate: Fate| match fate {
        Fate::Kept => false,
        Fate::Replaced => replaced >= LEAST_REPLACED,
        Fate::Lost => true,
    };
    let nodes = base.nodes.iter().zip(fates);
    Loss {
        lost: nodes
            .filter(|(_, fate)| lost(*fate))
            .map(|(node, _)| node.name.clone())
            .collect(),
        total: base.total(),
    }
}

/// In the base's order.
fn fates(base: &Outline, after: &Workflow, starts: Starts<'_>) -> Vec<Fate> {
    let ids = Ids::of(after);
    if base.same_graph(after) {
        let mut pairs = base.nodes.iter().zip(&after.nodes);
        if pairs.all(|(node, other)| runs_on(node, other, starts)) {
            // No node is gone, and what led to each of them still does.
            let pairs = base.nodes.iter().zip(&after.nodes);
            return pairs
                .map(|(node, other)| of_itself(node, other, &ids))
                .collect();
        }
    }
    let (base, after) = pair(base, after);
    let connected = |edges: &[super::graph::Edge<'_>]| {
        base.set(edges.iter().flat_map(|edge| [edge.from, edge.to]))
    };
    let was_connected = connected(&base.edges);
    let is_connected = connected(&after.edges);
    let (ran, runs) = led_to(&base, &after, starts);
    let is_cut = |key: Number| {
        let mut levels = ran.iter().zip(&runs);
        levels.any(|(ran, runs)| ran.has(key) && !runs.has(key))
    };
    let mut heirs = successors(&base, &after);
    let order = base.order.iter().copied();
    order
        .map(|(key, node)| {
            if !after.has(key) && heirs.remove(key) {
                return Fate::Kept;
            }
            let Some(other) = after.node(key) else {
                return match node.sticky {
                    true => Fate::Kept,
                    false => Fate::Lost,
                };
            };
            let cut = (was_connected.has(key) && !is_connected.has(key)) || is_cut(key);
            match cut && !node.sticky {
                true => Fate::Lost,
                false => of_itself(node, other, &ids),
            }
        })
        .collect()
}

/// Whether what lies behind the node is reached through it as before.
fn runs_on(node: &Sketch, other: &Node, starts: Starts<'_>) -> bool {
    let now = other.node_type();
    let sleeps = other.disabled() && starts(now) != Start::No;
    (node.node_type == now || starts(&node.node_type) == starts(now))
        && node.asleep() == sleeps
        && node.ways == ways(other)
}

/// The nodes that runs reach: those of any start, those of a start that is called or begins by itself, those of the last alone.
type Reached = [Set; 3];

/// What a start in the base is worth; a node that is no start at all was begun at by hand.
fn worth_before(start: Start) -> Begins {
    match start {
        Start::No => Begins::ByHand,
        Start::Unknown => Begins::ByItself,
        Start::Known(begins) => begins,
    }
}

/// The nodes that a start leads to, in the base and now. In the base a start is what nothing leads to. Now it is one of those, or
/// a new node that can be one, or a node whose predecessors are all gone (they count themselves), if it can be one or no trigger
/// led to it before: a node that only had its connections cut starts nothing. A sub-node runs when what it hangs on does.
fn led_to(
    base: &Graph<'_, Sketch>,
    after: &Graph<'_, Node>,
    starts: Starts<'_>,
) -> (Reached, Reached) {
    // What came before each node of the base, and what of that is still there.
    let follows = |edges: &[super::graph::Edge<'_>], there: &dyn Fn(Number) -> bool| {
        let flow = edges.iter().filter(|e| e.is_main() && e.from != e.to);
        base.set(flow.filter(|e| there(e.from)).map(|e| e.to))
    };
    let served_before = base.set(base.served());
    let bound_before = follows(&base.edges, &|_| true);
    let kept_before = follows(&base.edges, &|key| after.has(key));
    let served_now = base.set(after.served());
    let bound_now = follows(&after.edges, &|_| true);
    let free_before: Vec<(Number, &Sketch)> = base
        .order
        .iter()
        .copied()
        .filter(|(key, node)| !bound_before.has(*key) && !served_before.has(*key) && !node.asleep())
        .collect();
    let triggers = free_before.iter().filter(|(_, node)| node.starts);
    let ways_before = |key: Number| base.node(key).map_or(Ways::Open, |node| node.ways.clone());
    let triggered = spread(base, triggers.map(|(key, _)| *key).collect(), &ways_before);

    let begins = |key: Number, node: &Node| {
        let start = starts(node.node_type());
        if node.disabled() && start != Start::No {
            return None;
        }
        let known = match start {
            Start::Known(begins) => begins,
            Start::No | Start::Unknown => Begins::ByHand,
        };
        let Some(was) = base.node(key) else {
            return (start != Start::No).then_some(known);
        };
        let was_free = !bound_before.has(key);
        let left_alone = !kept_before.has(key) && !served_before.has(key);
        let is_one = left_alone && (was_free || !triggered.has(key) || start != Start::No);
        let same = was.node_type == node.node_type();
        is_one.then(|| if same { worth_before(start) } else { known })
    };
    let before: Vec<(Number, Begins)> = free_before
        .iter()
        .map(|(key, node)| (*key, worth_before(starts(&node.node_type))))
        .collect();
    let now: Vec<(Number, Begins)> = (after.order.iter().copied())
        .filter(|(key, _)| !bound_now.has(*key) && !served_now.has(*key))
        .filter_map(|(key, node)| Some((key, begins(key, node)?)))
        .collect();
    let ways_now = |key: Number| after.node(key).map_or(Ways::Open, ways);
    (
        by_worth(base, &before, &ways_before),
        by_worth(after, &now, &ways_now),
    )
}

fn by_worth<N>(
    graph: &Graph<'_, N>,
    begin: &[(Number, Begins)],
    ways: &dyn Fn(Number) -> Ways,
) -> Reached {
    [Begins::ByHand, Begins::Called, Begins::ByItself].map(|least| {
        let from = begin.iter().filter(|(_, begins)| *begins >= least);
        spread(graph, from.map(|(key, _)| *key).collect(), ways)
    })
}

/// All that the nodes lead to, by the ways out of each that are open; a sub-node's connection leads from its parent to it.
fn spread<N>(graph: &Graph<'_, N>, mut open: Vec<Number>, ways: &dyn Fn(Number) -> Ways) -> Set {
    let mut next: HashMap<Number, Vec<(Option<u32>, Number)>> = HashMap::new();
    for edge in &graph.edges {
        let (tail, step) = if edge.is_main() {
            (edge.from, (Some(edge.output), edge.to))
        } else {
            (edge.to, (None, edge.from))
        };
        next.entry(tail).or_default().push(step);
    }
    let mut reached = graph.set(std::iter::empty());
    while let Some(key) = open.pop() {
        if !reached.insert(key) {
            continue;
        }
        let Some(steps) = next.get(&key) else {
            continue;
        };
        let ways = ways(key);
        let taken = steps
            .iter()
            .filter(|(output, _)| output.is_none_or(|output| ways.leads(output)));
        open.extend(taken.map(|(_, to)| *to));
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
fn successors(base: &Graph<'_, Sketch>, after: &Graph<'_, Node>) -> Set {
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

/// What became of a node that is still there and still reached, as far as the node itself says.
fn of_itself(node: &Sketch, other: &Node, ids: &Ids<'_>) -> Fate {
    if node.sticky {
        return Fate::Kept;
    }
    let disabled = other.disabled() && !node.disabled;
    let emptied = !node.parameters.is_empty() && !keeps_a_parameter(node, other);
    if node.node_type != other.node_type() || disabled || emptied {
        Fate::Lost
    } else if node.is_replaced(other, ids) {
        Fate::Replaced
    } else {
        Fate::Kept
    }
}

/// Whether any top-level parameter of the one is still there in the other, and says something if it did.
fn keeps_a_parameter(node: &Sketch, other: &Node) -> bool {
    let after = other.parameters();
    node.parameters.iter().any(|(key, was)| {
        let now = after.and_then(|after| after.get(key));
        now.is_some_and(|now| was.blank || !is_blank(now))
    })
}

/// `from`: where the losses are counted from, in words that go on "… of the N nodes".
pub fn wipe(loss: &Loss, from: &str) -> Decision {
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
            "this run would lose {} of the {} nodes {from}: {}{more}",
            loss.lost.len(),
            loss.total,
            shown.join(", ")
        ),
    )
}
