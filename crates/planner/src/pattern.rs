//! How the offline model uses patterns: it looks up those that fit what it read, takes the plan in words of one when the request
//! names no steps, and corrects a compiled draft by their nodes, order and settings.
//!
//! A pattern may come from anywhere, so it adds only nodes that work on the data inside, and sets nothing that decides whom or
//! what the workflow reaches; what the request says stays; a correction that brings a finding is left out.

use super::compile::Compiled;
use super::roles::Seen;
use agentctl_n8n::catalog::{Catalog, NodeDescription, Property, PropertyKind};
use agentctl_n8n::short_type;
use agentctl_n8n::validate::validate;
use agentctl_n8n::{Node, NodeId, Workflow};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

type Call = (&'static str, Value);

/// Nodes that reach nothing outside, run no code of their own and have one way through.
const INSIDE: [&str; 20] = [
    "aggregate",
    "compression",
    "convertToFile",
    "dateTime",
    "extractFromFile",
    "filter",
    "html",
    "if",
    "limit",
    "markdown",
    "noOp",
    "removeDuplicates",
    "renameKeys",
    "set",
    "sort",
    "splitOut",
    "stopAndError",
    "summarize",
    "wait",
    "xml",
];
/// What a node does, and as whom, is said by the request.
const DOES: [&str; 6] = [
    "resource",
    "operation",
    "method",
    "requestMethod",
    "authentication",
    "nodeCredentialType",
];

/// The calls that find the patterns for a request and read them; None: there is nothing (more) to look up.
pub fn look_up(
    input: &Map<String, Value>,
    request: &str,
    node_types: &[String],
    seen: &Seen<'_>,
) -> Option<Vec<Call>> {
    if input.get("plans").and_then(Value::as_f64).unwrap_or(0.0) < 1.0 {
        return None;
    }
    if seen.last("search_learnings").is_none() {
        let wanted = json!({"request": request, "node_types": node_types});
        return Some(vec![(
            "search_learnings",
            json!({"query": "", "plan_for": wanted}),
        )]);
    }
    let found = seen.ok("search_learnings")?.get("patterns")?.as_array()?;
    let ids: Vec<&Value> = found.iter().filter_map(|line| line.get("id")).collect();
    if ids.is_empty() || seen.last("read_learning").is_some() {
        return None;
    }
    Some(vec![("read_learning", json!({"ids": ids}))])
}

/// The patterns that were read.
pub fn found(seen: &Seen<'_>) -> Vec<Value> {
    let read = seen
        .ok("read_learning")
        .and_then(|c| c.get("learnings")?.as_array());
    read.cloned().unwrap_or_default()
}

fn text<'v>(pattern: &'v Value, key: &str) -> &'v str {
    pattern.get(key).and_then(Value::as_str).unwrap_or("")
}

/// A plan in words.
pub struct InWords {
    /// The pattern's id.
    pub id: String,
    /// How the pattern is named.
    pub name: String,
    pub words: String,
}

/// The plans in words that the patterns give.
pub fn plans(patterns: &[Value]) -> Vec<InWords> {
    patterns
        .iter()
        .filter(|pattern| !text(pattern, "plan").is_empty())
        .map(|pattern| InWords {
            id: text(pattern, "id").to_owned(),
            name: named(pattern),
            words: text(pattern, "plan").to_owned(),
        })
        .collect()
}

/// Said when an answer is the plan of a pattern.
pub fn plan_taken(patterns: &[Value], answers: &Map<String, Value>) -> Option<String> {
    let given = |plan: &InWords| answers.values().any(|a| a.as_str() == Some(&plan.words));
    let taken = plans(patterns).into_iter().find(given)?;
    Some(format!(
        "{}: its plan was taken: {}",
        taken.name, taken.words
    ))
}

/// How a pattern is named in questions and reports.
pub fn named(pattern: &Value) -> String {
    format!(
        "pattern {} ({})",
        text(pattern, "id"),
        text(pattern, "title")
    )
}

/// The draft as the patterns correct it; what each did is among the notes.
pub fn correct(
    mut compiled: Compiled,
    patterns: &[Value],
    request: &str,
    catalog: &Catalog,
) -> Compiled {
    for pattern in patterns {
        let name = named(pattern);
        let mut change = Correction {
            workflow: compiled.workflow.clone(),
            catalog,
            request: format!(" {} ", request.to_lowercase()),
            told: Vec::new(),
            left_out: Vec::new(),
        };
        change.nodes(pattern);
        change.settings(pattern);
        let Correction {
            workflow,
            told,
            left_out,
            ..
        } = change;
        if told.is_empty() {
            compiled.notes.push(match left_out.is_empty() {
                true => format!("{name}: the draft is as it says"),
                false => format!("{name}: not used: {}", left_out.join("; ")),
            });
            continue;
        }
        let brought = new_findings(&compiled.workflow, &workflow, catalog);
        if !brought.is_empty() {
            compiled.notes.push(format!(
                "{name}: not used, it would bring {}",
                brought.into_iter().collect::<Vec<_>>().join(", ")
            ));
            continue;
        }
        compiled.workflow = workflow;
        agentctl_n8n::layout::layout(&mut compiled.workflow);
        let mut note = format!("{name}: {}", told.join("; "));
        if !left_out.is_empty() {
            note.push_str(&format!("; left out: {}", left_out.join("; ")));
        }
        compiled.notes.push(note);
    }
    compiled
}

