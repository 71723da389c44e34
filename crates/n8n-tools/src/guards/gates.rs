//! What newly stands behind a gate: a node that may hold back everything that comes to it, whatever its conditions say (an If, a
//! Filter, a Switch, code that does not surely give on what it gets, a Wait without a fixed time, a combining Merge, a question to
//! a person). Whether it does cannot be told from the workflow, so most of a workflow is put behind one with the user's word only.
//!
//! A gate is new when it is not in the base, is of another type there, was disabled there, or says something new: an If, a Filter or
//! a Switch an expression that it did not hold (another number or text to compare with is none); code a return or an error before
//! its end that it did not hold, or less than a quarter of what it said; a question to a person that it is one; any other any new
//! value. A node of the base stands
//! behind new gates when runs reach it now, and would not if each of them held back the most that it may: a gate with one way out
//! all, one that leads items by one of several ways all but the way that leads to the fewest nodes of the base. A way round
//! the gates from a new start, or from one that takes more to begin, is none: nobody may ever call it. What stands behind a gate
//! of the base counts when it did not stand behind it before.

use super::graph::{Begin, Edge, Graph, Number, Set, spread};
use super::outline::{Ids, Sketch};
use agentctl_n8n::Node;
use agentctl_n8n::catalog::Begins;
use agentctl_n8n::dead::{
    ASKS, Gate, Ways, early_exits, gate, is_answered, is_conditional, may_be_gate,
};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the node of the base has become a gate that it was not, by what it says.
pub(super) fn is_new_gate(node: &Sketch, other: &Node, ids: &Ids<'_>) -> bool {
    if !may_be_gate(other) {
        return false;
    }
    if node.node_type != other.node_type() {
        return gate(other).is_some();
    }
    // What it says is cheaper to compare than its code to read.
    let woken = node.disabled && !other.disabled();
    (woken || says_new(node, other, ids)) && gate(other).is_some()
}

fn says_new(node: &Sketch, other: &Node, ids: &Ids<'_>) -> bool {
    if is_conditional(other) {
        return node.says_new(other, ids, &|text| text.starts_with('='));
    }
    if is_answered(other) {
        return node.says_new(other, ids, &|text| text.starts_with(ASKS));
    }
    // Hashes are cheaper than a look at the code.
    if !node.says_new(other, ids, &|_| true) {
        return false;
    }
    match early_exits(other) {
        Some(lines) => {
            lines.iter().any(|line| !node.has_line(line, ids)) || node.is_replaced(other, ids)
        }
        None => true,
    }
}

/// The nodes that newly stand behind gates, and the gates.
pub(super) struct Held {
    pub nodes: Set,
    pub gates: BTreeSet<Number>,
}

