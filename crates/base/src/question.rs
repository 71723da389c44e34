//! What a user is asked, who answered, and how work ended.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question to the user: a step of its own. `schema` is the JSON Schema of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Stable within the run, e.g. `q1`, `decision`, `approve-3`.
    pub id: String,
    /// A short topic key that `--answers` may use instead of the id, e.g. `channel`.
    pub topic: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<QuestionOption>,
    /// The value of the option (or the text) that `--yes` takes. None: there is nothing to recommend, `--yes` cannot answer it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended: Option<Value>,
    /// False: may be left unanswered.
    #[serde(default = "yes")]
    pub required: bool,
    #[serde(default = "any_schema")]
    pub schema: Value,
    /// Set for approvals: the sha-256 of the exact call; an answer counts for this call, this run only, until the proposal expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approves: Option<String>,
    /// For approvals: what would be done, as the user must see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Box<Proposal>>,
    /// Whose words these are when they are not the program's own pack's: `agents/flow.yaml of this folder`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// Its words ask for a password, a key or a token.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_secret: bool,
}
fn yes() -> bool {
    true
}
fn any_schema() -> Value {
    serde_json::json!({"type": "string", "minLength": 1})
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionOption {
    pub value: Value,
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// 0–100, computed by the program from evidence (decision phase).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit_score: Option<u8>,
}

impl Question {
    /// A required question without options: any text that is not empty answers it. Its topic is its id too.
    pub fn open(topic: &str, text: impl Into<String>) -> Question {
        Question {
            id: topic.to_owned(),
            topic: topic.to_owned(),
            text: text.into(),
            options: Vec::new(),
            recommended: None,
            required: true,
            schema: serde_json::json!({"type": "string", "minLength": 1}),
            approves: None,
            proposal: None,
            asked_by: None,
            asks_secret: false,
        }
    }
}

impl QuestionOption {
    /// A value and what it is called, with nothing more to say.
    pub fn new(value: impl Into<Value>, label: impl Into<String>) -> QuestionOption {
        QuestionOption {
            value: value.into(),
            label: label.into(),
            detail: None,
            fit_score: None,
        }
    }
}

/// What there is to know of a document before it is written, as what keeps such documents says it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Glance {
    /// What only the user can do afterwards: kind, node and text, or a text.
    #[serde(default)]
    pub todo: Vec<Value>,
    /// What a check says of it: severity, code, node, message.
    #[serde(default)]
    pub findings: Vec<Value>,
    /// The phrases of what was asked for that it does not answer for.
    #[serde(default)]
    pub not_covered: Vec<String>,
    /// What was assumed or decided.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What must come out of what, as it is going to be tried: name, input, expect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<Value>,
}

/// What an approval allows: the exact call, and what it would change. Secrets are hidden, and what would steer a terminal is marked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The rule that asks.
    pub rule: String,
    pub role: String,
    pub tool: String,
    pub arguments: Value,
    /// The unified diff of the workflow's document, before and after; None: no document changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The document as it would be, where the user wants to look at it before it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// What there is to know of that document; None: nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glance: Option<Glance>,
    /// UTC, RFC 3339: an approval counts until then, and not for a second call.
    pub expires_at: String,
    /// What there is to know of values that are hidden in the arguments: how to look at them, or why they cannot be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
}

/// Who answered: never a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnsweredBy {
    Terminal,
    File,
    Command,
    /// `--yes`: the recommendation was taken.
    Recommended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Complete,
    /// Made and checked, but not all that was asked for is in it: what is missing is named.
    Draft,
    /// Made and checked, and a requirement is not in it that could not be built: what is missing is named.
    Partial,
    Blocked,
    /// Waiting for an answer or an approval.
    Waiting,
    Refused,
    Failed,
    Budget,
    Cancelled,
    Interrupted,
}

impl Outcome {
    pub const ALL: [Outcome; 10] = [
        Outcome::Complete,
        Outcome::Draft,
        Outcome::Partial,
        Outcome::Blocked,
        Outcome::Waiting,
        Outcome::Refused,
        Outcome::Failed,
        Outcome::Budget,
        Outcome::Cancelled,
        Outcome::Interrupted,
    ];

    /// Its word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Draft => "draft",
            Outcome::Partial => "partial",
            Outcome::Blocked => "blocked",
            Outcome::Waiting => "waiting",
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
            Outcome::Budget => "budget",
            Outcome::Cancelled => "cancelled",
            Outcome::Interrupted => "interrupted",
        }
    }
}
