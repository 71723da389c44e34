//! What a step of a flow does, as data.

use super::model::{Flow, Step};
use super::schema::Schema;
use crate::condition::Condition;
use agentctl_base::question::Outcome;
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a flow has few of them")]
pub enum StepKind {
    Agent(AgentSpec),
    Ask(AskSpec),
    Tool(ToolStepSpec),
    Route(RouteSpec),
    Loop(LoopSpec),
    Gate(GateSpec),
    /// Field → value; all are evaluated over the same state, then merged as one patch of [`super::PROGRAM`].
    Set(IndexMap<String, Condition>),
    Say(SaySpec),
    Clear(ClearSpec),
    End(End),
    Call(CallSpec),
    /// Branches beside one another.
    Parallel(ParallelSpec),
    /// The same steps for each item of a list.
    ForEach(ForEachSpec),
    /// Steps under one condition; also what several actions on one step of the file are read as.
    Block(Vec<Step>),
}

impl StepKind {
    pub fn name(&self) -> &'static str {
        match self {
            StepKind::Agent(_) => "agent",
            StepKind::Ask(_) => "ask",
            StepKind::Tool(_) => "tool",
            StepKind::Route(_) => "route",
            StepKind::Loop(_) => "loop",
            StepKind::Gate(_) => "gate",
            StepKind::Set(_) => "set",
            StepKind::Say(_) => "say",
            StepKind::Clear(_) => "clear",
            StepKind::End(_) => "end",
            StepKind::Call(_) => "call",
            StepKind::Parallel(_) => "parallel",
            StepKind::ForEach(_) => "for_each",
            StepKind::Block(_) => "steps",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct AgentSpec {
    pub agent: String,
    pub task: String,
    pub instructions: String,
    /// State fields, and `input`, `answers`, `run`.
    pub reads: Vec<String>,
    /// Further input, computed when the step starts.
    pub with: IndexMap<String, Condition>,
    pub writes: Vec<String>,
    /// Of the agent's tools those that it has in this step; None: all.
    pub tools: Option<Vec<String>>,
    /// Field → what of the answer goes into it; empty: the answer's keys that are fields do.
    pub maps: IndexMap<String, Condition>,
    /// JSON Schema of the answer.
    pub contract: Schema,
    pub verify: Vec<Claim>,
    /// What has to be called before the answer is taken.
    pub must_call: Vec<MustCall>,
    /// When the step's calls say the answer already, so that the agent is not asked for it.
    pub enough: Option<Box<Enough>>,
    pub max_turns: Option<u32>,
    pub conversation: Option<ConversationSpec>,
    /// The key of the answer whose text is shown while it comes.
    pub speak: Option<Box<str>>,
    /// The key of the answer that is a reply to a person: what it says is held against what was done.
    pub reply_guard: Option<Box<str>>,
    /// The flows that the agent calls as tools, each a step of the tool's name that calls it. Set when the pack is put together.
    pub calls: Arc<Vec<Step>>,
}

/// A tool whose last call in the step must have passed: it is ok, and its answer does not say `passed: false`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MustCall {
    pub tool: String,
    /// No call of the step may have changed something since.
    pub fresh: bool,
    /// Only where a call of the step changed something.
    pub if_changed: bool,
}

/// The answer of a step whose calls came to what was wanted: the program writes it, and it has to fit as an agent's would. Both see
/// what a claim sees, but no `output`.
#[derive(Debug, Clone, PartialEq)]
pub struct Enough {
    pub when: Condition,
    pub answer: Condition,
}

/// What was said, as messages before the agent's task.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationSpec {
    /// A list of `{role, text}`; a text alone is the user's.
    pub history: Option<Condition>,
    /// What the user says now, CEL text.
    pub message: Option<Condition>,
    /// The task is about the latest message; the others are there to understand it.
    pub latest: bool,
}

/// A claim in an agent's answer that must agree with what its calls returned. `that` sees `output`, `tools`, `calls`, `changes`
/// besides the usual variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub that: Condition,
    pub says: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AskSpec {
    /// A list of questions out of the state.
    From(Condition),
    Questions(Vec<QuestionSpec>),
}

