//! The wipe guard: what is lost of the last state of a workflow that a person accepted, over all that was done to it since.
//! Only the base and the result are compared, so an edit cut into many small ones, in as many runs, is judged like one large one.

use super::gates::{held, is_new_gate};
use super::graph::{Begin, Graph, Number, Set, pair, spread};
use super::outline::{Ids, Outline, Sketch, Start, Starts, is_blank, timeout};
use super::{WIPE, allow, ask};
use agentctl_base::decision::Decision;
use agentctl_n8n::catalog::Begins;
use agentctl_n8n::dead::{Ways, ways};
use agentctl_n8n::{Node, Workflow};
use std::collections::BTreeMap;

/// Fewer nodes than this with all parameters replaced are an edit, however small the workflow is.
const LEAST_REPLACED: usize = 3;

/// A run that takes longer than a limit that is shorter than this is stopped; the seconds of a minute.
const SHORT_RUN: f64 = 60.0;

/// What is lost of a base. Sticky notes are not counted: they run nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loss {
    /// Names, in the base's order.
    pub lost: Vec<String>,
    pub total: usize,
    /// What is not lost, but newly stands behind a gate.
    pub held: Vec<String>,
    /// The gates.
    pub gates: Vec<String>,
    /// How many nodes say something else altogether, counted as lost or not.
    pub replaced: usize,
    /// Every run is now stopped after so many seconds.
    pub stopped: Option<f64>,
}

impl Loss {
    /// More than half is lost.
    pub fn is_wipe(&self) -> bool {
        self.lost.len() * 2 > self.total
    }

    /// More than half is lost or newly stands behind gates.
    fn is_gated(&self) -> bool {
        !self.held.is_empty() && (self.lost.len() + self.held.len()) * 2 > self.total
    }

    /// Whether all of it is in the other one too.
    pub fn adds_nothing_to(&self, other: &Loss) -> bool {
        let in_other = |own: &[String], all: &[String]| own.iter().all(|name| all.contains(name));
        in_other(&self.lost, &other.lost)
            && in_other(&self.held, &other.held)
            && in_other(&self.gates, &other.gates)
            && self.replaced <= other.replaced
            && (self.stopped.is_none() || self.stopped == other.stopped)
    }

    /// Whether it is the user's to allow.
    pub fn is_asked(&self) -> bool {
        self.is_wipe() || self.is_gated() || self.stopped.is_some()
    }

    /// What is asked for, before "the workflow …".
    pub fn what(&self) -> &'static str {
        if self.is_wipe() {
            "take most of the nodes out of"
        } else if self.is_gated() {
            "put something that may let nothing through before most of the nodes of"
        } else {
            "stop every run after a short time in"
        }
    }
}

/// What became of a node of the base.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    /// It is there, behind a gate that did not stand before it.
    Held,
    /// It is there, and says something else altogether, or says nothing any more when it fails.
    Replaced,
    Lost,
}

/// A node of the base is lost when it is gone, became another type, was disabled, kept none of its parameters, has no
/// connection left while it had one, or was cut off from every start that led to it. What stands behind a node that passes
/// nothing on, or behind a start that never begins, is cut off; so is what a start that begins by itself led to, when only one that
/// another workflow calls or a person presses still does. Nodes whose parameters were replaced, or whose errors
/// are newly passed over, are lost when they are several. What newly stands behind a gate is held (see `gates`).
pub fn loss(base: &Outline, after: &Workflow, starts: Starts<'_>) -> Loss {
    let (fates, behind) = fates(base, after, starts);
    let replaced = fates.iter().filter(|f| **f == Fate::Replaced).count();
    let lost = |fate: Fate| match fate {
        Fate::Kept | Fate::Held => false,
        Fate::Replaced => replaced >= LEAST_REPLACED,
        Fate::Lost => true,
    };
    let names = |wanted: &dyn Fn(Fate) -> bool| -> Vec<String> {
        let nodes = base.nodes.iter().zip(&fates);
        nodes
            .filter(|(_, fate)| wanted(**fate))
            .map(|(node, _)| node.name.clone())
            .collect()
    };
    let limit = timeout(after).filter(|seconds| *seconds < SHORT_RUN);
    Loss {
        lost: names(&lost),
        total: base.total(),
        held: names(&|fate| fate == Fate::Held),
        gates: behind,
        replaced,
        stopped: limit.filter(|now| base.timeout.is_none_or(|before| *now < before)),
    }
}

