//! Claims: what an agent says it did must agree with what its calls returned. The flow names the claims, the journal decides.

use super::FlowError;
use super::model::{Flow, StepKind};
use super::run_log::RunLog;
use super::scope::claim_scope;
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