/// Codes of the errors and warnings that the change would bring.
fn new_findings(before: &Workflow, after: &Workflow, catalog: &Catalog) -> BTreeSet<String> {
    use agentctl_n8n::finding::Severity;
    let told = |workflow| {
        let all = validate(workflow, catalog).into_iter();
        all.filter(|f| f.severity != Severity::Info)
    };
    let was: HashSet<_> = told(before).map(|f| f.id).collect();
    told(after)
        .filter(|f| !was.contains(&f.id))
        .map(|f| f.code)
        .collect()
}

struct Correction<'a> {
    workflow: Workflow,
    catalog: &'a Catalog,
    /// In lower case, with a space at both ends.
    request: String,
    told: Vec<String>,
    left_out: Vec<String>,
}

impl Correction<'_> {
    fn described(&self, node_type: &str) -> Option<Arc<NodeDescription>> {
        self.catalog.lookup(node_type, None).known()
    }

    /// Adds the nodes that are missing and moves those that stand in another order.
    fn nodes(&mut self, pattern: &Value) {
        let wanted: Vec<String> = pattern
            .get("nodes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|n| n.as_str().map(str::to_owned))
            .collect();
        let settings = pattern.get("settings");
        let mut used: HashSet<String> = HashSet::new();
        let mut there: Vec<Option<String>> = Vec::new();
        for name in &wanted {
            let node = self.workflow.nodes.iter().find(|n| {
                short_type(n.node_type()).eq_ignore_ascii_case(name) && !used.contains(n.name())
            });
            let node = node.map(|n| n.name().to_owned());
            used.extend(node.clone());
            there.push(node);
        }
        for (at, name) in wanted.iter().enumerate() {
            let before = there.iter().take(at).rev().flatten().next().cloned();
            let after = there.iter().skip(at + 1).flatten().next().cloned();
            let inside = INSIDE.iter().find(|n| n.eq_ignore_ascii_case(name));
            match (there.get(at).cloned().flatten(), inside) {
                (Some(node), Some(_)) => {
                    let late = after.as_ref().is_some_and(|after| self.reaches(after, &node));
                    let early = before.as_ref().is_some_and(|b| self.reaches(&node, b));
                    if (late || early) && self.take_out(&node) {
                        self.told.push(format!("moved {node:?}"));
                        if !self.put(&node, before.as_deref(), after.as_deref()) {
                            self.left_out.push(format!("{node:?} has no place"));
                        }
                    }
                }
                (Some(_), None) => {}
                (None, None) => self.left_out.push(format!(
                    "{name} is not added: it works outside of the workflow, and the request does not name it"
                )),
                (None, Some(inside)) => {
                    let of = settings.and_then(|s| s.get(name));
                    if let Some(added) = self.add(inside, of) {
                        if self.put(&added, before.as_deref(), after.as_deref()) {
                            if let Some(place) = there.get_mut(at) {
                                *place = Some(added);
                            }
                        } else {
                            self.workflow.nodes.retain(|n| n.name() != added);
                            self.left_out.push(format!("{added:?} has no place"));
                        }
                    }
                }
            }
        }
    }

    /// A new node with its settings, not connected yet.
    fn add(&mut self, name: &str, settings: Option<&Value>) -> Option<String> {
        let kind = format!("n8n-nodes-base.{name}");
        let described = self.described(&kind)?;
        let label = described.label.clone();
        let free = (1..)
            .map(|n| {
                if n == 1 {
                    label.clone()
                } else {
                    format!("{label} {n}")
                }
            })
            .find(|free| self.workflow.node_by_name(free).is_none())?;
        let key = format!("{} {free}", self.workflow.name());
        let id = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, key.as_bytes());
        let mut parameters = Map::new();
        for (key, value) in settings.and_then(Value::as_object).into_iter().flatten() {
            if !is_node_setting(key) && !reads_secrets(value) {
                parameters.insert(key.clone(), value.clone());
            }
        }
        let id = NodeId(id.to_string());
        let node = Node::new(id, free.clone(), &kind, described.version, parameters);
        self.workflow.nodes.push(node);
        Some(free)
    }

    fn links(&self) -> Vec<(String, u32, String, u32)> {
        self.workflow
            .edges()
            .filter(|(_, kind, ..)| *kind == "main")
            .map(|(from, _, output, link)| (from.to_owned(), output, link.node.clone(), link.index))
            .collect()
    }

    fn cut(&mut self, from: &str, output: u32, to: &str) {
        let outputs = self
            .workflow
            .connections
            .get_mut(from)
            .and_then(|kinds| kinds.get_mut("main"));
        if let Some(Some(links)) = outputs.and_then(|o| o.get_mut(output as usize)) {
            links.retain(|link| link.node != to);
        }
    }

    fn reaches(&self, from: &str, to: &str) -> bool {
        let links = self.links();
        let mut open = vec![from.to_owned()];
        let mut seen = HashSet::new();
        while let Some(at) = open.pop() {
            if !seen.insert(at.clone()) {
                continue;
            }
            for (source, _, target, _) in &links {
                if *source == at {
                    if target == to {
                        return true;
                    }
                    open.push(target.clone());
                }
            }
        }
        false
    }

    /// Takes a node with one output out of its chain; what came before it leads to what came after.
    fn take_out(&mut self, node: &str) -> bool {
        let links = self.links();
        let out: Vec<_> = links.iter().filter(|l| l.0 == node).collect();
        let into: Vec<_> = links.iter().filter(|l| l.2 == node).collect();
        if into.is_empty() || out.iter().any(|l| l.1 != 0) {
            return false;
        }
        for (from, output, _, _) in &into {
            self.cut(from, *output, node);
            for (_, _, to, input) in &out {
                self.workflow.connect(from, "main", *output, to, *input);
            }
        }
        for (_, _, to, _) in &out {
            self.cut(node, 0, to);
        }
        true
    }

    /// Puts a node on the way from one node to the other: behind the first one where it has one output, else before the second.
    fn put(&mut self, node: &str, before: Option<&str>, after: Option<&str>) -> bool {
        let links = self.links();
        if let Some(before) = before {
            let out: Vec<_> = links.iter().filter(|l| l.0 == before).collect();
            let leads = |to: &String| after.is_none_or(|a| a == to || self.reaches(to, a));
            let moved: Vec<_> = out.iter().filter(|l| leads(&l.2)).collect();
            if out.iter().all(|l| l.1 == 0) && (!moved.is_empty() || after.is_none()) {
                for (_, output, to, input) in &moved {
                    self.cut(before, *output, to);
                    self.workflow.connect(node, "main", 0, to, *input);
                }
                self.workflow.connect(before, "main", 0, node, 0);
                self.told.push(format!("{node:?} behind {before:?}"));
                return true;
            }
        }
        let Some(after) = after else {
            return false;
        };
        let into: Vec<_> = links.iter().filter(|l| l.2 == after && l.3 == 0).collect();
        if into.is_empty() {
            return false;
        }
        for (from, output, to, _) in &into {
            self.cut(from, *output, to);
            self.workflow.connect(from, "main", *output, node, 0);
        }
        self.workflow.connect(node, "main", 0, after, 0);
        self.told.push(format!("{node:?} before {after:?}"));
        true
    }

    fn settings(&mut self, pattern: &Value) {
        let settings = pattern.get("settings").and_then(Value::as_object);
        for (kind, values) in settings.into_iter().flatten() {
            let Some(values) = values.as_object() else {
                continue;
            };
            if kind == "workflow" {
                self.of_workflow(values);
                continue;
            }
            let nodes: Vec<String> = self
                .workflow
                .nodes
                .iter()
                .filter(|n| short_type(n.node_type()).eq_ignore_ascii_case(kind))
                .map(|n| n.name().to_owned())
                .collect();
            for node in nodes {
                for (key, value) in values {
                    self.set(&node, key, value);
                }
            }
        }
    }

    /// Settings of the whole workflow; none that names another workflow.
    fn of_workflow(&mut self, values: &Map<String, Value>) {
        const KNOWN: [&str; 7] = [
            "timezone",
            "executionTimeout",
            "executionOrder",
            "saveDataErrorExecution",
            "saveDataSuccessExecution",
            "saveManualExecutions",
            "saveExecutionProgress",
        ];
        for (key, value) in values {
            let plain = match value {
                Value::Bool(_) | Value::Number(_) => true,
                Value::String(text) => is_plain(text),
                _ => false,
            };
            if !plain || !KNOWN.contains(&key.as_str()) {
                self.left_out.push(format!("workflow {key}"));
                continue;
            }
            let settings = self.workflow.head.get_mut("settings");
            let Some(settings) = settings.and_then(Value::as_object_mut) else {
                continue;
            };
            let said = settings
                .get(key)
                .is_some_and(|now| is_said(&self.request, now));
            if !said && settings.get(key) != Some(value) {
                settings.insert(key.clone(), value.clone());
                self.told.push(format!("set {key} of the workflow"));
            }
        }
    }

    /// Sets one value of a node, unless the request says another one or a pattern has no say in it.
    fn set(&mut self, name: &str, key: &str, value: &Value) {
        let Some(node) = self.workflow.node_by_name(name) else {
            return;
        };
        let inside = INSIDE.contains(&short_type(node.node_type()));
        let none = Map::new();
        let parameters = node.parameters().unwrap_or(&none);
        let of_node = is_node_setting(key);
        let now = match of_node {
            true => node.map().get(key),
            false => parameters.get(key),
        };
        if now == Some(value) {
            return;
        }
        if now.is_some_and(|now| is_said(&self.request, now)) {
            self.left_out
                .push(format!("{key} of {name:?}: the request says another value"));
            return;
        }
        let allowed = match of_node {
            true => node_setting_fits(key, value),
            false if inside => !reads_secrets(value),
            false => {
                let described = self.described(node.node_type());
                !DOES.contains(&key)
                    && described.is_some_and(|d| {
                        let property = d.visible_property(key, parameters);
                        property.is_some_and(|p| chooses(p, value))
                    })
            }
        };
        if !allowed {
            self.left_out
                .push(format!("{key} of {name:?} is not for a pattern to say"));
            return;
        }
        let Some(node) = self.workflow.node_by_name_mut(name) else {
            return;
        };
        match (of_node, value) {
            (true, _) => node.set(key, value.clone()),
            // What is there beside it stays.
            (false, Value::Object(more)) => node.edit_parameters(|map| {
                let place = map.entry(key.to_owned()).or_insert_with(|| json!({}));
                match place.as_object_mut() {
                    Some(old) => old.extend(more.clone()),
                    None => *place = value.clone(),
                }
            }),
            (false, _) => node.edit_parameters(|map| {
                map.insert(key.to_owned(), value.clone());
            }),
        }
        self.told.push(format!("set {key} of {name:?}"));
    }
}

