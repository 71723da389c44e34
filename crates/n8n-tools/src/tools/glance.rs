//! What there is to know of a workflow before it is written: what is left to do, what a check says of it, and what of the request is not
//! in it.

use super::findings::{by_weight, known};
use super::memory::memory;
use super::n8n::N8n;
use agentctl_base::question::Glance;
use agentctl_engine::toolset::Wanted;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::validate::validate;
use agentctl_n8n::{Finding, Severity, Workflow};
use agentctl_planner::glance::{glance, lacking};
use serde_json::{Value, json};

/// More findings than these stand in the report after writing.
const MOST_FOUND: usize = 20;

impl N8n {
    /// `before`: the workflow as it is; None: it is a new one.
    pub(super) fn glance(
        &self,
        wanted: &Wanted<'_>,
        before: Option<&Workflow>,
        after: &Workflow,
    ) -> Glance {
        let seen = glance(wanted.request, wanted.answers, before, after, self.catalog);
        let told = wanted.arguments.get("todo").and_then(Value::as_array);
        let mut todo = told.cloned().unwrap_or_default();
        todo.extend(seen.todo.iter().map(|item| json!(item)));
        let stood = before.map(|before| known(&self.findings(before)));
        let (mut findings, own) = by_weight(self.findings(after), &stood.unwrap_or_default());
        findings.truncate(own);
        Glance {
            todo,
            findings: told_of(findings),
            not_covered: seen.not_covered,
            notes: seen.notes,
            cases: memory(wanted.guards).wanted_cases(),
        }
    }
}

/// What there is to know of a workflow by itself, whatever it was made for.
pub fn glance_at(workflow: &Workflow, catalog: &Catalog) -> Glance {
    let todo = lacking(workflow, catalog);
    Glance {
        todo: todo.iter().map(|item| json!(item)).collect(),
        findings: told_of(validate(workflow, catalog)),
        ..Glance::default()
    }
}

fn told_of(findings: Vec<Finding>) -> Vec<Value> {
    let telling = findings
        .into_iter()
        .filter(|found| found.severity > Severity::Info);
    let line = |found: Finding| json!({"severity": found.severity, "code": found.code, "node": found.node, "message": found.message});
    telling.take(MOST_FOUND).map(line).collect()
}
