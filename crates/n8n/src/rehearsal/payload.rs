//! What to start a test with: the fields that the workflow reads of its trigger, filled with plausible values so that of
//! each condition one branch is taken.

use super::reads::fields_read;
use super::sample::{Fields, Step, Want, item, note};
use super::{Item, Rehearsal};
use crate::workflow::short_type;
use crate::{Node, Workflow};
use serde_json::{Value, json};

/// Where a webhook's item keeps what was sent.
pub(super) const WEBHOOK_PARTS: &[&str] = &["body", "query", "headers", "params"];

/// The trigger's item to start with, so that each condition sends it down its `branch`; a webhook's has `body`, `query`, `headers` and
/// `params`.
pub fn payload(workflow: &Workflow, rehearsal: &Rehearsal, branch: usize) -> Item {
    let Some(trigger) = workflow.node_by_name(&rehearsal.start.node) else {
        return Item::new();
    };
    let mut fields = Fields::new();
    for (path, want) in declared(trigger) {
        note(&mut fields, path, want);
    }
    for (path, want) in fields_read(workflow, trigger.name(), branch) {
        let path = match &rehearsal.start.method {
            Some(method) => in_a_part(path, method),
            None => path,
        };
        note(&mut fields, path, want);
    }
    let mut proposed = item(&fields);
    if rehearsal.start.method.is_some() {
        for key in WEBHOOK_PARTS {
            let part = proposed.entry(*key).or_insert_with(|| json!({}));
            if *key != "body" {
                as_texts(part);
            }
        }
    }
    proposed
}

/// What stands in an address or a header is a text, whatever it looks like.
fn as_texts(part: &mut Value) {
    for value in part
        .as_object_mut()
        .into_iter()
        .flat_map(|map| map.values_mut())
    {
        if value.is_number() || value.is_boolean() {
            *value = Value::String(value.to_string());
        }
    }
}

/// A field that is read beside the parts was sent in the body, or (without one) in the query: reading it there is a mistake
/// that the test then shows.
fn in_a_part(path: Vec<Step>, method: &str) -> Vec<Step> {
    match path.first() {
        Some(Step::Key(key)) if WEBHOOK_PARTS.contains(&key.as_str()) => path,
        _ => {
            let part = if matches!(method, "GET" | "HEAD") {
                "query"
            } else {
                "body"
            };
            std::iter::once(Step::Key(part.into()))
                .chain(path)
                .collect()
        }
    }
}

/// What the trigger itself says its item has.
fn declared(trigger: &Node) -> Fields {
    let key = |name: &str| vec![Step::Key(name.to_owned())];
    let list = |field: &str, inner: &str| -> Vec<Value> {
        let found = trigger
            .parameters()
            .and_then(|p| p.get(field))
            .and_then(|f| f.get(inner))
            .and_then(Value::as_array);
        found.cloned().unwrap_or_default()
    };
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    match short_type(trigger.node_type()) {
        "chatTrigger" => vec![
            (key("sessionId"), Want::Exactly("rehearsal".into())),
            (key("action"), Want::Exactly("sendMessage".into())),
            (
                key("chatInput"),
                Want::Exactly("Hello, this is a test.".into()),
            ),
        ],
        "formTrigger" => list("formFields", "values")
            .iter()
            .map(|field| {
                let label = text(field, "fieldName");
                let label = if label.is_empty() {
                    text(field, "fieldLabel")
                } else {
                    label
                };
                let choice = field.pointer("/fieldOptions/values/0/option").cloned();
                let want = match (choice, text(field, "fieldType").as_str()) {
                    (Some(choice), _) => Want::Exactly(choice),
                    (None, "number") => Want::Number,
                    (None, "date") => Want::Date,
                    (None, _) => Want::Text,
                };
                (key(&label), want)
            })
            .filter(|(path, _)| *path != key(""))
            .collect(),
        "executeWorkflowTrigger" => list("workflowInputs", "values")
            .iter()
            .map(|field| {
                let want = match text(field, "type").as_str() {
                    "number" => Want::Number,
                    "boolean" => Want::Bool,
                    "array" => Want::List,
                    "string" => Want::Text,
                    _ => Want::Any,
                };
                (key(&text(field, "name")), want)
            })
            .filter(|(path, _)| *path != key(""))
            .collect(),
        _ => Fields::new(),
    }
}
