//! What the journal says of a change of a workflow: what it was about to do, what is lost with it, what it did.

use serde::{Deserialize, Serialize};

/// What a mutation is about to do, so that a crash between intent and result can be settled by reading back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MutationExpectation {
    pub workflow_id: Option<String>,
    /// Graph hash before; None: the workflow does not exist yet.
    pub before: Option<String>,
    /// Graph hash after, when it can be computed beforehand; None for a deletion.
    pub after: Option<String>,
    /// For a change of an existing workflow: the unified diff that the user is shown before it is written, secrets hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// For a test: what has to be taken away when it is interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<Rehearsing>,
    /// For a new workflow whose id the backend chooses: what it is known by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<CreateMark>,
    /// For a change of an existing workflow: what would be lost with it, and since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
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
    /// What newly stands before most of it is what the user's own words asked for: losses count from what the change leaves.
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
    /// The user's own words asked for the gate that newly stands before most of it.
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
            BaseHow::Requested => "when a gate that you asked for was put into it",
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

/// What a mutation did, as read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub workflow_id: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub node_count: usize,
    /// The snapshot that puts it back; None when the workflow was created by this call.
    pub snapshot: Option<String>,
}
