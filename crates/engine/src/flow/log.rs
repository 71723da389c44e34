//! The flow's own state of a run, from which the next action follows: its steps, fields and stage. What was done and used beyond
//! that says `run::RunView`. The same events always fold to the same log.
//! Must never decide what comes next (`next` does) and never check a patch again (the journal is the truth).

use super::FlowError;
use super::merge::merge;
use super::model::{Flow, PROGRAM, StepKind, step_id};
use super::next::{Prepared, prepare};
use crate::store::event::{Change, Event, StepPath};
use agentctl_base::model::ToolStatus;
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepStatus {
    /// Its `when` held, or it is a loop or a route whose steps run.
    Taken,
    Skipped,
    Running,
    Done,
    Failed,
}

impl StepStatus {
    pub fn name(self) -> &'static str {
        match self {
            StepStatus::Taken | StepStatus::Running => "running",
            StepStatus::Skipped => "skipped",
            StepStatus::Done => "done",
            StepStatus::Failed => "failed",
        }
    }
}

/// A tool call of a step, with its one result.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: String,
    pub tool: String,
    pub args: Value,
    /// None: no result was journaled yet.
    pub status: Option<ToolStatus>,
    pub content: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct StepRecord {
    pub status: StepStatus,
    /// The last `FlowDecided` of the step.
    pub decision: Option<String>,
    /// Input, arguments or questions, frozen when the step started.
    pub prepared: Prepared,
    pub output: Value,
    pub error: Option<String>,
    pub patch: Option<Map<String, Value>>,
    pub calls: Vec<Call>,
    /// Loops: the iteration that runs, from 1.
    pub cycle: u32,
}

