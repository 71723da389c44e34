//! The words of the model port: one request in, one answer out. Providers, the offline planner, record and replay stand behind
//! the trait. Nothing here decides what runs next; a model proposes, the run decides.

use crate::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tokens and cost of one answer. `cost_usd` is None when the price is unknown (unknown is not zero).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// All of them; those from and into the cache are parts of it.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Read from the provider's cache.
    pub cached_tokens: u64,
    /// Put into the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Of a model that is a part of the program: no tokens, and a price that is known.
    pub fn free() -> Self {
        Usage {
            cost_usd: Some(0.0),
            ..Usage::default()
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_nothing(n: &usize) -> bool {
    *n == 0
}

/// A tool as the model sees it. `parameters` is a JSON Schema object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub parameters: Value,
}

/// A call that the model asks for. `arguments` is the model's raw JSON text: only the gateway parses it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// What became of a call: every call gets exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    Ok,
    Refused,
    Failed,
    Cancelled,
    /// The call may have happened (killed in between): read back before anything else.
    Unknown,
}

impl ToolStatus {
    pub const ALL: [ToolStatus; 5] = [
        ToolStatus::Ok,
        ToolStatus::Refused,
        ToolStatus::Failed,
        ToolStatus::Cancelled,
        ToolStatus::Unknown,
    ];

    /// As the journal writes it.
    pub fn name(self) -> &'static str {
        match self {
            ToolStatus::Ok => "ok",
            ToolStatus::Refused => "refused",
            ToolStatus::Failed => "failed",
            ToolStatus::Cancelled => "cancelled",
            ToolStatus::Unknown => "unknown",
        }
    }

    pub fn from_name(name: &str) -> Option<ToolStatus> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call_id: String,
    pub name: String,
    pub status: ToolStatus,
    /// For `ok`: the tool's answer. Else `{"error": …, "rule": …, "hint": …}`.
    pub content: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    User {
        text: String,
    },
    Assistant {
        text: String,
        tool_calls: Vec<ToolCall>,
    },
    Tool {
        results: Vec<ToolResult>,
    },
}

/// What an agent is asked to do in one step, in typed form. Prompt assembly renders it into the first user message; the
/// offline model reads it as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentTask {
    pub agent: String,
    /// The flow step's path, e.g. `qa_loop[2]/validate`.
    pub step: String,
    /// The name of the work to do, from the flow (`task:`), e.g. `clarify`. The offline planner has one handler for each.
    pub task: String,
    /// What to do, in words, from the flow.
    pub instructions: String,
    /// The state fields that the step may read (flow: `reads:`).
    pub input: serde_json::Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// `provider::model`, or `offline`.
    pub model: String,
    pub task: AgentTask,
    pub system: String,
    pub messages: Vec<Message>,
    /// Where in `messages` the task stands; what is before it is the conversation that the step is about.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub task_at: usize,
    /// Sorted by name (a stable prefix is a cached prefix).
    pub tools: Vec<ToolSpec>,
    /// JSON Schema of the final answer (the step's output contract).
    pub output_schema: Value,
    /// Calls whose results gave way to a line each just before this request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<String>,
}

/// How long the conversation of a step may become before old tool results in it are shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Room {
    /// There is no limit.
    Endless,
    /// Tokens, by [`ModelRequest::estimated_tokens`].
    Tokens(u64),
    /// A replay: the results of these calls, whatever the length.
    Recorded(Vec<String>),
}

/// Why an answer ended where it did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    #[default]
    Done,
    /// The provider's limit on the length of an answer cut it off.
    Length,
    /// The model, or a filter of its provider, would not answer.
    Refused,
}

impl Finish {
    pub fn is_done(&self) -> bool {
        *self == Finish::Done
    }
}

impl ModelRequest {
    /// What was said before the task, oldest first.
    pub fn conversation(&self) -> &[Message] {
        self.messages.get(..self.task_at).unwrap_or_default()
    }

    /// The tokens of the request by the length of its text, four bytes each: for limits before a call, and where a server
    /// does not count.
    pub fn estimated_tokens(&self) -> u64 {
        let messages = serde_json::to_string(&self.messages).unwrap_or_default();
        let tools = serde_json::to_string(&self.tools).unwrap_or_default();
        let bytes = self.system.len() + messages.len() + tools.len();
        (bytes as u64).div_ceil(4)
    }
}

/// Either tool calls, or the final text (JSON by the output contract).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswer {
    pub text: String,
    pub tool_calls: Vec<ToolCall>,
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Finish::is_done")]
    pub finish: Finish,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No key, wrong key, unknown provider. Exit code 6.
    #[error("model {model} is not available: {reason}")]
    Unavailable { model: String, reason: String },
    /// The offline planner has no handler for this task.
    #[error(
        "the offline model cannot do the task {task:?} of agent {agent:?}; set a model with --model or in agentctl.toml"
    )]
    NoHandler { agent: String, task: String },
    #[error("model {model} failed: {reason}")]
    Failed { model: String, reason: String },
    /// It sees no way on after a call that was refused or failed: that is the run's end, and no fault of the model.
    #[error("{reason}")]
    GaveUp { reason: String },
    /// A fault that may pass: overload, a limit on the rate, a lost connection. Whoever asked decides whether to ask again.
    #[error("model {model} failed for now: {reason}")]
    Passing {
        model: String,
        reason: String,
        /// How long the provider asks to be left alone.
        wait_ms: Option<u64>,
    },
}

impl ModelError {
    /// The same with another reason: what a provider says can hold what nobody should read.
    #[must_use]
    pub fn map_reason(mut self, change: impl FnOnce(String) -> String) -> Self {
        match &mut self {
            ModelError::Unavailable { reason, .. }
            | ModelError::Failed { reason, .. }
            | ModelError::GaveUp { reason }
            | ModelError::Passing { reason, .. } => *reason = change(std::mem::take(reason)),
            ModelError::NoHandler { .. } => {}
        }
        self
    }
}

/// What a call costs, before it is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cost {
    Known(f64),
    Unknown,
    /// The model only tells with its answer.
    Untold,
}

/// One provider. `sink` receives text as it streams.
pub trait Model: Send + Sync {
    /// True when an answer costs money or cannot be had again: it is synced to disk before it is used.
    fn is_paid(&self) -> bool;
    /// What so many tokens of input cost at least.
    fn cost_of_input(&self, _tokens: u64) -> Cost {
        Cost::Untold
    }
    fn room(&self, _request: &ModelRequest) -> Room {
        Room::Endless
    }
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        sink: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>>;
}
