//! The flow's own state of a run, from which the next action follows: its steps, fields and stage. What was done and used beyond
//! that says `run::RunView`. `log` folds it out of the journal; here it is only read.

use super::model::{Flow, step_id};
use crate::store::Shared;
use crate::store::event::{Change, StepPath};
use agentctl_base::model::{ToolCall, ToolResult, ToolStatus};
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// What a step works on, computed from the state at its start and then kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Prepared {
    Nothing,
    Input(Map<String, Value>),
    Questions(Vec<Question>),
    Agent(Brief),
    /// What an agent that chooses works on, and the cases that can be.
    Choice(Brief, Vec<String>),
    Branches(Vec<Fork>),
}

/// A branch that began at a fork, or an item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fork {
    /// The branch's id; the item's number, from 1.
    pub name: String,
    /// The path of its steps.
    pub path: StepPath,
    /// What its expressions see besides.
    pub bound: Map<String, Value>,
}

/// What an agent works on.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Brief {
    pub input: Map<String, Value>,
    pub conversation: Conversation,
}

/// What was said, as an agent is told it before its task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// Oldest first; what the user says now is the last one.
    pub said: Vec<Spoken>,
    /// The task is about the latest message.
    pub latest: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// False: the agents of this system said it.
    pub by_user: bool,
    pub text: String,
}

/// The conversation that the run is a turn of, as it was when the turn began.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionLog {
    pub id: String,
    pub version: u64,
    /// `{role, text}`, oldest first, without what is said in this turn.
    pub messages: Vec<Value>,
    /// The flow forgot them in this turn.
    pub cleared: bool,
}

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
    /// None: it was refused before it was begun.
    pub(super) begun: Option<Shared<ToolCall>>,
    /// None: no result was journaled yet.
    pub(super) result: Option<Shared<ToolResult>>,
}

impl Call {
    pub fn id(&self) -> &str {
        let begun = self.begun.as_ref().map(|call| call.id.as_str());
        let id = begun.or_else(|| Some(self.result.as_ref()?.call_id.as_str()));
        id.unwrap_or_default()
    }
    pub fn tool(&self) -> &str {
        let begun = self.begun.as_ref().map(|call| call.name.as_str());
        let name = begun.or_else(|| Some(self.result.as_ref()?.name.as_str()));
        name.unwrap_or_default()
    }
    /// The text itself where it is no JSON.
    pub fn args(&self) -> Value {
        let text = self.begun.as_ref().map(|call| call.arguments.as_str());
        text.map_or(Value::Null, |text| {
            serde_json::from_str(text).unwrap_or_else(|_| text.into())
        })
    }
    /// None: no result was journaled yet.
    pub fn status(&self) -> Option<ToolStatus> {
        self.result.as_ref().map(|result| result.status)
    }
    /// Null until there is a result.
    pub fn content(&self) -> &Value {
        self.result
            .as_ref()
            .map_or(&Value::Null, |result| &result.content)
    }
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
    /// How often it was tried before.
    pub failed_attempts: u32,
}

impl StepRecord {
    pub(super) fn new(status: StepStatus) -> Self {
        StepRecord {
            status,
            decision: None,
            prepared: Prepared::Nothing,
            output: Value::Null,
            error: None,
            patch: None,
            calls: Vec::new(),
            cycle: 0,
            failed_attempts: 0,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub topic: Option<String>,
    pub value: Value,
    pub by: AnsweredBy,
}

/// One flow as it runs (the run's own, or one that a step calls; nothing of one is seen in another), or a branch of one: it sees the
/// flow as it was at the fork and what it did itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    pub branch: Option<BranchLog>,
    pub input: Map<String, Value>,
    pub state: Map<String, Value>,
    pub steps: IndexMap<StepPath, StepRecord>,
    /// The last iteration that any loop began.
    pub last_cycle: u32,
}

impl Frame {
    pub fn new(flow: &Flow, input: Map<String, Value>) -> Self {
        Frame {
            branch: None,
            input,
            state: flow.first_state(),
            steps: IndexMap::new(),
            last_cycle: 0,
        }
    }

    /// A branch of this one.
    pub fn fork(&self, bound: Map<String, Value>, changes: usize) -> Self {
        Frame {
            branch: Some(BranchLog {
                bound,
                changes,
                patches: Vec::new(),
            }),
            steps: IndexMap::new(),
            ..self.clone()
        }
    }

