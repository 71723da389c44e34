//! What a run used. A call of a tool counts when it has a result, whatever the result, and a call that was refused has one; a call
//! of a model counts when it was answered. What was written to a provider's cache counts as used.

use super::{Call, ModelCall, Returned};
use agentctl_base::model::Usage;
use serde::{Deserialize, Serialize};

/// What the whole run used, over all its activations; or a part of it.
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

/// One thing that counts as used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Use<'a> {
    Model(&'a ModelCall, &'a Usage),
    Tool(&'a Call, &'a Returned),
}

impl<'a> Use<'a> {
    pub fn add_to(&self, usage: &mut RunUsage) {
        match self {
            Use::Model(_, used) => usage.add_answer(used),
            Use::Tool(..) => usage.tool_calls += 1,
        }
    }

    /// The stage in which it was used; None: the flow's first.
    pub fn stage(self) -> Option<&'a str> {
        match self {
            Use::Model(call, _) => call.stage.as_deref(),
            Use::Tool(call, _) => call.stage.as_deref(),
        }
    }

    pub(super) fn seq(&self) -> u64 {
        match self {
            Use::Model(call, _) => call.answered.as_ref().map_or(0, |at| at.seq),
            Use::Tool(_, returned) => returned.at.seq,
        }
    }
}
