//! `check_workflow`: findings of a stored workflow, or of what operations would make of it. Nothing is written.

use super::content::head;
use super::created::fill_added_versions;
use super::findings::report;
use super::n8n::N8n;
use super::shown::searched_hidden;
use crate::arguments::{arguments, as_in_update, cursor, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_n8n::edit::{self, EditOp};
use serde_json::Value;

arguments! {
    CheckWorkflow {
        required workflow_id: String = workflow_id();
        /// Check the workflow as it would be after these; nothing is written.
        #[serde(default)]
        optional ops: Vec<EditOp> = as_in_update("check the result of these; nothing is written");
        optional cursor: Option<String> = cursor();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<CheckWorkflow>(Head::new(
        "check_workflow",
        can::VALIDATE_DRAFT,
        "Check a draft: a stored workflow, optionally as it would be after a list of operations. Returns findings; this is not the final verdict.",
        CheckWorkflow::schema,
    ))
}

impl Read for On<N8n, CheckWorkflow> {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.check(cx, &self.args))
    }
}

impl N8n {
    async fn check(&self, cx: &mut Cx<'_>, check: &CheckWorkflow) -> Answer {
        let mut stored = self.stored(&check.workflow_id).await?;
        if !check.ops.is_empty() {
            if let Some(refused) = searched_hidden(cx.redactor, &stored.workflow, &check.ops) {
                return Ok(Outcome::Refused(refused));
            }
            match edit::apply(&stored.workflow, &check.ops, &mut || cx.recorder.new_id()) {
                Ok(mut after) => {
                    fill_added_versions(&stored.workflow, &mut after, self.catalog);
                    stored.graph_hash = agentctl_n8n::hash::graph_hash(&after);
                    stored.workflow = after;
                }
                Err(error) => {
                    return Ok(Outcome::failed(
                        error.to_string(),
                        "edit",
                        "correct this operation",
                    ));
                }
            }
        }
        let findings = self.findings(&stored.workflow);
        let mut content = head(&stored);
        if !check.ops.is_empty() {
            content.insert("draft".into(), Value::Bool(true));
        }
        Ok(report(content, &findings, check.cursor.as_deref()))
    }
}
