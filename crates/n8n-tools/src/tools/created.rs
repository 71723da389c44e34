//! The document of a create call: nodes and connections as one workflow, checked for what no backend could keep, and laid out.

use super::create_workflow::CreateWorkflow;
use agentctl_engine::toolset::Outcome;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::workflow::number;
use agentctl_n8n::{EditOp, Node, NodeId, Workflow, edit, layout};
use serde_json::Value;
use std::collections::BTreeSet;

/// The document of a create call, checked for what no backend could keep.
pub(super) fn built(
    create: &CreateWorkflow,
    catalog: &Catalog,
    ids: &mut dyn FnMut() -> String,
) -> Result<Workflow, Outcome> {
    let wrong = |why: String| {
        Outcome::failed(
            why,
            "arguments",
            "correct it and send the whole workflow again",
        )
    };
    if create.name.trim().is_empty() {
        return Err(wrong("the name is empty".to_owned()));
    }
    let mut workflow = Workflow::empty(create.name.trim());
    if let Some(ops) = &create.ops {
        if create.nodes.is_some() || create.connections.is_some() {
            return Err(wrong(
                "give nodes and connections, or ops, not both".to_owned(),
            ));
        }
        workflow = edit::apply(&workflow, ops, ids).map_err(|e| wrong(e.to_string()))?;
    }
    for node in create.nodes.iter().flatten() {
        workflow.nodes.push(node.clone().into_node(&mut *ids));
    }
    if let Some(connections) = &create.connections {
        workflow.connections = connections.clone();
    }
    if let Some(settings) = &create.settings
        && let Some(Value::Object(base)) = workflow.head.get_mut("settings")
    {
        base.extend(settings.clone());
    }
    if workflow.nodes.is_empty() {
        return Err(wrong("the workflow has no nodes".to_owned()));
    }
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for node in &workflow.nodes {
        edit::check_name(node.name()).map_err(wrong)?;
        if node.node_type().is_empty() {
            return Err(wrong(format!("the node {:?} has no type", node.name())));
        }
        if !names.insert(node.name()) {
            return Err(wrong(format!("two nodes are named {:?}", node.name())));
        }
        if !seen.insert(node.id()) {
            return Err(wrong(format!("two nodes have the id {:?}", node.id().0)));
        }
    }
    for (from, _, _, link) in workflow.edges() {
        for name in [from, link.node.as_str()] {
            if !names.contains(name) {
                return Err(wrong(format!(
                    "a connection names {name:?}, and no node is named so"
                )));
            }
        }
    }
    fill_added_versions(&Workflow::empty(""), &mut workflow, catalog);
    let unplaced: Vec<NodeId> = workflow
        .nodes
        .iter()
        .filter(|node| node.position().is_none())
        .map(|node| node.id())
        .collect();
    let drawn = create.ops.iter().flatten().any(|op| match op {
        EditOp::AddNode { node } => node.position.is_some(),
        EditOp::MoveNode { .. } => true,
        _ => false,
    });
    if unplaced.len() == workflow.nodes.len() || (create.ops.is_some() && !drawn) {
        layout::layout(&mut workflow);
    } else {
        layout::place_new(&mut workflow, &unplaced);
    }
    Ok(workflow)
}

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
