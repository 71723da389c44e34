//! What a person is shown of a change before it is made: the diff of the document, with secrets hidden and nothing in it that
//! could steer a terminal. Must never show less than changes: a change behind a hidden value is said.

use super::Gateway;
use super::plan::{Plan, emptied};
use super::redact::clean;
use crate::n8n::Workflow;
use crate::n8n::diff::text_diff;
use serde_json::json;

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

    /// The unified diff. Values are hidden by the keys they stand under, so the documents are cleaned and not the diff's lines.
    pub(super) fn shown_diff(&self, before: &Workflow, after: &Workflow) -> String {
        let (old, new) = (self.cleaned_copy(before), self.cleaned_copy(after));
        let mut diff = text_diff(&old, &new);
        if old != *before || new != *after {
            let hidden =
                changed_lines(&text_diff(before, after)).saturating_sub(changed_lines(&diff));
            if hidden > 0 {
                diff.push_str(&format!(
                    "# {hidden} more changed lines hold hidden values\n"
                ));
            }
        }
        diff
    }

    fn cleaned_copy(&self, workflow: &Workflow) -> Workflow {
        // Hiding keeps the shape, so the cleaned document is one again.
        Workflow::from_value(clean(&self.redactor, workflow.to_value()))
            .unwrap_or_else(|_| emptied(workflow))
    }
}

/// Lines of a unified diff that are on one side only.
fn changed_lines(diff: &str) -> usize {
    diff.lines()
        .skip(2) // the names of both sides
        .filter(|line| line.starts_with(['+', '-']))
        .count()
}
