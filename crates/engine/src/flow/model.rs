//! The flow as data: stages, state fields, steps. Built by the loader, read by everything else; never changed after that.

pub use super::steps::*;

use super::schema::Schema;
use crate::condition::Condition;
use crate::policy::Outside;
use agentctl_base::yaml::Place;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The writer's name of values that the program itself puts into the state (`set` steps).
pub const PROGRAM: &str = "program";

#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    pub name: String,
    /// In forward order; the last one is the good end. Empty: the flow has none.
    pub stages: Vec<String>,
    pub blocked_stage: Option<String>,
    pub fields: IndexMap<String, FieldSpec>,
    pub steps: Vec<Step>,
    /// Steps that the flow has no more and that journals of before name. What they wrote is taken in; nothing runs them.
    pub retired: Vec<Step>,
    pub limits: Limits,
    /// What the user is told at the good end; CEL text.
    pub finish: Option<Condition>,
    /// The append field that takes failed steps, as `{step, error}`.
    pub failures: Option<String>,
    /// Each run settles, before it calls a tool, which tools of other servers it needs.
    pub plan_tools: Option<PlanTools>,
    /// The pack's data files by name: `pack.<name>` in expressions.
    pub data: Arc<Map<String, Value>>,
    /// What the flow works on, when it is called or run by itself; None: anything.
    pub input: Option<Schema>,
    /// What comes of it.
    pub output: Option<OutputSpec>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OutputSpec {
    pub value: Condition,
    pub schema: Option<Schema>,
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
    /// Any value; the patch's stands for the old one.
    Value,
    /// An array without repetitions; the patch's items are added.
    Set,
}

impl FieldKind {
    pub fn name(self) -> &'static str {
        match self {
            FieldKind::Object => "object",
            FieldKind::Append => "append",
            FieldKind::Replace => "replace",
            FieldKind::Scalar => "scalar",
            FieldKind::Value => "value",
            FieldKind::Set => "set",
        }
    }

    pub const ALL: [FieldKind; 6] = [
        FieldKind::Object,
        FieldKind::Append,
        FieldKind::Replace,
        FieldKind::Scalar,
        FieldKind::Value,
        FieldKind::Set,
    ];

    pub fn from_name(name: &str) -> Option<FieldKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
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
    /// What stands in it before anybody wrote it, and after it was cleared.
    pub default: Option<Value>,
    /// It outlives the run: the conversation that the run is a turn of keeps it.
    pub of_session: bool,
    /// Fields of one group are cleared together.
    pub group: Option<String>,
    /// Blank values of a patch (null, "", blanks, "null") are left out before it is merged.
    pub skip_empty: bool,
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
    /// Milliseconds of work after which one attempt of the step fails.
    pub timeout_ms: Option<u64>,
    pub retry: Option<Retry>,
    pub kind: StepKind,
}

/// How often a step that failed is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The first one included.
    pub attempts: u32,
    /// Waited before the second one, in milliseconds.
    pub delay_ms: u64,
    /// How many times as long is waited before each one after that, in hundredths.
    pub backoff: u32,
}

impl Retry {
    /// No wait is longer.
    pub const MAX_WAIT_MS: u64 = 3_600_000;

    /// What is waited before the next attempt after so many failed ones.
    pub fn wait_ms(self, failed: u32) -> u64 {
        let times = f64::from(self.backoff) / 100.0;
        let grown = times.powi(i32::try_from(failed.saturating_sub(1)).unwrap_or(i32::MAX));
        let longest = std::time::Duration::from_millis(Self::MAX_WAIT_MS);
        let first = std::time::Duration::from_millis(self.delay_ms);
        let wait = std::time::Duration::try_from_secs_f64(first.as_secs_f64() * grown);
        u64::try_from(wait.unwrap_or(longest).min(longest).as_millis()).unwrap_or(Self::MAX_WAIT_MS)
    }
}

impl Flow {
    /// The step with this id, wherever it stands; of a journal of before also one that is retired.
    pub fn step(&self, id: &str) -> Option<&Step> {
        find(&self.steps, id).or_else(|| self.retired.iter().find(|step| step.id == id))
    }

    /// The step at a journal path.
    pub fn step_at(&self, path: &str) -> Option<&Step> {
        self.at(path).map(|(_, step)| step)
    }

    /// The step at a journal path, and the flow that it stands in: behind a step that calls a flow, the path goes on in that one. Loops
    /// and cases on the way are not asked for: an earlier version of the pack may have had the step elsewhere.
    pub fn at(&self, path: &str) -> Option<(&Flow, &Step)> {
        let mut flow = self;
        let mut segments = path.split('/').peekable();
        while let Some(segment) = segments.next() {
            let step = flow.step(step_id(segment));
            if segments.peek().is_none() {
                return Some((flow, step?));
            }
            match step.map(|step| &step.kind) {
                Some(StepKind::Call(call)) => flow = &call.flow,
                // Then comes the branch, which may have the id of a step in it.
                Some(StepKind::Parallel(_)) => {
                    segments.next();
                }
                _ => {}
            }
        }
        None
    }

    /// The flow that a path leads into: that of its steps.
    pub fn flow_at(&self, path: &str) -> &Flow {
        self.at(path).map_or(self, |(flow, _)| flow)
    }

    /// This flow and all that it calls, each once, callers first.
    pub fn flows(&self) -> Vec<&Flow> {
        let mut flows: Vec<&Flow> = vec![self];
        let mut at = 0;
        while let Some(flow) = flows.get(at).copied() {
            for called in flow.calls() {
                if !flows.iter().any(|known| std::ptr::eq(*known, called)) {
                    flows.push(called);
                }
            }
            at += 1;
        }
        flows
    }

