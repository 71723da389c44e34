//! What a person is shown of a change before it is made: the diff of the document, with secrets hidden and nothing in it that
//! could steer a terminal. Must never show less than changes: a change behind a hidden value is said.

use crate::guards;
use agentctl_base::decision::Decision;
use agentctl_engine::guards::rules::REDACTED;
use agentctl_engine::redact::{Redactor, clean};
use agentctl_n8n::diff::shown_diff;
use agentctl_n8n::{EditOp, Workflow};
use serde_json::Value;

/// `replace_text` says whether a text holds what it looks for: on a hidden value that would give it away letter by letter.
pub(super) fn searched_hidden(
    redactor: &Redactor,
    workflow: &Workflow,
    ops: &[EditOp],
) -> Option<Decision> {
    let pointers: Vec<&str> = ops
        .iter()
        .filter_map(|op| match op {
            EditOp::ReplaceText { pointer, .. } => Some(pointer.as_str()),
            _ => None,
        })
        .collect();
    if pointers.is_empty() {
        return None;
    }
    // In whatever node: an operation before may have given the node another name.
    for node in &workflow.nodes {
        let Some(Value::Object(parameters)) = node.map().get("parameters") else {
            continue;
        };
        let was = Value::Object(parameters.clone());
        let shown = redactor.value(was.clone());
        let hidden = |at: &&&str| was.pointer(at) != shown.pointer(at);
        if let Some(at) = pointers.iter().find(hidden) {
            let reason = format!("{at:?} holds a hidden value, which is not searched");
            return Some(guards::deny(REDACTED, reason));
        }
    }
    None
}

/// The unified diff. Values are hidden by the keys they stand under, so the documents are cleaned and not the diff's lines.
pub(super) fn difference(redactor: &Redactor, before: &Workflow, after: &Workflow) -> String {
    let (mut diff, hidden) = shown_diff(before, after, &|value| clean(redactor, value));
    if hidden > 0 {
        diff.push_str(&format!(
            "# {hidden} more changed lines hold hidden values\n"
        ));
    }
    diff
}

/// The document without its graph.
pub(super) fn emptied(workflow: &Workflow) -> Workflow {
    Workflow {
        head: workflow.head.clone(),
        ..Workflow::empty("")
    }
}
