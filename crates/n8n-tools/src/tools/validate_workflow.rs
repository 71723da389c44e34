//! `validate_workflow`: the final verdict, with what changed since the last one of this run, and the word of the server behind the
//! n8n, which decides nothing.

use super::content::head;
use super::findings::{report, scope_of};
use super::memory::{VALIDATE_WORKFLOW, memory};
use super::n8n::N8n;
use crate::arguments::{arguments, cursor, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Read};
use serde_json::json;

arguments! {
    ValidateWorkflow {
        required workflow_id: String = workflow_id();
        optional cursor: Option<String> = cursor();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<ValidateWorkflow>(Head::new(
        VALIDATE_WORKFLOW,
        can::VALIDATE_FINAL,
        "The final check of a workflow. Returns findings with stable ids, the counts, and what was fixed, stayed or is new since the last check of this run.",
        ValidateWorkflow::schema,
    ))
}

impl Read for On<N8n, ValidateWorkflow> {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.validate(cx, &self.args))
    }
}

impl N8n {
    async fn validate(&self, cx: &mut Cx<'_>, validate: &ValidateWorkflow) -> Answer {
        let stored = self.stored(&validate.workflow_id).await?;
        let findings = self.findings(&stored.workflow);
        let mut content = head(&stored);
        let now: Vec<&str> = findings.iter().map(|f| f.id.as_str()).collect();
        if let Some(last) = memory(cx.guards).last_validation(&stored.id.0) {
            let before: Vec<&str> = last.finding_ids.iter().map(String::as_str).collect();
            let only = |a: &[&str], b: &[&str]| -> Vec<String> {
                a.iter()
                    .filter(|id| !b.contains(id))
                    .map(|id| (*id).to_owned())
                    .collect()
            };
            let still: Vec<&&str> = now.iter().filter(|id| before.contains(id)).collect();
            content.insert("fixed".into(), json!(only(&before, &now)));
            content.insert("still".into(), json!(still));
            content.insert("new".into(), json!(only(&now, &before)));
        }
        content.insert("finding_ids".into(), json!(now));
        content.insert("edit_scope".into(), json!(scope_of(&findings)));
        if validate.cursor.is_none()
            && let Some(told) = self.servers_word(&stored.id).await
        {
            content.insert("server".into(), told);
        }
        Ok(report(content, &findings, validate.cursor.as_deref()))
    }
}
