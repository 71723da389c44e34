//! Where a test starts, and what becomes of each node of the workflow: it runs, is simulated or is left out, and why.

use super::effect::{Effect, effect};
use super::inside;
use super::reads::fields_read;
use super::sample::item;
use super::{Leaves, NoRehearsal, NodePart, Part, Why, Wishes, sentence};
use crate::catalog::{Catalog, NodeKind};
use crate::needs::needs;
use crate::workflow::short_type;
use crate::{Node, Workflow};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

fn starts(node: &Node, catalog: &Catalog) -> bool {
    match catalog
        .lookup(node.node_type(), node.type_version())
        .known()
    {
        Some(description) => matches!(description.kind, NodeKind::Trigger(_)),
        // A community type says it by its name.
        None => node.node_type().to_lowercase().ends_with("trigger"),
    }
}

pub(super) fn chosen_start<'w>(
    workflow: &'w Workflow,
    catalog: &Catalog,
    named: Option<&str>,
) -> Result<&'w Node, NoRehearsal> {
    let triggers: Vec<&Node> = workflow
        .nodes
        .iter()
        .filter(|node| !node.disabled() && starts(node, catalog))
        .collect();
    if let Some(name) = named {
        let fits = |node: &&&Node| node.name() == name || node.id().0 == name;
        let found = triggers.iter().find(fits).copied();
        return found.ok_or_else(|| NoRehearsal::NoSuchTrigger(name.to_owned()));
    }
    let mut best: Option<(usize, &Node)> = None;
    for node in triggers {
        let reach = reached(workflow, node.name()).len();
        if best.is_none_or(|(most, _)| reach > most) {
            best = Some((reach, node));
        }
    }
    best.map(|(_, node)| node).ok_or(NoRehearsal::NothingStarts)
}

/// The nodes behind one, over main connections.
fn reached(workflow: &Workflow, from: &str) -> BTreeSet<String> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (source, kind, _, link) in workflow.edges() {
        if kind == "main" {
            next.entry(source).or_default().push(&link.node);
        }
    }
    let mut seen = BTreeSet::new();
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        for to in next.get(at).into_iter().flatten() {
            if seen.insert((*to).to_owned()) {
                open.push_back(to);
            }
        }
    }
    seen
}

/// What becomes of each node, in the document's order.
pub(super) fn parts(
    workflow: &Workflow,
    catalog: &Catalog,
    wishes: &Wishes<'_>,
    start: &Node,
) -> Vec<NodePart> {
    let serves: BTreeMap<&str, Vec<&str>> = {
        let mut map: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (source, kind, _, link) in workflow.edges() {
            if kind != "main" {
                map.entry(link.node.as_str()).or_default().push(source);
            }
        }
        map
    };
    // Of nodes with one name each answers for all: n8n would take one of them.
    let mut why: BTreeMap<&str, Vec<Why>> = BTreeMap::new();
    let mut leaves: BTreeMap<&str, Leaves> = BTreeMap::new();
    for node in &workflow.nodes {
        let (reasons, leaving) = own_reasons(workflow, node, catalog, wishes);
        why.entry(node.name()).or_default().extend(reasons);
        leaves.extend(leaving.map(|leaving| (node.name(), leaving)));
    }
    // A node of the main line answers for all that serves it.
    let reasons = |node: &Node| -> Vec<Why> {
        let mut all = why.get(node.name()).cloned().unwrap_or_default();
        let mut seen = BTreeSet::from([node.name()]);
        let mut open: Vec<&str> = serves.get(node.name()).cloned().unwrap_or_default();
        while let Some(sub) = open.pop() {
            let on = workflow.node_by_name(sub).is_some_and(|n| !n.disabled());
            if !on || !seen.insert(sub) {
                continue;
            }
            if why.get(sub).is_some_and(|reasons| !reasons.is_empty()) {
                all.push(Why::Through(sub.to_owned()));
            }
            open.extend(serves.get(sub).into_iter().flatten());
        }
        all
    };
    let is_sub = |name: &str| {
        workflow
            .node_by_name(name)
            .is_some_and(|node| is_sub_node(workflow, node))
    };
    let mut parts: Vec<NodePart> = workflow
        .nodes
        .iter()
        .map(|node| {
            let left_out = |because: &str| Part::LeftOut {
                because: because.to_owned(),
            };
            let part = if node.is_sticky() {
                left_out("a note")
            } else if node.id() == start.id() && node.name() == start.name() {
                Part::Start
            } else if node.disabled() {
                // n8n hands the items on past it.
                Part::Run
            } else if starts(node, catalog) {
                left_out("another trigger; the test starts at one")
            } else if is_sub(node.name()) {
                Part::Run
            } else {
                let mut why = reasons(node);
                let seen = || wishes.answers.get(node.name()).filter(|_| !why.is_empty());
                let given = wishes.mocks.get(node.name()).or_else(seen);
                if why.is_empty() && given.is_none() {
                    Part::Run
                } else {
                    let through = why == [Why::Waits] && !waits_for_answer(node);
                    let read = || fields_read(workflow, node.name(), wishes.branch);
                    let made = || Value::Object(item(&read()));
                    let hands_on = match given {
                        Some(items) => Some(json!(items)),
                        None => (!through).then(made),
                    };
                    if why.is_empty() {
                        why.push(Why::Given);
                    }
                    Part::Simulated {
                        because: sentence(&why),
                        why,
                        hands_on,
                    }
                }
            };
            let leaves = leaves
                .get(node.name())
                .filter(|_| part == Part::Run && !node.disabled());
            NodePart {
                node: node.name().to_owned(),
                id: node.id().0,
                leaves: leaves.cloned(),
                part,
            }
        })
        .collect();
    // A sub-node goes with the nodes that it serves.
    let off = |name: &str| workflow.node_by_name(name).is_some_and(Node::disabled);
    let running: BTreeSet<String> = parts
        .iter()
        .filter(|p| p.part == Part::Run && !is_sub(&p.node) && !off(&p.node))
        .map(|p| p.node.clone())
        .collect();
    for part in &mut parts {
        let held_back = why
            .get(part.node.as_str())
            .is_some_and(|why| !why.is_empty());
        if part.part == Part::Run
            && is_sub(&part.node)
            && (held_back || !serves_any(workflow, &part.node, &running))
        {
            part.leaves = None;
            part.part = Part::LeftOut {
                because: "a sub-node of a simulated node".to_owned(),
            };
        }
    }
    parts
}

