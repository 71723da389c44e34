//! A workflow that is too large to be read at once, in parts: each node stands in exactly one of them, with the connections that
//! leave it. Of a text that says what the reader is after, the nodes that it speaks of come first. Pure.

mod spoken;

#[cfg(test)]
mod part_tests;

use crate::workflow::{Connections, Link, Node, Workflow};
use agentctl_base::canonical::sha256_hex;
use agentctl_base::length::written_length_of_map;
use serde_json::Value;
use spoken::Spoken;
pub use spoken::quoted;
use std::collections::{BTreeSet, HashMap};

/// More nodes of the kinds that a text names are no part of what it is about at once: they come behind it.
const FEW: usize = 40;
/// So many nodes that the text does not speak of stand beside those that it does: what they are connected with, where the workflow
/// starts and ends, and the first nodes of each type.
const MOST_BESIDE: usize = 80;
/// So many of these are what they are connected with.
const MOST_NEIGHBOURS: usize = 50;
/// Bytes: a larger one is not put beside the others.
const SMALL: usize = 4_000;
/// Connections into a part from nodes of other parts that are told with it.
const MOST_INCOMING: usize = 200;

/// A workflow in an order in which it is read.
pub struct Parts<'w> {
    workflow: &'w Workflow,
    /// Every node once, by its index.
    order: Vec<usize>,
    /// So many of them belong together, at the beginning: what the text is about and what stands beside it. 0: nothing was said.
    focus: usize,
    named: BTreeSet<usize>,
    of_kind: BTreeSet<usize>,
    /// The first node of each name: the connections under the name are counted as its.
    by_name: HashMap<&'w str, usize>,
}

/// A part: nodes by their index, in the document's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub nodes: Vec<usize>,
    /// The document's own keys belong to it.
    pub head: bool,
    /// Where the next one begins; None: this is the last.
    pub next: Option<usize>,
}

/// How many nodes stand in later parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    pub nodes: usize,
    /// Of those: the text names them, or a value that they hold.
    pub named: usize,
    /// Of those: the text names their type.
    pub of_kind: usize,
}

impl<'w> Parts<'w> {
    /// `about`: what the reader is after, in any words.
    pub fn of(workflow: &'w Workflow, about: Option<&str>) -> Self {
        Parts::around(workflow, about, None)
    }

    /// The same; `nodes` belong to what it is about, whatever the text says.
    pub fn around(
        workflow: &'w Workflow,
        about: Option<&str>,
        nodes: Option<&BTreeSet<usize>>,
    ) -> Self {
        let mut by_name = HashMap::with_capacity(workflow.nodes.len());
        for (i, node) in workflow.nodes.iter().enumerate() {
            by_name.entry(node.name()).or_insert(i);
        }
        let mut parts = Parts {
            workflow,
            order: Vec::with_capacity(workflow.nodes.len()),
            focus: 0,
            named: BTreeSet::new(),
            of_kind: BTreeSet::new(),
            by_name,
        };
        let mut hinted = Vec::new();
        let about = about.filter(|text| !text.trim().is_empty());
        if let Some(about) = about {
            let spoken = Spoken::of(workflow, about);
            parts.named = spoken.named;
            parts.of_kind = spoken.of_kind;
            hinted = spoken.hinted;
        }
        parts.named.extend(nodes.into_iter().flatten());
        if about.is_some() || nodes.is_some() {
            parts.order = parts.about();
            parts.focus = parts.order.len();
        }
        let mut taken: Vec<bool> = vec![false; workflow.nodes.len()];
        let mut take = |i: &usize| {
            taken
                .get_mut(*i)
                .is_some_and(|t| !std::mem::replace(t, true))
        };
        parts.order.retain(|i| take(i));
        let rest = parts.of_kind.iter().copied().chain(hinted);
        let rest: Vec<usize> = rest.chain(0..workflow.nodes.len()).filter(take).collect();
        parts.order.extend(rest);
        parts
    }

    /// What the text speaks of, and what stands beside it.
    fn about(&self) -> Vec<usize> {
        let mut spoken = self.named.clone();
        if self.of_kind.len() <= FEW {
            spoken.extend(&self.of_kind);
        }
        let names = spoken.iter().take(FEW).filter_map(|i| self.name(*i));
        let names: BTreeSet<&str> = names.collect();
        let (mut fed, mut feeds) = (BTreeSet::new(), BTreeSet::new());
        let mut neighbours = Vec::new();
        for (from, kind, _, link) in self.workflow.edges() {
            if kind == "main" {
                feeds.insert(from);
                fed.insert(link.node.as_str());
            }
            let to = link.node.as_str();
            let other =
                |one: &str, other: &str| names.contains(one).then(|| self.by_name.get(other));
            neighbours.extend(
                [other(from, to), other(to, from)]
                    .into_iter()
                    .flatten()
                    .flatten(),
            );
        }
        let nodes = self.workflow.nodes.iter().enumerate();
        let acting = nodes.filter(|(_, node)| !node.is_sticky());
        // Whether there is one or there are several can be told from two.
        let two = |fed_here: bool, feeds_here: bool| {
            let is = |n: &Node| {
                fed.contains(n.name()) == fed_here && feeds.contains(n.name()) == feeds_here
            };
            let found = acting.clone().filter(|(_, node)| is(node)).map(|(i, _)| i);
            found.take(2).collect::<Vec<usize>>()
        };
        let (starts, ends) = (two(false, true), two(true, false));
        let mut of_type: HashMap<&str, u8> = HashMap::new();
        let samples = acting.filter(|(_, node)| {
            let seen = of_type.entry(node.node_type()).or_default();
            *seen = seen.saturating_add(1);
            *seen <= 2
        });
        let neighbours = neighbours.into_iter().take(MOST_NEIGHBOURS);
        let beside = starts.into_iter().chain(ends).chain(neighbours.copied());
        let beside = beside.chain(samples.map(|(i, _)| i));
        let mut known = spoken.clone();
        let small = beside.filter(|i| self.weight(*i) <= SMALL && known.insert(*i));
        let small: Vec<usize> = small.take(MOST_BESIDE).collect();
        spoken.into_iter().chain(small).collect()
    }

