//! What a run came to: one value, from which the text, the JSON and the exit code are all made.

use super::Cause;
use agentctl_base::question::{Outcome, Question};
use agentctl_engine::{
    run::RunUsage,
    store::{Foreign, event::Counted},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The JSON of `build --output-format json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    pub run_id: String,
    pub stage: String,
    pub outcome: Outcome,
    /// Why it ended as it did, in words.
    pub message: String,
    pub workflow: Option<WorkflowReport>,
    /// The address of the n8n that it worked on; None: files of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n8n: Option<String>,
    pub qa_report: Option<QaReport>,
    /// What the run waits for; empty unless `outcome` is `waiting`.
    pub questions: Vec<Question>,
    pub errors: Vec<Value>,
    pub usage: RunUsage,
    /// What was lost of each workflow, by id, and from when that was counted; only where something was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub losses: BTreeMap<String, Counted>,
    /// What the project's policy allowed beyond the pack's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_loosened: Vec<String>,
    /// From where on the run is not this user's, and why; None: it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
    /// What the run could use of other servers' tools, as it was settled before any of their results was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Value>,
    /// The project's files that stood over the built-in pack when the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    pub exit_code: u8,
    /// The flow's fields, whole. Not part of the JSON.
    #[serde(skip)]
    pub state: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkflowReport {
    pub id: String,
    pub name: String,
    /// Below the project, when the backend keeps files.
    pub file: Option<String>,
    pub node_count: u64,
    pub graph_hash: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QaReport {
    pub status: String,
    pub error_count: u64,
    pub warning_count: u64,
    pub cycle: u64,
    /// False: it was checked, never run.
    pub executed: bool,
    /// n8n's id of the last test run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// `pass`, `fail`, or `inconclusive`: it stopped for a reason outside the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_status: Option<String>,
    /// The nodes that ran in it, those in whose place something stood, and those that it did not come to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub simulated: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_reached: Vec<String>,
    /// Why each of the simulated ones did not run, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub simulated_because: BTreeMap<String, String>,
    /// The name of the temporary workflow that it ran on; None: on the workflow itself, or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
    /// What left n8n in the test: `node`, `by` (`host` or `let_act`), and the `host` or the node's `type`. Empty: nothing did. None:
    /// it was not executed, or before this was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<Vec<Value>>,
    /// What could not be taken away again, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_behind: Option<String>,
    /// What the server behind the n8n says of the workflow by rules of its own: `name` with `valid`, `errors` and `warnings`, or
    /// with `failed`. It decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Value>,
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
        // The user asked for it, and got it.
        Outcome::Cancelled => 0,
        Outcome::Interrupted => match cause {
            None | Some(Cause::Interrupt) => 130,
            Some(Cause::Terminate) => 143,
        },
    }
}