/// In the base's order, and the names of gates that newly hold something back.
fn fates(base: &Outline, after: &Workflow, starts: Starts<'_>) -> (Vec<Fate>, Vec<String>) {
    let ids = Ids::of(after);
    if base.same_graph(after) {
        let mut pairs = base.nodes.iter().zip(&after.nodes);
        if pairs
            .all(|(node, other)| runs_on(node, other, starts) && !is_new_gate(node, other, &ids))
        {
            // No node is gone, and what led to each of them still does.
            let pairs = base.nodes.iter().zip(&after.nodes);
            let fates = pairs.map(|(node, other)| of_itself(node, other, &ids));
            return (fates.collect(), Vec::new());
        }
    }
    let (base, after) = pair(base, after);
    let connected = |edges: &[super::graph::Edge<'_>]| {
        base.set(edges.iter().flat_map(|edge| [edge.from, edge.to]))
    };
    let was_connected = connected(&base.edges);
    let is_connected = connected(&after.edges);
    let (began, begin) = begins(&base, &after, starts);
    let ways_before = |key: Number| base.node(key).map_or(Ways::Open, |node| node.ways.clone());
    // Code is read for it, and the walks below ask again and again.
    let open: BTreeMap<Number, Ways> = after
        .order
        .iter()
        .map(|(key, it)| (*key, ways(it)))
        .collect();
    let ways_now = |key: Number| open.get(&key).cloned().unwrap_or_default();
    let ran = by_worth(&base, &began, &ways_before);
    let runs = by_worth(&after, &begin, &ways_now);
    let is_cut = |key: Number| {
        let mut levels = ran.iter().zip(&runs);
        levels.any(|(ran, runs)| ran.has(key) && !runs.has(key))
    };
    let held = held(
        &base,
        &after,
        (&began, &begin),
        (&ways_before, &ways_now),
        &ids,
    );
    let mut heirs = successors(&base, &after);
    let order = base.order.iter().copied();
    let fates = order.map(|(key, node)| {
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
        if cut && !node.sticky {
            return Fate::Lost;
        }
        match of_itself(node, other, &ids) {
            Fate::Kept if held.nodes.has(key) && !node.sticky => Fate::Held,
            fate => fate,
        }
    });
    let fates = fates.collect();
    let gates = after
        .order
        .iter()
        .filter(|(key, _)| held.gates.contains(key));
    (
        fates,
        gates.map(|(_, node)| node.name().to_owned()).collect(),
    )
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

/// Where runs begin, in the base and now. In the base that is what nothing leads to. Now it is one of those, or
/// a new node that can be a start, or a node whose predecessors are all gone (they count themselves), if it can be one or no trigger
/// led to it before: a node that only had its connections cut starts nothing. A sub-node runs when what it hangs on does.
fn begins(
    base: &Graph<'_, Sketch>,
    after: &Graph<'_, Node>,
    starts: Starts<'_>,
) -> (Vec<Begin>, Vec<Begin>) {
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
    let before = free_before
        .iter()
        .map(|(key, node)| (*key, worth_before(starts(&node.node_type))))
        .collect();
    let now = (after.order.iter().copied())
        .filter(|(key, _)| !bound_now.has(*key) && !served_now.has(*key))
        .filter_map(|(key, node)| Some((key, begins(key, node)?)))
        .collect();
    (before, now)
}

fn by_worth<N>(graph: &Graph<'_, N>, begin: &[Begin], ways: &dyn Fn(Number) -> Ways) -> Reached {
    [Begins::ByHand, Begins::Called, Begins::ByItself].map(|least| {
        let from = begin.iter().filter(|(_, begins)| *begins >= least);
        spread(graph, from.map(|(key, _)| *key).collect(), ways)
    })
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
    } else if node.is_replaced(other, ids) || node.is_gutted(other, ids) || node.falls_silent(other)
    {
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
    let total = loss.total;
    let several = |names: &[String], most: usize| {
        let shown: Vec<&str> = names.iter().take(most).map(String::as_str).collect();
        let more = match names.len().saturating_sub(shown.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", shown.join(", "))
    };
    let lost = loss.lost.len();
    let mut reason = if loss.is_wipe() {
        let names = several(&loss.lost, 8);
        format!("this run would lose {lost} of the {total} nodes {from}: {names}")
    } else if loss.is_gated() {
        let besides = match lost {
            0 => String::new(),
            lost => format!("lose {lost} and "),
        };
        format!(
            "this run would {besides}put {} of the {total} nodes {from} behind {}, which may let nothing through: {}",
            loss.held.len(),
            several(&loss.gates, 3),
            several(&loss.held, 8)
        )
    } else {
        String::new()
    };
    if let Some(seconds) = loss.stopped {
        reason.push_str(match reason.is_empty() {
            true => "this run would have",
            false => "; it would have",
        });
        reason.push_str(&format!(" every execution stopped after {seconds} s"));
    }
    match reason.is_empty() {
        true => allow(WIPE),
        false => ask(WIPE, reason),
    }
}
