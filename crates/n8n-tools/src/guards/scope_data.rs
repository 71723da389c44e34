//! A scope confines data as well as changes: what is new in a fix cycle reads what the scope's own nodes read, and no more. A
//! new or changed node in scope that asks for the data of a node outside, or a new node that sends and that a node outside now
//! leads to, is for the user to allow.
//!
//! Not asked: what a node read before, what the scope's nodes read when the scope was given (by name, or because it led to them),
//! and what was added since.

use super::change::{NodeKey, edges, keys};
use super::scope::Scope;
use super::{SCOPE, allow, ask};
use agentctl_base::decision::Decision;
use agentctl_n8n::edit::references::{Named, named_by};
use agentctl_n8n::{Node, Workflow};
use std::collections::{BTreeMap, BTreeSet};

/// `given_on` is the workflow as it was when the scope was given. `stays`: whether a node surely keeps what it gets inside n8n.
pub fn scope_data(
    entries: &[String],
    given_on: &Workflow,
    before: &Workflow,
    after: &Workflow,
    stays: &dyn Fn(&Node) -> bool,
) -> Decision {
    let scope = Scope::resolve(entries, given_on);
    let (start, then, now) = (State::of(given_on), State::of(before), State::of(after));
    let own = |key: &NodeKey| scope.nodes.contains(key) || !start.nodes.contains_key(key);
    // What reaches the scope already.
    let mut known: BTreeSet<NodeKey> = edges(given_on)
        .into_iter()
        .filter(|edge| scope.nodes.contains(&edge.to))
        .map(|edge| edge.from)
        .collect();
    for key in &scope.nodes {
        if let Some(node) = start.nodes.get(key) {
            known.extend(start.meant(&named_by(node)));
        }
    }

    let mut outside: Vec<String> = Vec::new();
    for (key, node) in now.nodes.iter().filter(|(key, _)| own(key)) {
        let was = then.nodes.get(key);
        if was == Some(node) {
            continue;
        }
        let read = was.map(|node| named_by(node)).unwrap_or_default();
        let reads = named_by(node);
        let read_before = then.meant(&read);
        let mut fresh = now.meant(&reads);
        fresh.retain(|source| {
            !own(source) && !known.contains(source) && !read_before.contains(source)
        });
        outside.extend(
            fresh
                .iter()
                .map(|source| format!("{:?} would read {}", node.name(), now.name(source))),
        );
        if reads.computed && !read.computed {
            outside.push(format!(
                "{:?} would read a node whose name is computed",
                node.name()
            ));
        }
    }

    let (had, have) = (edges(before), edges(after));
    let is_new = |key: &NodeKey| !start.nodes.contains_key(key);
    for edge in have.difference(&had) {
        if own(&edge.from) || known.contains(&edge.from) || !is_new(&edge.to) {
            continue;
        }
        // Over new nodes to one that may send it on.
        let mut reached = BTreeSet::new();
        let mut open = vec![&edge.to];
        while let Some(key) = open.pop() {
            if reached.insert(key) {
                let next = have.iter().filter(|e| e.from == *key && is_new(&e.to));
                open.extend(next.map(|e| &e.to));
            }
        }
        let sends = |key: &&NodeKey| now.nodes.get(*key).is_some_and(|node| !stays(node));
        if let Some(sender) = reached.into_iter().find(sends) {
            outside.push(format!(
                "{} would lead to {}",
                now.name(&edge.from),
                now.name(sender)
            ));
        }
    }
    if outside.is_empty() {
        return allow(SCOPE);
    }
    ask(
        SCOPE,
        format!(
            "data from outside the scope ({}): {}",
            match entries.is_empty() {
                true => "empty".to_owned(),
                false => entries.join(", "),
            },
            outside.join("; ")
        ),
    )
}

/// A state's nodes by key, and the keys by name.
struct State<'w> {
    nodes: BTreeMap<NodeKey, &'w Node>,
    names: BTreeMap<&'w str, NodeKey>,
}

impl<'w> State<'w> {
    fn of(workflow: &'w Workflow) -> Self {
        let keyed = keys(workflow).into_iter().zip(&workflow.nodes);
        let mut state = State {
            nodes: BTreeMap::new(),
            names: BTreeMap::new(),
        };
        for (key, node) in keyed {
            state
                .names
                .entry(node.name())
                .or_insert_with(|| key.clone());
            state.nodes.insert(key, node);
        }
        state
    }

    /// The nodes that are meant by their names; a name that no node has gives nothing.
    fn meant(&self, named: &Named) -> BTreeSet<NodeKey> {
        let names = named.nodes.iter();
        names
            .filter_map(|name| self.names.get(name.as_str()).cloned())
            .collect()
    }

    fn name(&self, key: &NodeKey) -> String {
        match self.nodes.get(key) {
            Some(node) => format!("{:?}", node.name()),
            None => key.to_string(),
        }
    }
}
