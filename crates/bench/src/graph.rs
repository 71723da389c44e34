//! A workflow as its expectations see it: nodes by name, edges by output, what is reached from where.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const STICKY: &str = "n8n-nodes-base.stickyNote";

pub fn is_sticky(node: &Value) -> bool {
    node.get("type").and_then(Value::as_str) == Some(STICKY)
}

#[derive(Debug, Clone, Copy)]
pub struct Node<'w> {
    pub name: &'w str,
    pub node_type: &'w str,
    pub whole: &'w Value,
}

impl<'w> Node<'w> {
    pub fn parameters(&self) -> Option<&'w Map<String, Value>> {
        self.whole.get("parameters").and_then(Value::as_object)
    }
    /// n8n's own default where it is not written.
    pub fn version(&self) -> f64 {
        self.whole
            .get("typeVersion")
            .and_then(Value::as_f64)
            .unwrap_or(1.0)
    }
    pub fn text_at(&self, key: &str) -> Option<&'w str> {
        self.whole.get(key).and_then(Value::as_str)
    }
    fn is_enabled(&self) -> bool {
        self.node_type != STICKY && self.whole.get("disabled") != Some(&Value::Bool(true))
    }
}

pub type Names<'w> = BTreeSet<&'w str>;

#[derive(Debug)]
pub struct Graph<'w> {
    pub whole: &'w Value,
    nodes: Vec<Node<'w>>,
    /// By the node that it comes from: output and target.
    main: BTreeMap<&'w str, Vec<(usize, &'w str)>>,
    /// Sub-node, parent, type of the connection.
    pub attached: Vec<(&'w str, &'w str, &'w str)>,
    /// Where an execution goes: main edges, and from a parent to its sub-nodes.
    flow: BTreeMap<&'w str, Vec<&'w str>>,
    /// What is wrong with its shape.
    pub problems: Vec<String>,
}

impl<'w> Graph<'w> {
    pub fn of(whole: &'w Value) -> Graph<'w> {
        let mut graph = Graph {
            whole,
            nodes: Vec::new(),
            main: BTreeMap::new(),
            attached: Vec::new(),
            flow: BTreeMap::new(),
            problems: Vec::new(),
        };
        for node in whole
            .get("nodes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            graph.add(node);
        }
        match whole.get("connections") {
            Some(Value::Object(from)) => graph.connect(from),
            None | Some(Value::Null) => {}
            Some(_) => graph
                .problems
                .push("connections is not an object".to_owned()),
        }
        for (from, outs) in &graph.main {
            let to = outs.iter().map(|(_, to)| *to);
            graph.flow.entry(from).or_default().extend(to);
        }
        for (sub, parent, _) in &graph.attached {
            graph.flow.entry(parent).or_default().push(sub);
        }
        graph
    }

    fn add(&mut self, whole: &'w Value) {
        let name = whole.get("name").and_then(Value::as_str);
        let node_type = whole.get("type").and_then(Value::as_str);
        let (Some(name), Some(node_type)) = (name, node_type) else {
            if !is_sticky(whole) {
                self.problems
                    .push("a node has no name or no type".to_owned());
            }
            return;
        };
        let parameters = whole.get("parameters");
        if !matches!(parameters, None | Some(Value::Null | Value::Object(_))) {
            self.problems
                .push(format!("the parameters of {name:?} are not an object"));
        }
        let node = Node {
            name,
            node_type,
            whole,
        };
        match self.nodes.iter_mut().find(|n| n.name == name) {
            Some(twin) => {
                self.problems.push(format!("two nodes are named {name:?}"));
                *twin = node;
            }
            None => self.nodes.push(node),
        }
    }

    fn connect(&mut self, from: &'w Map<String, Value>) {
        for (source, by_type) in from {
            let Some(Node { name: source, .. }) = self.node(source) else {
                self.problems.push(format!(
                    "a connection comes from {source:?}, which is no node"
                ));
                continue;
            };
            let Some(by_type) = by_type.as_object() else {
                self.problems
                    .push(format!("the connections of {source:?} are not an object"));
                continue;
            };
            for (kind, outputs) in by_type {
                let Some(outputs) = outputs.as_array() else {
                    self.problems
                        .push(format!("the {kind} outputs of {source:?} are not a list"));
                    continue;
                };
                for (output, targets) in outputs.iter().enumerate() {
                    self.connect_output(source, kind, output, targets);
                }
            }
        }
    }

    fn connect_output(
        &mut self,
        source: &'w str,
        kind: &'w str,
        output: usize,
        targets: &'w Value,
    ) {
        let targets = match targets {
            Value::Null => return,
            Value::Array(targets) => targets,
            _ => {
                self.problems.push(format!(
                    "the {kind} output {output} of {source:?} is not a list"
                ));
                return;
            }
        };
        for target in targets {
            let name = target.get("node").and_then(Value::as_str);
            let Some(Node { name, .. }) = name.and_then(|name| self.node(name)) else {
                self.problems.push(format!(
                    "{source:?} is connected with something that is no node"
                ));
                continue;
            };
            if kind == "main" {
                self.main.entry(source).or_default().push((output, name));
            } else {
                self.attached.push((source, name, kind));
            }
        }
    }

    pub fn node(&self, name: &str) -> Option<Node<'w>> {
        self.nodes.iter().find(|n| n.name == name).copied()
    }

    /// All of them, disabled ones and notes too.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'w>> + '_ {
        self.nodes.iter().copied()
    }

    /// What runs: neither disabled nor a note.
    pub fn enabled(&self) -> impl Iterator<Item = Node<'w>> + '_ {
        self.nodes().filter(Node::is_enabled)
    }

    /// Outputs and targets.
    pub fn main_of(&self, name: &str) -> &[(usize, &'w str)] {
        self.main.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn main(&self) -> &BTreeMap<&'w str, Vec<(usize, &'w str)>> {
        &self.main
    }

    pub fn has_output(&self, name: &str) -> bool {
        !self.main_of(name).is_empty() || self.attached.iter().any(|(_, parent, _)| *parent == name)
    }

    /// Directly connected, or attached.
    pub fn joins(&self, from: &str, to: &str) -> bool {
        let main = self.main_of(from).iter().any(|(_, target)| *target == to);
        main || self.attached.iter().any(|(s, p, _)| *s == from && *p == to)
    }

    /// These, and what is reached from them on ways that do not come to `without`.
    pub fn reach(
        &self,
        starts: impl IntoIterator<Item = &'w str>,
        without: Option<&str>,
    ) -> Names<'w> {
        let mut seen = Names::new();
        let mut open: Vec<&str> = starts.into_iter().collect();
        while let Some(name) = open.pop() {
            if Some(name) == without || !seen.insert(name) {
                continue;
            }
            open.extend(self.flow.get(name).into_iter().flatten().copied());
        }
        seen
    }

    /// What is reached by at least one step; the node itself only in a loop.
    pub fn after(&self, name: &str) -> Names<'w> {
        let next = self.flow.get(name).into_iter().flatten().copied();
        self.reach(next.collect::<Vec<_>>(), None)
    }
}