    /// The records of one step id, oldest first.
    fn records_of<'a>(&'a self, id: &'a str) -> impl DoubleEndedIterator<Item = &'a StepRecord> {
        self.steps
            .iter()
            .filter(move |(path, _)| step_id(path) == id)
            .map(|(_, record)| record)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct BranchLog {
    pub bound: Map<String, Value>,
    /// How many changes there were at the fork.
    pub changes: usize,
    /// What it wrote, in order; true: about a step that failed.
    pub patches: Vec<(bool, Map<String, Value>)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunLog {
    pub(super) run_id: String,
    pub(super) pack_hash: String,
    pub(super) stage: String,
    pub(super) own: Frame,
    /// Of called flows by the path of the step that calls, of branches by that of the branch.
    pub(super) frames: IndexMap<StepPath, Frame>,
    pub(super) questions: IndexMap<String, (StepPath, Question)>,
    pub(super) answers: IndexMap<String, Answer>,
    pub(super) changes: Vec<Change>,
    /// The steps that made them.
    pub(super) changed_in: Vec<StepPath>,
    pub(super) ended: Option<(Outcome, u8, String)>,
    pub(super) session: Option<SessionLog>,
}

impl RunLog {
    pub fn new(flow: &Flow) -> Self {
        RunLog {
            run_id: String::new(),
            pack_hash: String::new(),
            stage: flow.first_stage().to_owned(),
            own: Frame::new(flow, Map::new()),
            frames: IndexMap::new(),
            questions: IndexMap::new(),
            answers: IndexMap::new(),
            changes: Vec::new(),
            changed_in: Vec::new(),
            ended: None,
            session: None,
        }
    }

    pub fn run_id(&self) -> &str {
        &self.run_id
    }
    pub fn pack_hash(&self) -> &str {
        &self.pack_hash
    }
    pub fn input(&self) -> &Map<String, Value> {
        &self.own.input
    }
    /// Of the run's own flow.
    pub fn state(&self) -> &Map<String, Value> {
        &self.own.state
    }
    /// Of the flow that the step at `path` stands in.
    pub fn state_at(&self, path: &str) -> &Map<String, Value> {
        &self.frame(path).state
    }
    /// The frames around a path, inside out: the branches and called flows in which its step stands, by their own paths.
    fn around<'l, 'p>(
        &'l self,
        path: &'p str,
    ) -> impl Iterator<Item = (&'p str, &'l Frame)> + use<'l, 'p> {
        let ends = path.rmatch_indices('/').map(|(end, _)| end);
        ends.filter_map(move |end| {
            let at = path.get(..end)?;
            Some((at, self.frames.get(at)?))
        })
    }
    /// The path of the step that calls the flow in which `path` stands; empty: it stands in the run's own.
    pub(super) fn caller<'p>(&self, path: &'p str) -> &'p str {
        let mut called = self
            .around(path)
            .filter(|(_, frame)| frame.branch.is_none());
        called.next().map_or("", |(at, _)| at)
    }
    /// The flow, or the branch of it, in which the step at `path` stands.
    pub(super) fn frame(&self, path: &str) -> &Frame {
        self.around(path)
            .next()
            .map_or(&self.own, |(_, frame)| frame)
    }
    pub(super) fn frame_mut(&mut self, path: &str) -> &mut Frame {
        let at = self.around(path).next().map_or("", |(at, _)| at);
        match self.frames.get_mut(at) {
            Some(frame) => frame,
            None => &mut self.own,
        }
    }
    /// What a branch around the path calls so.
    pub(super) fn bound(&self, path: &str, name: &str) -> Option<&Value> {
        self.around(path)
            .find_map(|(_, frame)| frame.branch.as_ref()?.bound.get(name))
    }
    /// The last two times that a step ran, the last one first. Within a branch those before the fork count too.
    pub(super) fn last_two<'l>(&'l self, path: &str, id: &str) -> [Option<&'l StepRecord>; 2] {
        let mut frames: Vec<&Frame> = Vec::new();
        for (_, frame) in self.around(path) {
            frames.push(frame);
            if frame.branch.is_none() {
                break;
            }
        }
        if frames.last().is_none_or(|frame| frame.branch.is_some()) {
            frames.push(&self.own);
        }
        let mut found = frames.into_iter().flat_map(|frame| {
            let steps = frame.steps.iter().rev();
            let of_id = steps.filter(|(path, _)| step_id(path) == id);
            of_id.map(|(_, record)| record)
        });
        [found.next(), found.next()]
    }
    /// The changes that a step may know of: in a branch those before the fork, and its own.
    pub(super) fn changes_at(&self, path: &str) -> Vec<&Change> {
        let seen = |(n, made_in): (usize, &StepPath)| {
            let hides = |(at, frame): (&str, &Frame)| {
                let own = made_in
                    .strip_prefix(at)
                    .is_some_and(|rest| rest.starts_with('/'));
                !own && frame.branch.as_ref().is_some_and(|of| n >= of.changes)
            };
            !self.around(path).any(hides)
        };
        let changes = self.changes.iter().zip(&self.changed_in).enumerate();
        changes
            .filter(|(n, (_, made_in))| seen((*n, made_in)))
            .map(|(_, (change, _))| change)
            .collect()
    }
    pub(super) fn step_record(&self, path: &str) -> Option<&StepRecord> {
        self.frame(path).steps.get(path)
    }
    fn records(&self) -> impl Iterator<Item = (&StepPath, &StepRecord)> {
        let called = self.frames.values().flat_map(|frame| &frame.steps);
        self.own.steps.iter().chain(called)
    }
    /// The case that a route step of the run's own flow took, the last time that it was reached.
    pub fn case_of(&self, id: &str) -> Option<String> {
        let mut taken = self.own.records_of(id).rev().filter_map(|record| {
            let decision = record.decision.as_deref()?;
            decision.strip_prefix("case ").map(str::to_owned)
        });
        taken.next().filter(|case| case != "-")
    }
    /// None: the run is no turn of a conversation that is kept.
    pub fn session(&self) -> Option<&SessionLog> {
        self.session.as_ref()
    }
    pub fn stage(&self) -> &str {
        &self.stage
    }
    /// The last iteration that a loop began; 0 before any.
    pub fn cycle(&self) -> u32 {
        self.own.last_cycle
    }
    pub fn outcome(&self) -> Option<Outcome> {
        self.ended.as_ref().map(|(outcome, _, _)| *outcome)
    }
    /// Outcome, exit code and message of a run that has ended.
    pub fn ended(&self) -> Option<(Outcome, u8, &str)> {
        self.ended.as_ref().map(|(o, c, m)| (*o, *c, m.as_str()))
    }
    /// Changes of resources, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
    pub fn status(&self, path: &str) -> Option<StepStatus> {
        self.step_record(path).map(|r| r.status)
    }
    /// True when the step's patch is in the state: a driver that resumes must not merge it again.
    pub fn patched(&self, path: &str) -> bool {
        self.step_record(path).is_some_and(|r| r.patch.is_some())
    }
    pub fn output(&self, path: &str) -> Option<&Value> {
        self.step_record(path)
            .filter(|r| r.status == StepStatus::Done)
            .map(|r| &r.output)
    }
    pub fn calls(&self, path: &str) -> &[Call] {
        self.step_record(path).map_or(&[], |r| r.calls.as_slice())
    }
    /// Step paths with their status, in the order in which they began; those of called flows behind those of the run's own.
    pub fn steps(&self) -> impl Iterator<Item = (&str, StepStatus)> {
        self.records().map(|(path, r)| (path.as_str(), r.status))
    }
    /// The step that runs now, if one does.
    pub fn running(&self) -> Option<&str> {
        let running = self
            .records()
            .filter(|(_, r)| r.status == StepStatus::Running);
        running.last().map(|(path, _)| path.as_str())
    }
    /// The path of the flow that an agent's call of a tool is: below the agent's step, numbered by the calls of that tool.
    pub fn path_of_call(&self, step: &str, tool: &str, call_id: &str) -> StepPath {
        let mut same = self.calls(step).iter().filter(|call| call.tool() == tool);
        let at = same
            .position(|call| call.id() == call_id)
            .unwrap_or_default();
        format!("{step}/{tool}[{}]", at + 1)
    }
    /// What the agent said with the call whose flow stands at `path`.
    pub(super) fn said_with_call(&self, path: &str) -> Map<String, Value> {
        let Some((step, segment)) = path.rsplit_once('/') else {
            return Map::new();
        };
        let tool = step_id(segment);
        let number = segment
            .rsplit_once('[')
            .map(|(_, n)| n.trim_end_matches(']'));
        let number = number.and_then(|n| n.parse::<usize>().ok()).unwrap_or(1);
        let mut same = self.calls(step).iter().filter(|call| call.tool() == tool);
        match same.nth(number.saturating_sub(1)).map(Call::args) {
            Some(Value::Object(said)) => said,
            _ => Map::new(),
        }
    }
    /// What came of a called flow that is at its end; None: it is not. Err: it failed, and why.
    pub fn came_of(&self, path: &str) -> Option<Result<Value, String>> {
        let record = self.step_record(path)?;
        match record.status {
            StepStatus::Done => Some(Ok(record.output.clone())),
            StepStatus::Failed => Some(Err(record.error.clone().unwrap_or_default())),
            _ => None,
        }
    }
    pub fn question(&self, id: &str) -> Option<&Question> {
        self.questions.get(id).map(|(_, q)| q)
    }
    /// The step that asked the question.
    pub fn asked_by(&self, id: &str) -> Option<&str> {
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
}
