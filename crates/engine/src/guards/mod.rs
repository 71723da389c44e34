//! What the guards have to know of a run, folded from its journal: the same events give the same state, now and after a
//! resume. Never asks what a tool works on and never looks at a file.

mod approvals;
mod facts;
mod resources;
pub mod rules;

pub use approvals::{approval_hash, approved_rules};
pub use resources::{ResourceLog, SnapshotMark};

pub(crate) use approvals::approved;

use crate::policy::{Facts, Limits};
use crate::store::{Event, Shared};
use crate::toolset::Wanted;
use agentctl_base::canonical::sha256_hex;
use agentctl_base::decision::Decision;
use agentctl_base::model::{ToolCall, ToolResult, ToolStatus};
use facts::RunFacts;
use jiff::Timestamp;
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;

/// What one run must remember for a toolset's own guards, folded from its journal: the same events give the same state.
pub trait Memory: Any + Send + Sync {
    /// Called with every event of the run, in order; `log` knows the event already.
    fn observe(&mut self, event: &Event, log: &ResourceLog);
    /// What the result of a read showed: a resource's id and the state that it was in.
    fn seen(&self, result: &ToolResult) -> Option<(String, String)>;
    /// Keys of a run's input that the user wrote, besides the request: the policy's conditions take them for the user's words.
    fn words(&self) -> Vec<&'static str> {
        Vec::new()
    }
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// A scope with what is needed to resolve it later: how many snapshots of each resource there were when it was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct GivenScope {
    entries: Vec<String>,
    snapshots_then: BTreeMap<String, usize>,
}

/// One approval: what it is about, and until when a yes counts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AskedFor {
    hash: String,
    rule: String,
    tool: String,
    expires: Option<Timestamp>,
}

/// A call that was journaled.
#[derive(Debug, Clone)]
struct Intent {
    call: Shared<ToolCall>,
    decision: Decision,
    /// What a call that means the same has too.
    key: String,
}

/// The key of a run's input under which `true` says that the user looks at each change before it is made.
pub const LOOK_FIRST: &str = "look_first";

pub struct GuardState {
    /// Empty before the run's first event.
    run_id: String,
    /// The field of the flow whose value is the scope of the current fix cycle.
    scope_field: Option<String>,
    scope: Option<GivenScope>,
    /// The one resource that may be changed; None: any.
    only: Option<String>,
    /// Each change is shown to the user before it is made.
    looks: bool,
    log: ResourceLog,
    /// Approvals asked for, by question id.
    asked: BTreeMap<String, AskedFor>,
    /// Their answers, by what they approve.
    answers: BTreeMap<String, (AskedFor, bool)>,
    /// What the user chose, by the hash of what there was to choose from.
    choices: BTreeMap<String, String>,
    calls: u64,
    /// How long the calls so far took, where the caller counts it.
    worked_ms: u64,
    identical: BTreeMap<String, u64>,
    /// The intents that have no result yet, by step and call.
    open: BTreeMap<(String, String), Intent>,
    /// What the policy's conditions may know.
    facts: RunFacts,
    /// What the toolsets remember.
    memories: Vec<Box<dyn Memory>>,
}

impl GuardState {
    /// Of a run that has not begun. `scope_field`: the field of the flow that says what a fix cycle may change.
    pub fn new(memories: Vec<Box<dyn Memory>>, scope_field: Option<&str>) -> Self {
        GuardState {
            run_id: String::new(),
            scope_field: scope_field.map(str::to_owned),
            scope: None,
            only: None,
            looks: false,
            log: ResourceLog::default(),
            asked: BTreeMap::new(),
            answers: BTreeMap::new(),
            choices: BTreeMap::new(),
            calls: 0,
            worked_ms: 0,
            identical: BTreeMap::new(),
            open: BTreeMap::new(),
            facts: RunFacts::new(memories.iter().flat_map(|memory| memory.words()).collect()),
            memories,
        }
    }

