//! The workflow while it is being written: nodes, edges, names, ids, and what the items look like at each place.
//! Owns the cursor (`At`) that a step takes and gives back. Knows no node type's parameters.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::super::plan::{Plan, Todo};
use super::data::Origin;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Node, NodeId, Workflow};

/// An output that the next node will be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    pub node: String,
    pub output: u32,
}

/// A place in the flow: what leads here, and what an item holds here.
#[derive(Debug, Clone)]
pub(super) struct At {
    pub ends: Vec<End>,
    /// The origin whose fields `$json` holds; none after branches with different data have met.
    pub json: Option<usize>,
    /// The origins that lie before this place, oldest first.
    pub seen: Vec<usize>,
    /// `$('Node').item` still finds its way back (not after items were collected into one).
    pub paired: bool,
    /// More than one item is likely here.
    pub many: bool,
    /// The items were collected into one; they lie in this field of it.
    pub list: Option<String>,
    /// The binary field at hand.
    pub binary: String,
    /// The place is a tool of an agent: what is not known here the model fills in.
    pub tool: Option<Vec<String>>,
    /// A file hangs on the items (in `binary`).
    pub file: bool,
}

impl At {
    pub(super) fn start() -> Self {
        At {
            ends: Vec::new(),
            json: None,
            seen: Vec::new(),
            paired: true,
            many: false,
            list: None,
            binary: "data".to_owned(),
            tool: None,
            file: false,
        }
    }
    /// The same place, continued from these outputs.
    pub(super) fn from(&self, node: &str, output: u32) -> Self {
        At {
            ends: vec![End {
                node: node.to_owned(),
                output,
            }],
            ..self.clone()
        }
    }
    pub(super) fn is_dead(&self) -> bool {
        self.ends.is_empty()
    }
}

/// A workflow being written.
#[derive(Clone)]
pub(super) struct Draft<'a> {
    pub catalog: &'a Catalog,
    pub plan: &'a Plan,
    pub workflow: Workflow,
    pub todo: Vec<Todo>,
    pub notes: Vec<String>,
    pub origins: Vec<Origin>,
    /// What could not be told from the request and the records at hand, in the request's words.
    pub gaps: RefCell<Vec<String>>,
    /// Nodes by the part of the request that each step is of.
    pub made: Vec<super::Made>,
    /// The nodes of the steps whose failure the plan speaks of.
    pub failing: Vec<String>,
    /// Plan step → the origin that its output is.
    pub by_step: HashMap<String, usize>,
    space: Uuid,
    counter: u32,
}

