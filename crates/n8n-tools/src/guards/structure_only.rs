//! The structure-only guard: a call that edits the structure sets no values. Structure are nodes, connections, names, what switches a
//! node off or sends its errors elsewhere, and the parameters that the catalog calls structural (`catalog::structure`).

use super::{STRUCTURE_ONLY, allow, deny};
use agentctl_base::decision::Decision;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::catalog::structure::{self, ABOUT};
use agentctl_n8n::diff::{self, NodeChange};
use agentctl_n8n::{Node, Workflow};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Keys of a node that belong to the structure; credentials have a guard of their own.
const KEYS: [&str; 12] = [
    "id",
    "name",
    "type",
    "typeVersion",
    "position",
    "parameters",
    "credentials",
    "disabled",
    "onError",
    "webhookId",
    "notes",
    "notesInFlow",
];

/// May `before` become `after` by a call that edits the structure? `before` is empty for a new workflow.
pub fn structure_only(before: &Workflow, after: &Workflow, catalog: &Catalog) -> Decision {
    let change = diff::changes(before, after);
    let mut values: Vec<String> = Vec::new();
    for added in &change.nodes_added {
        if let Some(node) = after.node(&added.id) {
            values.extend(told(node, &set_in(None, node, catalog)));
        }
    }
    for changed in &change.nodes_changed {
        let old = before.node(&changed.before.id);
        if let Some(node) = after.node(&changed.after.id) {
            values.extend(told(node, &set_by(changed, old, node, catalog)));
        }
    }
    if values.is_empty() {
        return allow(STRUCTURE_ONLY);
    }
    deny(
        STRUCTURE_ONLY,
        format!("values are set, not structure: {}", values.join("; ")),
    )
}

/// The parameters and settings that a change sets; expressions that follow a rename set nothing.
fn set_by(
    change: &NodeChange,
    old: Option<&Node>,
    node: &Node,
    catalog: &Catalog,
) -> BTreeSet<String> {
    let mut set = set_in(old, node, catalog);
    if change.follows_rename {
        set.retain(|name| node.map().contains_key(name) && !is_parameter(old, node, name));
    }
    set
}

fn is_parameter(old: Option<&Node>, node: &Node, name: &str) -> bool {
    let of = |node: &Node| node.parameters().is_some_and(|p| p.contains_key(name));
    of(node) || old.is_some_and(of)
}

/// The names of parameters and settings that are no structure and differ between a node as it was (None: it is new) and as it is.
fn set_in(old: Option<&Node>, node: &Node, catalog: &Catalog) -> BTreeSet<String> {
    let empty = Map::new();
    let was = old.and_then(Node::parameters).unwrap_or(&empty);
    let is = node.parameters().unwrap_or(&empty);
    let known = catalog.lookup(node.node_type(), node.type_version());
    let known = known.known();
    let mut paths = BTreeSet::from(ABOUT);
    if let Some(known) = &known {
        paths.extend(known.structural(was));
        paths.extend(known.structural(is));
    }
    let left = |values| structure::elsewhere(values, &paths);
    let mut set = differing(&left(was), &left(is));
    let setting = |node: &Node| -> Map<String, Value> {
        let keys = node.map().iter();
        let keys = keys.filter(|(key, _)| !KEYS.contains(&key.as_str()));
        keys.map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    set.extend(differing(
        &old.map(setting).unwrap_or_default(),
        &setting(node),
    ));
    set
}

fn differing(was: &Map<String, Value>, is: &Map<String, Value>) -> BTreeSet<String> {
    let keys = was.keys().chain(is.keys());
    let keys = keys.filter(|key| was.get(*key) != is.get(*key));
    keys.cloned().collect()
}

fn told(node: &Node, set: &BTreeSet<String>) -> Option<String> {
    let names: Vec<&str> = set.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("{:?}: {}", node.name(), names.join(", ")))
}
