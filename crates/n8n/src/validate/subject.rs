//! The document under judgement, read as far as it can be read: malformed parts are skipped here and named by `structure`.

use super::reach::{Neighbours, Reach};
use crate::catalog::{Catalog, FillError, Filled, Lookup, NodeDescription, NodeKind};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

/// A workflow with at least so many nodes is worth several threads.
pub(super) const MANY: usize = 1_000;
/// So many of its nodes are judged by one thread at a time.
pub(super) const SHARE: usize = 125;
/// Where every workflow started before there was a manual trigger.
const OLD_START: &str = "n8n-nodes-base.start";
pub(super) const STICKY: &str = "n8n-nodes-base.stickyNote";

pub(super) struct Subject<'a> {
    pub catalog: &'a Catalog,
    pub nodes: Vec<NodeView<'a>>,
    pub edges: Vec<Edge<'a>>,
    /// Data that the editor puts in a node's place, by its name.
    pub pinned: Option<&'a Map<String, Value>>,
    /// Index in `nodes`; as in n8n the last of several namesakes wins.
    by_name: FxHashMap<&'a str, usize>,
    pub main_after: Neighbours,
    pub main_before: Neighbours,
    /// The nodes that a sub-node serves.
    pub served: Neighbours,
    /// By node, indexes in `edges`.
    leaving: Neighbours,
    entering: Neighbours,
    pub reach: Reach,
}

pub(super) struct NodeView<'a> {
    /// Place in `Subject::nodes`.
    pub index: usize,
    /// Place in the document's list.
    pub at: usize,
    pub raw: &'a Map<String, Value>,
    pub name: Option<&'a str>,
    pub id: Option<&'a str>,
    pub node_type: &'a str,
    pub disabled: bool,
    /// No trigger leads to it though the workflow has some, so it never runs.
    pub idle: bool,
    pub known: &'a Known,
    /// As written; empty when there are none.
    pub parameters: &'a Map<String, Value>,
    /// Defaults filled in and hidden ones dropped; the parameters as written when n8n itself fails on them.
    pub filled: Filled<'a>,
    pub fill_error: Option<FillError>,
}

/// What the catalog says of the types of a document's nodes, looked up once for each type and version.
pub(super) struct Types<'a> {
    known: Vec<Known>,
    places: FxHashMap<(&'a str, Option<u64>), usize>,
}

impl<'a> Types<'a> {
    pub(super) fn of(document: &'a Value, catalog: &Catalog) -> Self {
        let mut types = Types {
            known: Vec::new(),
            places: FxHashMap::default(),
        };
        for node in node_objects(document).map(|(_, node)| node) {
            let (node_type, version) = type_of(node);
            let fresh = types.known.len();
            let key = (node_type, version.map(f64::to_bits));
            if *types.places.entry(key).or_insert(fresh) == fresh {
                types.known.push(match catalog.lookup(node_type, version) {
                    Lookup::Known(description) => Known::Yes(description),
                    Lookup::UnknownVersion { default, .. } => {
                        let other = catalog.lookup(node_type, Some(default)).known();
                        Known::UnknownVersion(other)
                    }
                    Lookup::UnknownType => Known::UnknownType,
                });
            }
        }
        types
    }

    fn known(&self, node: &Map<String, Value>) -> &Known {
        let (node_type, version) = type_of(node);
        let place = self.places.get(&(node_type, version.map(f64::to_bits)));
        place
            .and_then(|place| self.known.get(*place))
            .unwrap_or(&Known::UnknownType)
    }
}

fn type_of(node: &Map<String, Value>) -> (&str, Option<f64>) {
    let node_type = node.get("type").and_then(Value::as_str).unwrap_or("");
    let version = match node.get("typeVersion") {
        None | Some(Value::Null) => None,
        // Not a number: no version at all, of a type that may exist.
        Some(version) => Some(version.as_f64().unwrap_or(f64::NAN)),
    };
    (node_type, version)
}

