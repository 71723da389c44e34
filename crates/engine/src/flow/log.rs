//! The journal's events folded into a [`RunLog`]. The same events always fold to the same log.
//! Must never decide what comes next (`next` does) and never check a patch again (the journal is the truth).

use super::FlowError;
use super::merge::merge;
use super::model::{Flow, PROGRAM, StepKind, within};
use super::prepare::prepare;
use super::run_log::{Answer, Call, Frame, Prepared, RunLog, SessionLog, StepRecord, StepStatus};
use crate::store::{Event, Shared};
use serde_json::{Map, Value, json};

/// The decision to try a step again: the number of the attempt follows, from 2.
pub(super) const ATTEMPT: &str = "attempt ";

impl RunLog {
    /// Folds a whole journal.
    pub fn fold<'a>(
        flow: &Flow,
        events: impl IntoIterator<Item = &'a Event>,
    ) -> Result<Self, FlowError> {
        let mut log = RunLog::new(flow);
        for event in events {
            log.apply(flow, event)?;
        }
        Ok(log)
    }

    /// Takes one event in. On an error nothing was changed.
    pub fn apply(&mut self, flow: &Flow, event: &Event) -> Result<(), FlowError> {
        match event {
            Event::RunStarted {
                run_id,
                pack_hash,
                input,
                ..
            } => {
                self.run_id.clone_from(run_id);
                self.pack_hash.clone_from(pack_hash);
                self.own.input.clone_from(input);
            }
            Event::StageChanged { from, to } => self.change_stage(flow, from, to)?,
            Event::StepStarted { step } => {
                let found = known(flow, step)?;
                let prepared = prepare(flow.flow_at(step), self, found, step)?;
                if let (StepKind::Call(call), Prepared::Input(input)) = (&found.kind, &prepared) {
                    let frame = Frame::new(&call.flow, input.clone());
                    self.frames.insert(step.clone(), frame);
                }
                if let Prepared::Branches(forks) = &prepared {
                    for fork in forks {
                        let outer = self.frame(step);
                        let frame = outer.fork(fork.bound.clone(), self.changes.len());
                        self.frames.insert(fork.path.clone(), frame);
                    }
                }
                let record = self.record(step, StepStatus::Running);
                record.status = StepStatus::Running;
                record.prepared = prepared;
            }
            Event::FlowDecided { step, decision } => self.decide(flow, step, decision)?,
            Event::ToolIntent { step, call, .. } => {
                if flow.step_at(step).is_some() {
                    self.record(step, StepStatus::Running).calls.push(Call {
                        begun: Some(Shared::clone(call)),
                        result: None,
                    });
                }
            }
            Event::ToolFinished {
                step,
                result,
                change,
                ..
            } => {
                if let Some(change) = change {
                    self.changes.push(change.clone());
                    self.changed_in.push(step.clone());
                }
                if flow.step_at(step).is_some() {
                    let calls = &mut self.record(step, StepStatus::Running).calls;
                    let open = calls
                        .iter_mut()
                        .rev()
                        .find(|c| c.result.is_none() && c.id() == result.call_id);
                    let result = Some(Shared::clone(result));
                    match open {
                        Some(call) => call.result = result,
                        // A call that was refused before its intent was written.
                        None => calls.push(Call {
                            begun: None,
                            result,
                        }),
                    }
                }
            }
            Event::QuestionAsked { step, question } => {
                self.questions
                    .insert(question.id.clone(), (step.clone(), question.clone()));
            }
            Event::AnswerGiven {
                question_id,
                value,
                by,
                ..
            } => {
                let topic = self
                    .questions
                    .get(question_id)
                    .map(|(_, q)| q.topic.clone());
                self.answers.insert(
                    question_id.clone(),
                    Answer {
                        topic,
                        value: value.clone(),
                        by: *by,
                    },
                );
            }
            Event::StatePatched { step, agent, patch } => {
                let is_set = matches!(known(flow, step)?.kind, StepKind::Set(_));
                if self.patched(step) {
                    return Err(FlowError::PatchedTwice { step: step.clone() });
                }
                self.take(flow.flow_at(step), step, patch, false);
                let record = self.record(step, StepStatus::Running);
                record.patch = Some(patch.clone());
                if is_set && agent == PROGRAM {
                    record.status = StepStatus::Done;
                    record.output = Value::Object(patch.clone());
                }
            }
            Event::Said {
                step,
                text,
                data,
                attachment,
            } => {
                known(flow, step)?;
                let record = self.record(step, StepStatus::Done);
                record.status = StepStatus::Done;
                record.output = json!({"text": text, "data": data, "attachment": attachment});
            }
            Event::SessionLoaded {
                conversation,
                version,
                fields,
                messages,
            } => {
                for (name, value) in fields {
                    if flow.fields.get(name).is_some_and(|spec| spec.of_session) {
                        self.own.state.insert(name.clone(), value.clone());
                    }
                }
                self.session = Some(SessionLog {
                    id: conversation.clone(),
                    version: *version,
                    messages: messages.clone(),
                    cleared: false,
                });
            }
            Event::Cleared {
                step,
                fields,
                messages,
            } => {
                known(flow, step)?;
                if let Some(session) = self.session.as_mut().filter(|_| *messages) {
                    session.messages.clear();
                    session.cleared = true;
                }
                let of = &flow.flow_at(step).fields;
                let state = &mut self.frame_mut(step).state;
                for field in fields {
                    match of.get(field).and_then(|spec| spec.default.clone()) {
                        Some(default) => state.insert(field.clone(), default),
                        None => state.shift_remove(field),
                    };
                }
                self.record(step, StepStatus::Done).status = StepStatus::Done;
            }
            Event::StepFinished { step, output } => {
                known(flow, step)?;
                let record = self.record(step, StepStatus::Done);
                record.status = StepStatus::Done;
                record.output.clone_from(output);
            }
            Event::BranchesJoined { step, done, output } => {
                known(flow, step)?;
                self.join(flow.flow_at(step), step, done);
                let record = self.record(step, StepStatus::Done);
                record.status = StepStatus::Done;
                record.output.clone_from(output);
            }
            Event::StepFailed { step, error } => {
                known(flow, step)?;
                self.join(flow.flow_at(step), step, &[]);
                let record = self.record(step, StepStatus::Failed);
                record.status = StepStatus::Failed;
                record.error = Some(error.clone());
                let flow = flow.flow_at(step);
                if let Some(field) = &flow.failures {
                    let mut patch = Map::new();
                    patch.insert(field.clone(), json!([{"step": step, "error": error}]));
                    self.take(flow, step, &patch, true);
                }
            }
            Event::RunEnded {
                outcome,
                exit_code,
                message,
            } => self.ended = Some((*outcome, *exit_code, message.clone())),
            Event::SessionOpened { .. }
            | Event::ActivationStarted { .. }
            | Event::ActivationEnded { .. }
            | Event::ModelAsked { .. }
            | Event::ModelRetried { .. }
            | Event::ModelAnswered { .. }
            | Event::ConversationCompacted { .. }
            | Event::ToolsOffered { .. }
            | Event::CallsTurnedAway { .. }
            | Event::SnapshotTaken { .. }
            | Event::PatchRefused { .. }
            | Event::GrantsPinned { .. }
            | Event::Linked(_)
            | Event::Undone { .. }
            | Event::Adopted { .. } => {}
        }
        Ok(())
    }

    /// Merges a patch where the step stands; a branch notes it for the join.
    fn take(&mut self, flow: &Flow, step: &str, patch: &Map<String, Value>, of_failure: bool) {
        let frame = self.frame_mut(step);
        merge(flow, &mut frame.state, patch);
        if let Some(branch) = &mut frame.branch {
            branch.patches.push((of_failure, patch.clone()));
        }
    }

    /// Takes in what the branches of a step did, in the order of the file: the patches of those that are done, of the others only that
    /// something failed; and which steps ran. What the others were in the middle of is given up.
    fn join(&mut self, flow: &Flow, step: &str, done: &[String]) {
        let forks = match self.step_record(step).map(|record| &record.prepared) {
            Some(Prepared::Branches(forks)) => forks.clone(),
            _ => return,
        };
        for fork in forks {
            let Some(mut frame) = self.frames.shift_remove(&fork.path) else {
                continue;
            };
            let is_done = done.contains(&fork.name);
            self.frames
                .retain(|at, _| is_done || !within(at, &fork.path));
            for record in frame.steps.values_mut().filter(|_| !is_done) {
                if record.status == StepStatus::Running {
                    record.status = StepStatus::Failed;
                    record.error = Some("given up".to_owned());
                }
            }
            let patches = frame.branch.map(|branch| branch.patches);
            for (of_failure, patch) in patches.unwrap_or_default() {
                if is_done || of_failure {
                    self.take(flow, step, &patch, of_failure);
                }
            }
            self.frame_mut(step).steps.extend(frame.steps);
        }
    }

    fn change_stage(&mut self, flow: &Flow, from: &str, to: &str) -> Result<(), FlowError> {
        let forward = match (flow.stage_index(from), flow.stage_index(to)) {
            (Some(a), Some(b)) => b == a + 1,
            (Some(_), None) => flow.blocked_stage.as_deref() == Some(to),
            _ => false,
        };
        if !forward || from != self.stage {
            return Err(FlowError::Stage {
                from: self.stage.clone(),
                to: to.to_owned(),
                blocked: flow.blocked_stage.clone().unwrap_or_default(),
            });
        }
        self.stage = to.to_owned();
        Ok(())
    }

    fn decide(&mut self, flow: &Flow, step: &str, decision: &str) -> Result<(), FlowError> {
        let found = known(flow, step)?;
        let is_gate = matches!(found.kind, StepKind::Gate(_));
        let cycle = decision
            .strip_prefix("cycle ")
            .and_then(|n| n.parse::<u32>().ok());
        let attempt = decision
            .strip_prefix(ATTEMPT)
            .and_then(|n| n.parse::<u32>().ok());
        let record = self.record(step, StepStatus::Taken);
        record.decision = Some(decision.to_owned());
        record.status = match decision {
            "skipped" => StepStatus::Skipped,
            "passed" | "stopped" if is_gate => StepStatus::Done,
            _ => StepStatus::Taken,
        };
        if let Some(attempt) = attempt {
            // What the attempts before it did stays in the journal; the step begins anew.
            *record = StepRecord::new(StepStatus::Taken);
            record.decision = Some(decision.to_owned());
            record.failed_attempts = attempt.saturating_sub(1);
            let below = format!("{step}/");
            self.frames
                .retain(|caller, _| caller != step && !caller.starts_with(&below));
        }
        if let Some(cycle) = cycle {
            self.record(step, StepStatus::Taken).cycle = cycle;
            self.frame_mut(step).last_cycle = cycle;
        }
        Ok(())
    }

    fn record(&mut self, path: &str, status: StepStatus) -> &mut StepRecord {
        self.frame_mut(path)
            .steps
            .entry(path.to_owned())
            .or_insert_with(|| StepRecord::new(status))
    }
}

fn known<'a>(flow: &'a Flow, path: &str) -> Result<&'a super::model::Step, FlowError> {
    flow.step_at(path)
        .ok_or_else(|| FlowError::UnknownStep(path.to_owned()))
}
