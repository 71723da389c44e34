//! What checks say: a draft before it is written, the final verdict with what changed since the last one, and the word of the
//! server behind the n8n, which decides nothing.

use super::content::{Outcome, counts, head, page};
use super::created::fill_added_versions;
use super::reads::{Answer, bad_cursor};
use super::tools::{CheckWorkflow, ValidateWorkflow};
use super::{CallContext, Gateway, GuardState, guards};
use agentctl_n8n::edit::{self, EditOp};
use agentctl_n8n::validate::validate;
use agentctl_n8n::{Finding, Severity, Workflow, WorkflowId};
use serde_json::{Map, Value, json};

/// More findings than these are read with `check_workflow`.
const MOST_TOLD: usize = 20;

impl Gateway {
    /// What a check says of a workflow.
    pub(super) fn findings(&self, workflow: &Workflow) -> Vec<Finding> {
        validate(workflow, self.catalog)
    }

    pub(super) async fn check(&self, cx: &mut CallContext<'_>, check: &CheckWorkflow) -> Answer {
        let mut stored = self.stored(&check.workflow_id).await?;
        if !check.ops.is_empty() {
            if let Some(refused) = self.searched_hidden(&stored.workflow, &check.ops) {
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

    pub(super) async fn validate(
        &self,
        guards: &GuardState,
        validate: &ValidateWorkflow,
    ) -> Answer {
        let stored = self.stored(&validate.workflow_id).await?;
        let findings = self.findings(&stored.workflow);
        let mut content = head(&stored);
        let now: Vec<&str> = findings.iter().map(|f| f.id.as_str()).collect();
        if let Some(last) = guards.last_validation(&WorkflowId(stored.id.0.clone())) {
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

    /// What the server behind the n8n says of the workflow, beside our own verdict. It decides nothing: its rules are not those by
    /// which n8n takes and runs a workflow, so neither its errors nor its silence may stop or pass one.
    pub async fn servers_word(&self, id: &WorkflowId) -> Option<Value> {
        let told = |texts: &[String]| texts.iter().take(MOST_TOLD).cloned().collect::<Vec<_>>();
        match self.backend.server_verdict(id).await {
            Ok(verdict) => verdict.map(|verdict| {
                json!({
                    "name": verdict.server,
                    "valid": verdict.valid,
                    "error_count": verdict.errors.len(),
                    "errors": told(&verdict.errors),
                    "warning_count": verdict.warnings.len(),
                    "warnings": told(&verdict.warnings),
                })
            }),
            Err(error) => Some(json!({"name": self.backend.name(), "failed": error.to_string()})),
        }
    }
}

/// What a check says of a workflow that was just written, in few words: errors with what it takes to mend them, warnings as lines.
pub(super) fn brief(findings: &[Finding]) -> Value {
    let (errors, warnings, _) = counts(findings);
    let of = |severity| findings.iter().filter(move |f| f.severity == severity);
    let mut told = Map::new();
    told.insert("error_count".into(), json!(errors));
    told.insert("warning_count".into(), json!(warnings));
    let first: Vec<Value> = of(Severity::Error)
        .take(MOST_TOLD)
        .map(|f| {
            let mut error = json!({"id": f.id, "code": f.code, "node": f.node, "pointer": f.pointer, "message": f.message});
            if let (Value::Object(map), Some(fix)) = (&mut error, &f.fix) {
                map.insert("fix".into(), json!(fix));
            }
            error
        })
        .collect();
    if !first.is_empty() {
        told.insert("errors".into(), Value::Array(first));
    }
    let lines: Vec<String> = of(Severity::Warning)
        .take(MOST_TOLD)
        .map(|f| match &f.node {
            Some(node) => format!("{node}: {}", f.message),
            None => f.message.clone(),
        })
        .collect();
    if !lines.is_empty() {
        told.insert("warnings".into(), json!(lines));
    }
    Value::Object(told)
}

fn report(mut content: Map<String, Value>, findings: &[Finding], cursor: Option<&str>) -> Outcome {
    let (errors, warnings, infos) = counts(findings);
    content.insert("passed".into(), Value::Bool(errors == 0));
    content.insert("error_count".into(), json!(errors));
    content.insert("warning_count".into(), json!(warnings));
    content.insert("info_count".into(), json!(infos));
    let page = match page(findings.iter().map(|f| json!(f)).collect(), cursor) {
        Ok(page) => page,
        Err(why) => return bad_cursor(why),
    };
    content.insert("findings".into(), Value::Array(page.items));
    if let Some(next) = page.next {
        content.insert("next_cursor".into(), json!(next));
    }
    Outcome::Ok(Value::Object(content))
}

/// The nodes that a fix of these findings would have to touch: where each finding is, and what its known fix names. Findings
/// that only inform are left out; a finding on no node puts the document itself into the scope.
fn scope_of(findings: &[Finding]) -> Vec<String> {
    let mut scope: Vec<String> = Vec::new();
    let mut add = |entry: &str| {
        if !entry.is_empty() && !scope.iter().any(|known| known == entry) {
            scope.push(entry.to_owned());
        }
    };
    for finding in findings.iter().filter(|f| f.severity > Severity::Info) {
        match (&finding.node_id, &finding.node) {
            (Some(id), _) if !id.is_empty() => add(id),
            (_, Some(name)) => add(name),
            _ => add(guards::WORKFLOW_ENTRY),
        }
        for op in finding.fix.iter().flat_map(|fix| &fix.ops) {
            for node in touched(op) {
                add(node);
            }
        }
    }
    scope
}

/// The existing nodes that an operation names.
fn touched(op: &EditOp) -> Vec<&str> {
    match op {
        EditOp::AddNode { .. } => Vec::new(),
        EditOp::RemoveNode { node }
        | EditOp::SetParameter { node, .. }
        | EditOp::ReplaceParameters { node, .. }
        | EditOp::ReplaceText { node, .. }
        | EditOp::RenameNode { node, .. }
        | EditOp::MoveNode { node, .. }
        | EditOp::EnableNode { node }
        | EditOp::DisableNode { node }
        | EditOp::SetNodeSettings { node, .. }
        | EditOp::SetCredential { node, .. }
        | EditOp::SetTypeVersion { node, .. } => vec![node],
        EditOp::Connect { from, to, .. } | EditOp::Disconnect { from, to, .. } => vec![from, to],
        EditOp::Rewire {
            from, to, new_to, ..
        } => vec![from, to, new_to],
        EditOp::SetSettings { .. } | EditOp::SetName { .. } => vec![guards::WORKFLOW_ENTRY],
    }
}
