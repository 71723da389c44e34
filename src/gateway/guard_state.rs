//! What the guards have to know of a run, folded from its journal: the same events give the same state, now and after a
//! resume. Never asks a backend and never looks at a file.

use super::facts::RunFacts;
use super::guards::{self, Outline};
use super::{approval, tools};
use agentctl_base::decision::Decision;
use agentctl_base::model::{ToolCall, ToolResult, ToolStatus};
use agentctl_engine::policy::{Facts, Limits};
use agentctl_engine::store::Event;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::Stored;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The key of a run's input that names nodes which may act on the outside world in its tests, by the user's word.
pub const LET_ACT: &str = "let_act";

/// The key of a run's input that names hosts which its tests may read, by the user's word.
pub const TEST_HOSTS: &str = "test_hosts";

/// The key of a run's input that names accounts for new nodes, by the user's word: `TYPE=NAME` each.
pub const ACCOUNTS: &str = "accounts";

/// Snapshots kept in memory: a run has one or two that matter for each workflow.
const MOST_KEPT: usize = 16;

/// One snapshot of this run, oldest first in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotMark {
    pub file: String,
    pub graph_hash: String,
}

/// The last final check of a workflow in this run: what a claim of "it passed" is measured against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    pub graph_hash: String,
    pub error_count: u64,
    pub warning_count: u64,
    pub finding_ids: Vec<String>,
}

/// A scope with what is needed to resolve it later: how many snapshots of each workflow there were when it was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GivenScope {
    pub entries: Vec<String>,
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
    call: ToolCall,
    decision: Decision,
    /// What a call that means the same has too.
    key: String,
}

#[derive(Debug, Clone, Default)]
pub struct GuardState {
    /// Empty before the run's first event.
    run_id: String,
    scope: Option<GivenScope>,
    /// The field of the flow that gives the scope; None: it has none.
    scope_field: Option<String>,
    /// The one workflow that may be changed; None: any.
    only: Option<String>,
    /// Nodes that the user allowed, when the run began, to act on the outside world in its tests.
    let_act: BTreeSet<String>,
    /// Hosts that the user allowed, when the run began, to be read by its tests.
    test_hosts: BTreeSet<String>,
    /// Credential type → name of the account, as the user said when the run began.
    accounts: BTreeMap<String, String>,
    seen: BTreeMap<String, String>,
    owned: BTreeSet<String>,
    /// Workflow → the graph hash that this run's last change of it left.
    left: BTreeMap<String, String>,
    /// Workflows of this run's that somebody else changed since.
    shared: BTreeSet<String>,
    /// Name that a workflow was created with → the workflow.
    creates: BTreeMap<String, String>,
    snapshots: BTreeMap<String, Vec<SnapshotMark>>,
    /// Where the run starts to count losses: an index into the snapshots. Moves when the user allowed a wipe.
    base_from: BTreeMap<String, usize>,
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
    validations: BTreeMap<String, Validation>,
    /// Snapshots that a guard has read, by file: they never change. Nothing is folded into it.
    read: BTreeMap<String, Arc<Workflow>>,
    /// What the loss count keeps of them.
    outlined: BTreeMap<String, Arc<Outline>>,
    /// Workflow → the call that changed it last, and the graph hash that it left.
    made: BTreeMap<String, (String, String)>,
    /// The intent that has no result yet.
    open: Option<Intent>,
    /// What the policy's conditions may know.
    facts: RunFacts,
}

impl GuardState {
    pub fn new() -> Self {
        Self::default()
    }

    /// With the field of the flow that lists what a fix may change. Call it before the first event.
    #[must_use]
    pub fn with_scope_field(mut self, field: Option<&str>) -> Self {
        self.scope_field = field.map(str::to_owned);
        self
    }

