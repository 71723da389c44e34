//! What is true of a node that a call adds, whichever tool adds it: its name is one that n8n takes, and it has a version.

use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::workflow::number;
use agentctl_n8n::{Node, Workflow, edit};
use std::collections::BTreeSet;

/// Why a node that is new may not be named as it is.
pub(super) fn misnamed(before: &Workflow, after: &Workflow) -> Option<String> {
    let old: BTreeSet<&str> = before.nodes.iter().map(Node::name).collect();
    let names = after.nodes.iter().map(Node::name);
    names
        .filter(|name| !old.contains(name))
        .find_map(|name| edit::check_name(name).err())
}

/// A node whose call named no version gets its type's default, as n8n's editor would give it. A type that is not known stays
/// without: the check says so. Nodes that were there before are not touched.
pub(super) fn fill_added_versions(before: &Workflow, after: &mut Workflow, catalog: &Catalog) {
    for node in &mut after.nodes {
        if node.map().contains_key("typeVersion") || before.node(&node.id()).is_some() {
            continue;
        }
        if let Some(description) = catalog.lookup(node.node_type(), None).known() {
            node.set("typeVersion", number(description.version));
        }
    }
}