/// The nodes that are objects, with their places in the document's list.
fn node_objects(document: &Value) -> impl Iterator<Item = (usize, &Map<String, Value>)> {
    let list = document.get("nodes").and_then(Value::as_array);
    let numbered = list.into_iter().flatten().enumerate();
    numbered.filter_map(|(at, node)| Some((at, node.as_object()?)))
}

pub(super) enum Known {
    Yes(Arc<NodeDescription>),
    /// With another version of it, for what all versions of a type have in common.
    UnknownVersion(Option<Arc<NodeDescription>>),
    UnknownType,
}

/// A connection between two named nodes; ends are indexes in `nodes` where the names exist.
pub(super) struct Edge<'a> {
    pub from_name: &'a str,
    pub from: Option<usize>,
    pub kind: &'a str,
    pub output: usize,
    pub place: usize,
    pub to_name: &'a str,
    pub to: Option<usize>,
    pub input_kind: &'a str,
    pub input: u64,
}

impl<'a> NodeView<'a> {
    pub(super) fn description(&self) -> Option<&'a NodeDescription> {
        match &self.known {
            Known::Yes(description) => Some(description),
            _ => None,
        }
    }
    pub(super) fn is_sticky(&self) -> bool {
        self.node_type == STICKY
    }
    /// What operations use to mean this node.
    pub(super) fn address(&self) -> String {
        let id = self.id.filter(|id| !id.is_empty());
        id.or(self.name).unwrap_or_default().to_owned()
    }
    /// Whether it can start the workflow. A version that nobody knows is a fault of its own, not also a missing trigger.
    pub(super) fn trigger_like(&self) -> bool {
        let known = match self.known {
            Known::Yes(description) => Some(description),
            Known::UnknownVersion(other) => other.as_ref(),
            Known::UnknownType => None,
        };
        known.is_some_and(|d| d.trigger_like)
    }
    /// A trigger; also a node of an unknown type with nothing before it, which may be one.
    fn starts_runs(&self, before: &Neighbours) -> bool {
        match self.description() {
            Some(d) => matches!(d.kind, NodeKind::Trigger(_)) || self.node_type == OLD_START,
            None => !self.is_sticky() && before.of_node(self.index).is_empty(),
        }
    }
    pub(super) fn is_sub_node(&self) -> bool {
        let kind = self.description().map(|d| d.kind);
        matches!(kind, Some(NodeKind::SubNode | NodeKind::Tool))
    }
}

impl<'a> Subject<'a> {
    pub(super) fn of(document: &'a Value, catalog: &'a Catalog, types: &'a Types) -> Self {
        let one = |(index, (at, node))| view(index, at, node, types.known(node));
        let objects = node_objects(document).enumerate();
        let many = document.get("nodes").and_then(Value::as_array);
        let mut nodes: Vec<NodeView> = if many.is_some_and(|list| list.len() >= MANY) {
            let objects: Vec<_> = objects.collect();
            let shares = objects.into_par_iter().with_min_len(SHARE);
            shares.map(one).collect()
        } else {
            objects.map(one).collect()
        };
        let named = nodes.iter().enumerate();
        let by_name: FxHashMap<&str, usize> =
            named.filter_map(|(i, n)| Some((n.name?, i))).collect();
        let edges = edges(document, &by_name);
        let main = || edges.iter().filter(|e| e.kind == "main");
        let serving = || edges.iter().filter(|e| e.kind != "main");
        let count = nodes.len();
        let main_after = Neighbours::of(count, main().map(|e| (e.from, e.to)));
        let main_before = Neighbours::of(count, main().map(|e| (e.to, e.from)));
        let starts: Vec<usize> = nodes
            .iter()
            .filter(|n| !n.disabled && n.starts_runs(&main_before))
            .map(|n| n.index)
            .collect();
        if !starts.is_empty() {
            // What serves a node that runs is run by it.
            let run = main_after.reached(starts.iter().copied());
            let run = run.into_iter().enumerate().filter(|(_, yes)| *yes);
            let servants = Neighbours::of(count, serving().map(|e| (e.to, e.from)));
            let run = servants.reached(run.map(|(n, _)| n));
            for (node, run) in nodes.iter_mut().zip(run) {
                node.idle = !run && !node.is_sticky();
            }
        }
        let numbered = || edges.iter().enumerate();
        Subject {
            served: Neighbours::of(count, serving().map(|e| (e.from, e.to))),
            leaving: Neighbours::of(count, numbered().map(|(i, e)| (e.from, Some(i)))),
            entering: Neighbours::of(count, numbered().map(|(i, e)| (e.to, Some(i)))),
            reach: Reach::of(&main_after, count, &starts),
            main_after,
            main_before,
            catalog,
            nodes,
            edges,
            pinned: document.get("pinData").and_then(Value::as_object),
            by_name,
        }
    }

