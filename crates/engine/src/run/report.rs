//! What a run came to: one value, from which the text, the JSON and the exit code are all made.

use super::Cause;
use crate::{
    store::Foreign,
    view::{RunUsage, Said},
};
use agentctl_base::question::{Outcome, Question};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The JSON of `build --output-format json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    pub run_id: String,
    pub stage: String,
    pub outcome: Outcome,
    /// Why it ended as it did, in words.
    pub message: String,
    /// An undo took back all that the run changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub taken_back: bool,
    /// The change up to which an undo would bring that back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redo: Option<u32>,
    /// What was made and how it was checked, section by section, as the toolset tells it.
    #[serde(flatten)]
    pub made: Map<String, Value>,
    /// What the run waits for; empty unless `outcome` is `waiting`.
    pub questions: Vec<Question>,
    /// What the flow said, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Reply>,
    /// What came of the flow, as it says; None: it says nothing, or is not at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    pub errors: Vec<Value>,
    pub usage: RunUsage,
    /// The recommendations that were taken for answers, since nobody gave others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Taken>,
    /// Answers that were given ahead and that no question took: with one of them the run did not come to its end as it was meant to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_answers: Vec<UnusedAnswer>,
    /// What was lost, as the toolset tells it.
    #[serde(flatten)]
    pub lost: Map<String, Value>,
    /// What the project's policy allowed beyond the pack's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy_loosened: Vec<String>,
    /// From where on the run is not this user's, and why; None: it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
    /// What is lost of the run's records, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<String>,
    /// What the run could use of other servers' tools, as it was settled before any of their results was read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Value>,
    /// The project's files that stood over the built-in pack when the run began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    pub exit_code: u8,
    /// What was asked for. Not part of the JSON.
    #[serde(skip)]
    pub request: String,
    /// The flow's fields, whole. Not part of the JSON.
    #[serde(skip)]
    pub state: Map<String, Value>,
    /// Those of them that make a section of the report, by the section's name. Not part of the JSON.
    #[serde(skip)]
    pub sections: Map<String, Value>,
    /// What an agent wrote about the cause. Not part of the JSON.
    #[serde(skip)]
    pub cause: Option<Value>,
}

/// A question that its recommendation answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    pub topic: String,
    pub question: String,
    pub value: Value,
}

/// An answer whose key is the id or topic of no question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnusedAnswer {
    pub key: String,
    /// The id or topic of a question that is most like it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meant: Option<String>,
}

impl RunReport {
    /// With answers that nothing took: what ended well otherwise, or waits, is a mistake of what was typed.
    #[must_use]
    pub(super) fn with_unused(mut self, unused: Vec<UnusedAnswer>) -> RunReport {
        let is_mild = matches!(
            self.outcome,
            Outcome::Complete | Outcome::Draft | Outcome::Partial | Outcome::Waiting
        );
        if is_mild && !unused.is_empty() {
            self.exit_code = 2;
            self.unused_answers = unused;
        }
        self
    }
}

/// A message of the run's reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    /// Null: nothing goes with it.
    pub data: Value,
    pub attachment: Option<String>,
}

impl From<&Said> for Reply {
    fn from(said: &Said) -> Reply {
        Reply {
            text: said.text.clone(),
            data: said.data.clone(),
            attachment: said.attachment.clone(),
        }
    }
}

/// The exit code of an ending (docs/exit-codes.md). `cause` only matters for an interruption.
pub fn exit_code(outcome: Outcome, cause: Option<Cause>) -> u8 {
    match outcome {
        Outcome::Complete => 0,
        Outcome::Failed => 1,
        Outcome::Blocked => 3,
        Outcome::Waiting => 4,
        Outcome::Refused => 5,
        Outcome::Budget => 8,
        Outcome::Draft | Outcome::Partial => 9,
        // The user asked for it, and got it.
        Outcome::Cancelled => 0,
        Outcome::Interrupted => cause.unwrap_or(Cause::Interrupt).exit_code(),
    }
}
