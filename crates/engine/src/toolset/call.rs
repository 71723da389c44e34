//! One call of a tool as its toolset sees it: typed, with what it may know of the run. A read has no way to the path of a change:
//! it is another type. A change is planned first, which touches nothing; what the guards say of the plan decides whether it is done.

use super::content::Outcome;
use super::error::BackendError;

use crate::guards::{GuardState, Memory};
use crate::redact::Redactor;
use crate::store::event::{Change as Changed, MutationExpectation};
use crate::store::{Event, Link, ResourceMark, SnapshotRef, StoreError};
use crate::vocabulary::Capability;
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_base::model::ToolSpec;
use agentctl_base::question::{Glance, Question};
use agentctl_mcp::serve::Hints;
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What the gateway needs from the run: the journal, the snapshots, time and ids. The run's driver is one.
pub trait Recorder: Send {
    /// The run that is written down.
    fn run_id(&self) -> &str;
    /// Appends to the journal, and gives back what stands there; `durable` ones are on the disk when this returns.
    fn record(&mut self, event: Event, durable: bool) -> Result<Event, StoreError>;
    /// Writes the text of this state and syncs it. The gateway records `SnapshotTaken` itself.
    fn snapshot(&mut self, of: &ResourceMark, text: &str) -> Result<SnapshotRef, StoreError>;
    /// The text of a snapshot of this run, by its `file`.
    fn load_snapshot(&mut self, file: &str) -> Result<String, StoreError>;
    /// The text of a snapshot that another run of this project took of the resource with this id, as that run's marked journal says
    /// that it was; Err: why it is not to be had.
    fn earlier_snapshot(&mut self, run: &str, id: &str, file: &str) -> Result<String, String>;
    fn now(&self) -> Timestamp;
    fn new_id(&mut self) -> String;
}

/// What stops the run. Everything that a model can be told is an `Outcome` instead.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What the tool works on cannot be reached.
    #[error("the {backend} backend is not available: {error}")]
    Backend {
        backend: String,
        #[source]
        error: BackendError,
    },
    /// Something that a guard needs cannot be kept, in words.
    #[error("{0}")]
    Kept(String),
}

/// JSON Schema of a tool's arguments: made by its code, or read from its file.
#[derive(Debug, Clone)]
pub enum Arguments {
    Made(fn() -> Value),
    Given(Arc<Value>),
}

impl Arguments {
    pub fn value(&self) -> Value {
        match self {
            Arguments::Made(make) => make(),
            Arguments::Given(schema) => (**schema).clone(),
        }
    }
}

/// One tool, as models, policies and other agents' clients are told of it.
#[derive(Debug, Clone)]
pub struct Head {
    pub name: &'static str,
    /// What a role must be granted to call it.
    pub capability: Capability,
    /// A call changes something that stays: its intent is on the disk before it is made.
    pub changes: bool,
    /// After a crash in the middle the same call may be made again without a look at what is there.
    pub repeatable: bool,
    /// A run of a flow has from its own steps what it gives: with the policy's grant it is offered to other agents' clients, whatever
    /// tools the role's agent lists.
    pub for_clients: bool,
    /// It makes or deletes whole resources, so a session that is kept to one is not offered it.
    pub makes_or_deletes: bool,
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub schema: Arguments,
    /// JSON Schema of what it answers when it succeeds; None: it is not promised.
    pub returns: Option<fn() -> Value>,
    /// What a client may show or ask by: it may take something away.
    pub destructive: bool,
    /// The same call again changes nothing more.
    pub idempotent: bool,
    /// It reaches beyond what the toolset keeps.
    pub open_world: bool,
}

impl Head {
    /// A tool that changes nothing, or (where it does) nothing twice, and reaches no further.
    pub fn new(
        name: &'static str,
        capability: Capability,
        description: &'static str,
        schema: fn() -> Value,
    ) -> Head {
        Head {
            name,
            capability,
            changes: false,
            repeatable: false,
            for_clients: false,
            makes_or_deletes: false,
            description,
            schema: Arguments::Made(schema),
            returns: None,
            destructive: false,
            idempotent: true,
            open_world: false,
        }
    }

    /// For a client of ours.
    pub fn hints(&self) -> Hints {
        Hints {
            read_only: !self.changes,
            destructive: self.destructive && self.changes,
            idempotent: self.idempotent,
            open_world: self.open_world,
        }
    }

    /// As a model sees it.
    pub fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            parameters: self.schema.value(),
        }
    }
}

/// What a call may know and use besides its arguments.
pub struct Cx<'a> {
    pub role: &'a str,
    /// The flow step's path.
    pub step: &'a str,
    /// Its id among the step's calls.
    pub call_id: &'a str,
    /// Arguments that the program fills: no model sees or sets them.
    pub bound: Option<&'a Map<String, Value>>,
    /// False where nobody can ever answer: then what would be asked is refused.
    pub can_ask: bool,
    pub guards: &'a mut GuardState,
    pub recorder: &'a mut dyn Recorder,
    pub redactor: &'a Redactor,
    /// Until when what is asked for now counts.
    pub expires: Timestamp,
}