    /// Folds one event of this run's journal. Call it with every event, in order; the gateway does so for those that it records.
    pub fn observe(&mut self, event: &Event) {
        self.facts.observe(event);
        match event {
            Event::RunStarted { input, run_id, .. } => {
                self.run_id.clone_from(run_id);
                let named = |key: &str| {
                    let list = input.get(key).and_then(Value::as_array);
                    let texts = list.into_iter().flatten().filter_map(Value::as_str);
                    texts.map(str::to_owned).collect::<Vec<String>>()
                };
                self.let_act = named(LET_ACT).into_iter().collect();
                self.test_hosts = named(TEST_HOSTS).into_iter().collect();
                self.accounts = named(ACCOUNTS)
                    .iter()
                    .filter_map(|pair| pair.split_once('='))
                    .map(|(kind, name)| (kind.to_owned(), name.to_owned()))
                    .collect();
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
                self.open = Some(Intent {
                    call: call.clone(),
                    decision: decision.clone(),
                    key,
                });
            }
            Event::ToolFinished { result, change, .. } => {
                let intent = self.open.take();
                if let Some(intent) = &intent {
                    self.spend(&intent.call, &intent.decision);
                }
                if let Some(change) = change {
                    self.changed(change, intent.as_ref());
                } else if result.status == ToolStatus::Ok {
                    self.read(result);
                }
            }
            Event::SnapshotTaken {
                workflow_id,
                file,
                graph_hash,
                ..
            } => self
                .snapshots
                .entry(workflow_id.clone())
                .or_default()
                .push(SnapshotMark {
                    file: file.clone(),
                    graph_hash: graph_hash.clone(),
                }),
            Event::SessionOpened {
                workflow,
                edit_scope,
                ..
            } => {
                self.only.clone_from(workflow);
                if let Some(scope) = edit_scope {
                    self.scope = Some(self.given(&Value::from(scope.clone())));
                }
            }
            Event::StatePatched { patch, .. } => {
                let given = self.scope_field.as_ref().and_then(|field| patch.get(field));
                if let Some(scope) = given {
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
                    if asked.rule == guards::ACCOUNT {
                        let chosen = value.as_str().unwrap_or_default();
                        self.choices.insert(asked.hash.clone(), chosen.to_owned());
                    } else {
                        let answer = (asked.clone(), approval::is_yes(value));
                        self.answers.insert(asked.hash.clone(), answer);
                    }
                }
            }
            Event::Undone { workflow_id, .. } => {
                self.seen.remove(workflow_id);
                self.made.remove(workflow_id);
            }
            _ => {}
        }
    }

    fn changed(&mut self, change: &agentctl_engine::store::event::Change, intent: Option<&Intent>) {
        let id = change.workflow_id.clone();
        self.identical.clear();
        match &change.after {
            Some(hash) => self.seen.insert(id.clone(), hash.clone()),
            None => self.seen.remove(&id),
        };
        match (intent, &change.after) {
            (Some(intent), Some(hash)) => {
                let made = (intent.key.clone(), hash.clone());
                self.made.insert(id.clone(), made);
            }
            _ => {
                self.made.remove(&id);
            }
        }
        self.note_left(change);
        if change.before.is_none() && change.after.is_some() {
            self.owned.insert(id.clone());
            let named = intent.and_then(|intent| {
                let args = agentctl_base::strict_json::object(&intent.call.arguments).ok()?;
                Some(creation_key(args.get("name")?.as_str()?))
            });
            if let Some(name) = named {
                self.creates.insert(name, id.clone());
            }
        }
        if change.after.is_none() {
            self.owned.remove(&id);
            self.creates.retain(|_, created| *created != id);
        }
        let wiped = |decision| approval::approved_rules(decision).any(|rule| rule == guards::WIPE);
        if intent.is_some_and(|intent| wiped(&intent.decision)) {
            let taken = self.snapshots.get(&id).map_or(0, Vec::len);
            self.base_from.insert(id, taken);
        }
    }

    /// What the change found and left. What this run made, and found in another state than it left, is no longer its own: from
    /// now on losses count from what it found.
    fn note_left(&mut self, change: &agentctl_engine::store::event::Change) {
        let id = &change.workflow_id;
        let found = change.before.as_ref();
        if found.is_some_and(|found| self.owned.contains(id) && self.left.get(id) != Some(found)) {
            let before_it = self.snapshots.get(id).map_or(0, Vec::len).saturating_sub(1);
            if self.shared.insert(id.clone()) {
                self.base_from.insert(id.clone(), before_it);
            }
        }
        match &change.after {
            Some(hash) => self.left.insert(id.clone(), hash.clone()),
            None => {
                self.shared.remove(id);
                self.left.remove(id)
            }
        };
    }

