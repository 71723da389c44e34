//! Events of version 1 of the journal, read into those of today. That version knew workflows of n8n only, and called them so. Nothing
//! writes it any more, and nothing else knows its words. The chain and the marks are over the record as it stands in the file, so
//! they are checked before anything is read here.

use super::Change;
use serde_json::{Map, Value, json};

/// What every resource was then.
const KIND: &str = "workflow";

/// The event in the words of today; one that is in them already stays as it is. A value of another type than it must have is kept
/// as it is, so that reading the event says what is wrong with it.
pub fn in_words_of_today(mut event: Value) -> Value {
    let Some(fields) = event.as_object_mut() else {
        return event;
    };
    let kind = fields.get("type").and_then(Value::as_str);
    match kind.unwrap_or_default() {
        "session_opened" => {
            named(fields, "workflow", "only");
            renamed(fields, "edit_scope", "scope");
        }
        "snapshot_taken" => state(fields),
        "undone" => {
            named(fields, "workflow_id", "resource");
            changed(fields);
        }
        "tool_intent" => {
            if let Some(Value::Object(expected)) = fields.get_mut("expect") {
                named(expected, "workflow_id", "resource");
            }
        }
        "tool_finished" => changed(fields),
        _ => {}
    }
    event
}

fn changed(fields: &mut Map<String, Value>) {
    if let Some(Value::Object(change)) = fields.get_mut("change") {
        state(change);
    }
}

fn state(fields: &mut Map<String, Value>) {
    named(fields, "workflow_id", "resource");
    renamed(fields, "graph_hash", "revision");
    renamed(fields, "node_count", "size");
}

/// A change as the conditions of a flow see it. A flow that was written in the words of version 1 goes on to work.
pub fn seen_by_flows(change: &Change) -> Value {
    let mut seen = json!({
        "kind": change.resource.kind,
        "id": change.resource.id,
        "before": change.before,
        "after": change.after,
        "size": change.size,
        "snapshot": change.snapshot,
    });
    if let Some(seen) = seen
        .as_object_mut()
        .filter(|_| change.resource.kind == KIND)
    {
        seen.insert("workflow_id".to_owned(), change.resource.id.clone().into());
        seen.insert("node_count".to_owned(), change.size.into());
    }
    seen
}

/// The id of a workflow becomes a resource.
fn named(fields: &mut Map<String, Value>, old: &str, new: &str) {
    if let Some(named) = renamed(fields, old, new).filter(|named| named.is_string()) {
        *named = json!({"kind": KIND, "id": named});
    }
}

/// Under the new key, where nothing is under it yet. None: it was not moved.
fn renamed<'f>(fields: &'f mut Map<String, Value>, old: &str, new: &str) -> Option<&'f mut Value> {
    if fields.contains_key(new) {
        return None;
    }
    let value = fields.shift_remove(old)?;
    Some(fields.entry(new).or_insert(value))
}
