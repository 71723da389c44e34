//! `validate_workflow`: the final verdict, with what changed since the last one of this run, and the word of the server behind the
//! n8n, which decides nothing.

use super::content::head;
use super::findings::{Known, by_weight, known, report, report_own, scope_of, too_many};
use super::memory::{VALIDATE_WORKFLOW, memory};
use super::n8n::N8n;
use crate::arguments::{arguments, cursor, workflow_id};
use crate::backend::{BackendError, Stored};
use crate::capability as can;
use crate::there::there;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Read};
use agentctl_n8n::Finding;
use serde_json::json;
use std::collections::HashSet;

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
        let mut findings = self.findings(&stored.workflow);
        let (there, not_told) =
            there(self.backend.as_ref(), &[&stored.workflow], self.catalog).await?;
        findings.extend(there.findings(&stored.id.0, &stored.workflow, self.catalog));
        let mut content = head(&stored);
        if !not_told.is_empty() {
            content.insert("notes".into(), json!(not_told));
        }
        let last = memory(cx.guards).last_validation(&stored.id.0).cloned();
        let many = too_many(&findings);
        let before = match many || last.as_ref().is_some_and(|last| last.without_known) {
            true => self.known_before(cx, &stored, &findings)?,
            false => Known::new(),
        };
        let mut own = findings.len();
        if many {
            (findings, own) = by_weight(findings, &before);
        }
        let ours = findings.get(..own).unwrap_or_default();
        let now: Vec<&str> = ours.iter().map(|f| f.id.as_str()).collect();
        if let Some(last) = last {
            let all: HashSet<&str> = findings.iter().map(|f| f.id.as_str()).collect();
            let was: HashSet<&str> = last.finding_ids.iter().map(String::as_str).collect();
            let stood: HashSet<&str> = before.iter().map(|(id, _)| id.as_str()).collect();
            let stood = |id: &str| last.without_known && stood.contains(id);
            let ids = last.finding_ids.iter();
            let fixed: Vec<&String> = ids.filter(|id| !all.contains(id.as_str())).collect();
            let (still, new): (Vec<&str>, Vec<&str>) = now.iter().partition(|id| was.contains(*id));
            let new: Vec<&str> = new.into_iter().filter(|id| !stood(id)).collect();
            content.insert("fixed".into(), json!(fixed));
            content.insert("still".into(), json!(still));
            content.insert("new".into(), json!(new));
        }
        content.insert("finding_ids".into(), json!(now));
        content.insert("edit_scope".into(), json!(scope_of(ours)));
        if validate.cursor.is_none()
            && let Some(told) = self.servers_word(&stored.id).await
        {
            content.insert("server".into(), told);
        }
        let cursor = validate.cursor.as_deref();
        Ok(match many {
            true => report_own(content, &findings, own, cursor),
            false => report(content, &findings, cursor),
        })
    }

    /// The findings that the workflow had when the run came to it: `now` where it has changed nothing.
    fn known_before(
        &self,
        cx: &mut Cx<'_>,
        stored: &Stored,
        now: &[Finding],
    ) -> Result<Known, BackendError> {
        if cx.guards.log().made(&stored.id.0) {
            return Ok(Known::new());
        }
        if cx.guards.log().snapshots(&stored.id.0).is_empty() {
            return Ok(known(now));
        }
        let before = self.found(cx, stored);
        let before = before.map_err(|fault| BackendError::rejected(fault.to_string()))?;
        Ok(before.map_or_else(Known::new, |before| known(&self.findings(&before))))
    }
}