    /// Folds one event of this run's journal. Call it with every event, in order; the gateway does so for those that it records.
    pub fn observe(&mut self, event: &Event) {
        self.facts.observe(event);
        match event {
            Event::RunStarted { run_id, input, .. } => {
                self.run_id.clone_from(run_id);
                self.looks = input.get(LOOK_FIRST) == Some(&Value::Bool(true));
            }
            Event::ToolIntent {
                step,
                call,
                decision,
                ..
            } => {
                self.calls = self.calls.saturating_add(1);
                let key = call_key(step, call);
                let count = self.identical.entry(key.clone()).or_default();
                *count = count.saturating_add(1);
                let intent = Intent {
                    call: Shared::clone(call),
                    decision: decision.clone(),
                    key,
                };
                self.open.insert((step.clone(), call.id.clone()), intent);
            }
            Event::ToolFinished {
                step,
                result,
                change,
                ..
            } => {
                let intent = self.open.remove(&(step.clone(), result.call_id.clone()));
                if let Some(intent) = &intent {
                    self.spend(&intent.call, &intent.decision);
                }
                if let Some(change) = change {
                    self.identical.clear();
                    let by = intent.as_ref().map(|intent| intent.key.as_str());
                    self.log.changed(change, by);
                } else if result.status == ToolStatus::Ok {
                    for (id, revision) in self.memories.iter().filter_map(|m| m.seen(result)) {
                        self.log.read(id, revision);
                    }
                }
            }
            Event::SnapshotTaken {
                resource,
                file,
                revision,
                ..
            } => self.log.taken(
                &resource.id,
                SnapshotMark {
                    file: file.clone(),
                    revision: revision.clone(),
                },
            ),
            Event::SessionOpened { only, scope, .. } => {
                self.only = only.as_ref().map(|of| of.id.clone());
                if let Some(scope) = scope {
                    self.scope = Some(self.given(&Value::from(scope.clone())));
                }
            }
            Event::StatePatched { patch, .. } => {
                let field = self.scope_field.as_deref();
                if let Some(scope) = field.and_then(|field| patch.get(field)) {
                    self.scope = Some(self.given(scope));
                }
            }
            Event::QuestionAsked { question, .. } => {
                if let (Some(hash), Some(proposal)) = (&question.approves, &question.proposal) {
                    let asked = AskedFor {
                        hash: hash.clone(),
                        rule: proposal.rule.clone(),
                        tool: proposal.tool.clone(),
                        expires: proposal.expires_at.parse().ok(),
                    };
                    self.asked.insert(question.id.clone(), asked);
                } else if let Some(asked) = self.asked.get_mut(&question.id) {
                    // A question of the flow under an approval's id: its answer approves nothing.
                    asked.hash.clear();
                }
            }
            Event::AnswerGiven {
                question_id, value, ..
            } => {
                if let Some(asked) = self.asked.get(question_id) {
                    if asked.rule == rules::CHOICE {
                        let chosen = value.as_str().unwrap_or_default();
                        self.choices.insert(asked.hash.clone(), chosen.to_owned());
                    } else {
                        let answer = (asked.clone(), approvals::is_yes(value));
                        self.answers.insert(asked.hash.clone(), answer);
                    }
                }
            }
            Event::Undone { resource, .. } => self.log.undone(&resource.id),
            _ => {}
        }
        for memory in &mut self.memories {
            memory.observe(event, &self.log);
        }
    }

    /// A yes is for one call: what was called is asked for again the next time. Only the word about what is live holds for the
    /// run.
    fn spend(&mut self, call: &ToolCall, decision: &Decision) {
        for rule in approved_rules(decision).filter(|rule| *rule != rules::PUBLISH) {
            self.answers
                .retain(|_, (asked, yes)| !*yes || asked.rule != rule || asked.tool != call.name);
        }
    }

