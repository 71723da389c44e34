//! What an earlier execution was given, so that a repair is tried on just that: the trigger's items, and what services answered as far
//! as they did. Data from outside; it stays in the n8n that it came from.

use super::case::{CaseOutcome, CaseVerdict, Check};
use super::{AtNode, Case, Expect, Item, Rehearsal, Trace, Verdict};
use crate::Workflow;
use indexmap::IndexMap;
use serde_json::Value;

/// An execution that is to be gone through again.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// It starts where that one did, and expects that the run comes to what failed then.
    pub case: Case,
    /// What the trigger handed on then.
    pub items: Vec<Item>,
    /// What other nodes handed on then, by name: those that ran once, without a fault.
    pub answers: IndexMap<String, Vec<Item>>,
}

/// Why an execution cannot be gone through again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoReplay {
    #[error("the execution {0} is of another workflow")]
    OfAnother(String),
    #[error(
        "the execution {0} did not start at a trigger that the workflow still has, so there is nothing to start with again"
    )]
    NoStart(String),
}

impl Replay {
    /// Of what an execution showed, for the workflow as it is now.
    pub fn of(workflow: &Workflow, id: &str, trace: &Trace) -> Result<Replay, NoReplay> {
        if trace.workflow_id.as_deref() != Some(id) {
            return Err(NoReplay::OfAnother(trace.id.clone()));
        }
        let there = |name: &str| workflow.node_by_name(name).filter(|node| !node.disabled());
        let enters = |name: &str| {
            workflow
                .edges()
                .any(|(_, kind, _, link)| kind == "main" && link.node == name)
        };
        let start = trace.nodes.iter().find(|(name, run)| {
            run.runs > 0 && run.from.is_none() && !enters(name) && there(name).is_some()
        });
        let Some((start, run)) = start else {
            return Err(NoReplay::NoStart(trace.id.clone()));
        };
        let items = |kept: &[Value]| -> Vec<Item> {
            kept.iter().filter_map(Value::as_object).cloned().collect()
        };
        let kept = run.kept.iter().find(|kept| !kept.is_empty());
        let given = items(kept.map_or(&[], Vec::as_slice));
        let failed = trace.faults().into_iter().filter_map(|fault| fault.node);
        let mut reached: Vec<String> = failed.filter(|name| there(name).is_some()).collect();
        if reached.is_empty() {
            reached.push(start.clone());
        }
        let is_reached = AtNode {
            reached: Some(true),
            ..AtNode::default()
        };
        let nodes = reached.into_iter().map(|name| (name, is_reached.clone()));
        let answers = trace.nodes.iter().filter(|(name, run)| {
            let outputs = run.items.iter().filter(|count| **count > 0).count();
            *name != start
                && run.runs == 1
                && run.error.is_none()
                && outputs == 1
                && run.items.first() == run.kept.first().map(Vec::len).as_ref()
        });
        let answers = answers.map(|(name, run)| {
            (
                name.clone(),
                items(run.kept.first().map_or(&[], Vec::as_slice)),
            )
        });
        Ok(Replay {
            case: Case {
                name: format!("execution {} again", trace.id),
                start: Some(start.clone()),
                input: given.first().cloned().unwrap_or_default(),
                mocks: IndexMap::new(),
                expect: Expect {
                    nodes: nodes.collect(),
                    ..Expect::default()
                },
            },
            items: given,
            answers: answers.filter(|(_, items)| !items.is_empty()).collect(),
        })
    }

    /// The nodes that failed then and are still there.
    pub fn failed(&self) -> Vec<String> {
        self.case.expect.nodes.keys().cloned().collect()
    }

    /// The items, where the trigger gave another number of them than the one that can be sent.
    pub fn several(&self) -> Option<Vec<Item>> {
        (self.items.len() != 1).then(|| self.items.clone())
    }
}

/// What the nodes that failed then do now. That the run comes to one of them shows nothing yet: it has to come through with all that
/// it reads, and of one that is only simulated nobody can tell.
pub fn comes_through(
    judged: &mut CaseVerdict,
    failed: &[String],
    rehearsal: &Rehearsal,
    verdict: &Verdict,
    trace: &Trace,
) {
    for name in failed.iter().filter(|name| trace.ran(name)) {
        let is_simulated = rehearsal.simulated().any(|part| part.node == *name);
        let misses = verdict.misses_value(name);
        let (outcome, why) = match (is_simulated, misses) {
            (false, false) => (CaseOutcome::Passed, ""),
            (false, true) => (CaseOutcome::Failed, "a value that it reads is not there"),
            (true, true) => (
                CaseOutcome::Inconclusive,
                "a value that it reads is not there, and it is only simulated",
            ),
            (true, false) => (
                CaseOutcome::Inconclusive,
                "it is only simulated, so nobody can tell whether it comes through now",
            ),
        };
        judged.add(Check {
            what: format!("{name}: comes through"),
            outcome,
            why: why.to_owned(),
            seen: None,
        });
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod replay_tests;
