//! The edit-scope guard: in a fix cycle a change may touch only what the check named.
//!
//! - A node that exists is in scope when the scope names it, by id or by name. Names are resolved against the workflow as it was
//!   when the scope was given, so that a rename moves nothing into the scope.
//! - A changed edge is in scope when its source or its target is.
//! - A new node is in scope when the changed workflow connects it, directly or through other new nodes, with a node in scope. What
//!   was added since the scope was given stays in scope.
//! - Settings and the workflow's name are in scope only when the scope holds the entry `$workflow`; with it, new nodes need no connection.
//! - Positions are nobody's scope: moving a node changes nothing that runs.

use super::change::{GraphChange, NodeKey, edges, keys};
use super::{EDIT_SCOPE, allow, deny};
use agentctl_base::decision::Decision;
use agentctl_n8n::Workflow;
use std::collections::{BTreeMap, BTreeSet};

/// The entry that stands for the document itself: name, settings, nodes that hang on nothing.
pub const WORKFLOW_ENTRY: &str = "$workflow";

/// A scope, resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    pub(super) nodes: BTreeSet<NodeKey>,
    document: bool,
}

impl Scope {
    /// `given_on` is the workflow as it was when the scope was given. An entry that names no node there stands for nothing.
    pub fn resolve(entries: &[String], given_on: &Workflow) -> Self {
        let keys = keys(given_on);
        let mut scope = Scope::default();
        for entry in entries {
            if entry == WORKFLOW_ENTRY {
                scope.document = true;
                continue;
            }
            let by_id = given_on.nodes.iter().position(|n| n.id().0 == *entry);
            let found = by_id.or_else(|| given_on.nodes.iter().position(|n| n.name() == entry));
            if let Some(key) = found.and_then(|i| keys.get(i)) {
                scope.nodes.insert(key.clone());
            }
        }
        scope
    }
}

/// May `before` become `after` in this scope? `given_on` is the workflow as it was when the scope was given.
pub fn edit_scope(
    entries: &[String],
    given_on: &Workflow,
    before: &Workflow,
    after: &Workflow,
) -> Decision {
    let change = GraphChange::between(before, after);
    if change.is_empty() {
        return allow(EDIT_SCOPE);
    }
    let mut scope = Scope::resolve(entries, given_on);
    let at_start: BTreeSet<NodeKey> = keys(given_on).into_iter().collect();
    scope
        .nodes
        .extend(keys(before).into_iter().filter(|k| !at_start.contains(k)));

    let allowed_new = connected_additions(&scope, &change, before, after);
    let inside = |key: &NodeKey| scope.nodes.contains(key) || allowed_new.contains(key);
    let names = Names::of(before, after);

    let mut outside: Vec<String> = Vec::new();
    let touched = change.changed.iter().chain(&change.removed);
    outside.extend(
        touched
            .filter(|key| !inside(key))
            .map(|key| format!("node {}", names.of_key(key))),
    );
    outside.extend(change.added.iter().filter(|key| !inside(key)).map(|key| {
        format!(
            "new node {}, connected to nothing in scope",
            names.of_key(key)
        )
    }));
    outside.extend(
        change
            .edges
            .iter()
            .filter(|edge| !inside(&edge.from) && !inside(&edge.to))
            .map(|edge| {
                format!(
                    "connection {} → {}",
                    names.of_key(&edge.from),
                    names.of_key(&edge.to)
                )
            }),
    );
    if !scope.document {
        outside.extend(
            change
                .document
                .iter()
                .map(|key| format!("the workflow's {key}")),
        );
    }
    if outside.is_empty() {
        return allow(EDIT_SCOPE);
    }
    let scope_text = if entries.is_empty() {
        "empty".to_owned()
    } else {
        entries.join(", ")
    };
    deny(
        EDIT_SCOPE,
        format!(
            "outside edit_scope: {} (the scope is {scope_text})",
            outside.join("; ")
        ),
    )
}

/// The new nodes that may be there: all of them when the document is in scope, else those that reach a node in scope, or the
/// place of one that was removed.
fn connected_additions(
    scope: &Scope,
    change: &GraphChange,
    before: &Workflow,
    after: &Workflow,
) -> BTreeSet<NodeKey> {
    if scope.document {
        return change.added.clone();
    }
    let after_keys = keys(after);
    let here: BTreeSet<&NodeKey> = after_keys.iter().collect();
    // Only nodes that are still there can hold a new one.
    let mut reached: BTreeSet<NodeKey> = scope
        .nodes
        .iter()
        .filter(|key| here.contains(key))
        .cloned()
        .collect();
    // A node that takes the place of a removed one hangs on what that one hung on: these ends hold a new node too.
    for edge in edges(before) {
        for (end, gone) in [(&edge.from, &edge.to), (&edge.to, &edge.from)] {
            if scope.nodes.contains(gone) && change.removed.contains(gone) && here.contains(end) {
                reached.insert(end.clone());
            }
        }
    }
    let edges = edges(after);
    let mut allowed = BTreeSet::new();
    loop {
        let next: Vec<NodeKey> = edges
            .iter()
            .flat_map(|edge| [(&edge.from, &edge.to), (&edge.to, &edge.from)])
            .filter(|(from, to)| {
                reached.contains(*from) && change.added.contains(*to) && !allowed.contains(*to)
            })
            .map(|(_, to)| to.clone())
            .collect();
        if next.is_empty() {
            return allowed;
        }
        reached.extend(next.iter().cloned());
        allowed.extend(next);
    }
}

struct Names(BTreeMap<NodeKey, String>);

impl Names {
    fn of(before: &Workflow, after: &Workflow) -> Self {
        let mut names = BTreeMap::new();
        for workflow in [after, before] {
            for (key, node) in keys(workflow).into_iter().zip(&workflow.nodes) {
                names.insert(key, format!("{:?}", node.name()));
            }
        }
        Names(names)
    }
    fn of_key(&self, key: &NodeKey) -> String {
        self.0.get(key).cloned().unwrap_or_else(|| key.to_string())
    }
}
