//! What was changed outside, by whom.

use crate::store::{
    Event, Record,
    event::{Change, StepPath},
};
use agentctl_base::model::ToolStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who made a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A tool call: its role and its tool.
    Tool {
        role: String,
        tool: String,
    },
    Undo,
    /// Not this program, or not this run: seen when the next change began.
    Outside,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The record that tells of it.
    pub seq: u64,
    /// UTC, RFC 3339.
    pub at: String,
    /// The project's turn in which it was made; None: no record says it.
    pub turn: Option<u64>,
    pub step: StepPath,
    pub by: By,
    pub change: Change,
    /// As what it came to: the call succeeded, or an undo left another state than that of before the run. Else something was
    /// changed, but nothing that the run can claim.
    pub stands: bool,
    /// As the tool's result names it.
    pub name: Option<String>,
    pub file: Option<String>,
}

impl Changed {
    /// What a record tells of a change; in which turn, tell the records before it. It counts as one whatever the call came to: one that read back otherwise than meant did
    /// change something.
    pub fn of(record: &Record) -> Option<Changed> {
        let (seq, at) = (record.seq, record.at.clone());
        match &record.event {
            Event::ToolFinished {
                step,
                role,
                result,
                change: Some(change),
            } => Some(Changed {
                seq,
                at,
                turn: None,
                step: step.clone(),
                by: By::Tool {
                    role: role.clone(),
                    tool: result.name.clone(),
                },
                change: change.clone(),
                stands: result.status == ToolStatus::Ok,
                name: told(&result.content, &change.resource.kind, "name"),
                file: told(&result.content, &change.resource.kind, "file"),
            }),
            Event::Undone {
                to,
                change: Some(change),
                ..
            } => Some(Changed {
                seq,
                at,
                turn: None,
                step: "undo".to_owned(),
                by: By::Undo,
                change: change.clone(),
                // An undo of an undo, or of a part of the run's changes, leaves a resource of this run.
                stands: matches!(to, Some(1..)),
                name: None,
                file: None,
            }),
            _ => None,
        }
    }
}

/// What a result says of the resource: at its top, or below the word for such a resource.
fn told(content: &Value, kind: &str, key: &str) -> Option<String> {
    let top = content.get(key).and_then(Value::as_str);
    let below = || content.get(kind)?.get(key)?.as_str();
    top.or_else(below).map(str::to_owned)
}