    fn calls(&self) -> impl Iterator<Item = &Flow> {
        let steps = self.all_steps().into_iter();
        steps.filter_map(|step| match &step.kind {
            StepKind::Call(call) => Some(&*call.flow),
            _ => None,
        })
    }

    /// The steps of this flow and of all that it calls.
    pub fn steps_of_all(&self) -> Vec<&Step> {
        let flows = self.flows().into_iter();
        flows.flat_map(Flow::all_steps).collect()
    }

    /// The first step that asks the user, here or in a flow that is called: a flow that has one cannot be a tool, since nobody would
    /// answer.
    pub fn asks(&self) -> Option<&Step> {
        let mut steps = self.steps_of_all().into_iter();
        steps.find(|step| matches!(step.kind, StepKind::Ask(_)))
    }

    /// Flows below one another, this one included.
    pub fn depth(&self) -> usize {
        1 + self.calls().map(Flow::depth).max().unwrap_or(0)
    }

    /// Every step of this flow, parents before children, in the order of the file.
    pub fn all_steps(&self) -> Vec<&Step> {
        let mut all = Vec::new();
        collect(&self.steps, &mut all);
        all
    }

    /// Place of a stage in the forward order; the blocked stage has none.
    pub fn stage_index(&self, stage: &str) -> Option<usize> {
        self.stages.iter().position(|s| s == stage)
    }

    /// Whether some step tells the agent what its user said.
    pub fn talks(&self, agent: &str) -> bool {
        self.steps_of_all().into_iter().any(|step| {
            let talk = match &step.kind {
                StepKind::Agent(spec) => spec.conversation.as_ref(),
                StepKind::Route(RouteSpec {
                    by: Some(By::Agent(spec)),
                    ..
                }) => spec.conversation.as_ref(),
                _ => None,
            };
            talk.is_some() && step.agent() == Some(agent)
        })
    }

    /// Empty: the flow has no stages.
    pub fn first_stage(&self) -> &str {
        self.stages.first().map_or("", String::as_str)
    }

    /// The state before anybody wrote anything.
    pub fn first_state(&self) -> Map<String, Value> {
        let fields = self.fields.iter();
        fields
            .filter_map(|(name, spec)| Some((name.clone(), spec.default.clone()?)))
            .collect()
    }
}

/// Whether a path is that of the other step, or inside of it.
pub fn within(path: &str, of: &str) -> bool {
    let rest = path.strip_prefix(of);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
}

/// `qa_loop[2]/validate` → `validate`; `qa_loop[2]` → `qa_loop`.
pub fn step_id(path: &str) -> &str {
    let last = path.rsplit('/').next().unwrap_or(path);
    last.split('[').next().unwrap_or(last)
}

impl Step {
    /// Stands for a step that is gone: a journal of before may say of it whatever a step can be.
    pub(super) fn retired(id: String, place: Place) -> Step {
        Step {
            id,
            place,
            when: None,
            stage: None,
            continue_on_failure: false,
            timeout_ms: None,
            retry: None,
            kind: StepKind::Set(IndexMap::new()),
        }
    }

    /// Whose model works on the step itself.
    pub fn agent(&self) -> Option<&str> {
        match &self.kind {
            StepKind::Agent(spec) => Some(&spec.agent),
            StepKind::Route(RouteSpec {
                by: Some(By::Agent(spec)),
                ..
            }) => Some(&spec.agent),
            _ => None,
        }
    }

    /// The steps of one of its branches.
    pub(super) fn branch(&self, name: &str) -> &[Step] {
        match &self.kind {
            StepKind::Parallel(spec) => {
                let branch = spec.branches.iter().find(|branch| branch.id == name);
                branch.map_or(&[], |branch| branch.steps.as_slice())
            }
            StepKind::ForEach(spec) => spec.steps.as_slice(),
            _ => &[],
        }
    }

    /// The lists of steps inside this one.
    pub fn children(&self) -> Vec<&[Step]> {
        match &self.kind {
            StepKind::Route(route) => route.cases.iter().map(|c| c.steps.as_slice()).collect(),
            StepKind::Loop(l) => vec![l.steps.as_slice(), l.exhausted.as_slice()],
            StepKind::Block(steps) => vec![steps.as_slice()],
            StepKind::Parallel(p) => p.branches.iter().map(|b| b.steps.as_slice()).collect(),
            StepKind::ForEach(each) => vec![each.steps.as_slice()],
            StepKind::Agent(spec) => vec![spec.calls.as_slice()],
            _ => Vec::new(),
        }
    }

    /// The lists of steps that a file writes inside this one.
    pub(crate) fn written_inside(&mut self) -> Vec<&mut [Step]> {
        match &mut self.kind {
            StepKind::Route(route) => {
                let cases = route.cases.iter_mut();
                cases.map(|case| case.steps.as_mut_slice()).collect()
            }
            StepKind::Loop(l) => vec![l.steps.as_mut_slice(), l.exhausted.as_mut_slice()],
            StepKind::Block(steps) => vec![steps.as_mut_slice()],
            StepKind::Parallel(p) => {
                let branches = p.branches.iter_mut();
                branches.map(|branch| branch.steps.as_mut_slice()).collect()
            }
            StepKind::ForEach(each) => vec![each.steps.as_mut_slice()],
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