    /// A yes is for one call: what was called is asked for again the next time. Only the word about a published workflow holds
    /// for the run.
    fn spend(&mut self, call: &ToolCall, decision: &Decision) {
        for rule in approval::approved_rules(decision).filter(|rule| *rule != guards::PUBLISH) {
            self.answers
                .retain(|_, (asked, yes)| !*yes || asked.rule != rule || asked.tool != call.name);
        }
    }

    fn read(&mut self, result: &ToolResult) {
        let text = |key: &str| result.content.get(key).and_then(Value::as_str);
        let (Some(id), Some(hash)) = (text("id"), text("graph_hash")) else {
            return;
        };
        if result.name == tools::GET_WORKFLOW {
            self.seen.insert(id.to_owned(), hash.to_owned());
        } else if result.name == tools::VALIDATE_WORKFLOW {
            let count = |key: &str| result.content.get(key).and_then(Value::as_u64);
            let ids = result
                .content
                .get("finding_ids")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|id| id.as_str().map(str::to_owned))
                .collect();
            self.validations.insert(
                id.to_owned(),
                Validation {
                    graph_hash: hash.to_owned(),
                    error_count: count("error_count").unwrap_or(u64::MAX),
                    warning_count: count("warning_count").unwrap_or(u64::MAX),
                    finding_ids: ids,
                },
            );
        }
    }

    /// What the policy's conditions may know of the run.
    pub fn facts(&self) -> &Facts {
        self.facts.facts()
    }

    /// A snapshot that was read before.
    pub(super) fn kept(&self, file: &str) -> Option<Arc<Workflow>> {
        self.read.get(file).cloned()
    }
    pub(super) fn keep(&mut self, file: &str, workflow: Arc<Workflow>) {
        if self.read.len() >= MOST_KEPT {
            self.read.clear();
        }
        self.read.insert(file.to_owned(), workflow);
    }

    /// The outline of a snapshot, made by `make` at its first use.
    pub(super) fn outlined(&mut self, file: &str, make: impl FnOnce() -> Outline) -> Arc<Outline> {
        if let Some(outline) = self.outlined.get(file) {
            return Arc::clone(outline);
        }
        if self.outlined.len() >= MOST_KEPT {
            self.outlined.clear();
        }
        let outline = Arc::new(make());
        self.outlined.insert(file.to_owned(), Arc::clone(&outline));
        outline
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
            snapshots_then: self
                .snapshots
                .iter()
                .map(|(id, list)| (id.clone(), list.len()))
                .collect(),
        }
    }

    /// The graph hash of the workflow when this run last saw it.
    pub fn seen(&self, id: &WorkflowId) -> Option<&str> {
        self.seen.get(&id.0).map(String::as_str)
    }
    /// True for a workflow that this run created (and did not delete), as long as nobody else changed it: in this state.
    pub fn owns(&self, id: &WorkflowId, graph_hash: &str) -> bool {
        self.made(id) && self.left.get(&id.0).is_some_and(|left| left == graph_hash)
    }
    /// True for a workflow that this run created (and did not delete) and never found changed by somebody else when it changed it.
    pub(super) fn made(&self, id: &WorkflowId) -> bool {
        self.owned.contains(&id.0) && !self.shared.contains(&id.0)
    }
    pub fn created(&self) -> impl Iterator<Item = &str> {
        self.owned.iter().map(String::as_str)
    }
    /// The scope in force; None before the first one is given.
    pub fn edit_scope(&self) -> Option<&[String]> {
        self.scope.as_ref().map(|scope| scope.entries.as_slice())
    }
    /// The one workflow that may be changed; None: any.
    pub(super) fn only_workflow(&self) -> Option<&str> {
        self.only.as_deref()
    }
    /// The nodes that may act in a test without being asked for.
    pub(super) fn let_act(&self) -> &BTreeSet<String> {
        &self.let_act
    }
    /// The hosts that a test of this run may read besides the user's own list.
    pub(super) fn test_hosts(&self) -> &BTreeSet<String> {
        &self.test_hosts
    }
    /// The name of the account that the user named for this type of credential.
    pub(super) fn account(&self, credential_type: &str) -> Option<&str> {
        self.accounts.get(credential_type).map(String::as_str)
    }
    /// How long the calls so far took; it counts against the limit on seconds from the next call on.
    pub fn set_worked_ms(&mut self, worked_ms: u64) {
        self.worked_ms = worked_ms;
    }
    pub fn snapshots(&self, id: &WorkflowId) -> &[SnapshotMark] {
        self.snapshots.get(&id.0).map_or(&[], Vec::as_slice)
    }
    pub fn last_validation(&self, id: &WorkflowId) -> Option<&Validation> {
        self.validations.get(&id.0)
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
    pub(super) fn run_id(&self) -> &str {
        &self.run_id
    }
    /// True when the user was asked for this approval in this run.
    pub(super) fn has_asked(&self, hash: &str) -> bool {
        self.asked.values().any(|asked| asked.hash == hash)
    }
    /// What the user chose; None: not asked, or not answered.
    pub fn choice(&self, hash: &str) -> Option<&str> {
        self.choices.get(hash).map(String::as_str)
    }
    /// True once the run has changed something: from then on a fix cycle is about that.
    pub(super) fn has_worked(&self) -> bool {
        !self.snapshots.is_empty() || !self.owned.is_empty()
    }

    /// The snapshot that losses are counted from; None: the workflow as it is now, or (for an own one) nothing to lose.
    pub(super) fn wipe_base(&self, id: &WorkflowId) -> Option<&SnapshotMark> {
        let from = self.base_from.get(&id.0).copied().unwrap_or(0);
        self.snapshots.get(&id.0)?.get(from)
    }
    /// The snapshot that shows the workflow as it was when the scope was given; None: it has not changed since.
    pub(super) fn scope_base(&self, id: &WorkflowId) -> Option<&SnapshotMark> {
        let then = self
            .scope
            .as_ref()
            .and_then(|scope| scope.snapshots_then.get(&id.0))
            .copied()
            .unwrap_or(0);
        self.snapshots.get(&id.0)?.get(then)
    }
    /// The workflow that this run created under the name.
    pub(super) fn created_as(&self, name: &str) -> Option<&str> {
        self.creates.get(&creation_key(name)).map(String::as_str)
    }
    /// True when this very call made the workflow what it is now.
    pub(super) fn made_by(&self, step: &str, call: &ToolCall, at: &Stored) -> bool {
        let made = self.made.get(&at.id.0);
        made.is_some_and(|(key, hash)| *hash == at.graph_hash && *key == call_key(step, call))
    }
    pub(super) fn budget(&self, step: &str, call: &ToolCall, limits: &Limits) -> Decision {
        if self.worked_ms >= limits.max_seconds.saturating_mul(1000) {
            return guards::deny(
                guards::SECONDS,
                format!("the {} seconds of work are used up", limits.max_seconds),
            );
        }
        let same = self.identical.get(&call_key(step, call)).copied();
        guards::budget(
            self.calls,
            limits.max_tool_calls,
            same.unwrap_or(0),
            limits.max_identical_calls,
        )
    }
}

fn creation_key(name: &str) -> String {
    name.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// One text per call of a step that means the same: the tool and its arguments, key order and spaces aside.
fn call_key(step: &str, call: &ToolCall) -> String {
    let arguments = match agentctl_base::strict_json::object(&call.arguments) {
        Ok(args) => agentctl_base::canonical::canonical(&Value::Object(args)),
        Err(_) => call.arguments.clone(),
    };
    format!("{step}\n{}\n{arguments}", call.name)
}

/// The question's place in the run: `approve-1`, `approve-2`, … by the questions of the gateway asked so far.
pub(super) fn next_question_id(state: &GuardState, what: &str) -> String {
    format!("{what}-{}", state.asked.len() + 1)
}
