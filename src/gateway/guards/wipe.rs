//! The wipe guard: what a run has lost of the workflow it started from, over all its edits together.
//! Only the start and the result are compared, so an edit cut into many small ones is judged like one large one.

use super::change::{NodeKey, edges, keys};
use super::{WIPE, allow, ask};
use crate::n8n::{Node, Workflow};
use crate::policy::Decision;
use std::collections::{BTreeMap, BTreeSet};

/// What is lost of a base. Sticky notes are not counted: they run nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Names, in the base's order.
    pub lost: Vec<String>,
    pub total: usize,
}

impl Loss {
    pub fn is_wipe(&self) -> bool {
        self.lost.len() * 2 > self.total
    }
}

/// A node of the base is lost when it is gone, became another type, was disabled, was emptied of its parameters, or has no
/// connection left while it had one.
pub fn loss(base: &Workflow, after: &Workflow) -> Loss {
    let (base_keys, after_keys) = (keys(base), keys(after));
    let connected = |workflow: &Workflow, keys: &[NodeKey]| -> BTreeSet<NodeKey> {
        edges(workflow, keys)
            .into_iter()
            .flat_map(|edge| [edge.from, edge.to])
            .collect()
    };
    let was_connected = connected(base, &base_keys);
    let is_connected = connected(after, &after_keys);
    let now: BTreeMap<&NodeKey, &Node> = after_keys.iter().zip(&after.nodes).collect();
    let mut loss = Loss {
        lost: Vec::new(),
        total: 0,
    };
    let mut heirs = successors(base, after, &base_keys, &after_keys);
    for (key, node) in base_keys.iter().zip(&base.nodes) {
        if node.is_sticky() {
            continue;
        }
        loss.total += 1;
        if !now.contains_key(key) && heirs.remove(key) {
            continue;
        }
        let kept = now.get(key).is_some_and(|other| {
            let cut = was_connected.contains(key) && !is_connected.contains(key);
            let disabled = other.disabled() && !node.disabled();
            let emptied = has_parameters(node) && !has_parameters(other);
            node.node_type() == other.node_type() && !cut && !disabled && !emptied
        });
        if !kept {
            loss.lost.push(node.name().to_owned());
        }
    }
    loss
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
fn successors(
    base: &Workflow,
    after: &Workflow,
    base_keys: &[NodeKey],
    after_keys: &[NodeKey],
) -> BTreeSet<NodeKey> {
    let (before, now) = (edges(base, base_keys), edges(after, after_keys));
    let asleep: BTreeSet<&NodeKey> = after_keys
        .iter()
        .zip(&after.nodes)
        .filter(|(_, node)| node.disabled())
        .map(|(key, _)| key)
        .collect();
    let mut taken: BTreeSet<NodeKey> = BTreeSet::new();
    let mut found = BTreeSet::new();
    for edge in before.iter().filter(|e| SINGLE.contains(&e.kind.as_str())) {
        let lone = before
            .iter()
            .filter(|e| e.from == edge.from || e.to == edge.from)
            .all(|e| e.kind == edge.kind);
        let gone = !after_keys.contains(&edge.from) && after_keys.contains(&edge.to);
        if !lone || !gone || found.contains(&edge.from) {
            continue;
        }
        let heir = now.iter().find(|e| {
            e.kind == edge.kind
                && e.to == edge.to
                && !base_keys.contains(&e.from)
                && !taken.contains(&e.from)
                && !asleep.contains(&e.from)
        });
        if let Some(heir) = heir {
            taken.insert(heir.from.clone());
            found.insert(edge.from.clone());
        }
    }
    found
}

fn has_parameters(node: &Node) -> bool {
    node.parameters().is_some_and(|p| !p.is_empty())
}

pub fn wipe(base: &Workflow, after: &Workflow) -> Decision {
    let loss = loss(base, after);
    if !loss.is_wipe() {
        return allow(WIPE);
    }
    let shown: Vec<&str> = loss.lost.iter().take(8).map(String::as_str).collect();
    let more = loss.lost.len().saturating_sub(shown.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    ask(
        WIPE,
        format!(
            "this run would lose {} of the {} nodes it started from: {}{more}",
            loss.lost.len(),
            loss.total,
            shown.join(", ")
        ),
    )
}
