//! n8n's claims: what an agent says it built, changed, checked or ran must be what its calls did. The facts are then filled in
//! from the calls, so that nothing later builds on a number that a model typed. Which fields hold such claims the flow says; no
//! field is known here by its name.

use crate::capability as can;
use crate::tools::{NO_CASE, NO_CASE_OF, OPEN_BECAUSE};
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::claims::Claim;
use agentctl_engine::flow::RESOURCE;
use agentctl_engine::vocabulary::{Capability, Fact};
use serde_json::{Map, Value};

/// The fact of a field that holds the verdict of the last check: counts, status, what was executed.
pub const CHECK: &str = "check";

/// What the fields of a flow may state with these tools.
pub(crate) const FACTS: [Fact; 2] = [
    Fact {
        name: RESOURCE,
        check: settle_workflow,
    },
    Fact {
        name: CHECK,
        check: settle_report,
    },
];

/// Why the check speaks of something else than this run's workflow as it is now.
fn other_than_checked(by: &Claim<'_>, checked: &Value) -> Option<String> {
    let id = checked.get("id").and_then(Value::as_str)?;
    let ours = (by.state_of)(RESOURCE).and_then(|w| w.get("id"));
    if let Some(ours) = ours.and_then(Value::as_str)
        && ours != id
    {
        return Some(format!(
            "the last validation was of {id:?}, this run's workflow is {ours:?}"
        ));
    }
    let now = by.changes.last(Some(id))?.change.after.as_deref()?;
    let then = checked.get("graph_hash").and_then(Value::as_str)?;
    (then != now).then(|| {
        format!("the workflow {id:?} is not as the last validation saw it: validate it again")
    })
}

/// The workflow must be one that this run created or changed and that is still there.
fn settle_workflow(claim: &mut Map<String, Value>, by: &Claim<'_>) -> Vec<String> {
    settled_workflow(claim, by).err().into_iter().collect()
}

fn settled_workflow(claim: &mut Map<String, Value>, by: &Claim<'_>) -> Result<(), String> {
    let claimed = claim.get("id").and_then(Value::as_str).map(str::to_owned);
    let last = by.changes.last(claimed.as_deref());
    let Some(last) = last else {
        // A change that turned out to be none: the workflow was read in this step and is as it should be.
        let read = last_ok(by, can::GET_WORKFLOW).map(|r| &r.content);
        if let (Some(id), Some(read)) = (&claimed, read)
            && read.get("id").and_then(Value::as_str) == Some(id)
        {
            for key in ["name", "node_count", "graph_hash"] {
                claim.insert(key.into(), read.get(key).cloned().unwrap_or(Value::Null));
            }
            return Ok(());
        }
        let made = by.changes.ids();
        return Err(match (claimed, made.as_slice()) {
            (_, []) => "no workflow was created or changed in this run: make the call first, then report it".into(),
            (Some(id), made) => format!(
                "this run did not create or change the workflow {id:?}; it changed {}",
                made.join(", ")
            ),
            (None, made) => format!("name the workflow by its id: {}", made.join(", ")),
        });
    };
    let change = &last.change;
    let Some(after) = &change.after else {
        return Err(format!(
            "the workflow {:?} was deleted in this run",
            change.id()
        ));
    };
    claim.insert("id".into(), change.id().into());
    if let Some(name) = by.changes.name(change.id()) {
        claim.insert("name".into(), name.into());
    }
    claim.insert("node_count".into(), change.size.into());
    claim.insert("graph_hash".into(), after.clone().into());
    Ok(())
}

/// Counts must be those of the step's last final validation, or (without one) those that stand already.
fn settle_report(report: &mut Map<String, Value>, by: &Claim<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let validated = last_ok(by, can::VALIDATE_FINAL).filter(|result| {
        // A clean workflow beside this run's is no evidence, nor is a state of it from before its last change.
        let other = other_than_checked(by, &result.content);
        faults.extend(other.iter().cloned());
        other.is_none()
    });
    let known = (by.state_of)(CHECK);
    for key in ["error_count", "warning_count"] {
        let fact = match &validated {
            Some(result) => count(&result.content, key),
            None => known.and_then(|r| r.get(key)).and_then(Value::as_u64),
        };
        match (report.get(key).and_then(Value::as_u64), fact) {
            (Some(claimed), Some(fact)) if claimed != fact => faults.push(format!(
                "{key} is {claimed}, but the last validation counted {fact}"
            )),
            (Some(_), None) => faults.push(format!(
                "{key} is claimed, but this step made no successful final validation"
            )),
            (_, Some(fact)) if validated.is_some() => {
                report.insert(key.into(), fact.into());
            }
            _ => {}
        }
    }
    if let Some(status) = report.get("status").and_then(Value::as_str) {
        let stands = known.and_then(|r| r.get("status")).and_then(Value::as_str);
        // Whatever is not a failure claims success, also in other words or letters.
        let passes = status != "fail";
        if validated.is_none() && stands != Some(status) && passes {
            faults.push(format!(
                "status is {status:?}, but this step made no successful final validation"
            ));
        }
        let errors = validated
            .as_ref()
            .and_then(|r| count(&r.content, "error_count"));
        if passes && errors.is_some_and(|n| n > 0) {
            faults.push(format!(
                "status is {status:?}, but the last validation found errors"
            ));
        }
    }
    settle_execution(report, by, &mut faults);
    faults
}