    /// The connections that leave the node, between nodes that exist.
    pub(super) fn leaving(&self, node: usize) -> impl Iterator<Item = &Edge<'a>> {
        let edges = self.leaving.of_node(node).iter();
        edges
            .filter_map(|i| self.edges.get(*i))
            .filter(|e| e.to.is_some())
    }

    /// The connections that enter the node, from nodes that exist.
    pub(super) fn entering(&self, node: usize) -> impl Iterator<Item = &Edge<'a>> {
        let edges = self.entering.of_node(node).iter();
        edges
            .filter_map(|i| self.edges.get(*i))
            .filter(|e| e.from.is_some())
    }

    /// The nodes whose parameters and credentials count: known, enabled, no sticky notes.
    pub(super) fn judged(&self) -> impl Iterator<Item = &NodeView<'a>> {
        let counts = |n: &&NodeView| !n.is_sticky() && !n.disabled && n.description().is_some();
        self.nodes.iter().filter(counts)
    }

    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

static NO_PARAMETERS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

fn view<'a>(
    index: usize,
    at: usize,
    raw: &'a Map<String, Value>,
    known: &'a Known,
) -> NodeView<'a> {
    let text = |key: &str| raw.get(key).and_then(Value::as_str);
    let node_type = text("type").unwrap_or("");
    let parameters = raw.get("parameters").and_then(Value::as_object);
    let parameters = parameters.unwrap_or(&NO_PARAMETERS);
    let (filled, fill_error) = match known {
        Known::Yes(description) if node_type != STICKY => match description.filled(parameters) {
            Ok(filled) => (filled, None),
            Err(error) => (Filled::as_written(parameters), Some(error)),
        },
        _ => (Filled::as_written(parameters), None),
    };
    NodeView {
        index,
        at,
        raw,
        name: text("name"),
        id: text("id"),
        node_type,
        disabled: raw.get("disabled") == Some(&Value::Bool(true)),
        idle: false,
        known,
        parameters,
        filled,
        fill_error,
    }
}

fn edges<'a>(document: &'a Value, by_name: &FxHashMap<&'a str, usize>) -> Vec<Edge<'a>> {
    let mut edges = Vec::new();
    let sources = document.get("connections").and_then(Value::as_object);
    for (from_name, kinds) in sources.into_iter().flatten() {
        for (kind, buckets) in kinds.as_object().into_iter().flatten() {
            for (output, links) in buckets.as_array().into_iter().flatten().enumerate() {
                for (place, link) in links.as_array().into_iter().flatten().enumerate() {
                    let Some(to_name) = link.get("node").and_then(Value::as_str) else {
                        continue;
                    };
                    edges.push(Edge {
                        from_name,
                        from: by_name.get(from_name.as_str()).copied(),
                        kind,
                        output,
                        place,
                        to_name,
                        to: by_name.get(to_name).copied(),
                        input_kind: link.get("type").and_then(Value::as_str).unwrap_or("main"),
                        input: link.get("index").and_then(Value::as_u64).unwrap_or(0),
                    });
                }
            }
        }
    }
    edges
}
