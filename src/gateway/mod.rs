//! The one door to tools: parse → decide → guard → journal the intent → call → verify by reading back → redact → journal
//! the result. A model's JSON is turned into a typed request here and goes no further.
//! Must know no role and no stage by name, must never let an error through as a permission, and must never drop a failed
//! write of the journal: what could not be recorded was not done.

pub mod accepted;
mod accounts;
mod approval;
mod call;
mod ceiling;
mod checks;
mod content;
mod created;
mod facts;
mod foreign;
mod guard_state;
pub mod guards;
mod held;
mod learnings;
mod perform;
mod places;
mod plan;
mod push;
mod reads;
mod rehearse;
mod settle;
mod shown;
pub mod tools;

pub use agentctl_base::untrusted;
pub use agentctl_engine::redact::{self, Redactor};
pub use approval::approval_hash;
pub use foreign::{ApprovedTool, ForeignTools};
pub use guard_state::{ACCOUNTS, GuardState, LET_ACT, SnapshotMark, TEST_HOSTS, Validation};
pub use held::{HeldCall, HeldCalls};
pub use push::Push;
pub use settle::{Settlement, judge};

use accepted::{Accepted, NotKept};
use agentctl_base::model::{ToolResult, ToolSpec};
use agentctl_base::question::Question;
use agentctl_base::strict_json;
use agentctl_engine::pack::Pack;
use agentctl_engine::policy::Policy;
use agentctl_engine::store::{Event, SnapshotRef, StoreError};
use agentctl_knowledge::Knowledge;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::rehearsal::Hosts;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::{Backend, BackendError};
use std::sync::Arc;

/// What the gateway needs from the run: the journal, the snapshots, time and ids. The run's driver is one.
pub trait Recorder: Send {
    /// Appends to the journal, and gives back what stands there; `durable` ones are on the disk when this returns.
    fn record(&mut self, event: Event, durable: bool) -> Result<Event, StoreError>;
    /// Writes the workflow as it is now and syncs it. The gateway records `SnapshotTaken` itself.
    fn snapshot(
        &mut self,
        id: &WorkflowId,
        workflow: &Workflow,
        graph_hash: &str,
    ) -> Result<SnapshotRef, StoreError>;
    /// The text of a snapshot of this run, by its `file`.
    fn load_snapshot(&mut self, file: &str) -> Result<String, StoreError>;
    fn now(&self) -> jiff::Timestamp;
    fn new_id(&mut self) -> String;
}

/// One call's surroundings.
pub struct CallContext<'a> {
    pub role: &'a str,
    /// The flow step's path, for the journal.
    pub step: &'a str,
    /// The names of the tools that this role was shown; a call to another one is refused. None: not limited (the flow itself calls).
    pub offered: Option<&'a [String]>,
    /// False where nobody can ever answer: then what would be asked is refused.
    pub can_ask: bool,
    pub guards: &'a mut GuardState,
    pub recorder: &'a mut dyn Recorder,
}

impl CallContext<'_> {
    /// Journals the event and lets the guards see it: the two may never differ.
    pub(crate) fn record(&mut self, event: Event, durable: bool) -> Result<Event, StoreError> {
        self.guards.observe(&event);
        self.recorder.record(event, durable) // what fails here stops the run, and the guards with it
    }
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// Journaled: give the result to the model.
    Done(ToolResult),
    /// Nothing happened and nothing was journaled: ask the user, record question and answer, then make the same call again.
    NeedsApproval(Box<Question>),
}

/// What stops the run. Everything that a model can be told is a `ToolResult` instead.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the {backend} backend is not available: {error}")]
    Backend {
        backend: String,
        #[source]
        error: BackendError,
    },
    #[error(transparent)]
    Kept(#[from] NotKept),
}

/// The door itself.
pub struct Gateway {
    policy: Policy,
    backend: Arc<dyn Backend>,
    knowledge: Knowledge,
    redactor: Redactor,
    catalog: &'static Catalog,
    foreign: Option<Arc<dyn ForeignTools>>,
    held: held::Keeper,
    accepted: Option<Arc<dyn Accepted>>,
    test_hosts: Hosts,
}

impl Gateway {
    pub fn new(
        pack: &Pack,
        backend: Arc<dyn Backend>,
        knowledge: Knowledge,
        catalog: &'static Catalog,
    ) -> Self {
        Self::with_policy(pack.policy.clone(), backend, knowledge, catalog)
    }

    pub fn with_policy(
        policy: Policy,
        backend: Arc<dyn Backend>,
        knowledge: Knowledge,
        catalog: &'static Catalog,
    ) -> Self {
        Gateway {
            policy,
            backend,
            knowledge,
            redactor: Redactor::default(),
            catalog,
            foreign: None,
            held: Err("nothing is set up to keep them".to_owned()),
            accepted: None,
            test_hosts: Hosts::default(),
        }
    }

    pub fn backend(&self) -> &dyn Backend {
        self.backend.as_ref()
    }
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }
    /// What hides the secrets that this gateway knows.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }
    /// Hides these values too (for example the environment's), besides the shapes that are known.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// A text from outside as it may be kept and shown: secrets hidden, harmless to look at.
    pub fn clean_text(&self, text: &str) -> String {
        redact::clean_text(&self.redactor, text)
    }

    /// Hosts that a test may read by itself: the user's own list, never a project's.
    #[must_use]
    pub fn with_test_hosts(mut self, hosts: Hosts) -> Self {
        self.test_hosts = hosts;
        self
    }

    /// Lets the tools of other servers be called, as far as the policy allows and the user approved.
    #[must_use]
    pub fn with_foreign(mut self, foreign: Arc<dyn ForeignTools>) -> Self {
        self.foreign = Some(foreign);
        self
    }

    /// Where calls with hidden values are kept while they wait for an approval; Err: why they cannot be kept.
    #[must_use]
    pub fn with_held(mut self, held: Result<Arc<dyn HeldCalls>, String>) -> Self {
        self.held = held;
        self
    }

    /// Counts losses from the state that a person accepted last. Without it each run counts from how it found a workflow.
    #[must_use]
    pub fn with_accepted(mut self, accepted: Arc<dyn Accepted>) -> Self {
        self.accepted = Some(accepted);
        self
    }
    pub fn accepted(&self) -> Option<&dyn Accepted> {
        self.accepted.as_deref()
    }

    /// The tools of a role: those it lists, as far as the policy may allow a call of them; sorted by name.
    pub fn tools_for(&self, role: &str, listed: &[String]) -> Vec<ToolSpec> {
        let mut names = self.policy.allowed_tools(role);
        names.retain(|name| listed.contains(name));
        names.sort();
        names
            .iter()
            .filter_map(|name| match tools::find(name) {
                Some(tool) => Some(tool.spec()),
                None => self.foreign_spec(name),
            })
            .collect()
    }
}

#[cfg(test)]
pub mod fixture;
#[cfg(test)]
mod gateway_tests;
