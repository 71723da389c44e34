//! Two states of a workflow as numbers: one for each node, by its key and so the same in both, and the edges between them.
//! Worked out once for all that a guard asks of the two.

use super::change::{key_texts, keyed_edges};
use crate::n8n::{Node, Workflow};
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

/// One state.
pub(super) struct Graph<'w> {
    /// By number; None: the node is not in this state.
    nodes: Vec<Option<&'w Node>>,
    /// In the document's order.
    pub order: Vec<(Number, &'w Node)>,
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

impl<'w> Graph<'w> {
    pub fn pair(base: &'w Workflow, after: &'w Workflow) -> [Self; 2] {
        let states = [base, after].map(|workflow| {
            let keys = key_texts(workflow);
            let edges: Vec<_> = keyed_edges(workflow, &keys).collect();
            (workflow, keys, edges)
        });
        let mut texts: Vec<&str> = Vec::new();
        for (_, keys, edges) in &states {
            texts.extend(keys.iter().map(Cow::as_ref));
            // Most stand there as a node's key already.
            let ends = edges.iter().flat_map(|(from, _, _, to, _)| [from, to]);
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
        states.each_ref().map(|(workflow, keys, edges)| {
            let mut nodes = vec![None; texts.len()];
            let mut order = Vec::with_capacity(keys.len());
            for (key, node) in keys.iter().zip(&workflow.nodes) {
                let number = number(key);
                order.push((number, node));
                if let Some(place) = nodes.get_mut(number) {
                    *place = Some(node);
                }
            }
            let mut edges: Vec<Edge<'w>> = edges
                .iter()
                .map(|(from, kind, output, to, link)| Edge {
                    from: number(from),
                    kind: *kind,
                    output: *output,
                    to: number(to),
                    input_kind: &link.kind,
                    input: link.index,
                })
                .collect();
            edges.sort_unstable();
            edges.dedup();
            Graph {
                nodes,
                order,
                edges,
            }
        })
    }

    pub fn node(&self, number: Number) -> Option<&'w Node> {
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

    /// The edges along which items flow.
    pub fn flow(&self) -> impl Iterator<Item = &Edge<'w>> {
        self.edges.iter().filter(|e| e.is_main())
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