/// A question that the program makes.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionSpec {
    pub id: String,
    pub topic: String,
    /// CEL text.
    pub text: Condition,
    /// A list of `{value, label, detail?, fit_score?}`.
    pub options: Option<Condition>,
    pub recommended: Option<Condition>,
    pub required: bool,
    /// JSON Schema of the answer; without one, an answer is one of the options, or text when there are none.
    pub schema: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolStepSpec {
    pub tool: String,
    pub role: String,
    pub args: IndexMap<String, Condition>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RouteSpec {
    /// None: the first case whose `when` holds.
    pub by: Option<By>,
    pub cases: Vec<RouteCase>,
}

/// Who names the case.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a flow has few of them")]
pub enum By {
    /// A name that is not listed is an error, unless there is an `else`.
    Name(Condition),
    /// An agent chooses among the cases that can be now.
    Agent(ChooserSpec),
}

/// An agent that chooses among cases. The engine words what it is asked and the contract of its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ChooserSpec {
    pub agent: String,
    pub task: String,
    /// Besides the meanings of the cases.
    pub instructions: Option<String>,
    pub reads: Vec<String>,
    pub with: IndexMap<String, Condition>,
    /// The case that is taken when the agent gives no acceptable answer; it has no `when`.
    pub otherwise: String,
    pub max_turns: Option<u32>,
    pub conversation: Option<ConversationSpec>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RouteCase {
    pub name: String,
    /// None with a `by` that names the case, and for `else`. Where an agent chooses: the case is offered only while it holds.
    pub when: Option<Condition>,
    /// What the case is for, in words for the agent that chooses.
    pub means: Option<String>,
    /// The case that is taken when no other is.
    pub otherwise: bool,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LoopSpec {
    pub max: u32,
    /// Checked after each iteration: true leaves the loop.
    pub until: Option<Condition>,
    pub steps: Vec<Step>,
    /// What runs when the loop gives up: after `max` iterations, or when a gate says so.
    pub exhausted: Vec<Step>,
    /// How the run ends after `exhausted`; None: the flow goes on.
    pub exhausted_end: Option<End>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GateSpec {
    pub that: Condition,
    pub otherwise: Otherwise,
}

impl GateSpec {
    pub fn ends(&self) -> bool {
        matches!(self.otherwise, Otherwise::End(_))
    }
}

/// What happens when a gate's condition does not hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Otherwise {
    End(End),
    /// Leave the named loop around the gate: its work is done.
    Leave(String),
    /// Give the named loop up: its `exhausted` steps run.
    Exhaust(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct End {
    pub outcome: Outcome,
    /// CEL text; None: there is nothing to say.
    pub message: Option<Condition>,
}

/// Another flow as one step, with a state of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct CallSpec {
    pub name: String,
    pub flow: Arc<Flow>,
    /// Its input, computed over the state of the flow that calls.
    pub with: IndexMap<String, Condition>,
    /// Field of the flow that calls → what of the `output` goes into it.
    pub take: IndexMap<String, Condition>,
    /// It is a tool of the agent whose step it stands in: what the model says with the call is input too, as far as `with` does not say it.
    pub as_tool: bool,
}

/// How branches come together again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinSpec {
    /// Branches that are worked on at the same time, at most.
    pub max_at_once: usize,
    pub join: Join,
    /// A branch that fails is told of in the output; else the step fails with it.
    pub continue_on_failure: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    All,
    Any,
    AtLeast(usize),
}

/// Each branch works on the state as it was at the fork; what it writes is merged at the join, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct ParallelSpec {
    pub how: JoinSpec,
    pub branches: Vec<Branch>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    pub id: String,
    /// Asked at the fork.
    pub when: Option<Condition>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ForEachSpec {
    pub how: JoinSpec,
    /// A list.
    pub of: Condition,
    /// What the item is called in the steps' expressions.
    pub item: String,
    /// Items, at most.
    pub max: usize,
    pub steps: Vec<Step>,
}

/// A message of the run's reply.
#[derive(Debug, Clone, PartialEq)]
pub struct SaySpec {
    /// CEL text.
    pub text: Condition,
    /// Any value that goes with it.
    pub data: Option<Condition>,
    /// Where something that belongs to it can be had; text or null.
    pub attachment: Option<Condition>,
}

/// What is forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearSpec {
    /// Each is set back to its default; those of groups stand here too.
    pub fields: Vec<String>,
    /// The conversation's messages too.
    pub messages: bool,
}
