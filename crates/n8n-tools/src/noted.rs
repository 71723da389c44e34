//! What the journal keeps of a change besides what it keeps of any toolset's: what a test leaves when it is interrupted, by what a
//! new workflow is found again, what is lost. It stands among the keys of the call's expectation.

use agentctl_engine::store::event::MutationExpectation;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The keys of an expectation. They stand in journals, so they never change.
const REHEARSAL: &str = "rehearsal";
const CREATED: &str = "created";
const COUNTED: &str = "counted";

/// The sign of a test in the line of a journal.
pub(crate) const REHEARSAL_SIGN: &str = "\"rehearsal\"";

/// What an expectation says in this toolset's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noted {
    /// For a test: what has to be taken away when it is interrupted.
    pub rehearsal: Option<Rehearsing>,
    /// For a new workflow whose id the backend chooses: what it is known by.
    pub created: Option<CreateMark>,
    /// For a change of an existing workflow: what would be lost with it, and since when.
    pub counted: Option<Counted>,
}

impl Noted {
    /// As it stands in the journal. Err: something that is said there is not of its form, and nothing may be settled by it.
    pub fn read(more: &Map<String, Value>) -> Result<Noted, serde_json::Error> {
        fn one<T: DeserializeOwned>(
            more: &Map<String, Value>,
            key: &str,
        ) -> Result<Option<T>, serde_json::Error> {
            more.get(key).map(T::deserialize).transpose()
        }
        Ok(Noted {
            rehearsal: one(more, REHEARSAL)?,
            created: one(more, CREATED)?,
            counted: one(more, COUNTED)?,
        })
    }

    /// The same, only to be shown: nothing, where it cannot be read.
    pub fn shown(more: &Map<String, Value>) -> Noted {
        Noted::read(more).unwrap_or_default()
    }

    /// What the intent of a call says, only to be shown.
    pub fn in_expectation(expect: &MutationExpectation) -> Noted {
        Noted::shown(&expect.more)
    }

    /// For the journal.
    pub fn written(&self) -> Map<String, Value> {
        let said = [
            (REHEARSAL, self.rehearsal.as_ref().map(|left| json!(left))),
            (CREATED, self.created.as_ref().map(|mark| json!(mark))),
            (COUNTED, self.counted.as_ref().map(|counted| json!(counted))),
        ];
        said.into_iter()
            .filter_map(|(key, said)| Some((key.to_owned(), said?)))
            .collect()
    }
}

/// What is lost of a workflow with a change, and from which state on that was counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub how: BaseHow,
    /// UTC, RFC 3339; None: since the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    pub lost: usize,
    /// Nodes of that state, sticky notes aside.
    pub total: usize,
    /// All that was taken out or put behind gates is what the user's own words asked for: losses count from what the change leaves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requested: bool,
}

/// Why a state of a workflow is the one that losses are counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseHow {
    /// There is no folder to keep an earlier one in: it is as the run found it.
    RunStart,
    /// As agentctl found it before its first change.
    FirstSeen,
    /// `agentctl accept`.
    Accepted,
    /// A person allowed the change that led to it, which took most of it away.
    Approved,
    /// The user's own words asked for all that was taken out or put behind gates.
    Requested,
    Pushed,
    Undone,
    /// Somebody changed it without agentctl.
    Edited,
}

impl Counted {
    /// "counted from 2026-11-20, when you accepted it".
    pub fn from_when(&self) -> String {
        let day = self.since.as_deref().and_then(|at| at.get(..10));
        match (self.how, day) {
            (BaseHow::RunStart, _) | (_, None) => "counted from the start of the run".to_owned(),
            (how, Some(day)) => format!("counted from {day}, {}", how.when()),
        }
    }
}

impl BaseHow {
    /// "when you accepted it".
    pub fn when(self) -> &'static str {
        match self {
            BaseHow::RunStart => "when the run began",
            BaseHow::FirstSeen => "when agentctl was about to change it for the first time",
            BaseHow::Accepted => "when you accepted it",
            BaseHow::Approved => "when you allowed a change of it",
            BaseHow::Requested => "when it was changed as you asked",
            BaseHow::Pushed => "when you pushed it",
            BaseHow::Undone => "when you took changes back",
            BaseHow::Edited => "when it had been changed without agentctl",
        }
    }
}

/// What a test puts on the n8n for its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rehearsing {
    /// The name of the temporary copy; no other workflow has it.
    pub copy: String,
    /// The workflow itself is active during the test, and was not before.
    pub activates: bool,
}

/// By what a new workflow is found again when the answer to its creation was lost: it has the name and the nodes, and was not
/// there before. No clock is asked, and nothing is written into the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateMark {
    pub name: String,
    /// The ids of the workflows that had the name before.
    pub known: Vec<String>,
    /// The ids of its nodes, sorted: we chose them.
    pub nodes: Vec<String>,
}
