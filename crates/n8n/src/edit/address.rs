//! Finding the node that an operation means: by id first, then by its name if that is unique.

use super::refusal::Refusal;
use crate::workflow::{Node, Workflow};

/// The index of the node with this id, or else with this name.
pub(super) fn resolve(workflow: &Workflow, address: &str) -> Result<usize, Refusal> {
    if address.is_empty() {
        return Err("no node is named; give its id or its name".to_owned());
    }
    let positions = |matches: &dyn Fn(&Node) -> bool| -> Vec<usize> {
        let nodes = workflow.nodes.iter().enumerate();
        nodes.filter(|(_, n)| matches(n)).map(|(i, _)| i).collect()
    };
    match positions(&|n| n.id_text() == address).as_slice() {
        [one] => return Ok(*one),
        [] => {}
        many => {
            return Err(format!(
                "{} nodes have the id {address:?}; make the ids unique in the file first",
                many.len()
            ));
        }
    }
    match positions(&|n| n.name() == address).as_slice() {
        [one] => Ok(*one),
        [] => Err(unknown(workflow, address)),
        many => {
            let ids: Vec<String> = many
                .iter()
                .filter_map(|&i| workflow.nodes.get(i))
                .map(|n| n.id().0)
                .collect();
            Err(format!(
                "{} nodes are named {address:?}; address one of them by id: {}",
                many.len(),
                ids.join(", ")
            ))
        }
    }
}

/// The node that an operation with this address would mean; Err: none or several, in words for who gave it.
pub fn meant<'w>(workflow: &'w Workflow, address: &str) -> Result<&'w Node, Refusal> {
    let at = resolve(workflow, address)?;
    workflow
        .nodes
        .get(at)
        .ok_or_else(|| unknown(workflow, address))
}

pub(super) fn node_at(workflow: &mut Workflow, at: usize) -> Result<&mut Node, Refusal> {
    let gone = || "the node is gone; read the workflow again".to_owned();
    workflow.nodes.get_mut(at).ok_or_else(gone)
}

/// The name of the one node meant, for connections, which n8n keys by name.
pub(super) fn name_of(workflow: &Workflow, address: &str) -> Result<String, Refusal> {
    let at = resolve(workflow, address)?;
    let name = workflow.nodes.get(at).map_or("", Node::name);
    if workflow.nodes.iter().filter(|n| n.name() == name).count() > 1 {
        return Err(format!(
            "several nodes are named {name:?} and connections are kept by name; rename all but one first"
        ));
    }
    Ok(name.to_owned())
}

fn unknown(workflow: &Workflow, address: &str) -> Refusal {
    let wanted = address.to_lowercase();
    let closest = workflow
        .nodes
        .iter()
        .map(|n| {
            (
                strsim::jaro_winkler(&wanted, &n.name().to_lowercase()),
                n.name(),
            )
        })
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match closest {
        Some((_, name)) => format!("did you mean {name:?}?"),
        None if workflow.nodes.is_empty() => "the workflow has no nodes yet".to_owned(),
        None => {
            let names: Vec<String> = workflow
                .nodes
                .iter()
                .take(12)
                .map(|n| format!("{:?}", n.name()))
                .collect();
            format!("the workflow has {}", names.join(", "))
        }
    };
    format!("no node has the id or the name {address:?}; {hint}")
}
