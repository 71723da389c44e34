//! What a view lists besides calls and changes.

use crate::store::{Record, event::StepPath};
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where in the journal something stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Point {
    pub seq: u64,
    /// UTC, RFC 3339.
    pub at: String,
}

impl From<&Record> for Point {
    fn from(record: &Record) -> Self {
        Point {
            seq: record.seq,
            at: record.at.clone(),
        }
    }
}

/// Whose session a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOf {
    pub role: String,
    /// As the client named itself.
    pub client: String,
    pub client_version: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation {
    pub at: Point,
    /// From 1.
    pub number: u32,
    pub kind: String,
    pub pid: u32,
}

/// An activation that ended before the run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    pub at: Point,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageChange {
    pub at: Point,
    pub to: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub at: Point,
    pub outcome: Outcome,
    pub exit_code: u8,
    pub message: String,
}

/// A question. An answer belongs to the question that was asked last under its id in its step.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub at: Point,
    pub step: StepPath,
    pub question: Question,
    pub answer: Option<(Value, AnsweredBy)>,
    pub answered: Option<Point>,
}

/// A patch of the state that was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Patched {
    pub at: Point,
    pub step: StepPath,
    pub agent: String,
    pub patch: Map<String, Value>,
}

/// A message of the run's reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub at: Point,
    pub step: StepPath,
    pub text: String,
    /// Null: nothing goes with it.
    pub data: Value,
    pub attachment: Option<String>,
}

/// A field of an answer that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub at: Point,
    pub step: StepPath,
    pub field: String,
    pub rule: String,
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    pub at: Point,
    pub step: StepPath,
    pub error: String,
}

/// What the run may use of other servers' tools, as it was pinned.
#[derive(Debug, Clone, PartialEq)]
pub struct Pinned {
    pub at: Point,
    /// `user` or `plan`.
    pub by: String,
}

/// A resource that an undo looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutBack {
    pub at: Point,
    pub resource: String,
}
