//! The copy: the nodes that run, what stands in for the others, and the webhook that starts it.

use super::effect::account;
use super::inside;
use super::parts::{chosen_start, is_sub_node, parts};
use super::reach::without_redirects;
use super::{Leaves, NoRehearsal, NodePart, Part, Rehearsal, Shadow, Start, Wishes};
use crate::catalog::Catalog;
use crate::workflow::short_type;
use crate::{Connections, Link, Node, NodeId, Workflow};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// n8n's own versions of what stands in, old enough for every n8n in use.
pub(super) const SET: (&str, f64) = ("n8n-nodes-base.set", 3.4);
const SPLIT_OUT: (&str, f64) = ("n8n-nodes-base.splitOut", 1.0);
const NO_OP: (&str, f64) = ("n8n-nodes-base.noOp", 1.0);
const WEBHOOK: (&str, f64) = ("n8n-nodes-base.webhook", 2.0);
const MAIN: &str = "main";
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
    let webhook = short_type(start.node_type()) == "webhook";
    let parts = parts(workflow, catalog, wishes, start);
    for name in wishes.mocks.keys() {
        let stands_in =
            |part: &&NodePart| part.node == *name && matches!(part.part, Part::Simulated { .. });
        if parts.iter().find(stands_in).is_none() {
            return Err(NoRehearsal::NoMock(name.clone()));
        }
    }
    let as_what = |name: &str| parts.iter().find(|part| part.node == name).map(|p| &p.part);
    let responds = workflow.nodes.iter().any(|node| {
        short_type(node.node_type()) == "respondToWebhook"
            && as_what(node.name()) == Some(&Part::Run)
    });

    let mut changes = Vec::new();
    let mut copy = Workflow::empty(&copy_name(workflow.name(), wishes.path));
    copy.head
        .insert("settings".into(), settings(workflow, &mut changes));
    let mut shadows = Vec::new();
    // A node of the copy in the place of which connections lead to another one.
    let mut before: Vec<(String, String)> = Vec::new();
    for (node, part) in workflow.nodes.iter().zip(&parts) {
        match &part.part {
            Part::Run if node.disabled() => {
                let mut off = stand_in(node, NO_OP, Map::new(), "switched off in the workflow");
                off.set("disabled", json!(true));
                copy.nodes.push(off);
            }
            Part::Run if matches!(part.leaves, Some(Leaves::Host { .. })) => {
                copy.nodes.push(without_redirects(node));
                changes.push(format!("{:?} follows no redirect", node.name()));
            }
            Part::Run => match inside::looked_at(node) {
                Some(looked_at) => {
                    copy.nodes.push(looked_at);
                    changes.push(format!(
                        "in the code of {:?} each field by a computed name is looked at before it is read",
                        node.name()
                    ));
                }
                None => copy.nodes.push(node.clone()),
            },
            Part::Start => {
                let note = "the test's data, in the trigger's place";
                let begins = match &wishes.items {
                    None => stand_in(node, SET, raw(SENT.to_owned()), note),
                    Some(items) => {
                        let name = free_name(workflow, &format!("{} is given", node.name()));
                        copy.nodes.push(given(node, &name, &json!(items)));
                        before.push((node.name().to_owned(), name));
                        stand_in(node, SPLIT_OUT, taken_apart(), note)
                    }
                };
                copy.nodes.push(begins);
            }
            Part::Simulated {
                because, hands_on, ..
            } => {
                if let Some(items @ Value::Array(_)) = hands_on {
                    let name = free_name(workflow, &format!("{} is given", node.name()));
                    copy.nodes.push(given(node, &name, items));
                    before.push((node.name().to_owned(), name));
                }
                copy.nodes.push(simulated(node, because, hands_on.as_ref()));
                let name = free_name(workflow, &format!("{} would send", node.name()));
                if hands_on.is_some()
                    && let Some((shadow, drawn)) = Shadow::of(node, name)
                {
                    copy.nodes.push(drawn);
                    shadows.push(shadow);
                }
            }
            Part::LeftOut { .. } => {}
        }
    }
    copy.connections = kept_connections(workflow, &parts);
    for shadow in &shadows {
        beside(&mut copy.connections, &shadow.of, &shadow.name);
    }
    for (node, helper) in &before {
        led_to(&mut copy.connections, node, helper);
        copy.connect(helper, MAIN, 0, node, 0);
    }
    let name = free_name(workflow, "Rehearsal start");
    copy.nodes
        .push(opening(&name, wishes.path, responds, start));
    let given = before.iter().find(|(node, _)| node == start.name());
    let first = given.map_or(start.name(), |(_, helper)| helper.as_str());
    copy.connect(&name, MAIN, 0, first, 0);
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
        shadows,
        helpers: before,
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

