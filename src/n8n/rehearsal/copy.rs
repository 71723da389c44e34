//! The copy: which nodes run on it, what stands in for the others, and where it starts.

use super::effect::{Effect, effect, short};
use super::reads::fields_read;
use super::sample::item;
use super::{NoRehearsal, NodePart, Part, Rehearsal, Start, Why, Wishes, sentence};
use crate::n8n::catalog::{Catalog, NodeKind};
use crate::n8n::needs::needs;
use crate::n8n::{Connections, Link, Node, NodeId, Workflow};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// n8n's own versions of what stands in, old enough for every n8n in use.
const SET: (&str, f64) = ("n8n-nodes-base.set", 3.4);
const NO_OP: (&str, f64) = ("n8n-nodes-base.noOp", 1.0);
const WEBHOOK: (&str, f64) = ("n8n-nodes-base.webhook", 2.0);
/// A rehearsal that takes longer is ended by n8n.
const SECONDS: u64 = 120;
/// How much of the name is kept, so that n8n takes it.
const NAME: usize = 60;

/// The copy of a workflow on which it can be tried out without acting on the outside world.
pub fn rehearse(
    workflow: &Workflow,
    catalog: &Catalog,
    wishes: &Wishes<'_>,
) -> Result<Rehearsal, NoRehearsal> {
    for name in &wishes.allowed {
        if workflow.node_by_name(name).is_none() {
            return Err(NoRehearsal::NoSuchNode(name.clone()));
        }
    }
    let start = chosen_start(workflow, catalog, wishes.start)?;
    let webhook = short(start.node_type()) == "webhook";
    let parts = parts(workflow, catalog, wishes, start);
    let as_what = |name: &str| parts.iter().find(|part| part.node == name).map(|p| &p.part);
    let responds = workflow.nodes.iter().any(|node| {
        short(node.node_type()) == "respondToWebhook" && as_what(node.name()) == Some(&Part::Run)
    });

    let mut changes = Vec::new();
    let mut copy = Workflow::empty(&copy_name(workflow.name(), wishes.path));
    copy.head
        .insert("settings".into(), settings(workflow, &mut changes));
    for (node, part) in workflow.nodes.iter().zip(&parts) {
        match &part.part {
            Part::Run => copy.nodes.push(node.clone()),
            Part::Start => copy.nodes.push(stand_in(
                node,
                SET,
                started_parameters(),
                "the test's data, in the trigger's place",
            )),
            Part::Simulated {
                because, hands_on, ..
            } => copy.nodes.push(simulated(node, because, hands_on.as_ref())),
            Part::LeftOut { .. } => {}
        }
    }
    copy.connections = kept_connections(workflow, &parts);
    let name = free_name(workflow, "Rehearsal start");
    copy.nodes
        .push(opening(&name, wishes.path, responds, start));
    copy.connect(&name, "main", 0, start.name(), 0);
    changes.push(format!(
        "a webhook at a random address starts it, and hands the test's data on in the place of {:?}",
        start.name()
    ));
    Ok(Rehearsal {
        start: Start {
            node: start.name().to_owned(),
            method: webhook.then(|| method_of(start)),
            entry: name,
        },
        copy,
        parts,
        changes,
    })
}

fn copy_name(name: &str, mark: &str) -> String {
    let short: String = name.chars().take(NAME).collect();
    format!("{mark}: {short}")
}

/// Whether it is the copy that `rehearse` made under this name: it starts at the address that the name begins with. Between its
/// creation and its tag a copy has nothing else to be known by.
pub fn is_copy(workflow: &Workflow, name: &str) -> bool {
    let Some((mark, _)) = name.split_once(':') else {
        return false;
    };
    let starts_there = |node: &Node| {
        let path = node.parameters().and_then(|p| p.get("path"));
        node.node_type() == WEBHOOK.0 && path.and_then(Value::as_str) == Some(mark)
    };
    mark.starts_with(super::COPY)
        && workflow.name() == name
        && workflow.nodes.iter().any(starts_there)
}

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

