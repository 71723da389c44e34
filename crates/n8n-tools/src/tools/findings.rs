//! What checks say, in the shapes of answers: findings in pages, in few words, and the nodes that a fix would touch.

use super::content::{bad_cursor, counts};
use super::memory::KNOWN;
use super::n8n::N8n;
use crate::guards;
use agentctl_base::length::written_length;
use agentctl_engine::toolset::{Outcome, page};
use agentctl_n8n::edit::EditOp;
use agentctl_n8n::validate::validate;
use agentctl_n8n::{Finding, Severity, Workflow, WorkflowId};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// More findings than these are read with `check_workflow`.
const MOST_TOLD: usize = 20;
/// Bytes: of findings that are longer, warnings that stood before the run do not stand in the first page of the final check.
const MOST_LISTED: usize = 20_000;
/// But for so many of them.
const MOST_KNOWN: usize = 10;

impl N8n {
    /// What a check says of a workflow.
    pub(super) fn findings(&self, workflow: &Workflow) -> Vec<Finding> {
        validate(workflow, self.catalog)
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

/// Too much to be told, and kept, whole with each check.
pub(super) fn too_many(findings: &[Finding]) -> bool {
    findings
        .iter()
        .map(|f| written_length(&json!(f)))
        .sum::<usize>()
        > MOST_LISTED
}

/// What stays the same of a finding from check to check.
pub(super) type Known = BTreeSet<(String, String)>;

pub(super) fn known(findings: &[Finding]) -> Known {
    let pairs = findings.iter().map(|f| (f.id.clone(), f.message.clone()));
    pairs.collect()
}

/// Findings in the order of what they matter: errors, then what the run brought, then what stood before; and how many of them are
/// errors or the run's.
pub(super) fn by_weight(findings: Vec<Finding>, before: &Known) -> (Vec<Finding>, usize) {
    let stood = |f: &Finding| {
        f.severity != Severity::Error && before.contains(&(f.id.clone(), f.message.clone()))
    };
    let (old, ours): (Vec<Finding>, Vec<Finding>) = findings.into_iter().partition(stood);
    let (mut all, brought): (Vec<Finding>, Vec<Finding>) = ours
        .into_iter()
        .partition(|f| f.severity == Severity::Error);
    all.extend(brought);
    let own = all.len();
    all.extend(old);
    (all, own)
}

/// Findings of which the first `own` are errors or the run's. The first page has all of these that fit and a few of the others;
/// those that come later are counted.
pub(super) fn report_own(
    content: Map<String, Value>,
    findings: &[Finding],
    own: usize,
    cursor: Option<&str>,
) -> Outcome {
    let mut outcome = report(content, findings, cursor);
    let Outcome::Ok(Value::Object(content)) = &mut outcome else {
        return outcome;
    };
    let Some(Value::Array(listed)) = content.get_mut("findings") else {
        return outcome;
    };
    if cursor.is_none() {
        listed.truncate(own + MOST_KNOWN);
    }
    let from = cursor.and_then(|at| at.parse().ok()).unwrap_or(0);
    let at = listed.len() + from;
    let rest = findings.get(at.max(own)..).unwrap_or_default();
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in rest {
        *codes.entry(finding.code.as_str()).or_default() += 1;
    }
    let (_, warnings, infos) = counts(rest);
    if at < findings.len() {
        content.insert("next_cursor".into(), json!(at.to_string()));
    }
    let told = json!({"warning_count": warnings, "info_count": infos, "codes": codes});
    content.insert(KNOWN.into(), told);
    outcome
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

pub(super) fn report(
    mut content: Map<String, Value>,
    findings: &[Finding],
    cursor: Option<&str>,
) -> Outcome {
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
pub(super) fn scope_of(findings: &[Finding]) -> Vec<String> {
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