impl Rehearsal {
    /// Nothing of the workflow has to be simulated or held back, no other workflow would be called, and it starts by a webhook that
    /// anybody may call and that answers plainly: it can run as it is.
    pub fn fits_as_it_is(&self, workflow: &Workflow) -> bool {
        let whole = self.parts.iter().all(|part| match part.part {
            Part::Run => !matches!(part.leaves, Some(Leaves::Host { .. })),
            Part::Start => true,
            _ => left_out_anyway(workflow, part),
        });
        let settings = workflow.head.get("settings");
        let alone = settings.is_none_or(|s| s.get("errorWorkflow").is_none_or(Value::is_null));
        let start = workflow.node_by_name(&self.start.node);
        let as_it_stands = |node: &Node| inside::looked_at(node).is_none();
        let as_it_stands = workflow.nodes.iter().all(as_it_stands);
        let start = start.filter(|_| whole && alone && as_it_stands);
        self.start.method.is_some() && start.is_some_and(is_plain_webhook)
    }
}

fn left_out_anyway(workflow: &Workflow, part: &NodePart) -> bool {
    let node = workflow.node_by_name(&part.node);
    node.is_some_and(|node| node.is_sticky() || node.disabled())
}

/// A webhook that anybody may call, whose own parameters compute nothing and whose answer sends nobody elsewhere.
fn is_plain_webhook(node: &Node) -> bool {
    const PARAMETERS: &[&str] = &[
        "authentication",
        "httpMethod",
        "options",
        "path",
        "responseData",
        "responseMode",
    ];
    const OPTIONS: &[&str] = &["ignoreBots", "noResponseBody", "rawBody", "responseData"];
    let none = Map::new();
    let given = node.parameters().unwrap_or(&none);
    if node.node_type() != WEBHOOK.0 || account(node).is_some() {
        return false;
    }
    let plain = |value: &Value| match value {
        Value::String(text) => !text.starts_with('=') && !text.contains("{{"),
        Value::Object(_) | Value::Array(_) => false,
        _ => true,
    };
    given
        .iter()
        .all(|(key, value)| match (key.as_str(), value) {
            ("authentication", value) => *value == json!("none"),
            ("options", Value::Object(options)) => options
                .iter()
                .all(|(key, value)| OPTIONS.contains(&key.as_str()) && plain(value)),
            (key, value) => PARAMETERS.contains(&key) && plain(value),
        })
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

/// It answers when the last node is done (as the workflow's own webhook does, if that answers then), or lets the node answer that does
/// so in the workflow.
fn opening(name: &str, path: &str, responds: bool, start: &Node) -> Node {
    let webhook = short_type(start.node_type()) == "webhook";
    let mut parameters = Map::new();
    parameters.insert("httpMethod".into(), json!("POST"));
    parameters.insert("path".into(), json!(path));
    let own = start.parameters();
    let of_last = own
        .filter(|own| webhook && own.get("responseMode") == Some(&json!("lastNode")))
        .map(|own| {
            own.get("responseData")
                .cloned()
                .unwrap_or_else(|| json!("firstEntryJson"))
        });
    if responds {
        parameters.insert("responseMode".into(), json!("responseNode"));
    } else {
        parameters.insert("responseMode".into(), json!("lastNode"));
        parameters.insert(
            "responseData".into(),
            of_last.unwrap_or_else(|| json!("noData")),
        );
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
const SENT: &str = "={{ $json.body }}";

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
        Some(Value::Array(_)) => {
            let mut given = stand_in(node, SPLIT_OUT, taken_apart(), &note);
            if gives_errors(node) {
                given.set("onError", json!(TO_ERRORS));
            }
            given
        }
        Some(item) => stand_in(node, SET, raw(inert(item)), &note),
        None => stand_in(node, NO_OP, Map::new(), &note),
    }
}

/// n8n hands on by a node's second output what fails in it: an item that is an `error` alone, too.
const TO_ERRORS: &str = "continueErrorOutput";

fn gives_errors(node: &Node) -> bool {
    node.map().get("onError").and_then(Value::as_str) == Some(TO_ERRORS)
}

/// The field of a helper that holds the items which the node behind it hands on.
const GIVEN: &str = "items";

fn taken_apart() -> Map<String, Value> {
    let mut parameters = Map::new();
    parameters.insert("fieldToSplitOut".into(), json!(GIVEN));
    parameters.insert("options".into(), json!({}));
    parameters
}

/// The helper before a node of which the test says what it hands on (a list): once, whatever comes in.
fn given(node: &Node, name: &str, items: &Value) -> Node {
    let all = inert(&json!({GIVEN: items}));
    let id = NodeId(format!("{}-given", node.id().0));
    let mut helper = Node::new(id, name, SET.0, SET.1, raw(all));
    helper.set("executeOnce", json!(true));
    let (x, y) = node.position().unwrap_or((0.0, 0.0));
    helper.set_position(x - 100.0, y);
    helper
}

/// Whatever leads to a node leads to the other one first.
fn beside(connections: &mut Connections, node: &str, other: &str) {
    for links in main_links(connections) {
        let first = |link: &Link| link.node == node && link.index == 0;
        if let Some(at) = links.iter().position(first) {
            let link = Link {
                node: other.to_owned(),
                kind: MAIN.to_owned(),
                index: 0,
            };
            links.insert(at, link);
        }
    }
}

/// Whatever leads to a node leads to the other one in its place.
fn led_to(connections: &mut Connections, node: &str, other: &str) {
    for link in main_links(connections).flatten() {
        if link.node == node {
            (link.node, link.index) = (other.to_owned(), 0);
        }
    }
}

fn main_links(connections: &mut Connections) -> impl Iterator<Item = &mut Vec<Link>> {
    let main = connections
        .values_mut()
        .filter_map(|kinds| kinds.get_mut(MAIN));
    main.flatten().flatten()
}

/// JSON in which no text is taken for an expression: only the whole parameter could be one, and no `{{` stands in it either.
fn inert(item: &Value) -> String {
    match item {
        Value::String(_) => item.to_string().replace('{', "\\u007b"),
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(inert).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let pairs: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}:{}", inert(&json!(key)), inert(value)))
                .collect();
            format!("{{{}}}", pairs.join(","))
        }
        other => other.to_string(),
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

/// The wires between what is on the copy. What stands in has no sub-nodes, and one output; with the items that the test gives also the
/// one for errors.
fn kept_connections(workflow: &Workflow, parts: &[NodePart]) -> Connections {
    let part = |name: &str| parts.iter().find(|p| p.node == name).map(|p| &p.part);
    let is_stand_in = |name: &str| matches!(part(name), Some(Part::Simulated { .. }));
    let has_errors = |name: &str| {
        let is_given = matches!(part(name), Some(Part::Simulated { hands_on: Some(items), .. }) if items.is_array());
        is_given && workflow.node_by_name(name).is_some_and(gives_errors)
    };
    let is_there = |name: &str| part(name).is_some_and(|p| !matches!(p, Part::LeftOut { .. }));
    let subs: BTreeSet<&str> = workflow
        .nodes
        .iter()
        .filter(|node| is_sub_node(workflow, node))
        .map(Node::name)
        .collect();
    let keeps = |from: &str, kind: &str, output: usize, link: &Link| {
        is_there(from)
            && is_there(&link.node)
            && (kind == "main") != subs.contains(from)
            && (kind == "main" || !is_stand_in(&link.node))
            && (!is_stand_in(from)
                || (kind == "main" && (output == 0 || (output == 1 && has_errors(from)))))
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
