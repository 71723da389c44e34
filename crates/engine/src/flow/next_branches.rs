//! What comes next in branches beside one another, and when they come together. A branch's end is not journaled: it follows from its
//! steps. The join is.

use super::FlowError;
use super::model::{Flow, Join, JoinSpec, Step, StepKind};
use super::next::{Action, Walk, Walker, failed, record};
use super::prepare::prepare;
use super::run_log::{Fork, Prepared, RunLog, StepRecord, StepStatus};
use crate::store::event::Event;
use agentctl_base::question::Outcome;
use serde_json::{Map, Value, json};

/// Where a branch is.
enum Stand {
    Done,
    Failed(String),
    /// `begun`: one of its steps is in the journal.
    Open {
        begun: bool,
        actions: Vec<Action>,
    },
}

/// What is written when the time of a step is over: it failed; but branches that go on without those that fail come together, as far
/// as they are done.
pub fn too_late(flow: &Flow, log: &RunLog, path: &str, error: String) -> Result<Event, FlowError> {
    let fails = |error| {
        let step = path.to_owned();
        Ok(Event::StepFailed { step, error })
    };
    let Some((inner, step)) = flow.at(path) else {
        return fails(error);
    };
    let how = match &step.kind {
        StepKind::Parallel(spec) => spec.how,
        StepKind::ForEach(spec) => spec.how,
        _ => return fails(error),
    };
    let forks = match log.step_record(path).map(|record| &record.prepared) {
        Some(Prepared::Branches(forks)) if how.continue_on_failure => forks,
        _ => return fails(error),
    };
    let walker = Walker {
        flow: inner,
        log,
        own: false,
    };
    let mut stands = Vec::with_capacity(forks.len());
    for fork in forks {
        let stand = walker.stand(fork, step.branch(&fork.name))?;
        stands.push((
            fork,
            match stand {
                Stand::Open { .. } => Stand::Failed(error.clone()),
                stand => stand,
            },
        ));
    }
    match walker.joined(step, path, how, stands)? {
        Walk::Act(mut actions) => match actions.pop() {
            Some(Action::Record(event)) => Ok(event),
            _ => fails(error),
        },
        _ => fails(error),
    }
}

impl Walker<'_> {
    pub(super) fn branches(
        self,
        step: &Step,
        path: &str,
        found: Option<&StepRecord>,
        how: JoinSpec,
    ) -> Result<Walk, FlowError> {
        let Some(found) = found.filter(|r| r.status != StepStatus::Taken) else {
            // Prepared once here, so that a mistake shows before anything is journaled.
            prepare(self.flow, self.log, step, path)?;
            return record(Event::StepStarted {
                step: path.to_owned(),
            });
        };
        if found.status == StepStatus::Failed {
            return Ok(failed(step, path, found));
        }
        let Prepared::Branches(forks) = &found.prepared else {
            return Err(FlowError::Step {
                step: path.to_owned(),
                message: "the journal has work of this step before its start".to_owned(),
            });
        };
        let mut stands = Vec::with_capacity(forks.len());
        for fork in forks {
            stands.push((fork, self.stand(fork, step.branch(&fork.name))?));
        }
        self.joined(step, path, how, stands)
    }

    fn stand(self, fork: &Fork, steps: &[Step]) -> Result<Stand, FlowError> {
        Ok(match self.list(steps, &fork.path)? {
            Walk::Through => Stand::Done,
            Walk::End(Outcome::Failed, why) => Stand::Failed(why),
            Walk::Act(actions) => Stand::Open {
                begun: self
                    .log
                    .frames
                    .get(&fork.path)
                    .is_some_and(|f| !f.steps.is_empty()),
                actions,
            },
            // The loader lets no branch end the flow or leave a loop around it.
            Walk::End(..) | Walk::Leave(_) | Walk::Exhaust(_) => {
                return Err(FlowError::Step {
                    step: fork.path.clone(),
                    message: "a branch wants to end what is around it".to_owned(),
                });
            }
        })
    }

    fn joined(
        self,
        step: &Step,
        path: &str,
        how: JoinSpec,
        stands: Vec<(&Fork, Stand)>,
    ) -> Result<Walk, FlowError> {
        let mut done: Vec<&Fork> = Vec::new();
        let mut reasons: Map<String, Value> = Map::new();
        let (mut begun, mut waiting) = (Vec::new(), Vec::new());
        let whole = stands.len();
        for (fork, stand) in stands {
            match stand {
                Stand::Done => done.push(fork),
                Stand::Failed(why) => {
                    reasons.insert(fork.name.clone(), why.into());
                }
                Stand::Open {
                    begun: true,
                    actions,
                } => begun.push(actions),
                Stand::Open { actions, .. } => waiting.push(actions),
            }
        }
        let fails = |error: String| {
            record(Event::StepFailed {
                step: path.to_owned(),
                error,
            })
        };
        if let Some((name, why)) = reasons.iter().next().filter(|_| !how.continue_on_failure) {
            let why = why.as_str().unwrap_or_default();
            return fails(format!("the branch {name} failed: {why}"));
        }
        let ended = begun.is_empty() && waiting.is_empty();
        let needed = match how.join {
            Join::All => whole,
            Join::Any => whole.min(1),
            Join::AtLeast(n) => n,
        };
        if ended && done.len() < needed && how.join != Join::All {
            let n = done.len();
            return fails(format!(
                "{n} of {whole} branches came to their end, {needed} must"
            ));
        }
        if ended || (how.join != Join::All && done.len() >= needed) {
            return record(Event::BranchesJoined {
                step: path.to_owned(),
                done: done.iter().map(|fork| fork.name.clone()).collect(),
                output: self.output_of(step, &done, reasons),
            });
        }
        let room = how.max_at_once.saturating_sub(begun.len());
        let now = begun.into_iter().chain(waiting.into_iter().take(room));
        Ok(Walk::Act(now.flatten().collect()))
    }

    /// What each branch that is done gave last, and why the others are not: by the branch's id, or as a list beside the items.
    fn output_of(self, step: &Step, done: &[&Fork], reasons: Map<String, Value>) -> Value {
        let last = |fork: &Fork| {
            let steps = self.log.frames.get(&fork.path).map(|frame| &frame.steps);
            let outputs = steps.into_iter().flat_map(|steps| steps.values().rev());
            let mut outputs =
                outputs.filter(|r| r.status == StepStatus::Done && !r.output.is_null());
            outputs
                .next()
                .map_or(Value::Null, |record| record.output.clone())
        };
        let named = done.iter().map(|fork| (fork.name.clone(), last(fork)));
        if matches!(step.kind, StepKind::ForEach(_)) {
            let list: Vec<Value> = named
                .map(|(name, output)| {
                    json!({"index": name.parse::<u64>().unwrap_or(0), "output": output})
                })
                .collect();
            return json!({"done": list, "failed": reasons});
        }
        json!({"done": named.collect::<Map<_, _>>(), "failed": reasons})
    }
}
