//! Between n8n's API and our document. Read: what belongs to the workflow, not to the instance that keeps it. Written: only
//! keys that n8n takes; what it holds read-only is left out.

use crate::backend::{BackendError, BackendErrorKind, BackendResult, Stored};
use agentctl_n8n::hash::{EDITORS_NODE_KEY, IN_MCP, graph_hash, is_editors_default};
use agentctl_n8n::todo_note::{self, Item};
use agentctl_n8n::validate::refused_by_api;
use agentctl_n8n::{Node, Workflow, WorkflowId};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What a document keeps of n8n's answer. State (`staticData`), sharing, versions and timestamps stay with the instance.
const KEPT: [&str; 6] = [
    "name",
    "description",
    "nodes",
    "connections",
    "settings",
    "pinData",
];
/// Keys of a node that n8n's API does not take.
const LEFT_OUT: [&str; 3] = ["createdAt", "updatedAt", EDITORS_NODE_KEY];
/// So many of the keys that n8n's API does not take are named.
const EXPLAINED: usize = 3;
/// A setting, and the value that stands for its absence.
type Forgotten = (&'static str, fn() -> Value);
/// How n8n is told to forget a setting: it merges what is sent, and takes these words for "not set".
const FORGET: [Forgotten; 4] = [
    ("timezone", || "DEFAULT".into()),
    ("errorWorkflow", || "DEFAULT".into()),
    ("executionTimeout", || (-1).into()),
    ("callerPolicy", || "workflowsFromSameOwner".into()),
];

/// n8n's ids. Anything else never reaches an address.
pub(super) fn checked_id(id: &str) -> BackendResult<&str> {
    let fits = !id.is_empty()
        && id.len() <= 128
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if fits {
        return Ok(id);
    }
    let shown: String = id.chars().take(60).collect();
    Err(
        BackendError::rejected(format!("{shown:?} cannot be an id of n8n")).with_hint(
            "`list_workflows` shows the ids; a file is sent to n8n by `agentctl push FILE`",
        ),
    )
}

/// What n8n holds, as one of our documents.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub stored: Stored,
    pub archived: bool,
    /// As n8n has them, what the document leaves out included.
    pub settings: Map<String, Value>,
    /// The sticky note of what is still to do; the document is without it.
    pub note: Option<Node>,
}

pub(super) fn held(answer: Value) -> BackendResult<Held> {
    let odd = |what: &str| {
        BackendError::unavailable(format!("the answer is no workflow: {what}"))
            .with_hint("check that the address is that of an n8n, and its version")
    };
    let Value::Object(mut map) = answer else {
        return Err(odd("it is no object"));
    };
    let id = match map.get("id") {
        Some(Value::String(id)) if checked_id(id).is_ok() => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => return Err(odd("it has no id")),
    };
    if !map.get("nodes").is_some_and(Value::is_array) {
        return Err(odd("it has no nodes"));
    }
    let text = |map: &Map<String, Value>, key: &str| {
        map.get(key).and_then(Value::as_str).map(str::to_owned)
    };
    let settings = match map.get("settings") {
        Some(Value::Object(settings)) => settings.clone(),
        _ => Map::new(),
    };
    let mut document = Map::new();
    for key in KEPT {
        let value = match map.shift_remove(key) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) if key == "description" && text.is_empty() => continue,
            Some(Value::Object(pins)) if key == "pinData" && pins.is_empty() => continue,
            Some(value) => value,
        };
        document.insert(key.to_owned(), value);
    }
    if let Some(Value::Object(settings)) = document.get_mut("settings") {
        settings.shift_remove(IN_MCP);
    }
    let mut workflow: Workflow =
        serde_json::from_value(Value::Object(document)).map_err(|e| odd(&e.to_string()))?;
    let note = todo_note::take(&mut workflow);
    Ok(Held {
        archived: map.get("isArchived") == Some(&Value::Bool(true)),
        settings,
        stored: Stored {
            id: WorkflowId(id),
            active: map.get("active") == Some(&Value::Bool(true)),
            file: None,
            graph_hash: graph_hash(&workflow),
            tags: tags(map.get("tags")),
            todo: note.as_ref().map(todo_note::said).unwrap_or_default(),
            version_id: text(&map, "versionId"),
            updated_at: text(&map, "updatedAt"),
            workflow,
        },
        note,
    })
}