fn is_node_setting(key: &str) -> bool {
    matches!(
        key,
        "onError"
            | "retryOnFail"
            | "maxTries"
            | "waitBetweenTries"
            | "executeOnce"
            | "alwaysOutputData"
    )
}

fn node_setting_fits(key: &str, value: &Value) -> bool {
    match key {
        "onError" => matches!(
            value.as_str(),
            Some("stopWorkflow" | "continueRegularOutput" | "continueErrorOutput")
        ),
        "maxTries" | "waitBetweenTries" => value.is_u64(),
        _ => value.is_boolean(),
    }
}

/// Switches, numbers, and choices that the parameter itself lists: nothing that names a person, a place or a text.
fn chooses(property: &Property, value: &Value) -> bool {
    match value {
        Value::Bool(_) => property.kind == PropertyKind::Boolean,
        Value::Number(_) => property.kind == PropertyKind::Number,
        Value::String(text) => {
            property.has_closed_choices()
                && property
                    .options
                    .iter()
                    .any(|o| o.value.as_str() == Some(text))
        }
        Value::Object(map) => map.iter().all(|(key, value)| {
            let child = property.children().iter().find(|c| c.name == *key);
            child.is_some_and(|child| chooses(child, value))
        }),
        Value::Null | Value::Array(_) => false,
    }
}

/// An expression that reads what does not belong to the data.
fn reads_secrets(value: &Value) -> bool {
    match value {
        Value::String(text) => ["$env", "$vars", "$secrets", "$credentials", "process."]
            .iter()
            .any(|word| text.contains(word)),
        Value::Array(list) => list.iter().any(reads_secrets),
        Value::Object(map) => map.values().any(reads_secrets),
        _ => false,
    }
}

fn is_plain(text: &str) -> bool {
    text.len() <= 40
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+'))
}

/// The request has the value in it, word for word.
fn is_said(request: &str, value: &Value) -> bool {
    let text = match value {
        Value::String(text) => text.trim().to_lowercase(),
        Value::Number(number) => number.to_string(),
        Value::Object(map) => {
            return map
                .iter()
                .any(|(key, v)| !matches!(key.as_str(), "mode" | "__rl") && is_said(request, v));
        }
        _ => return false,
    };
    !text.is_empty()
        && request.match_indices(&text).any(|(at, found)| {
            let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            edge(request.get(..at).and_then(|b| b.chars().next_back()))
                && edge(
                    request
                        .get(at + found.len()..)
                        .and_then(|b| b.chars().next()),
                )
        })
}
