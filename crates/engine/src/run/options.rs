//! What a caller hands to a run, and how a run speaks to its caller while it goes on.

use crate::policy::{Grants, Outside};
use crate::store::{Budgets, Event, Link, Record};
use agentctl_base::question::Question;
use serde_json::{Map, Value};

/// What the user asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunOptions {
    pub request: String,
    /// Further values of the flow's input (`input.<key>`): what else the user said, and what a pack's tools need.
    pub input: Map<String, Value>,
    pub answering: Answering,
    /// What the run may use of other servers' tools, by the user's own word.
    pub grants: Option<Grants>,
    /// Let a model plan that from the request, before any tool is called; and what becomes of a call outside of the plan.
    pub plan_tools: Option<Outside>,
    pub limits: Budgets,
    /// The conversation that the run is a turn of, as it was read; None: the run stands alone.
    pub session: Option<Box<SessionGiven>>,
}

/// A conversation as it was read when a turn of it began.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionGiven {
    pub id: String,
    /// How often it was written.
    pub version: u64,
    /// The fields that it keeps.
    pub fields: Map<String, Value>,
    /// `{role, text}`, oldest first.
    pub messages: Vec<Value>,
    /// What the sender calls the message that the turn answers.
    pub heard: Option<String>,
    /// The call of another run that the turn works on.
    pub parent: Option<Link>,
}

impl From<SessionGiven> for Event {
    fn from(given: SessionGiven) -> Event {
        Event::SessionLoaded {
            conversation: given.id,
            version: given.version,
            fields: given.fields,
            messages: given.messages,
        }
    }
}

/// Where answers come from, tried in this order; what none of them answers is waited for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answering {
    /// `--answers FILE`: question id or topic → answer.
    pub answers: Map<String, Value>,
    /// `--yes`: take each recommendation. Approvals of a guard have none and are never taken.
    pub yes: bool,
}

/// Sees everything that a run does, as it does it. It cannot change the run.
pub trait Observer: Send {
    /// A record was appended to the journal. During a resume, earlier records are not shown again.
    fn event(&mut self, record: &Record);
    /// The run is worked on from here: it was begun, or it is gone on with.
    fn goes_on(&mut self, _run: &str) {}
    /// Text of a model's answer as it streams. `spoken`: it is said to the user (`speak`); else it is an agent's word to the program.
    fn text(&mut self, _delta: &str, _spoken: bool) {}
    /// Something the user should know that is no part of the run (a healed journal, an archived run).
    fn note(&mut self, _text: &str) {}
    /// Something that the user did and that came to nothing, as an answer that does not fit: told however little is wanted.
    fn mistake(&mut self, text: &str) {
        self.note(text);
    }
}

/// An observer that does not look.
pub struct Unobserved;
impl Observer for Unobserved {
    fn event(&mut self, _: &Record) {}
}

/// What became of a question to a person.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    Answer(Value),
    /// Not now: the run stops and waits (an optional question stays open).
    Later,
    /// Ctrl-C at the question.
    Interrupted,
}

/// A person at a terminal. An answer that does not fit the question's schema is asked for again.
pub trait Asker: Send {
    /// Err: the terminal cannot be used; the run then waits as if there were none.
    fn ask(&mut self, question: &Question) -> Result<Asked, String>;
    /// The last answer did not fit; `why` says what would.
    fn refuse(&mut self, _question: &Question, _why: &str) {}
}
