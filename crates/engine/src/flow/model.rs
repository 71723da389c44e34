//! The flow as data: stages, state fields, steps. Built by the loader, read by everything else; never changed after that.

use super::schema::Schema;
use crate::condition::Condition;
use crate::policy::Outside;
use agentctl_base::question::Outcome;
use agentctl_base::yaml::Place;
use indexmap::IndexMap;
use serde_json::Value;

/// The writer's name of values that the program itself puts into the state (`set` steps).
pub const PROGRAM: &str = "program";

#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    pub name: String,
    /// In forward order; the last one is the good end.
    pub stages: Vec<String>,
    pub blocked_stage: String,
    pub fields: IndexMap<String, FieldSpec>,
    pub steps: Vec<Step>,
    pub limits: Limits,
    /// What the user is told at the good end; CEL text.
    pub finish: Option<Condition>,
    /// The append field that takes failed steps, as `{step, error}`.
    pub failures: Option<String>,
    /// Each run settles, before it calls a tool, which tools of other servers it needs.
    pub plan_tools: Option<PlanTools>,
}

/// How a run's tools are planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanTools {
    /// Whose model plans; None: that of the flow's first agent.
    pub agent: Option<String>,
    /// What becomes of a call outside of the plan.
    pub outside: Outside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// What `max: max_cycles` of a loop stands for.
    pub max_cycles: u32,
    /// Model calls of an agent step that names no number of its own.
    pub max_turns: u32,
}

/// How a patch to a field is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Shallow merge; the patch's keys win.
    Object,
    /// The patch holds the new items; what is there stays.
    Append,
    /// The patch's array stands for the old one.
    Replace,
    Scalar,
}

impl FieldKind {
    pub fn name(self) -> &'static str {
        match self {
            FieldKind::Object => "object",
            FieldKind::Append => "append",
            FieldKind::Replace => "replace",
            FieldKind::Scalar => "scalar",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct FieldSpec {
    pub kind: FieldKind,
    /// Agents that may patch the field; [`PROGRAM`] for `set` steps.
    pub writers: Vec<String>,
    /// Checked against the whole field as it would be after the merge.
    pub schema: Option<Schema>,
    /// Rules for keys inside an object field; `*` stands for every other key.
    pub children: IndexMap<String, FieldSpec>,
    /// What the program does with the field besides; empty for keys inside an object.
    pub meaning: Meaning,
}

impl FieldSpec {
    pub fn child(&self, key: &str) -> Option<&FieldSpec> {
        self.children.get(key).or_else(|| self.children.get("*"))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Unique in the flow.
    pub id: String,
    /// Where it stands in flow.yaml.
    pub place: Place,
    pub when: Option<Condition>,
    /// Entering the step moves the stage here, if that is forward.
    pub stage: Option<String>,
    /// True: when the step fails, the flow goes on with the next one.
    pub continue_on_failure: bool,
    pub kind: StepKind,
}

/// Two kinds are still to come, with the packs that need them: `parallel` (branches, each with its own path segment, joined when
/// all are done; patches merged in the order of the file) and `flow` (another flow as one step, its state below one field).
/// Both fit the paths and the fold as they are: a branch is a step with children, as a route's case is.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    Agent(AgentSpec),
    Ask(AskSpec),
    Tool(ToolStepSpec),
    Route(RouteSpec),
    Loop(LoopSpec),
    Gate(GateSpec),
    /// Field → value; all are evaluated over the same state, then merged as one patch of [`PROGRAM`].
    Set(IndexMap<String, Condition>),
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
    /// JSON Schema of the answer.
    pub contract: Schema,
    pub verify: Vec<Claim>,
    pub max_turns: Option<u32>,
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
    /// Gives the name of a case; a name that is not listed is an error, unless there is an `else`.
    pub by: Option<Condition>,
    pub cases: Vec<RouteCase>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RouteCase {
    pub name: String,
    /// None with `by`, and for `else`.
    pub when: Option<Condition>,
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
    /// CEL text.
    pub message: Condition,
}

impl Flow {
    /// The step with this id, wherever it stands.
    pub fn step(&self, id: &str) -> Option<&Step> {
        find(&self.steps, id)
    }

    /// The step at a journal path: its last segment without the iteration.
    pub fn step_at(&self, path: &str) -> Option<&Step> {
        self.step(step_id(path))
    }

    /// Every step, parents before children, in the order of the file.
    pub fn all_steps(&self) -> Vec<&Step> {
        let mut all = Vec::new();
        collect(&self.steps, &mut all);
        all
    }

    /// Place of a stage in the forward order; the blocked stage has none.
    pub fn stage_index(&self, stage: &str) -> Option<usize> {
        self.stages.iter().position(|s| s == stage)
    }

    pub fn first_stage(&self) -> &str {
        self.stages.first().map_or("", String::as_str)
    }
}

/// `qa_loop[2]/validate` → `validate`; `qa_loop[2]` → `qa_loop`.
pub fn step_id(path: &str) -> &str {
    let last = path.rsplit('/').next().unwrap_or(path);
    last.split('[').next().unwrap_or(last)
}

impl Step {
    /// The lists of steps inside this one.
    pub fn children(&self) -> Vec<&[Step]> {
        match &self.kind {
            StepKind::Route(route) => route.cases.iter().map(|c| c.steps.as_slice()).collect(),
            StepKind::Loop(l) => vec![l.steps.as_slice(), l.exhausted.as_slice()],
            _ => Vec::new(),
        }
    }
}

fn find<'a>(steps: &'a [Step], id: &str) -> Option<&'a Step> {
    steps.iter().find_map(|step| {
        if step.id == id {
            Some(step)
        } else {
            step.children().into_iter().find_map(|list| find(list, id))
        }
    })
}

fn collect<'a>(steps: &'a [Step], all: &mut Vec<&'a Step>) {
    for step in steps {
        all.push(step);
        for list in step.children() {
            collect(list, all);
        }
    }
}

/// The fact that every toolset has: which resource the run is about. The field's `id` names the resource.
pub const RESOURCE: &str = "resource";

/// What the post-mortem reads in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// What an agent wrote about the cause: `summary` and `evidence`.
    Cause,
    /// The learnings that an agent proposes.
    Learnings,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meaning {
    /// What an agent claims in the field is checked against the run's calls, and filled in from them: the toolset's name of the check.
    pub fact: Option<String>,
    /// The field lists what the current fix cycle may change.
    pub is_scope: bool,
    /// The keys that stand in run_state.json; the whole field goes to `memory/agent_results/`.
    pub summary: Option<Vec<String>>,
    /// The section of the run's report that the field makes, as the toolset calls it.
    pub report: Option<String>,
    pub analysis: Option<Reading>,
}