impl StepRecord {
    fn new(status: StepStatus) -> Self {
        StepRecord {
            status,
            decision: None,
            prepared: Prepared::Nothing,
            output: Value::Null,
            error: None,
            patch: None,
            calls: Vec::new(),
            cycle: 0,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub topic: Option<String>,
    pub value: Value,
    pub by: AnsweredBy,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunLog {
    run_id: String,
    pack_hash: String,
    input: Map<String, Value>,
    state: Map<String, Value>,
    stage: String,
    pub(super) steps: IndexMap<StepPath, StepRecord>,
    questions: IndexMap<String, (StepPath, Question)>,
    pub(super) answers: IndexMap<String, Answer>,
    changes: Vec<Change>,
    /// The last iteration that any loop began.
    last_cycle: u32,
    ended: Option<(Outcome, u8, String)>,
}

impl RunLog {
    pub fn new(flow: &Flow) -> Self {
        RunLog {
            run_id: String::new(),
            pack_hash: String::new(),
            input: Map::new(),
            state: Map::new(),
            stage: flow.first_stage().to_owned(),
            steps: IndexMap::new(),
            questions: IndexMap::new(),
            answers: IndexMap::new(),
            changes: Vec::new(),
            last_cycle: 0,
            ended: None,
        }
    }

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
                self.input.clone_from(input);
            }
            Event::StageChanged { from, to } => self.change_stage(flow, from, to)?,
            Event::StepStarted { step } => {
                let found = known(flow, step)?;
                let prepared = prepare(flow, self, found, step)?;
                let record = self.record(step, StepStatus::Running);
                record.status = StepStatus::Running;
                record.prepared = prepared;
            }
            Event::FlowDecided { step, decision } => self.decide(flow, step, decision)?,
            Event::ToolIntent { step, call, .. } => {
                if flow.step_at(step).is_some() {
                    let args = serde_json::from_str(&call.arguments)
                        .unwrap_or_else(|_| json!(call.arguments));
                    self.record(step, StepStatus::Running).calls.push(Call {
                        id: call.id.clone(),
                        tool: call.name.clone(),
                        args,
                        status: None,
                        content: Value::Null,
                    });
                }
            }
            Event::ToolFinished {
                step,
                result,
                change,
                ..
            } => {
                self.changes.extend(change.clone());
                if flow.step_at(step).is_some() {
                    let calls = &mut self.record(step, StepStatus::Running).calls;
                    let open = calls
                        .iter_mut()
                        .rev()
                        .find(|c| c.id == result.call_id && c.status.is_none());
                    match open {
                        Some(call) => {
                            call.status = Some(result.status);
                            call.content.clone_from(&result.content);
                        }
                        // A call that was refused before its intent was written.
                        None => calls.push(Call {
                            id: result.call_id.clone(),
                            tool: result.name.clone(),
                            args: Value::Null,
                            status: Some(result.status),
                            content: result.content.clone(),
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
                merge(flow, &mut self.state, patch);
                let record = self.record(step, StepStatus::Running);
                record.patch = Some(patch.clone());
                if is_set && agent == PROGRAM {
                    record.status = StepStatus::Done;
                    record.output = Value::Object(patch.clone());
                }
            }
            Event::StepFinished { step, output } => {
                known(flow, step)?;
                let record = self.record(step, StepStatus::Done);
                record.status = StepStatus::Done;
                record.output.clone_from(output);
            }
            Event::StepFailed { step, error } => {
                known(flow, step)?;
                let record = self.record(step, StepStatus::Failed);
                record.status = StepStatus::Failed;
                record.error = Some(error.clone());
                if let Some(field) = &flow.failures {
                    let mut patch = Map::new();
                    patch.insert(field.clone(), json!([{"step": step, "error": error}]));
                    merge(flow, &mut self.state, &patch);
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
            | Event::SnapshotTaken { .. }
            | Event::PatchRefused { .. }
            | Event::GrantsPinned { .. }
            | Event::Undone { .. }
            | Event::Adopted { .. } => {}
        }
        Ok(())
    }

    fn change_stage(&mut self, flow: &Flow, from: &str, to: &str) -> Result<(), FlowError> {
        let forward = match (flow.stage_index(from), flow.stage_index(to)) {
            (Some(a), Some(b)) => b == a + 1,
            (Some(_), None) => to == flow.blocked_stage,
            _ => false,
        };
        if !forward || from != self.stage {
            return Err(FlowError::Stage {
                from: self.stage.clone(),
                to: to.to_owned(),
                blocked: flow.blocked_stage.clone(),
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
        let record = self.record(step, StepStatus::Taken);
        record.decision = Some(decision.to_owned());
        record.status = match decision {
            "skipped" => StepStatus::Skipped,
            "passed" | "stopped" if is_gate => StepStatus::Done,
            _ => StepStatus::Taken,
        };
        if let Some(cycle) = cycle {
            record.cycle = cycle;
            self.last_cycle = cycle;
        }
        Ok(())
    }

    fn record(&mut self, path: &str, status: StepStatus) -> &mut StepRecord {
        self.steps
            .entry(path.to_owned())
            .or_insert_with(|| StepRecord::new(status))
    }

    pub fn run_id(&self) -> &str {
        &self.run_id
    }
    pub fn pack_hash(&self) -> &str {
        &self.pack_hash
    }
    pub fn input(&self) -> &Map<String, Value> {
        &self.input
    }
    pub fn state(&self) -> &Map<String, Value> {
        &self.state
    }
    pub fn stage(&self) -> &str {
        &self.stage
    }
    /// The last iteration that a loop began; 0 before any.
    pub fn cycle(&self) -> u32 {
        self.last_cycle
    }
    pub fn outcome(&self) -> Option<Outcome> {
        self.ended.as_ref().map(|(outcome, _, _)| *outcome)
    }
    /// Outcome, exit code and message of a run that has ended.
    pub fn ended(&self) -> Option<(Outcome, u8, &str)> {
        self.ended.as_ref().map(|(o, c, m)| (*o, *c, m.as_str()))
    }
    /// Changes to workflows, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
    pub fn status(&self, path: &str) -> Option<StepStatus> {
        self.steps.get(path).map(|r| r.status)
    }
    /// True when the step's patch is in the state: a driver that resumes must not merge it again.
    pub fn patched(&self, path: &str) -> bool {
        self.steps.get(path).is_some_and(|r| r.patch.is_some())
    }
    pub fn output(&self, path: &str) -> Option<&Value> {
        self.steps
            .get(path)
            .filter(|r| r.status == StepStatus::Done)
            .map(|r| &r.output)
    }
    pub fn calls(&self, path: &str) -> &[Call] {
        self.steps.get(path).map_or(&[], |r| r.calls.as_slice())
    }
    /// Step paths with their status, in the order in which they began.
    pub fn steps(&self) -> impl Iterator<Item = (&str, StepStatus)> {
        self.steps.iter().map(|(path, r)| (path.as_str(), r.status))
    }
    /// The step that runs now, if one does.
    pub fn running(&self) -> Option<&str> {
        self.steps
            .iter()
            .rev()
            .find(|(_, r)| r.status == StepStatus::Running)
            .map(|(path, _)| path.as_str())
    }
    pub fn question(&self, id: &str) -> Option<&Question> {
        self.questions.get(id).map(|(_, q)| q)
    }
    pub(super) fn asked_by(&self, id: &str) -> Option<&str> {
        self.questions.get(id).map(|(step, _)| step.as_str())
    }
    /// Every question asked so far, with the step that asked and the answer.
    pub fn questions(&self) -> impl Iterator<Item = (&str, &Question, Option<&Value>)> {
        self.questions
            .iter()
            .map(|(id, (step, q))| (step.as_str(), q, self.answers.get(id).map(|a| &a.value)))
    }
    /// Required questions that wait for an answer.
    pub fn open_questions(&self) -> Vec<&Question> {
        self.questions
            .values()
            .map(|(_, q)| q)
            .filter(|q| q.required && !self.answers.contains_key(&q.id))
            .collect()
    }
    pub fn answer(&self, question_id: &str) -> Option<&Value> {
        self.answers.get(question_id).map(|a| &a.value)
    }
    /// The records of one step id, oldest first.
    pub(super) fn records_of<'a>(
        &'a self,
        id: &'a str,
    ) -> impl DoubleEndedIterator<Item = &'a StepRecord> {
        self.steps
            .iter()
            .filter(move |(path, _)| step_id(path) == id)
            .map(|(_, record)| record)
    }
}

fn known<'a>(flow: &'a Flow, path: &str) -> Result<&'a super::model::Step, FlowError> {
    flow.step_at(path)
        .ok_or_else(|| FlowError::UnknownStep(path.to_owned()))
}
