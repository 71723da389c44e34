//! Operations on edges. An edge is (source, output type, output index, target, input index); both ends have the same type.

use super::{address, refusal::Refusal};
use crate::workflow::{Link, Workflow};

/// The connection types that n8n knows.
pub const CONNECTION_KINDS: [&str; 13] = [
    "main",
    "ai_agent",
    "ai_chain",
    "ai_document",
    "ai_embedding",
    "ai_languageModel",
    "ai_memory",
    "ai_outputParser",
    "ai_reranker",
    "ai_retriever",
    "ai_textSplitter",
    "ai_tool",
    "ai_vectorStore",
];

/// More outputs than any node has; an index beyond it is a mistake and would only make a huge array.
const MOST_PORTS: u32 = 256;

type Port<'a> = (&'a String, u32, u32);

pub(super) fn connect(
    workflow: &mut Workflow,
    from: &str,
    to: &str,
    port: Port,
) -> Result<(), Refusal> {
    let (kind, output, input) = port;
    check_port(port)?;
    let source = address::name_of(workflow, from)?;
    let target = address::name_of(workflow, to)?;
    if has_edge(workflow, &source, &target, port) {
        return Err(format!(
            "{source:?} is already connected to {target:?} ({kind}, output {output}, input {input}); leave this operation out"
        ));
    }
    workflow.connect(&source, kind, output, &target, input);
    Ok(())
}

pub(super) fn disconnect(
    workflow: &mut Workflow,
    from: &str,
    to: &str,
    port: Port,
) -> Result<(), Refusal> {
    let (kind, output, _) = port;
    let source = address::name_of(workflow, from)?;
    let target = address::name_of(workflow, to)?;
    if !has_edge(workflow, &source, &target, port) {
        return Err(missing_edge(workflow, &source, &target, port));
    }
    if let Some(links) = bucket(workflow, &source, kind, output) {
        links.retain(|link| !is_edge(link, &target, port));
    }
    tidy(workflow, &source);
    Ok(())
}

pub(super) fn rewire(
    workflow: &mut Workflow,
    from: &str,
    to: &str,
    new_to: &str,
    port: Port,
) -> Result<(), Refusal> {
    let (kind, output, input) = port;
    let source = address::name_of(workflow, from)?;
    let target = address::name_of(workflow, to)?;
    let new_target = address::name_of(workflow, new_to)?;
    if !has_edge(workflow, &source, &target, port) {
        return Err(missing_edge(workflow, &source, &target, port));
    }
    if has_edge(workflow, &source, &new_target, port) {
        return Err(format!(
            "{source:?} is already connected to {new_target:?} ({kind}, output {output}, input {input}); disconnect {target:?} instead"
        ));
    }
    for link in bucket(workflow, &source, kind, output)
        .into_iter()
        .flatten()
    {
        if is_edge(link, &target, port) {
            link.node.clone_from(&new_target);
        }
    }
    Ok(())
}

/// Drops every edge from and to the node, and its pinned sample output.
pub(super) fn forget(workflow: &mut Workflow, name: &str) {
    workflow.connections.shift_remove(name);
    let sources: Vec<String> = workflow.connections.keys().cloned().collect();
    for source in sources {
        let mut touched = false;
        if let Some(kinds) = workflow.connections.get_mut(&source) {
            for links in kinds.values_mut().flatten().flatten() {
                let before = links.len();
                links.retain(|link| link.node != name);
                touched |= links.len() != before;
            }
        }
        if touched {
            tidy(workflow, &source);
        }
    }
    if let Some(serde_json::Value::Object(pins)) = workflow.head.get_mut("pinData") {
        pins.shift_remove(name);
    }
}

/// Both ends of every edge follow a rename; so does pinned sample output.
pub(super) fn rename(workflow: &mut Workflow, old: &str, new: &str) {
    let connections = std::mem::take(&mut workflow.connections);
    workflow.connections = connections
        .into_iter()
        .map(|(from, kinds)| (if from == old { new.to_owned() } else { from }, kinds))
        .collect();
    for kinds in workflow.connections.values_mut() {
        for link in kinds.values_mut().flatten().flatten().flatten() {
            if link.node == old {
                new.clone_into(&mut link.node);
            }
        }
    }
    if let Some(serde_json::Value::Object(pins)) = workflow.head.get_mut("pinData") {
        let renamed = std::mem::take(pins).into_iter();
        *pins = renamed
            .map(|(key, value)| (if key == old { new.to_owned() } else { key }, value))
            .collect();
    }
}

fn check_port((kind, output, input): Port) -> Result<(), Refusal> {
    if !CONNECTION_KINDS.contains(&kind.as_str()) {
        return Err(format!(
            "{kind:?} is no connection type; use one of {}",
            CONNECTION_KINDS.join(", ")
        ));
    }
    if output >= MOST_PORTS || input >= MOST_PORTS {
        return Err(format!(
            "output {output} / input {input} is out of range; indexes start at 0 and no node has {MOST_PORTS} of them"
        ));
    }
    Ok(())
}

fn is_edge(link: &Link, target: &str, (kind, _, input): Port) -> bool {
    link.node == target && link.kind == *kind && link.index == input
}

fn has_edge(workflow: &Workflow, source: &str, target: &str, port: Port) -> bool {
    workflow.edges().any(|(from, kind, output, link)| {
        from == source && kind == port.0 && output == port.1 && is_edge(link, target, port)
    })
}

fn bucket<'a>(
    workflow: &'a mut Workflow,
    source: &str,
    kind: &str,
    output: u32,
) -> Option<&'a mut Vec<Link>> {
    let buckets = workflow.connections.get_mut(source)?.get_mut(kind)?;
    buckets.get_mut(usize::try_from(output).ok()?)?.as_mut()
}

/// Removes empty buckets at the end, then empty types, then the source: what is left is what n8n would write.
fn tidy(workflow: &mut Workflow, source: &str) {
    let Some(kinds) = workflow.connections.get_mut(source) else {
        return;
    };
    for buckets in kinds.values_mut() {
        while matches!(buckets.last(), Some(last) if last.as_ref().is_none_or(Vec::is_empty)) {
            buckets.pop();
        }
    }
    kinds.retain(|_, buckets| !buckets.is_empty());
    if kinds.is_empty() {
        workflow.connections.shift_remove(source);
    }
}

fn missing_edge(workflow: &Workflow, source: &str, target: &str, port: Port) -> Refusal {
    let (kind, output, input) = port;
    let there: Vec<String> = workflow
        .edges()
        .filter(|(from, ..)| *from == source)
        .map(|(_, kind, output, link)| {
            format!(
                "{kind} output {output} to {:?} input {}",
                link.node, link.index
            )
        })
        .collect();
    let hint = if there.is_empty() {
        "it has no outgoing connections".to_owned()
    } else {
        format!("it has: {}", there.join("; "))
    };
    format!(
        "{source:?} has no connection to {target:?} ({kind}, output {output}, input {input}); {hint}"
    )
}
