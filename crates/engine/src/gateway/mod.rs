//! The one door to tools: parse → decide → guard → journal the intent → call → verify by reading back → redact → journal
//! the result. A model's JSON is turned into a typed request by its toolset and goes no further.
//! Must know no role, no stage and no tool by name, must never let an error through as a permission, and must never drop a failed
//! write of the journal: what could not be recorded was not done.

mod approval;
mod call;
mod ceiling;
mod foreign;
mod held;
mod own;
mod places;
mod record;
mod settle;

pub use foreign::{ApprovedTool, ForeignTools, call_approved};
pub use held::{HeldCall, HeldCalls};
pub use own::{ByUser, USER_RULE};

use crate::guards::{GuardState, rules};
use crate::pack::Pack;
use crate::policy::Policy;
use crate::redact::{self, Redactor};
use crate::store::event::Weighed;
use crate::store::{Event, StoreError};
use crate::toolset::{Cx, Head, NoResources, Recorder, Resources, Toolset};
use agentctl_base::model::{ToolResult, ToolSpec};
use agentctl_base::question::Question;
use agentctl_base::{strict_json, untrusted};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::sync::Arc;

/// One call's surroundings.
pub struct CallContext<'a> {
    pub role: &'a str,
    /// The flow step's path, for the journal.
    pub step: &'a str,
    /// The names of the tools that this role was shown; a call to another one is refused. None: not limited (the flow itself calls).
    pub offered: Option<&'a [String]>,
    /// False where nobody can ever answer: then what would be asked is refused.
    pub can_ask: bool,
    /// Arguments that the program fills: no model sees or sets them.
    pub bound: Option<&'a Map<String, Value>>,
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
    /// Journaled as begun: the run works on the flow that the tool is, then [`Gateway::came_of`] has its result.
    Begun,
}

/// What one step offers of the tools that were weighed, and what it does not.
#[derive(Debug, Default)]
pub(crate) struct Offer {
    pub tools: Vec<Weighed>,
    pub left_out: Vec<Weighed>,
}

/// The door itself.
pub struct Gateway {
    policy: Policy,
    toolsets: Vec<Arc<dyn Toolset>>,
    redactor: Redactor,
    foreign: Option<Arc<dyn ForeignTools>>,
    held: held::Keeper,
}

impl Gateway {
    /// Under the pack's policy. A name that two toolsets have is the first one's.
    pub fn new(pack: &Pack, toolsets: Vec<Arc<dyn Toolset>>) -> Self {
        Self::with_policy(pack.policy.clone(), toolsets)
    }

    pub fn with_policy(policy: Policy, toolsets: Vec<Arc<dyn Toolset>>) -> Self {
        Gateway {
            policy,
            toolsets,
            redactor: Redactor::default(),
            foreign: None,
            held: Err("nothing is set up to keep them".to_owned()),
        }
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

    /// The guards' state of a run that has not begun. `scope_field`: the field of its flow that says what a fix cycle may change.
    pub fn guards(&self, scope_field: Option<&str>) -> GuardState {
        let memories = self.toolsets.iter().filter_map(|set| set.memory());
        GuardState::new(memories.collect(), scope_field)
    }

    /// What the engine can take back, compare and verify.
    pub fn resources(&self) -> &dyn Resources {
        let own = self.toolsets.iter().find_map(|set| set.resources());
        own.unwrap_or(&NoResources)
    }

    /// One of our own tools, by its exact name.
    pub fn tool(&self, name: &str) -> Option<&Head> {
        self.found(name).map(|(_, head)| head)
    }

    /// Whether a call of one of our own tools can come to anything here. Of another server's nothing is known.
    pub(crate) fn serves(&self, name: &str) -> bool {
        self.found(name).is_none_or(|(set, _)| set.serves(name))
    }

    /// Whether the policy lets a role use a tool at all.
    pub(crate) fn is_granted(&self, role: &str, name: &str) -> bool {
        self.policy
            .allowed_tools(role)
            .iter()
            .any(|tool| tool == name)
    }

    /// A call of it may be let go in the middle. Of what another server's tool does nothing is known.
    pub(crate) fn only_reads(&self, name: &str) -> bool {
        self.tool(name).is_some_and(|head| !head.changes)
    }

    /// Whether a call of it may change one of the resources that only one run of a project changes at a time.
    pub(crate) fn changes_resources(&self, name: &str) -> bool {
        self.found(name)
            .is_some_and(|(set, head)| head.changes && set.resources().is_some())
    }

    pub(crate) fn toolsets(&self) -> &[Arc<dyn Toolset>] {
        &self.toolsets
    }

    /// A tool that says another capability than the policy judges it by, or of which the policy knows nothing, is none.
    fn found(&self, name: &str) -> Option<(&dyn Toolset, &Head)> {
        let judged = self.policy.vocabulary().tool(name)?;
        let fits = |head: &&Head| {
            (head.name, head.capability, head.changes)
                == (judged.name, judged.capability, judged.changes)
        };
        self.toolsets.iter().find_map(|set| {
            let head = set.tools().iter().find(fits)?;
            Some((set.as_ref(), head))
        })
    }

    /// The tools of a role: those it lists, as far as the policy may allow a call of them; sorted by name.
    pub fn tools_for(&self, role: &str, listed: &[String]) -> Vec<ToolSpec> {
        let mut names = self.policy.allowed_tools(role);
        names.retain(|name| listed.contains(name));
        names.sort();
        names
            .iter()
            .filter_map(|name| match self.tool(name) {
                Some(head) => Some(head.spec()),
                None => self.foreign_spec(name),
            })
            .collect()
    }

    /// Of these tools the ones that one step does not offer, since a toolset has more of them than the policy's limit; with those that stay,
    /// weighed against the need of a step with this task. None: all are offered.
    pub(crate) fn offer(&self, tools: &[ToolSpec], need: &str, task: &str) -> Option<Offer> {
        let most = usize::try_from(self.policy.limits().max_offered_tools).unwrap_or(usize::MAX);
        let mut offer = Offer::default();
        for set in &self.toolsets {
            let own = |tool: &&ToolSpec| set.tools().iter().any(|head| head.name == tool.name);
            let own: Vec<&str> = tools.iter().filter(own).map(|t| t.name.as_str()).collect();
            if own.len() > most
                && let Some(mut weighed) = set.weighed(need, task, &own)
            {
                offer
                    .left_out
                    .extend(weighed.split_off(most.min(weighed.len())));
                offer.tools.extend(weighed);
            }
        }
        (!offer.left_out.is_empty()).then_some(offer)
    }

    /// The way out of a refusal, for the model.
    fn hint(&self, rule: &str) -> &'static str {
        let own = self.toolsets.iter().find_map(|set| set.hint(rule));
        own.unwrap_or_else(|| rules::hint(rule))
    }

    fn expiry(&self, now: Timestamp) -> Timestamp {
        let seconds = i64::try_from(self.policy.limits().max_approval_seconds).unwrap_or(i64::MAX);
        now.checked_add(jiff::SignedDuration::from_secs(seconds))
            .unwrap_or(Timestamp::MAX)
    }

    /// The call as its toolset sees it.
    fn inner<'a>(&'a self, cx: &'a mut CallContext<'_>, call_id: &'a str) -> Cx<'a> {
        let now = cx.recorder.now();
        Cx {
            role: cx.role,
            step: cx.step,
            call_id,
            bound: cx.bound,
            can_ask: cx.can_ask,
            guards: &mut *cx.guards,
            recorder: &mut *cx.recorder,
            redactor: &self.redactor,
            expires: self.expiry(now),
        }
    }
}