fn serves_any(workflow: &Workflow, sub: &str, roots: &BTreeSet<String>) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![sub.to_owned()];
    while let Some(at) = open.pop() {
        for (source, kind, _, link) in workflow.edges() {
            if source == at && kind != "main" {
                if roots.contains(&link.node) {
                    return true;
                }
                if seen.insert(link.node.clone()) {
                    open.push(link.node.clone());
                }
            }
        }
    }
    false
}

/// A Wait node that goes on with what somebody sent, not with what came in.
fn waits_for_answer(node: &Node) -> bool {
    let resume = node
        .parameters()
        .and_then(|p| p.get("resume"))
        .and_then(Value::as_str);
    short_type(node.node_type()) != "wait" || matches!(resume, Some("webhook" | "form"))
}

/// Sub-nodes that only keep or compute something for the node that they serve.
const QUIET: &[&str] = &[
    "@n8n/n8n-nodes-langchain.memoryBufferWindow",
    "@n8n/n8n-nodes-langchain.toolCalculator",
    "@n8n/n8n-nodes-langchain.toolThink",
];

/// By what is compiled in: what a project's catalog calls a sub-node is none.
fn is_sub_kind(node: &Node) -> bool {
    let known = Catalog::embedded().lookup(node.node_type(), node.type_version());
    known
        .known()
        .is_some_and(|d| matches!(d.kind, NodeKind::SubNode))
}

/// It serves another node and stands in no line of items.
pub(super) fn is_sub_node(workflow: &Workflow, node: &Node) -> bool {
    let mut serves = false;
    let mut in_line = false;
    for (source, kind, _, link) in workflow.edges() {
        serves |= kind != "main" && source == node.name();
        in_line |= kind == "main" && (source == node.name() || link.node == node.name());
    }
    serves && !in_line
}

/// Why the node itself does not run, and how it leaves n8n when it does.
fn own_reasons(
    workflow: &Workflow,
    node: &Node,
    catalog: &Catalog,
    wishes: &Wishes<'_>,
) -> (Vec<Why>, Option<Leaves>) {
    if node.disabled() || node.is_sticky() {
        return (Vec::new(), None);
    }
    // A name that two nodes have allows neither.
    let named = || {
        let same = workflow.nodes.iter().filter(|n| n.name() == node.name());
        same.count() == 1
    };
    let allowed = wishes.allowed.contains(node.name()) && named();
    let mut why = Vec::new();
    let mut leaves = None;
    match effect(node, &wishes.ground) {
        Effect::Inside => {}
        Effect::Reads(host) => leaves = Some(Leaves::Host { host }),
        Effect::Simulated(_) if allowed => {
            leaves = Some(Leaves::LetAct {
                node_type: node.node_type().to_owned(),
            });
        }
        Effect::Simulated(_) if is_quiet(node) => {}
        Effect::Simulated(reason) => why.push(reason),
    }
    for need in needs(node, catalog) {
        let there = match (&need.id, &wishes.credentials) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(id), Some(known)) => known.contains(&(need.credential_type.clone(), id.clone())),
        };
        if !there {
            why.push(Why::NoCredential(need.credential_type));
        }
    }
    (why, leaves)
}

fn is_quiet(node: &Node) -> bool {
    let parameters = node.parameters();
    QUIET.contains(&node.node_type())
        && is_sub_kind(node)
        && node.credentials().is_none_or(Map::is_empty)
        && parameters
            .into_iter()
            .flatten()
            .all(|(key, value)| inside::data(key, value).is_ok())
}
