//! For tests: the gateway on a bench. Any policy, any toolsets, a journal in memory, snapshots in a temporary folder. One for the
//! gateway's own tests, those of toolsets, the battery of attacks and the measurement.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

pub mod journals;
pub mod ledger;

use crate::gateway::{CallContext, Gateway, Settled};
use crate::guards::GuardState;
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::store::{Event, Journal, Record, SnapshotRef, Snapshots, StoreError};
use crate::toolset::{Fault, Recorder, ResourceMark, Toolset};
use crate::view::RunView;
use agentctl_base::model::{ToolCall, ToolResult, ToolStatus};
use agentctl_base::question::AnsweredBy;
use agentctl_base::question::Question;
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A value that the bench's gateway knows to be secret.
pub const SECRET: &str = "opaque-secret-value";

/// The field by which the bench's runs are given a scope.
pub const SCOPE_FIELD: &str = "edit_scope";

/// An event as a record of no journal in particular.
pub fn record(event: &Event) -> Record {
    Record {
        seq: 1,
        at: "2026-01-01T00:00:00Z".into(),
        prev: String::new(),
        hash: String::new(),
        event: event.clone(),
    }
}

/// What the journal of a run with these events folds to.
pub fn view(events: &[Event]) -> RunView {
    let records: Vec<Record> = events.iter().map(record).collect();
    RunView::of(&records)
}

/// A run's journal and snapshots: the events in memory, the snapshots in a folder.
pub struct Desk {
    pub events: Vec<(Event, bool)>,
    pub snapshots: Snapshots,
    /// Snapshots in memory instead, by their file names: for measurements of everything but the disk.
    pub kept: Option<BTreeMap<String, String>>,
    /// A real journal that every event is written to, for measurements too.
    pub journal: Option<Journal>,
    ids: u32,
    /// Fails every write of the journal from the event with this number on.
    pub fails_from: usize,
    pub no_snapshots: bool,
    pub now: jiff::Timestamp,
}

impl Recorder for Desk {
    fn run_id(&self) -> &str {
        "run"
    }
    fn record(&mut self, event: Event, durable: bool) -> Result<Event, StoreError> {
        if self.events.len() >= self.fails_from {
            return Err(full());
        }
        if let Some(journal) = &mut self.journal {
            return Ok(journal.append(self.now, event, durable)?.event);
        }
        if self.kept.is_none() {
            self.events.push((event.clone(), durable));
        }
        Ok(event)
    }
    fn snapshot(&mut self, of: &ResourceMark, text: &str) -> Result<SnapshotRef, StoreError> {
        if self.no_snapshots {
            return Err(full());
        }
        let Some(kept) = &mut self.kept else {
            return self.snapshots.save(of, text);
        };
        let file = format!("{:06}.json", kept.len());
        kept.insert(file.clone(), text.to_owned());
        Ok(SnapshotRef {
            resource: of.resource.clone(),
            file,
            revision: of.revision.clone(),
            size: of.size,
            sha256: None,
        })
    }
    fn load_snapshot(&mut self, file: &str) -> Result<String, StoreError> {
        if let Some(kept) = &self.kept {
            return kept.get(file).cloned().ok_or_else(full);
        }
        self.snapshots.read(file)
    }
    fn earlier_snapshot(&mut self, run: &str, _: &str, _: &str) -> Result<String, String> {
        Err(format!("there is no run {run}"))
    }
    fn now(&self) -> jiff::Timestamp {
        self.now
    }
    fn new_id(&mut self) -> String {
        self.ids += 1;
        format!("new-{}", self.ids)
    }
}

fn full() -> StoreError {
    StoreError::BadId {
        what: "disk",
        id: "full".into(),
    }
}

fn gateway(policy: Policy, toolsets: Vec<Arc<dyn Toolset>>) -> Gateway {
    Gateway::with_policy(policy, toolsets).with_redactor(Redactor::new([SECRET.to_owned()]))
}

pub struct Bench {
    pub dir: tempfile::TempDir,
    pub gateway: Gateway,
    pub policy: Policy,
    /// What the toolsets work on, as who made the bench knows it.
    pub place: Arc<dyn Any + Send + Sync>,
    pub guards: GuardState,
    pub desk: Desk,
    pub can_ask: bool,
    /// The tools that the role was shown; None: not limited.
    pub offered: Option<Vec<String>>,
    calls: u32,
}

impl Bench {
    /// `toolsets`: made in the bench's own folder, with what they work on, for whoever makes the gateway anew.
    pub fn new(
        policy: Policy,
        toolsets: impl FnOnce(&Path) -> (Vec<Arc<dyn Toolset>>, Arc<dyn Any + Send + Sync>),
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (toolsets, place) = toolsets(dir.path());
        let gateway = gateway(policy.clone(), toolsets);
        Bench {
            guards: gateway.guards(Some(SCOPE_FIELD)),
            gateway,
            policy,
            place,
            desk: Desk {
                events: Vec::new(),
                snapshots: Snapshots::new(dir.path().join("memory/runs/r/snapshots")),
                kept: None,
                journal: None,
                ids: 0,
                fails_from: usize::MAX,
                no_snapshots: false,
                now: "2026-01-02T03:04:05Z".parse().unwrap(),
            },
            dir,
            can_ask: true,
            offered: None,
            calls: 0,
        }
    }

