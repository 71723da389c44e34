//! What a person is shown of a change before it is made: the diff of the document, with secrets hidden and nothing in it that
//! could steer a terminal. Must never show less than changes: a change behind a hidden value is said.

use super::plan::{Plan, emptied};
use super::redact::clean;
use super::{Gateway, guards};
use agentctl_base::decision::Decision;
use agentctl_n8n::diff::shown_diff;
use agentctl_n8n::{EditOp, Workflow};
use serde_json::{Value, json};

impl Gateway {
    /// What the plan does to a workflow's document; None: to none.
    pub(super) fn plan_diff(&self, plan: &Plan) -> Option<String> {
        match plan {
            Plan::Create { after, .. } => Some(self.shown_diff(&Workflow::empty(""), after)),
            Plan::Replace { before, after, .. } => Some(self.shown_diff(&before.workflow, after)),
            Plan::Delete(before) => {
                Some(self.shown_diff(&before.workflow, &emptied(&before.workflow)))
            }
            Plan::SetActive { at, active } => {
                let state = |active: bool| {
                    let mut workflow = emptied(&at.workflow);
                    workflow.head.insert("active".into(), json!(active));
                    workflow
                };
                Some(self.shown_diff(&state(at.active), &state(*active)))
            }
            Plan::Trigger { .. } | Plan::Rehearse(_) | Plan::WriteLearning(_) => None,
        }
    }

    /// `replace_text` says whether a text holds what it looks for: on a hidden value that would give it away letter by letter.
    pub(super) fn searched_hidden(&self, workflow: &Workflow, ops: &[EditOp]) -> Option<Decision> {
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
            let shown = self.redactor.value(was.clone());
            let hidden = |at: &&&str| was.pointer(at) != shown.pointer(at);
            if let Some(at) = pointers.iter().find(hidden) {
                let reason = format!("{at:?} holds a hidden value, which is not searched");
                return Some(guards::deny(guards::REDACTED, reason));
            }
        }
        None
    }

    /// The unified diff. Values are hidden by the keys they stand under, so the documents are cleaned and not the diff's lines.
    pub(super) fn shown_diff(&self, before: &Workflow, after: &Workflow) -> String {
        let (mut diff, hidden) = shown_diff(before, after, &|value| clean(&self.redactor, value));
        if hidden > 0 {
            diff.push_str(&format!(
                "# {hidden} more changed lines hold hidden values\n"
            ));
        }
        diff
    }
}
