//! What the guards have to know of a run besides what the engine remembers of any run: the user's own words about nodes, hosts and
//! accounts, what was created under which name, the last checks, and where losses are counted from.

use super::named::names;
use super::uncovered::asked_for;
use crate::guards::{self, Outline};
use agentctl_base::decision::Decision;
use agentctl_base::model::{ToolCall, ToolResult, ToolStatus};
use agentctl_engine::guards::{GuardState, Memory, ResourceLog, SnapshotMark, approved_rules};
use agentctl_engine::store::{Event, Shared};
use agentctl_n8n::Workflow;
use agentctl_n8n::rehearsal::Case;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// The tool whose result counts as seen.
pub(super) const GET_WORKFLOW: &str = "get_workflow";
/// The tool whose result a claim of "it passed" is measured against.
pub(super) const VALIDATE_WORKFLOW: &str = "validate_workflow";
/// The key of its result that counts the findings which stood before the run and are not listed.
pub(super) const KNOWN: &str = "known";

/// The key of a run's input that names the workflow to change.
pub const WORKFLOW: &str = "workflow";

/// The key of a run's input that names nodes which may act on the outside world in its tests, by the user's word.
pub const LET_ACT: &str = "let_act";

/// The key of a run's input that names hosts which its tests may read, by the user's word.
pub const TEST_HOSTS: &str = "test_hosts";

/// The key of a run's input that names accounts for new nodes, by the user's word: `TYPE=NAME` each.
pub const ACCOUNTS: &str = "accounts";

/// The key of a run's input that holds acceptance cases of the workflow to change, which its tests try besides what an agent gives.
pub const CASES: &str = "cases";
/// The field of the state in which what was asked for stands, with the cases under the same key.
pub const REQUIREMENTS: &str = "requirements";
/// The key of a run's input that holds what the request itself says must come out of what, as cases; read by the program, before anybody writes one.
pub const ASKED_CASES: &str = "asked_cases";
/// The key of a run's input that names an answer which the request wants worked out, where no case of it could be read.
pub const ASKED_ANSWER: &str = "asked_answer";

/// Snapshots kept in memory: a run has one or two that matter for each workflow.
const MOST_KEPT: usize = 16;

/// The last final check of a workflow in this run: what a claim of "it passed" is measured against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    pub graph_hash: String,
    pub error_count: u64,
    pub warning_count: u64,
    pub finding_ids: Vec<String>,
    /// Warnings that stood before the run are not among them.
    pub without_known: bool,
}

#[derive(Debug, Default)]
pub struct N8nMemory {
    /// Nodes that the user allowed, when the run began, to act on the outside world in its tests.
    let_act: BTreeSet<String>,
    /// Hosts that the user allowed, when the run began, to be read by its tests.
    test_hosts: BTreeSet<String>,
    /// What the workflow to change had to do before.
    cases: Vec<Case>,
    request: String,
    /// By a workflow's id the state that the run found, and the one that it made of it.
    left: BTreeMap<String, (String, String)>,
    /// What the request itself says must come out of what, in words.
    said: Option<String>,
    /// What must come out by the request: as the program reads it, then as the requirements have it.
    asked: Vec<Value>,
    /// Credential type → name of the account, as the user said when the run began.
    accounts: BTreeMap<String, String>,
    /// Name that a workflow was created with → the workflow.
    creates: BTreeMap<String, String>,
    validations: BTreeMap<String, Validation>,
    /// Where losses are counted from since the user allowed most of a workflow to be taken away: an index into its snapshots.
    allowed_from: BTreeMap<String, usize>,
    /// The intent that has no result yet.
    open: Option<(Shared<ToolCall>, Decision)>,
    /// Snapshots that a guard has read, by file: they never change. Nothing is folded into it.
    read: BTreeMap<String, Arc<Workflow>>,
    /// What the loss count keeps of them.
    outlined: BTreeMap<String, Arc<Outline>>,
}

fn listed<'f>(fields: &'f Map<String, Value>, key: &str) -> Option<&'f Vec<Value>> {
    fields.get(key).and_then(Value::as_array)
}

/// Of a run that was folded without this toolset: nothing is known, so nothing is allowed.
static NOTHING: LazyLock<N8nMemory> = LazyLock::new(N8nMemory::default);

/// What is remembered of the run.
pub fn memory(guards: &GuardState) -> &N8nMemory {
    guards.memory().unwrap_or(&NOTHING)
}