    fn given(&self, scope: &Value) -> GivenScope {
        // Anything but a list of texts names nothing, so it allows nothing.
        let entries = scope
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.as_str().map(str::to_owned))
            .collect();
        GivenScope {
            entries,
            snapshots_then: self.log.counts(),
        }
    }

    /// What a toolset remembers of the run; None: the run was folded without that toolset.
    pub fn memory<M: Memory>(&self) -> Option<&M> {
        let mut all = self.memories.iter();
        all.find_map(|memory| memory.as_any().downcast_ref())
    }

    /// The same, for what a toolset keeps there besides what is folded.
    pub fn memory_mut<M: Memory>(&mut self) -> Option<&mut M> {
        let mut all = self.memories.iter_mut();
        all.find_map(|memory| memory.as_any_mut().downcast_mut())
    }

    /// What the run did to resources, and last saw of them.
    pub fn log(&self) -> &ResourceLog {
        &self.log
    }

    /// What the policy's conditions may know of the run.
    pub fn facts(&self) -> &Facts {
        self.facts.facts()
    }

    /// What the run is to do, in its user's words.
    pub(crate) fn wanted<'a>(&'a self, arguments: &'a Value) -> Wanted<'a> {
        let (request, answers) = self.facts.said();
        Wanted {
            arguments,
            guards: self,
            request,
            answers,
        }
    }

    /// The scope in force; None before the first one is given.
    pub fn scope(&self) -> Option<&[String]> {
        self.scope.as_ref().map(|scope| scope.entries.as_slice())
    }
    /// The snapshot that shows the resource as it was when the scope was given; None: it has not changed since.
    pub fn scope_base(&self, id: &str) -> Option<&SnapshotMark> {
        let then = self
            .scope
            .as_ref()
            .and_then(|scope| scope.snapshots_then.get(id))
            .copied()
            .unwrap_or(0);
        self.log.snapshots(id).get(then)
    }
    /// The one resource that may be changed; None: any.
    pub(crate) fn only(&self) -> Option<&str> {
        self.only.as_deref()
    }
    /// Each change is shown to the user before it is made.
    pub(crate) fn looks(&self) -> bool {
        self.looks
    }
    /// True when the user said no to something that was asked under this rule; None: under any.
    pub(crate) fn said_no(&self, rule: Option<&str>) -> bool {
        let mut answers = self.answers.values();
        answers.any(|(asked, yes)| !yes && rule.is_none_or(|rule| asked.rule == rule))
    }
    /// How long the calls so far took; it counts against the limit on seconds from the next call on.
    pub fn set_worked_ms(&mut self, worked_ms: u64) {
        self.worked_ms = worked_ms;
    }
    pub fn tool_calls(&self) -> u64 {
        self.calls
    }
    /// What the user said to the approval; None: not asked, not answered, or the yes is spent or too old.
    pub fn answer(&self, hash: &str, now: Timestamp) -> Option<bool> {
        match self.answers.get(hash)? {
            (_, false) => Some(false),
            (asked, true) => asked.expires.filter(|expires| now < *expires).map(|_| true),
        }
    }
    /// The run whose events these are.
    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }
    /// True when the user was asked for this approval in this run.
    pub(crate) fn has_asked(&self, hash: &str) -> bool {
        self.asked.values().any(|asked| asked.hash == hash)
    }
    /// What the user chose; None: not asked, or not answered.
    pub fn choice(&self, hash: &str) -> Option<&str> {
        self.choices.get(hash).map(String::as_str)
    }
    /// The question's place in the run: `approve-1`, `approve-2`, … by the questions of the gateway asked so far.
    pub fn next_question_id(&self, what: &str) -> String {
        format!("{what}-{}", self.asked.len() + 1)
    }
    /// True when this very call made the resource what it is now.
    pub(crate) fn made_by(&self, step: &str, call: &ToolCall, id: &str, revision: &str) -> bool {
        self.log.made_by(&call_key(step, call), id, revision)
    }
    /// Why every further call is refused, whatever it is; None: the limits leave room for one.
    pub(crate) fn spent(&self, limits: &Limits) -> Option<Decision> {
        if self.worked_ms >= limits.max_seconds.saturating_mul(1000) {
            let reason = format!("the {} seconds of work are used up", limits.max_seconds);
            return Some(rules::deny(rules::SECONDS, reason));
        }
        rules::calls_spent(self.calls, limits.max_tool_calls)
    }
    pub(crate) fn budget(&self, step: &str, call: &ToolCall, limits: &Limits) -> Decision {
        let same = self.identical.get(&call_key(step, call)).copied();
        let repeated = || rules::repeated(same.unwrap_or(0), limits.max_identical_calls);
        let denied = self.spent(limits).or_else(repeated);
        denied.unwrap_or_else(|| rules::allow(rules::TOOL_CALLS))
    }
}

/// One text per call of a step that means the same: the tool and its arguments, key order and spaces aside.
fn call_key(step: &str, call: &ToolCall) -> String {
    let arguments = match agentctl_base::strict_json::object(&call.arguments) {
        Ok(args) => agentctl_base::canonical::canonical(&Value::Object(args)),
        Err(_) => call.arguments.clone(),
    };
    sha256_hex(format!("{step}\n{}\n{arguments}", call.name).as_bytes())
}
