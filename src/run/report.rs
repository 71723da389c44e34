//! What a run came to: one value, from which the text, the JSON and the exit code are all made.

use super::Cause;
use agentctl_base::{
    model::Usage,
    question::{Outcome, Question},
};
use agentctl_engine::store::Foreign;
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
    /// What was made and how it was checked, section by section, as the toolset tells it.
    #[serde(flatten)]
    pub made: Map<String, Value>,
    /// What the run waits for; empty unless `outcome` is `waiting`.
    pub questions: Vec<Question>,
    pub errors: Vec<Value>,
    pub usage: RunUsage,
    /// What was lost, as the toolset tells it.
    #[serde(flatten)]
    pub lost: Map<String, Value>,
    /// What the project's policy allowed beyond the pack's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy_loosened: Vec<String>,
    /// From where on the run is not this user's, and why; None: it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
    /// What the run could use of other servers' tools, as it was settled before any of their results was read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Value>,
    /// The project's files that stood over the built-in pack when the run began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    pub exit_code: u8,
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

/// What the whole run used, over all its activations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RunUsage {
    pub model_calls: u64,
    pub tool_calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// None: the price of at least one answer is unknown (unknown is not zero).
    pub cost_usd: Option<f64>,
}

impl RunUsage {
    pub fn add_answer(&mut self, usage: &Usage) {
        self.cost_usd = match (self.model_calls, self.cost_usd, usage.cost_usd) {
            (0, _, cost) => cost,
            (_, Some(so_far), Some(cost)) => Some(so_far + cost),
            _ => None,
        };
        self.model_calls += 1;
        self.input_tokens += usage.input_tokens;
        self.output_tokens += usage.output_tokens;
        self.cached_tokens += usage.cached_tokens;
        self.cache_write_tokens += usage.cache_write_tokens;
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: &RunUsage) -> Self {
        let cost_usd = match (self.model_calls, other.model_calls) {
            (0, _) => other.cost_usd,
            (_, 0) => self.cost_usd,
            _ => self.cost_usd.zip(other.cost_usd).map(|(a, b)| a + b),
        };
        RunUsage {
            model_calls: self.model_calls + other.model_calls,
            tool_calls: self.tool_calls + other.tool_calls,
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            cached_tokens: self.cached_tokens + other.cached_tokens,
            cache_write_tokens: self.cache_write_tokens + other.cache_write_tokens,
            cost_usd,
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
        // The user asked for it, and got it.
        Outcome::Cancelled => 0,
        Outcome::Interrupted => match cause {
            None | Some(Cause::Interrupt) => 130,
            Some(Cause::Terminate) => 143,
        },
    }
}