impl Memory for N8nMemory {
    fn observe(&mut self, event: &Event, log: &ResourceLog) {
        match event {
            Event::RunStarted { input, .. } => {
                let named = |key: &str| {
                    let list = listed(input, key).into_iter().flatten();
                    let texts = list.filter_map(Value::as_str);
                    texts.map(str::to_owned).collect::<Vec<String>>()
                };
                self.let_act = named(LET_ACT).into_iter().collect();
                self.test_hosts = named(TEST_HOSTS).into_iter().collect();
                let cases = listed(input, CASES).into_iter().flatten();
                self.cases = cases
                    .filter_map(|case| Case::deserialize(case).ok())
                    .collect();
                self.asked = listed(input, ASKED_CASES).cloned().unwrap_or_default();
                let open = input.get(ASKED_ANSWER).and_then(Value::as_str);
                let request = input.get("request").and_then(Value::as_str);
                self.request = request.unwrap_or_default().to_owned();
                self.said = asked_for(&self.asked, open);
                self.accounts = named(ACCOUNTS)
                    .iter()
                    .filter_map(|pair| pair.split_once('='))
                    .map(|(kind, name)| (kind.to_owned(), name.to_owned()))
                    .collect();
            }
            Event::StatePatched { patch, .. } => {
                let requirements = patch.get(REQUIREMENTS).and_then(Value::as_object);
                if let Some(cases) = requirements.and_then(|fields| listed(fields, CASES)) {
                    self.asked.clone_from(cases);
                }
            }
            Event::ToolIntent { call, decision, .. } => {
                self.open = Some((Shared::clone(call), decision.clone()));
            }
            Event::ToolFinished { result, change, .. } => {
                let intent = self.open.take();
                let Some(change) = change else {
                    if result.status == ToolStatus::Ok {
                        self.checked(result);
                    }
                    return;
                };
                let id = &change.resource.id;
                if let (Some(before), Some(after)) = (&change.before, &change.after) {
                    let found = self.found_as(id, before).to_owned();
                    self.left.insert(id.clone(), (found, after.clone()));
                }
                if change.before.is_none() && change.after.is_some() {
                    let named = intent.as_ref().and_then(|(call, _)| {
                        let args = agentctl_base::strict_json::object(&call.arguments).ok()?;
                        Some(creation_key(args.get("name")?.as_str()?))
                    });
                    if let Some(name) = named {
                        self.creates.insert(name, id.clone());
                    }
                }
                if change.after.is_none() {
                    self.creates.retain(|_, created| created != id);
                }
                let wiped = |(_, decision): &(Shared<ToolCall>, Decision)| {
                    approved_rules(decision).any(|rule| rule == guards::WIPE)
                };
                if intent.as_ref().is_some_and(wiped) {
                    self.allowed_from
                        .insert(id.clone(), log.snapshots(id).len());
                }
            }
            _ => {}
        }
    }

    fn seen(&self, result: &ToolResult) -> Option<(String, String)> {
        let text = |key: &str| result.content.get(key)?.as_str().map(str::to_owned);
        if result.name != GET_WORKFLOW {
            return None;
        }
        Some((text("id")?, text("graph_hash")?))
    }

    fn words(&self) -> Vec<&'static str> {
        vec![WORKFLOW]
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl N8nMemory {
    fn checked(&mut self, result: &ToolResult) {
        let text = |key: &str| result.content.get(key).and_then(Value::as_str);
        let (Some(id), Some(hash)) = (text("id"), text("graph_hash")) else {
            return;
        };
        if result.name != VALIDATE_WORKFLOW {
            return;
        }
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
                without_known: result.content.get(KNOWN).is_some(),
            },
        );
    }

    /// What the workflow must do once it is written: by the request, and of what it had to do before what the request does not say anew.
    pub fn wanted_cases(&self) -> Vec<Value> {
        let name = |case: &Value| case.get("name").and_then(Value::as_str).map(str::to_owned);
        let asked: Vec<Option<String>> = self.asked.iter().map(name).collect();
        let before = self.cases.iter();
        let before = before.filter(|case| !asked.contains(&Some(case.name.clone())));
        let before = before.map(|case| json!(case));
        self.asked.iter().cloned().chain(before).collect()
    }

    /// The state of a workflow that somebody else left, of which this run has made the one of this hash.
    pub fn found_as<'a>(&'a self, id: &str, hash: &'a str) -> &'a str {
        match self.left.get(id) {
            Some((found, left)) if left == hash => found,
            _ => hash,
        }
    }

    /// Whether the run's request names the workflow of this name as one to change.
    pub fn names(&self, workflow: &str) -> bool {
        names(&self.request, workflow)
    }

    pub fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }

    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The nodes that may act in a test without being asked for.
    pub fn let_act(&self) -> &BTreeSet<String> {
        &self.let_act
    }
    /// The hosts that a test of this run may read besides the user's own list.
    pub fn test_hosts(&self) -> &BTreeSet<String> {
        &self.test_hosts
    }
    /// The name of the account that the user named for this type of credential.
    pub fn account(&self, credential_type: &str) -> Option<&str> {
        self.accounts.get(credential_type).map(String::as_str)
    }
    pub fn last_validation(&self, id: &str) -> Option<&Validation> {
        self.validations.get(id)
    }
    /// The workflow that this run created under the name.
    pub fn created_as(&self, name: &str) -> Option<&str> {
        self.creates.get(&creation_key(name)).map(String::as_str)
    }
    /// The snapshot that losses are counted from; None: the workflow as it is now, or (for an own one) nothing to lose.
    pub fn wipe_base<'l>(&self, log: &'l ResourceLog, id: &str) -> Option<&'l SnapshotMark> {
        let grown = log.grown_from(id).unwrap_or(0);
        let allowed = self.allowed_from.get(id).copied().unwrap_or(0);
        log.snapshots(id).get(grown.max(allowed))
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
}

fn creation_key(name: &str) -> String {
    name.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}
