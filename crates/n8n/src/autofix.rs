//! Applying the sure fixes of findings: one engine for `qa --fix` and the `autofix_workflow` tool. A fix counts only when the
//! workflow is no worse for it: no error that was not there before. Pure; the caller says how a workflow is checked.

use super::edit;
use super::finding::{Confidence, Finding, Severity};
use super::workflow::Workflow;
use std::collections::BTreeSet;

/// A fix may uncover a finding that has a sure fix too; a chain longer than this is none.
const MAX_ROUNDS: usize = 8;

/// What the fixes need to know from outside.
pub struct Rules<'a> {
    pub check: &'a dyn Fn(&Workflow) -> Vec<Finding>,
    /// Is this finding to be fixed?
    pub wanted: &'a dyn Fn(&Finding) -> bool,
    /// May the workflow become this one (an edit scope, say)?
    pub allowed: &'a dyn Fn(&Workflow) -> bool,
}

/// The workflow after its fixes.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    pub workflow: Workflow,
    /// The findings that were fixed, in order.
    pub fixed: Vec<Finding>,
    /// What a check says now.
    pub left: Vec<Finding>,
}

/// Applies every sure fix that is wanted and allowed, until none is left.
pub fn fix(workflow: &Workflow, rules: &Rules<'_>, ids: &mut dyn FnMut() -> String) -> Fixed {
    let mut at = Fixed {
        workflow: workflow.clone(),
        fixed: Vec::new(),
        left: (rules.check)(workflow),
    };
    let mut tried = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let round: Vec<Finding> = at
            .left
            .iter()
            .filter(|f| is_sure(f) && (rules.wanted)(f) && !tried.contains(&f.id))
            .cloned()
            .collect();
        if round.is_empty() {
            break;
        }
        tried.extend(round.iter().map(|f| f.id.clone()));
        // All at once, which is one check; one by one only when that made something worse.
        match step(&at, &round, rules, ids) {
            Some(next) => at = next,
            None => {
                for one in round {
                    if let Some(next) = step(&at, &[one], rules, ids) {
                        at = next;
                    }
                }
            }
        }
    }
    at
}

/// Has it a fix that needs nobody's judgement?
pub fn is_sure(finding: &Finding) -> bool {
    finding
        .fix
        .as_ref()
        .is_some_and(|fix| fix.confidence == Confidence::Sure)
}

/// None when the fixes together bring a new error.
fn step(
    at: &Fixed,
    findings: &[Finding],
    rules: &Rules<'_>,
    ids: &mut dyn FnMut() -> String,
) -> Option<Fixed> {
    let mut next = at.clone();
    for finding in findings {
        let Some(fix) = &finding.fix else { continue };
        // A fix that no longer fits, because one before it changed the place, is passed over.
        if let Ok(workflow) = edit::apply(&next.workflow, &fix.ops, ids)
            && workflow != next.workflow
            && (rules.allowed)(&workflow)
        {
            next.workflow = workflow;
            next.fixed.push(finding.clone());
        }
    }
    if next.fixed.len() == at.fixed.len() {
        return Some(next);
    }
    next.left = (rules.check)(&next.workflow);
    let before: BTreeSet<&str> = errors(&at.left).collect();
    let worse = errors(&next.left).any(|id| !before.contains(id));
    (!worse).then_some(next)
}

fn errors(findings: &[Finding]) -> impl Iterator<Item = &str> {
    let errors = findings.iter().filter(|f| f.severity == Severity::Error);
    errors.map(|f| f.id.as_str())
}

#[cfg(test)]
#[path = "autofix_tests.rs"]
mod autofix_tests;