impl Cx<'_> {
    /// Journals that another run worked on this call.
    pub fn link(&mut self, link: Link) -> Result<(), StoreError> {
        let event = Event::Linked(link);
        self.guards.observe(&event);
        self.recorder.record(event, false).map(drop)
    }

    /// What the toolset remembers of the run; None: the run was folded without it.
    pub fn memory<M: Memory>(&self) -> Option<&M> {
        self.guards.memory()
    }
}

/// A call with its arguments typed.
pub enum Parsed {
    Read(Box<dyn Read>),
    Change(Box<dyn Change>),
    /// The run works on another flow, and what comes of that is the answer: the driver's to do.
    Flow,
}

/// What a read came to; Err: what it reads from failed.
pub type Answer = Result<Outcome, BackendError>;

pub trait Read: Send + Sync {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer>;
}

pub trait Change: Send + Sync {
    /// What would be done, with the guards' decisions; nothing is touched. `exact` is the call itself, as approvals bind it. An inner
    /// Err is the call's result: nothing will be changed.
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning>;
}

pub type Planning = Result<Result<Plan, Outcome>, Fault>;

pub struct Plan {
    pub act: Box<dyn Act>,
    /// The guards' decisions, with what each would ask.
    pub reserved: Vec<Reserved>,
    pub expect: Option<MutationExpectation>,
    /// What the user has to choose before, when everything is allowed.
    pub question: Option<Box<Question>>,
}

impl Plan {
    /// One that no guard has a word on.
    pub fn unguarded(act: Box<dyn Act>) -> Plan {
        Plan {
            act,
            reserved: Vec::new(),
            expect: None,
            question: None,
        }
    }
}

/// A decision, with what the question is about when it is one to ask.
pub struct Reserved {
    pub decision: Decision,
    /// "delete the workflow "Orders"".
    pub what: String,
    pub subject: Value,
    /// What `--yes` may answer.
    pub recommended: Option<Value>,
}

impl Reserved {
    /// `about`: what a question would say is being done, and its subject. Most decisions ask nothing.
    pub fn new(decision: Decision, about: impl FnOnce() -> (String, Value)) -> Self {
        let (what, subject) = match decision {
            Decision::Ask { .. } => about(),
            Decision::Allow { .. } | Decision::Deny { .. } => Default::default(),
        };
        Reserved {
            decision,
            what,
            subject,
            recommended: None,
        }
    }
}

/// Which resource a change is about. One that is there already is named as it is now: approvals are bound to that state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touches {
    /// It changes no resource.
    Nothing,
    /// It makes a new one.
    New,
    Existing(ResourceMark),
    /// It deletes this one.
    Deleted(ResourceMark),
}

impl Touches {
    /// What is there already and this is about.
    pub fn at(&self) -> Option<&ResourceMark> {
        match self {
            Touches::Nothing | Touches::New => None,
            Touches::Existing(at) | Touches::Deleted(at) => Some(at),
        }
    }
}

/// A state that is put on the disk before it is changed.
pub struct Keep {
    pub mark: ResourceMark,
    pub text: String,
}

/// What a run is to do, in its user's words, and the call that is about to do it.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub arguments: &'a Value,
    /// What is remembered of the run.
    pub guards: &'a GuardState,
    pub request: &'a str,
    /// The answers to its questions, by topic.
    pub answers: &'a Map<String, Value>,
}

/// What is done when everything allows it, in this order: `before`, the snapshot, the intent in the journal, `perform`, the result in
/// the journal, `after`.
pub trait Act: Send + Sync {
    fn touches(&self) -> Touches;
    /// True when it writes something else over what is there: the same call, sent twice, would do it twice.
    fn rewrites(&self) -> bool {
        false
    }
    /// What a person is shown of it before it is made, with secrets hidden; None: it changes no document.
    fn diff(&self, _redactor: &Redactor) -> Option<String> {
        None
    }
    /// The whole document as it would be after it, with its secrets; None: there is none to look at.
    fn after_it(&self) -> Option<Value> {
        None
    }
    /// What there is to know of that document before it is written; None: nothing is known.
    fn glance(&self, _wanted: &Wanted<'_>) -> Option<Glance> {
        None
    }
    /// The state before, when it is about to be changed.
    fn keep(&self) -> Option<Keep>;
    /// `by_person`: a command of the user's makes the change. Err within: it must not be done.
    fn before(
        &mut self,
        _decision: &Decision,
        _by_person: bool,
    ) -> Result<Result<(), Decision>, Fault> {
        Ok(Ok(()))
    }
    /// Does it, reads it back, and says what is there now.
    fn perform<'a>(&'a mut self, snapshot: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed>;
    /// What the user has to allow before what was begun can come to its end. The call then has no result: it is settled, and made again,
    /// when that was answered.
    fn asks(&mut self) -> Option<Reserved> {
        None
    }
    /// The run that worked on the call, when it is known; asked once, behind `perform`.
    fn linked(&mut self) -> Option<Link> {
        None
    }
    fn after<'a>(
        &'a mut self,
        _change: Option<&'a Changed>,
        _now: Timestamp,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// What was done, and what it changed as it was read back.
pub type Performed = (Answer, Option<Changed>);

/// What became of a change that was interrupted.
pub enum Settling {
    /// It did not happen, or may be made again: make the call.
    NotDone,
    /// It happened, and this is what the call would have answered.
    Done { content: Value, change: Changed },
    /// Neither, in words.
    Unknown(String),
}