    /// The same run behind a gateway with other toolsets.
    #[must_use]
    pub fn on(mut self, toolsets: Vec<Arc<dyn Toolset>>) -> Self {
        self.gateway = gateway(self.policy.clone(), toolsets);
        self
    }

    /// Forgets what the run knew: another run begins.
    pub fn begin_again(&mut self) {
        self.guards = self.gateway.guards(Some(SCOPE_FIELD));
        self.desk.events.clear();
    }

    /// One call through the door, the arguments as the model's own text.
    pub async fn raw(&mut self, role: &str, tool: &str, arguments: &str) -> Result<Settled, Fault> {
        self.calls += 1;
        let call = ToolCall {
            id: format!("c{}", self.calls),
            name: tool.to_owned(),
            arguments: arguments.to_owned(),
        };
        let (gateway, mut cx) = self.context(role);
        gateway.call(&mut cx, &call).await
    }

    /// What became of a call that was interrupted.
    pub async fn settle(&mut self, role: &str, intent: &Event) -> Option<ToolResult> {
        let (gateway, mut cx) = self.context(role);
        gateway.settle(&mut cx, intent).await.unwrap()
    }

    /// The gateway, and what it is called with.
    pub fn context<'b>(&'b mut self, role: &'b str) -> (&'b Gateway, CallContext<'b>) {
        let cx = CallContext {
            role,
            step: "s",
            offered: self.offered.as_deref(),
            can_ask: self.can_ask,
            bound: None,
            guards: &mut self.guards,
            recorder: &mut self.desk,
        };
        (&self.gateway, cx)
    }

    pub async fn call(&mut self, role: &str, tool: &str, args: Value) -> ToolResult {
        match self.raw(role, tool, &args.to_string()).await.unwrap() {
            Settled::Done(result) => result,
            Settled::NeedsApproval(question) => panic!("asks: {question:?}"),
            Settled::Begun => panic!("began a flow"),
        }
    }

    pub async fn ok(&mut self, role: &str, tool: &str, args: Value) -> Value {
        let result = self.call(role, tool, args).await;
        assert_eq!(result.status, ToolStatus::Ok, "{:#}", result.content);
        result.content
    }

    /// The rule that refused.
    pub async fn refused(&mut self, role: &str, tool: &str, args: Value) -> String {
        let result = self.call(role, tool, args).await;
        assert_eq!(result.status, ToolStatus::Refused, "{:#}", result.content);
        result.content["rule"].as_str().unwrap().to_owned()
    }

    pub async fn asked(&mut self, role: &str, tool: &str, args: Value) -> Question {
        match self.raw(role, tool, &args.to_string()).await.unwrap() {
            Settled::Begun => panic!("began a flow"),
            Settled::NeedsApproval(question) => *question,
            Settled::Done(result) => panic!("done: {result:?}"),
        }
    }

    /// An event that the run itself records, not the gateway.
    pub fn told(&mut self, event: Event) {
        self.guards.observe(&event);
        self.desk.events.push((event, false));
    }

    /// The question is put and a person answers it.
    pub fn answer(&mut self, question: &Question, value: Value) {
        self.told(Event::QuestionAsked {
            step: "s".into(),
            question: question.clone(),
        });
        self.told(Event::AnswerGiven {
            step: "s".into(),
            question_id: question.id.clone(),
            value,
            by: AnsweredBy::Command,
        });
    }

    /// A check gives this edit scope.
    pub fn scope(&mut self, entries: &[&str]) {
        let patch = json!({(SCOPE_FIELD): entries}).as_object().unwrap().clone();
        self.told(Event::StatePatched {
            step: "s".into(),
            agent: "checker".into(),
            patch,
        });
    }

    /// The types of the journal's events.
    pub fn names(&self) -> Vec<String> {
        let kind = |e: &Event| json!(e)["type"].as_str().unwrap().to_owned();
        self.desk.events.iter().map(|(e, _)| kind(e)).collect()
    }

    /// The rule of each decision in the journal.
    pub fn rules(&self) -> Vec<String> {
        let rule = |e: &Event| match e {
            Event::ToolIntent { decision, .. } => Some(decision.rule().to_owned()),
            _ => None,
        };
        self.desk
            .events
            .iter()
            .filter_map(|(e, _)| rule(e))
            .collect()
    }

    /// The state that a resumed run would have: folded from the journal alone.
    pub fn folded(&self) -> GuardState {
        let mut guards = self.gateway.guards(Some(SCOPE_FIELD));
        for (event, _) in &self.desk.events {
            guards.observe(event);
        }
        guards
    }

    /// Goes on as a resumed run would.
    pub fn refold(&mut self) {
        self.guards = self.folded();
    }
}
