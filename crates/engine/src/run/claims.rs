//! Claims against the journal: which fields of an answer are checked, and against what. How a fact is checked is the toolset's.

use crate::{
    claims::{Changes, Claim, DoneChange},
    flow::{Flow, PatchRefusal},
    view::{RunView, Trace},
    vocabulary::{Capability, Vocabulary},
};
use agentctl_base::model::ToolResult;
use serde_json::{Map, Value};

/// What claims are checked against.
pub struct Evidence<'a> {
    pub flow: &'a Flow,
    pub vocabulary: &'a Vocabulary,
    pub view: &'a RunView,
    /// This step's calls so far.
    pub trace: Option<&'a Trace>,
    pub state: &'a Map<String, Value>,
    pub capability_of: &'a dyn Fn(&str) -> Option<Capability>,
}

/// The run's changes so far.
pub(super) fn changes(view: &RunView) -> Changes<'_> {
    let changes = view.standing().map(|done| DoneChange {
        change: &done.change,
        name: done.name.as_deref(),
        file: done.file.as_deref(),
    });
    Changes(changes.collect())
}

/// Checks the claims in a patch and fills in the facts. Empty: all of them hold.
pub fn settle(patch: &mut Map<String, Value>, evidence: &Evidence<'_>) -> Vec<PatchRefusal> {
    let changes = changes(evidence.view);
    let results: Vec<(&ToolResult, Option<Capability>)> = (evidence.trace.iter())
        .flat_map(|trace| trace.results.values())
        .map(|result| (&**result, (evidence.capability_of)(&result.name)))
        .collect();
    let state_of = |fact: &str| evidence.state.get(evidence.flow.fact_field(fact)?);
    let by = Claim {
        changes: &changes,
        results: &results,
        state_of: &state_of,
    };
    let mut refusals = Vec::new();
    for (field, fact) in evidence.flow.facts() {
        if let Some(Value::Object(claimed)) = patch.get_mut(field) {
            let faults = evidence.vocabulary.check(fact, claimed, &by).into_iter();
            refusals.extend(faults.map(|message| PatchRefusal {
                field: field.to_owned(),
                rule: format!("claims.{field}"),
                message,
            }));
        }
    }
    refusals
}
