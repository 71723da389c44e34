//! Claims: what an agent says it did must agree with what its calls returned, and where they say it all, the agent need not. The flow
//! names the claims, the journal decides.

use super::FlowError;
use super::model::{Flow, StepKind};
use super::run_log::RunLog;
use super::scope::{call_scope, claim_scope};
use serde_json::Value;

/// A claim that does not hold, in words for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRefusal {
    /// The expression that failed.
    pub claim: String,
    pub message: String,
}

/// Checks the answer of the agent step at `path`. A claim that cannot be evaluated (no such call was made) does not hold.
pub fn verify_output(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    output: &Value,
) -> Result<Vec<ClaimRefusal>, FlowError> {
    let (flow, step) = flow
        .at(path)
        .ok_or_else(|| FlowError::UnknownStep(path.to_owned()))?;
    let StepKind::Agent(spec) = &step.kind else {
        return Ok(Vec::new());
    };
    let mut refusals = Vec::new();
    for claim in &spec.verify {
        let variables = claim_scope(flow, log, path, &claim.that, output);
        if !claim.that.holds(&variables).unwrap_or(false) {
            refusals.push(ClaimRefusal {
                claim: claim.that.source().to_owned(),
                message: claim.says.clone(),
            });
        }
    }
    Ok(refusals)
}

/// The answer of the agent step at `path`, where its calls came to what `enough` says; None: the agent is asked.
///
/// # Errors
/// When an expression of `enough` cannot be evaluated, or the flow has no such step.
pub fn answer_of_calls(flow: &Flow, log: &RunLog, path: &str) -> Result<Option<Value>, FlowError> {
    let (flow, step) = flow
        .at(path)
        .ok_or_else(|| FlowError::UnknownStep(path.to_owned()))?;
    let StepKind::Agent(spec) = &step.kind else {
        return Ok(None);
    };
    let Some(enough) = &spec.enough else {
        return Ok(None);
    };
    let failed = |source| FlowError::Condition {
        step: path.to_owned(),
        source,
    };
    let seen = call_scope(flow, log, path, &enough.when);
    if !enough.when.holds(&seen).map_err(failed)? {
        return Ok(None);
    }
    let seen = call_scope(flow, log, path, &enough.answer);
    enough.answer.value(&seen).map(Some).map_err(failed)
}