fn chosen_start<'w>(
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
pub(super) fn reached(workflow: &Workflow, from: &str) -> BTreeSet<String> {
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
fn parts(
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
    let why: BTreeMap<&str, Vec<Why>> = workflow
        .nodes
        .iter()
        .map(|node| (node.name(), own_reasons(node, catalog, wishes)))
        .collect();
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
            .edges()
            .any(|(source, kind, _, _)| source == name && kind != "main")
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
                let why = reasons(node);
                if why.is_empty() {
                    Part::Run
                } else {
                    let through = why == [Why::Waits] && !waits_for_answer(node);
                    let hands_on = (!through)
                        .then(|| Value::Object(item(&fields_read(workflow, node.name()))));
                    Part::Simulated {
                        because: sentence(&why),
                        why,
                        hands_on,
                    }
                }
            };
            NodePart {
                node: node.name().to_owned(),
                id: node.id().0,
                part,
            }
        })
        .collect();
    // A sub-node goes with the nodes that it serves.
    let running: BTreeSet<String> = parts
        .iter()
        .filter(|p| p.part == Part::Run && !is_sub(&p.node))
        .map(|p| p.node.clone())
        .collect();
    for part in &mut parts {
        if part.part == Part::Run
            && is_sub(&part.node)
            && !serves_any(workflow, &part.node, &running)
        {
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
    short(node.node_type()) != "wait" || matches!(resume, Some("webhook" | "form"))
}

fn own_reasons(node: &Node, catalog: &Catalog, wishes: &Wishes<'_>) -> Vec<Why> {
    if node.disabled() || node.is_sticky() {
        return Vec::new();
    }
    let mut why = Vec::new();
    if !wishes.allowed.contains(node.name()) {
        let is_sub = matches!(
            catalog
                .lookup(node.node_type(), node.type_version())
                .known()
                .map(|d| d.kind),
            Some(NodeKind::SubNode)
        );
        match effect(node, catalog) {
            // Models, memories and parsers do nothing by themselves; asking a model is the served node's doing.
            _ if is_sub => {}
            Effect::Inside | Effect::Reads => {}
            Effect::Acts(what) => why.push(Why::Acts(what)),
            Effect::AsksModel => why.push(Why::AsksModel),
            Effect::Waits => why.push(Why::Waits),
            Effect::Unknown => why.push(Why::Unknown),
        }
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
    why
}

/// The copy keeps how the workflow computes, and nothing that reaches beyond it.
fn settings(workflow: &Workflow, changes: &mut Vec<String>) -> Value {
    let given = workflow.head.get("settings").and_then(Value::as_object);
    let mut settings = Map::new();
    for key in ["executionOrder", "timezone"] {
        if let Some(value) = given.and_then(|map| map.get(key)) {
            settings.insert(key.to_owned(), value.clone());
        }
    }
    settings
        .entry("executionOrder")
        .or_insert_with(|| json!("v1"));
    for key in ["saveDataSuccessExecution", "saveDataErrorExecution"] {
        settings.insert(key.to_owned(), json!("all"));
    }
    settings.insert("executionTimeout".into(), json!(SECONDS));
    if given.is_some_and(|map| map.contains_key("errorWorkflow")) {
        changes.push("the error workflow is not called".to_owned());
    }
    Value::Object(settings)
}

/// It answers when the last node is done, or lets the node answer that does so in the workflow.
fn opening(name: &str, path: &str, responds: bool, start: &Node) -> Node {
    let mut parameters = Map::new();
    parameters.insert("httpMethod".into(), json!("POST"));
    parameters.insert("path".into(), json!(path));
    if responds {
        parameters.insert("responseMode".into(), json!("responseNode"));
    } else {
        parameters.insert("responseMode".into(), json!("lastNode"));
        parameters.insert("responseData".into(), json!("noData"));
    }
    parameters.insert("options".into(), json!({}));
    let mut node = Node::new(
        NodeId(format!("{path}-start")),
        name,
        WEBHOOK.0,
        WEBHOOK.1,
        parameters,
    );
    node.set("webhookId", json!(path));
    let (x, y) = start.position().unwrap_or((0.0, 0.0));
    node.set_position(x - 220.0, y);
    node
}

fn method_of(webhook: &Node) -> String {
    let given = webhook.parameters().and_then(|p| p.get("httpMethod"));
    let first = match given {
        Some(Value::Array(list)) => list.first(),
        other => other,
    };
    let method = first.and_then(Value::as_str).unwrap_or("GET");
    if method.starts_with('=') {
        "GET".to_owned()
    } else {
        method.to_owned()
    }
}

/// The item is what was sent.
fn started_parameters() -> Map<String, Value> {
    raw("={{ $json.body }}".to_owned())
}

fn raw(output: String) -> Map<String, Value> {
    let mut parameters = Map::new();
    parameters.insert("mode".into(), json!("raw"));
    parameters.insert("jsonOutput".into(), Value::String(output));
    parameters.insert("options".into(), json!({}));
    parameters
}

fn simulated(node: &Node, because: &str, hands_on: Option<&Value>) -> Node {
    let note = format!("simulated in this test: {because}");
    match hands_on {
        // A value that looks like an expression stays a text: only the whole parameter could be one.
        Some(item) => stand_in(node, SET, raw(item.to_string()), &note),
        None => stand_in(node, NO_OP, Map::new(), &note),
    }
}

/// Another node in the place of this one: same id, same name, so that expressions and connections find it.
fn stand_in(
    node: &Node,
    (node_type, version): (&str, f64),
    parameters: Map<String, Value>,
    note: &str,
) -> Node {
    let mut other = Node::new(node.id(), node.name(), node_type, version, parameters);
    if let Some((x, y)) = node.position() {
        other.set_position(x, y);
    }
    for key in ["executeOnce", "alwaysOutputData"] {
        if let Some(value) = node.map().get(key) {
            other.set(key, value.clone());
        }
    }
    other.set("notes", json!(note));
    other
}

fn free_name(workflow: &Workflow, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    let mut number = 2;
    while workflow.node_by_name(&name).is_some() {
        name = format!("{wanted} {number}");
        number += 1;
    }
    name
}

/// The wires between what is on the copy. What stands in has one output and no sub-nodes.
fn kept_connections(workflow: &Workflow, parts: &[NodePart]) -> Connections {
    let part = |name: &str| parts.iter().find(|p| p.node == name).map(|p| &p.part);
    let is_stand_in = |name: &str| matches!(part(name), Some(Part::Simulated { .. }));
    let is_there = |name: &str| part(name).is_some_and(|p| !matches!(p, Part::LeftOut { .. }));
    let keeps = |from: &str, kind: &str, output: usize, link: &Link| {
        is_there(from)
            && is_there(&link.node)
            && (kind == "main" || !is_stand_in(&link.node))
            && (!is_stand_in(from) || (kind == "main" && output == 0))
    };
    let mut kept = Connections::new();
    for (from, kinds) in &workflow.connections {
        for (kind, buckets) in kinds {
            let buckets: Vec<Option<Vec<Link>>> = buckets
                .iter()
                .enumerate()
                .map(|(output, links)| {
                    let links = links.iter().flatten();
                    Some(
                        links
                            .filter(|link| keeps(from, kind, output, link))
                            .cloned()
                            .collect(),
                    )
                })
                .collect();
            if buckets.iter().flatten().any(|links| !links.is_empty()) {
                kept.entry(from.clone())
                    .or_default()
                    .insert(kind.clone(), buckets);
            }
        }
    }
    kept
}