/// `begin`: where runs begin, in the base and now; then the ways out of each node, in the base and now.
pub(super) fn held(
    base: &Graph<'_, Sketch>,
    after: &Graph<'_, Node>,
    begin: (&[Begin], &[Begin]),
    (ways_before, ways_now): (&dyn Fn(Number) -> Ways, &dyn Fn(Number) -> Ways),
    ids: &Ids<'_>,
) -> Held {
    let (mut new, mut old) = (BTreeMap::new(), BTreeMap::new());
    for (key, node) in after.order.iter().copied() {
        let known = base.node(key);
        match known {
            Some(was) if !is_new_gate(was, node, ids) => {
                old.extend(gate(node).map(|gate| (key, gate)));
            }
            _ => new.extend(gate(node).map(|gate| (key, gate))),
        }
    }
    let of_base = |set: &Set| base.order.iter().filter(|(key, _)| set.has(*key)).count();
    let shut: BTreeMap<Number, Ways> = new
        .iter()
        .map(|(key, gate)| {
            let mut choices = choices(after, *key, gate, ways_now);
            choices.sort_by_key(|(_, reached)| of_base(reached));
            let worst = choices.into_iter().next();
            (*key, worst.map_or(Ways::Shut, |(ways, _)| ways))
        })
        .collect();
    let worst = |key: Number| shut.get(&key).cloned().unwrap_or_else(|| ways_now(key));
    let moved = base.edges != after.edges;

    let mut held = Held {
        nodes: base.set(std::iter::empty()),
        gates: BTreeSet::new(),
    };
    for (before, now) in beginnings(base, begin) {
        let ran = spread(base, before.clone(), ways_before);
        let runs = spread(after, now.clone(), ways_now);
        // All that are new at once: two of them may stand side by side.
        let left = spread(after, now.clone(), &worst);
        let numbers = base.order.iter().map(|(key, _)| *key);
        let behind_new: Vec<Number> = numbers
            .filter(|key| ran.has(*key) && runs.has(*key) && !left.has(*key))
            .collect();
        if !behind_new.is_empty() {
            let gates = shut.keys().filter(|key| runs.has(**key));
            held.gates.extend(gates.copied());
        }
        for number in behind_new {
            held.nodes.insert(number);
        }
        for (key, gate) in old.iter().filter(|_| moved) {
            let behind_before = behind(base, &before, (*key, gate), ways_before);
            let known: BTreeSet<Number> = behind_before.into_iter().flatten().collect();
            let behind_now = behind(after, &now, (*key, gate), ways_now);
            let fresh = behind_now.into_iter().map(|set| {
                let fresh = set
                    .into_iter()
                    .filter(|n| ran.has(*n) && !known.contains(n));
                fresh.collect::<BTreeSet<Number>>()
            });
            let most = fresh.max_by_key(BTreeSet::len).unwrap_or_default();
            if !most.is_empty() {
                held.gates.insert(*key);
            }
            for number in most {
                held.nodes.insert(number);
            }
        }
    }
    held
}

/// Where runs began and begin: all starts, those that take less to begin, and of the ones now those that are in the base.
fn beginnings(
    base: &Graph<'_, Sketch>,
    (before, now): (&[Begin], &[Begin]),
) -> BTreeSet<(Vec<Number>, Vec<Number>)> {
    let levels = [Begins::ByHand, Begins::Called, Begins::ByItself];
    let each = levels.into_iter().flat_map(|least| {
        let of = |begin: &[Begin]| -> Vec<Number> {
            let begin = begin.iter().filter(|(_, begins)| *begins >= least);
            begin.map(|(key, _)| *key).collect()
        };
        let (before, now) = (of(before), of(now));
        let kept = now.iter().copied().filter(|key| base.has(*key)).collect();
        [(before.clone(), now), (before, kept)]
    });
    each.collect()
}

/// The ways that a gate may leave open, with what is reached from each of them.
fn choices<N>(
    graph: &Graph<'_, N>,
    key: Number,
    gate: &Gate,
    ways: &dyn Fn(Number) -> Ways,
) -> Vec<(Ways, Set)> {
    let Gate::OneOf(outputs) = gate else {
        return vec![(Ways::Shut, graph.set(std::iter::empty()))];
    };
    let open = ways(key);
    let outputs = outputs.iter().filter(|output| open.leads(**output));
    outputs
        .map(|output| {
            let next = graph.edges.iter().filter(|edge: &&Edge<'_>| {
                edge.is_main() && edge.from == key && edge.output == *output
            });
            let reached = spread(graph, next.map(|edge| edge.to).collect(), ways);
            (Ways::Only(BTreeSet::from([*output])), reached)
        })
        .collect()
}

/// What runs do not reach when the gate alone leaves open one way, for each of them.
fn behind<N>(
    graph: &Graph<'_, N>,
    begin: &[Number],
    (key, gate): (Number, &Gate),
    ways: &dyn Fn(Number) -> Ways,
) -> Vec<BTreeSet<Number>> {
    let all = spread(graph, begin.to_vec(), ways);
    let choices = choices(graph, key, gate, ways);
    let each = choices.into_iter().map(|(choice, _)| {
        let one = |number: Number| match number == key {
            true => choice.clone(),
            false => ways(number),
        };
        let left = spread(graph, begin.to_vec(), &one);
        let numbers = graph.order.iter().map(|(number, _)| *number);
        numbers.filter(|n| all.has(*n) && !left.has(*n)).collect()
    });
    each.collect()
}
