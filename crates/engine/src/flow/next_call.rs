//! What comes next in a flow that a step calls, and what comes of one.

use super::FlowError;
use super::merge::{check_patch, without_blanks};
use super::model::{CallSpec, Flow, PROGRAM, Step, StepKind};
use super::next::{Action, Walk, Walker, failed, first_decision, record};
use super::prepare::prepare;
use super::remote::RemoteAgent;
use super::run_log::{Prepared, RunLog, StepRecord, StepStatus};
use super::scope::{claim_scope, value};
use crate::store::event::Event;
use agentctl_base::question::Outcome;
use serde_json::{Map, Value};

/// What comes of a flow that is at its end; `caller`: the path of the step that calls it, empty for the run's own. A flow that says
/// nothing of it has an empty output.
pub fn output(flow: &Flow, log: &RunLog, caller: &str) -> Result<Value, FlowError> {
    match &flow.output {
        Some(of) => value(flow, log, &format!("{caller}/"), &of.value),
        None => Ok(Value::Object(Map::new())),
    }
}

/// What can be done now in the flow that an agent's call of a tool is; `path`: where that flow stands. None: it is at its end.
pub fn ready_called(
    flow: &Flow,
    log: &RunLog,
    path: &str,
) -> Result<Option<Vec<Action>>, FlowError> {
    if log.came_of(path).is_some() {
        return Ok(None);
    }
    let unknown = || FlowError::UnknownStep(path.to_owned());
    let (within, step) = flow.at(path).ok_or_else(unknown)?;
    let StepKind::Call(spec) = &step.kind else {
        return Err(unknown());
    };
    let walker = Walker {
        flow: within,
        log,
        own: false,
    };
    match walker.call(step, spec, path, log.step_record(path))? {
        Walk::Act(actions) => Ok(Some(first_decision(actions))),
        _ => Ok(None),
    }
}

impl Walker<'_> {
    /// Another flow: its steps with its own state, then what comes of it.
    pub(super) fn call(
        self,
        step: &Step,
        spec: &CallSpec,
        path: &str,
        found: Option<&StepRecord>,
    ) -> Result<Walk, FlowError> {
        let fails = |error: String| {
            record(Event::StepFailed {
                step: path.to_owned(),
                error,
            })
        };
        let Some(found) = found.filter(|r| r.status != StepStatus::Taken) else {
            let Prepared::Input(input) = prepare(self.flow, self.log, step, path)? else {
                return Ok(Walk::Through);
            };
            let faults = spec.flow.input.as_ref();
            let faults = faults.map_or_else(Vec::new, |schema| schema.faults(&input.into()));
            if faults.is_empty() {
                return record(Event::StepStarted {
                    step: path.to_owned(),
                });
            }
            let faults = faults.join("; ");
            return fails(format!(
                "the flow {} cannot take its input: {faults}",
                spec.name
            ));
        };
        if found.status == StepStatus::Failed {
            return Ok(failed(step, path, found));
        }
        let inside = Walker {
            flow: &spec.flow,
            log: self.log,
            own: false,
        };
        match inside.list(&spec.flow.steps, path)? {
            Walk::Act(actions) => Ok(Walk::Act(actions)),
            Walk::Through | Walk::End(Outcome::Complete | Outcome::Draft | Outcome::Partial, _) => {
                match self.result(spec, path, found)? {
                    Ok(event) => record(event),
                    Err(error) => fails(error),
                }
            }
            Walk::End(outcome, message) => {
                // The steps around another agent are the program's own: whoever reads it knows the agent.
                fails(match RemoteAgent::of_flow(&spec.name) {
                    Some(remote) => remote.away(&message),
                    None => {
                        let outcome = format!("{outcome:?}").to_lowercase();
                        format!("the flow {} ended {outcome}: {message}", spec.name)
                    }
                })
            }
            // The loader lets no gate name a loop of another flow.
            Walk::Leave(id) | Walk::Exhaust(id) => Err(FlowError::Step {
                step: path.to_owned(),
                message: format!("a gate of the flow {} wants to leave {id:?}", spec.name),
            }),
        }
    }

    /// What a called flow came to: the patch that is taken out of its output, then the output. Err: it does not fit.
    fn result(
        self,
        spec: &CallSpec,
        path: &str,
        found: &StepRecord,
    ) -> Result<Result<Event, String>, FlowError> {
        let output = output(&spec.flow, self.log, path)?;
        let schema = spec.flow.output.as_ref().and_then(|of| of.schema.as_ref());
        let faults = schema.map_or_else(Vec::new, |schema| schema.faults(&output));
        if !faults.is_empty() {
            let faults = faults.join("; ");
            return Ok(Err(format!(
                "the output of the flow {} does not fit: {faults}",
                spec.name
            )));
        }
        if found.patch.is_some() || spec.take.is_empty() {
            return Ok(Ok(Event::StepFinished {
                step: path.to_owned(),
                output,
            }));
        }
        let mut patch = Map::new();
        for (field, condition) in &spec.take {
            let variables = claim_scope(self.flow, self.log, path, condition, &output);
            let taken = condition
                .value(&variables)
                .map_err(|source| FlowError::Condition {
                    step: path.to_owned(),
                    source,
                })?;
            patch.insert(field.clone(), taken);
        }
        let patch = without_blanks(self.flow, patch);
        let refusals = check_patch(self.flow, PROGRAM, self.log.state_at(path), &patch);
        Ok(match refusals.first() {
            Some(refusal) => Err(refusal.message.clone()),
            None => Ok(Event::StatePatched {
                step: path.to_owned(),
                agent: PROGRAM.to_owned(),
                patch,
            }),
        })
    }
}
