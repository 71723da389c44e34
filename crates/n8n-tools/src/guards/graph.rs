//! Two states of a workflow as numbers: one for each node, by its key and so the same in both, and the edges between them.
//! Worked out once for all that a guard asks of the two.

use super::change::{key_texts, keyed_edges};
use super::outline::{Outline, Sketch};
use agentctl_n8n::catalog::Begins;
use agentctl_n8n::dead::Ways;
use agentctl_n8n::{Node, Workflow};
use std::borrow::Cow;
use std::collections::HashMap;

/// A node of either state. In the order of the keys' texts.
pub(super) type Number = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge<'w> {
    pub from: Number,
    pub kind: &'w str,
    pub output: u32,
    pub to: Number,
    pub input_kind: &'w str,
    pub input: u32,
}

/// One state, its nodes as far as they are kept of it.
pub(super) struct Graph<'w, N> {
    /// By number; None: the node is not in this state.
    nodes: Vec<Option<&'w N>>,
    /// In the document's order.
    pub order: Vec<(Number, &'w N)>,
    /// In order, each once.
    pub edges: Vec<Edge<'w>>,
}

/// Some of the nodes of two states.
#[derive(Clone)]
pub(super) struct Set(Vec<bool>);

impl Set {
    pub fn has(&self, number: Number) -> bool {
        self.0.get(number).copied().unwrap_or_default()
    }

    /// True when it was not in it before.
    pub fn insert(&mut self, number: Number) -> bool {
        match self.0.get_mut(number) {
            Some(place) => !std::mem::replace(place, true),
            None => false,
        }
    }

    pub fn remove(&mut self, number: Number) -> bool {
        match self.0.get_mut(number) {
            Some(place) => std::mem::take(place),
            None => false,
        }
    }
}

/// The edges of a state with the keys of their ends.
type Keyed<'w> = Vec<(Cow<'w, str>, Edge<'w>, Cow<'w, str>)>;

/// The base and what is to be judged by it, with the same numbers.
pub(super) fn pair<'w>(
    base: &'w Outline,
    after: &'w Workflow,
) -> (Graph<'w, Sketch>, Graph<'w, Node>) {
    let (base_keys, after_keys) = (base.key_texts(), key_texts(after));
    let base_edges: Keyed<'w> = base
        .keyed_edges(&base_keys)
        .map(|(from, edge, to)| {
            let unnumbered = unnumbered(&edge.kind, edge.output, &edge.input_kind, edge.input);
            (from, unnumbered, to)
        })
        .collect();
    let after_edges: Keyed<'w> = keyed_edges(after, &after_keys)
        .map(|(from, kind, output, to, link)| {
            (from, unnumbered(kind, output, &link.kind, link.index), to)
        })
        .collect();
    let mut texts: Vec<&str> = Vec::new();
    for (keys, edges) in [(&base_keys, &base_edges), (&after_keys, &after_edges)] {
        texts.extend(keys.iter().map(Cow::as_ref));
        // Most stand there as a node's key already.
        let ends = edges.iter().flat_map(|(from, _, to)| [from, to]);
        texts.extend(
            ends.filter(|end| matches!(end, Cow::Owned(_)))
                .map(Cow::as_ref),
        );
    }
    texts.sort_unstable();
    texts.dedup();
    let numbers: HashMap<&str, Number> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| (*text, at))
        .collect();
    let number = |key: &str| numbers.get(key).copied().unwrap_or(texts.len());
    (
        Graph::of(
            &base_keys,
            &base.nodes,
            base_edges.iter(),
            &number,
            texts.len(),
        ),
        Graph::of(
            &after_keys,
            &after.nodes,
            after_edges.iter(),
            &number,
            texts.len(),
        ),
    )
}

fn unnumbered<'w>(kind: &'w str, output: u32, input_kind: &'w str, input: u32) -> Edge<'w> {
    Edge {
        from: 0,
        kind,
        output,
        to: 0,
        input_kind,
        input,
    }
}

impl<'w, N> Graph<'w, N> {
    fn of<'e>(
        keys: &[Cow<'w, str>],
        nodes: &'w [N],
        edges: impl Iterator<Item = &'e (Cow<'w, str>, Edge<'w>, Cow<'w, str>)>,
        number: &dyn Fn(&str) -> Number,
        count: usize,
    ) -> Self
    where
        'w: 'e,
    {
        let mut by_number = vec![None; count];
        let mut order = Vec::with_capacity(keys.len());
        for (key, node) in keys.iter().zip(nodes) {
            let number = number(key);
            order.push((number, node));
            if let Some(place) = by_number.get_mut(number) {
                *place = Some(node);
            }
        }
        let mut edges: Vec<Edge<'w>> = edges
            .map(|(from, edge, to)| Edge {
                from: number(from),
                to: number(to),
                ..*edge
            })
            .collect();
        edges.sort_unstable();
        edges.dedup();
        Graph {
            nodes: by_number,
            order,
            edges,
        }
    }

    pub fn node(&self, number: Number) -> Option<&'w N> {
        self.nodes.get(number).copied().flatten()
    }

    pub fn has(&self, number: Number) -> bool {
        self.node(number).is_some()
    }

    pub fn set(&self, numbers: impl Iterator<Item = Number>) -> Set {
        let mut set = Set(vec![false; self.nodes.len()]);
        for number in numbers {
            set.insert(number);
        }
        set
    }

    /// The sub-nodes.
    pub fn served(&self) -> impl Iterator<Item = Number> {
        self.edges.iter().filter(|e| !e.is_main()).map(|e| e.from)
    }
}

impl Edge<'_> {
    pub fn is_main(&self) -> bool {
        self.kind == "main"
    }
}

/// A node that runs begin at, and what it takes for that.
pub(super) type Begin = (Number, Begins);

/// All that the nodes lead to, by the ways out of each that are open; a sub-node's connection leads from its parent to it.
pub(super) fn spread<N>(
    graph: &Graph<'_, N>,
    mut open: Vec<Number>,
    ways: &dyn Fn(Number) -> Ways,
) -> Set {
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