fn tags(value: Option<&Value>) -> Vec<String> {
    let named = |tag: &Value| match tag {
        Value::String(name) => Some(name.clone()),
        tag => tag.get("name").and_then(Value::as_str).map(str::to_owned),
    };
    let tags = value.and_then(Value::as_array).into_iter().flatten();
    let names: BTreeSet<String> = tags.filter_map(named).collect();
    names.into_iter().collect()
}

/// A new workflow as n8n's create takes it.
pub(super) fn to_create(workflow: &Workflow, in_mcp: bool) -> Map<String, Value> {
    let mut settings = wanted_settings(workflow);
    if in_mcp {
        settings.insert(IN_MCP.into(), Value::Bool(true));
    }
    body(workflow, settings)
}

/// The whole document as n8n's update takes it. Settings are merged there, so only those are sent that differ; others, which an
/// update of this release may not even know, stay as they are. So does the note, but for what was done with the nodes that it names.
pub(super) fn to_replace(workflow: &Workflow, now: &Held) -> Map<String, Value> {
    let Stored {
        todo,
        workflow: before,
        ..
    } = &now.stored;
    let todo = todo_note::still(todo.clone(), before, workflow);
    with_note(workflow, now, &todo, "")
}

/// The same with a note that says just these; `note_id` is of a new one.
pub(super) fn with_note(
    workflow: &Workflow,
    now: &Held,
    todo: &[Item],
    note_id: &str,
) -> Map<String, Value> {
    let note = todo_note::note(workflow, todo, now.note.as_ref(), note_id);
    let now = &now.settings;
    let wanted = wanted_settings(workflow);
    let mut changed: Map<String, Value> = wanted
        .iter()
        .filter(|(key, value)| now.get(*key) != Some(*value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for (key, forget) in FORGET {
        if now.get(key).is_some_and(|v| !v.is_null()) && !wanted.contains_key(key) {
            changed.insert(key.to_owned(), forget());
        }
    }
    let mut body = body(workflow, changed);
    if let (Some(note), Some(Value::Array(nodes))) = (note, body.get_mut("nodes")) {
        nodes.push(Value::Object(note.map().clone()));
    }
    body
}

fn wanted_settings(workflow: &Workflow) -> Map<String, Value> {
    let mut settings = match workflow.head.get("settings") {
        Some(Value::Object(settings)) => settings.clone(),
        _ => Map::new(),
    };
    settings.shift_remove(IN_MCP);
    settings.retain(|key, value| !value.is_null() && !is_editors_default(key, value));
    settings
}

fn body(workflow: &Workflow, settings: Map<String, Value>) -> Map<String, Value> {
    let nodes: Vec<Value> = workflow
        .nodes
        .iter()
        .map(|node| {
            let mut node = node.map().clone();
            node.retain(|key, value| !LEFT_OUT.contains(&key.as_str()) && !value.is_null());
            Value::Object(node)
        })
        .collect();
    let mut body = Map::new();
    body.insert("name".into(), workflow.name().into());
    body.insert("nodes".into(), Value::Array(nodes));
    body.insert("connections".into(), json!(workflow.connections));
    body.insert("settings".into(), Value::Object(settings));
    for key in ["pinData", "description"] {
        match workflow.head.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(Value::Object(pins)) if pins.is_empty() => {}
            Some(value) => {
                body.insert(key.into(), value.clone());
            }
        }
    }
    body
}

/// n8n names the place of a key that its API does not take, but not the key.
pub(super) fn explained(error: BackendError, workflow: &Workflow) -> BackendError {
    if error.kind != BackendErrorKind::Rejected || !error.message.contains("HTTP 400") {
        return error;
    }
    let refused = refused_by_api(&workflow.to_value());
    let lines = refused.iter().take(EXPLAINED);
    let lines: Vec<String> = lines.map(|(at, why)| format!("{at}: {why}")).collect();
    match lines.as_slice() {
        [] => error,
        lines => error.with_hint(format!("correct the file: {}", lines.join("; "))),
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod document_tests;