    fn node(&self, at: usize) -> Option<&'w Node> {
        self.workflow.nodes.get(at)
    }

    fn name(&self, at: usize) -> Option<&'w str> {
        self.node(at).map(Node::name)
    }

    /// Bytes of a node as JSON, with the connections that leave it.
    fn weight(&self, at: usize) -> usize {
        let own = self.node(at).map_or(0, |n| written_length_of_map(n.map()));
        own + self.leaving(at).map_or(0, links_weight) + 1
    }

    /// What leaves a node; its namesakes have nothing.
    fn leaving(&self, at: usize) -> Option<&'w Outputs> {
        let name = self.name(at)?;
        let first = self.by_name.get(name) == Some(&at);
        self.workflow.connections.get(name).filter(|_| first)
    }

    /// Two readings with the same key have the same parts, as long as the workflow is the same.
    pub fn key(&self) -> String {
        let names = self.order.iter().filter_map(|i| self.name(*i));
        let text = names.collect::<Vec<_>>().join("\n");
        sha256_hex(text.as_bytes())
    }

    /// The part that begins at a place (None: the first), as many nodes as fit into `most` bytes, at least one. `head`: bytes that
    /// stand in the first part before the nodes. None: no part begins there.
    pub fn part(
        &self,
        at: Option<usize>,
        head: usize,
        most: usize,
        weight: &dyn Fn(&Node) -> usize,
    ) -> Option<Part> {
        let total = self.order.len();
        let from = at.unwrap_or(0);
        if from > total || (from == total && at.is_some()) {
            return None;
        }
        let mut bytes = if at.is_none() { head } else { 0 };
        let to = if from < self.focus { self.focus } else { total };
        let mut nodes = Vec::new();
        for &i in self.order.get(from..to).unwrap_or_default() {
            let links = self.leaving(i).map_or(0, links_weight);
            bytes += self.node(i).map_or(0, weight) + links + 1;
            let alone = nodes.is_empty() && (at.is_some() || head == 0);
            if bytes > most && !alone {
                break;
            }
            nodes.push(i);
        }
        let end = from + nodes.len();
        nodes.sort_unstable();
        Some(Part {
            nodes,
            head: at.is_none(),
            next: (end < total).then_some(end),
        })
    }

    /// What a text speaks of and this part and those before it do not hold.
    pub fn left(&self, part: &Part) -> Left {
        let rest = part.next.and_then(|at| self.order.get(at..));
        let rest = rest.unwrap_or_default();
        let among = |of: &BTreeSet<usize>| rest.iter().filter(|i| of.contains(i)).count();
        Left {
            nodes: rest.len(),
            named: among(&self.named),
            of_kind: among(&self.of_kind),
        }
    }

    /// The connections that leave a part's nodes; with the last part those that leave no node at all.
    pub fn connections(&self, part: &Part) -> Connections {
        let own = part.nodes.iter().filter_map(|&i| {
            let outputs = self.leaving(i)?;
            Some((self.name(i)?.to_owned(), outputs.clone()))
        });
        let last = part.next.is_none();
        let all = self.workflow.connections.iter();
        let nobodys = all.filter(|(from, _)| last && !self.by_name.contains_key(from.as_str()));
        own.chain(nobodys.map(|(from, outputs)| (from.clone(), outputs.clone())))
            .collect()
    }

    /// The connections that come into a part from nodes that are not in it, at most [`MOST_INCOMING`]; and whether these are all.
    pub fn incoming(&self, part: &Part) -> (Connections, bool) {
        let own: BTreeSet<&str> = part.nodes.iter().filter_map(|i| self.name(*i)).collect();
        let edges = self.workflow.edges().filter(|(from, _, _, link)| {
            own.contains(link.node.as_str())
                && !own.contains(from)
                && self.by_name.contains_key(from)
        });
        let mut some = Workflow::empty("");
        let mut edges = edges.peekable();
        for (from, kind, output, Link { node, index, .. }) in edges.by_ref().take(MOST_INCOMING) {
            some.connect(from, kind, output, node, *index);
        }
        (some.connections, edges.peek().is_none())
    }

    /// A part's share of an object of the document that has a key for each node's name, as `pinData`; with the last part also what
    /// stands there under other names.
    pub fn by_node(
        &self,
        part: &Part,
        map: &serde_json::Map<String, Value>,
    ) -> serde_json::Map<String, Value> {
        let own: BTreeSet<&str> = part.nodes.iter().filter_map(|i| self.name(*i)).collect();
        let last = part.next.is_none();
        let here = |name: &str| own.contains(name) || (last && !self.by_name.contains_key(name));
        let entries = map.iter().filter(|(name, _)| here(name));
        entries.map(|(k, v)| (k.clone(), v.clone())).collect()
    }
}

type Outputs = indexmap::IndexMap<String, Vec<Option<Vec<Link>>>>;

/// Bytes of connections as JSON, or a few more.
fn links_weight(outputs: &Outputs) -> usize {
    let link = |link: &Link| link.node.len() + link.kind.len() + 40;
    let bucket = |links: &Option<Vec<Link>>| 5 + links.iter().flatten().map(link).sum::<usize>();
    let kinds = outputs.iter();
    kinds
        .map(|(kind, buckets)| kind.len() + 8 + buckets.iter().map(bucket).sum::<usize>())
        .sum::<usize>()
}