/// What the program knows of a run and no agent may put otherwise.
const OF_THE_RUN: [&str; 13] = [
    "cases",
    "copy",
    "egress",
    "execution",
    "left_behind",
    NO_CASE_OF,
    "on",
    "payload",
    "ran",
    "simulated",
    "not_reached",
    "nodes",
    "untried",
];

/// "Executed" needs an execution that n8n gave an id; "passed" needs that this execution passed.
fn settle_execution(report: &mut Map<String, Value>, by: &Claim<'_>, faults: &mut Vec<String>) {
    let claims = |key: &str| report.get(key) == Some(&Value::Bool(true));
    let known = (by.state_of)(CHECK);
    let ran_before = known.and_then(|r| r.get("executed")) == Some(&Value::Bool(true));
    let run = last_ok(by, can::TRIGGER_WORKFLOW)
        .map(|result| &result.content)
        .filter(|content| execution_id(content).is_some());
    let Some(run) = run else {
        if claims("executed") && !ran_before {
            faults.push(
                "executed is claimed, but no call that runs the workflow succeeded in this step"
                    .into(),
            );
        }
        // What left the machine is not an agent's to say.
        for key in ["copy", "egress", "left_behind"] {
            if report.remove(key).is_some()
                && let Some(fact) = known.and_then(|r| r.get(key))
            {
                report.insert(key.into(), fact.clone());
            }
        }
        return;
    };
    if let Some(named) = report.get("execution").and_then(|e| e.get("id"))
        && Some(named) != execution_id(run)
    {
        faults.push(format!(
            "execution names {named}, but the last run was the execution {}",
            execution_id(run).unwrap_or(&Value::Null)
        ));
    }
    let seen = run.get("test_status").and_then(Value::as_str);
    let better = |told: &str, seen: &str| rank(told) > rank(seen);
    if let (Some(told), Some(seen)) = (report.get("test_status").and_then(Value::as_str), seen)
        && better(told, seen)
    {
        faults.push(format!(
            "test_status is {told:?}, but the last run says {seen:?}"
        ));
    }
    if claims("executed") {
        for key in OF_THE_RUN {
            if let Some(fact) = run.get(key) {
                report.insert(key.into(), fact.clone());
            }
        }
        // What a test before this one left open is not said of this one.
        for key in [OPEN_BECAUSE, NO_CASE] {
            report.insert(key.into(), run.get(key).cloned().unwrap_or_default());
        }
    }
}

/// From the worst to the best; no word that is not known is better than one that is.
fn rank(status: &str) -> u8 {
    match status {
        "pass" => 2,
        "inconclusive" => 1,
        _ => 0,
    }
}

fn execution_id(content: &Value) -> Option<&Value> {
    content
        .get("execution")?
        .get("id")
        .filter(|id| id.as_str().is_some_and(|id| !id.is_empty()))
}

/// The last good result of a tool of this capability in the step.
fn last_ok<'a>(by: &Claim<'a>, capability: Capability) -> Option<&'a ToolResult> {
    let ok = by
        .results
        .iter()
        .rev()
        .find(|(result, of)| result.status == ToolStatus::Ok && *of == Some(capability));
    ok.map(|(result, _)| *result)
}

/// `error_count` as the tool says it, else counted from its findings.
fn count(content: &Value, key: &str) -> Option<u64> {
    if let Some(n) = content.get(key).and_then(Value::as_u64) {
        return Some(n);
    }
    let severity = key.strip_suffix("_count")?;
    let findings = content.get("findings")?.as_array()?;
    let matching = findings
        .iter()
        .filter(|f| f.get("severity").and_then(Value::as_str) == Some(severity));
    Some(matching.count() as u64)
}

#[cfg(test)]
mod tests;