impl<'a> Draft<'a> {
    pub(super) fn new(plan: &'a Plan, catalog: &'a Catalog, name: &str) -> Self {
        Draft {
            catalog,
            plan,
            workflow: Workflow::empty(name),
            todo: Vec::new(),
            notes: Vec::new(),
            origins: Vec::new(),
            gaps: RefCell::default(),
            made: Vec::new(),
            failing: Vec::new(),
            by_step: HashMap::new(),
            space: Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()),
            counter: 0,
        }
    }

    /// An id that is the same for the same workflow name and key.
    pub(super) fn id(&self, key: &str) -> String {
        Uuid::new_v5(&self.space, key.as_bytes()).to_string()
    }

    /// An id for a part of a node (an assignment, a condition).
    pub(super) fn part_id(&mut self) -> String {
        self.counter += 1;
        self.id(&format!("part {}", self.counter))
    }

    fn free_name(&self, wish: &str) -> String {
        let clean: String = wish
            .chars()
            .map(|c| {
                if matches!(c, '\'' | '"' | '`' | '\\' | '\n' | '{' | '}') {
                    ' '
                } else {
                    c
                }
            })
            .collect();
        let mut clean = clean.split_whitespace().collect::<Vec<_>>().join(" ");
        if clean.is_empty() {
            clean = "Step".to_owned();
        }
        if clean.chars().count() > 60 {
            clean = clean
                .chars()
                .take(59)
                .collect::<String>()
                .trim_end()
                .to_owned()
                + "…";
        }
        if self.workflow.node_by_name(&clean).is_none() {
            return clean;
        }
        (1..)
            .map(|i| format!("{clean} {i}"))
            .find(|name| self.workflow.node_by_name(name).is_none())
            .unwrap_or(clean)
    }

    /// Adds a node without edges; gives its name.
    pub(super) fn lone(
        &mut self,
        wish: &str,
        node_type: &str,
        parameters: Map<String, Value>,
    ) -> String {
        let name = self.free_name(wish);
        let version = self.version(node_type);
        let id = self.id(&format!("node {name}"));
        self.workflow.nodes.push(Node::new(
            NodeId(id),
            name.clone(),
            node_type,
            version,
            parameters,
        ));
        name
    }

    /// Adds a node behind `at`; gives its name.
    pub(super) fn node(
        &mut self,
        at: &At,
        wish: &str,
        node_type: &str,
        parameters: Map<String, Value>,
    ) -> String {
        let name = self.lone(wish, node_type, parameters);
        self.link(at, &name, 0);
        name
    }

    /// Connects all open ends of `at` to an input.
    pub(super) fn link(&mut self, at: &At, to: &str, input: u32) {
        for end in &at.ends {
            self.workflow
                .connect(&end.node, "main", end.output, to, input);
        }
    }

    /// Hangs a sub-node on its parent.
    pub(super) fn attach(&mut self, sub: &str, kind: &str, parent: &str) {
        self.workflow.connect(sub, kind, 0, parent, 0);
    }

    pub(super) fn set(&mut self, node: &str, key: &str, value: Value) {
        if let Some(node) = self.workflow.node_by_name_mut(node) {
            node.set(key, value);
        }
    }

    pub(super) fn todo(&mut self, kind: &str, node: &str, text: impl Into<String>) {
        let todo = Todo {
            kind: kind.to_owned(),
            node: node.to_owned(),
            text: text.into(),
        };
        if !self.todo.contains(&todo) {
            self.todo.push(todo);
        }
    }

    /// Says that a part of the request could not be told: what is built is a draft.
    pub(super) fn gap(&self, said: &str) {
        let mut gaps = self.gaps.borrow_mut();
        if !said.trim().is_empty() && !gaps.iter().any(|g| g == said) {
            gaps.push(said.to_owned());
        }
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Registers what a node gives out and moves on to its first output.
    pub(super) fn produce(
        &mut self,
        at: &At,
        node: &str,
        step: Option<&str>,
        origin: Origin,
    ) -> At {
        self.produce_on(at, node, 0, step, origin)
    }

    pub(super) fn produce_on(
        &mut self,
        at: &At,
        node: &str,
        output: u32,
        step: Option<&str>,
        origin: Origin,
    ) -> At {
        let index = self.origins.len();
        self.origins.push(Origin {
            node: node.to_owned(),
            ..origin
        });
        if let Some(step) = step {
            self.by_step.insert(step.to_owned(), index);
        }
        let mut next = at.from(node, output);
        next.json = Some(index);
        next.seen.push(index);
        next.list = None;
        next
    }

    /// Two or more places become one: what only one of them knows can still be read by its node's name.
    pub(super) fn meet(&self, places: Vec<At>) -> At {
        let mut live = places.into_iter().filter(|p| !p.is_dead());
        let Some(mut met) = live.next() else {
            return At::start();
        };
        for place in live {
            for end in place.ends {
                if !met.ends.contains(&end) {
                    met.ends.push(end);
                }
            }
            if met.json != place.json {
                met.json = None;
            }
            // what one branch alone produced may not have run
            met.seen.retain(|i| place.seen.contains(i));
            met.paired &= place.paired;
            met.many |= place.many;
            met.file &= place.file;
            if met.list != place.list {
                met.list = None;
            }
        }
        met
    }
}
