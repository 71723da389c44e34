//! What a run may use: the policy's limits, lowered by what was given on the command line and in agentctl.toml; and what one
//! agent of it may use. Checked before each model call.

use super::{LimitOverrides, RunUsage};
use crate::view::Repeated;
use agentctl_base::model::{Cost, Model};
use std::sync::Arc;

/// The call of a model that is about to be made.
pub struct Next {
    /// 0 when tokens cost nothing.
    pub input_tokens: u64,
    pub model: Arc<dyn Model>,
}

impl Next {
    /// What the call will use at least, while it is under way.
    pub fn reserve(&self) -> RunUsage {
        let cost = match self.model.cost_of_input(self.input_tokens) {
            Cost::Known(cost) => cost,
            Cost::Unknown | Cost::Untold => 0.0,
        };
        RunUsage {
            model_calls: 1,
            input_tokens: self.input_tokens,
            cost_usd: Some(cost),
            ..RunUsage::default()
        }
    }
}

/// One call (tool, arguments, result) may come back so many times as often as the policy allows it in one step: a check in
/// each repair cycle is not a loop.
const REPEATS: u64 = 4;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    pub model_calls: Option<u64>,
    pub tool_calls: Option<u64>,
    /// Input and output together.
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    /// The user set the limit on cost: a price that nobody knows then stops the run. (Under the policy's own limit, which
    /// every run has, the limit on tokens holds instead.)
    pub price_must_be_known: bool,
    /// Work of all activations; waiting for a person does not count.
    pub wall_ms: Option<u64>,
    /// Model calls in one step.
    pub turns: Option<u64>,
    /// The same call with the same result, in the whole run.
    pub identical_calls: Option<u64>,
}

impl Limits {
    pub fn of(policy: &crate::policy::Limits) -> Self {
        Limits {
            model_calls: Some(policy.max_model_calls),
            // The gateway keeps the policy's own: it tells the model to finish with what it has.
            tool_calls: None,
            tokens: Some(policy.max_tokens),
            cost_usd: Some(policy.max_cost_usd),
            price_must_be_known: false,
            wall_ms: Some(policy.max_seconds.saturating_mul(1000)),
            turns: Some(policy.max_turns),
            identical_calls: Some(policy.max_identical_calls.saturating_mul(REPEATS)),
        }
    }

    /// The lower of both, for each limit: a command line cannot loosen a policy.
    pub fn lowered(self, by: &LimitOverrides) -> Self {
        let lower = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Limits {
            model_calls: lower(self.model_calls, by.max_model_calls),
            tool_calls: lower(self.tool_calls, by.max_tool_calls),
            tokens: lower(self.tokens, by.max_tokens),
            cost_usd: match (self.cost_usd, by.max_cost_usd) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            price_must_be_known: self.price_must_be_known || by.max_cost_usd.is_some(),
            wall_ms: lower(self.wall_ms, by.max_seconds.map(|s| s.saturating_mul(1000))),
            turns: lower(self.turns, by.max_turns),
            identical_calls: self.identical_calls,
        }
    }

    /// Why no further model call may be made; None: one may. `whose`: the run, or one of its agents.
    pub fn spent(&self, whose: &str, usage: &RunUsage, elapsed_ms: u64) -> Option<String> {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        let over = |used: u64, limit: Option<u64>| limit.filter(|limit| used >= *limit);
        if let Some(limit) = over(usage.model_calls, self.model_calls) {
            return Some(format!("{whose} has made its {limit} model calls"));
        }
        if let Some(limit) = over(usage.tool_calls, self.tool_calls) {
            return Some(format!("{whose} has made its {limit} tool calls"));
        }
        if let Some(limit) = over(tokens, self.tokens) {
            return Some(format!("{whose} has used its {limit} tokens"));
        }
        if let Some(limit) = self.cost_usd {
            match usage.cost_usd {
                Some(cost) if cost >= limit => {
                    return Some(format!("{whose} has spent its {limit} USD"));
                }
                None if usage.model_calls > 0 && self.price_must_be_known => {
                    return Some(format!(
                        "the price of the model is unknown, so {whose}'s limit of {limit} USD cannot be kept"
                    ));
                }
                _ => {}
            }
        }
        if let Some(limit) = over(elapsed_ms, self.wall_ms) {
            return Some(format!("{whose} has taken its {} seconds", limit / 1000));
        }
        None
    }

    /// Why this call may not be made, although the limits are not reached yet: it would go beyond them.
    pub fn forbids(&self, whose: &str, usage: &RunUsage, next: &Next) -> Option<String> {
        let used = usage.input_tokens.saturating_add(usage.output_tokens);
        if let Some(limit) = self.tokens
            && next.input_tokens > 0
            && used.saturating_add(next.input_tokens) > limit
        {
            return Some(format!(
                "the next call needs about {} tokens, and {used} of {whose}'s {limit} are used",
                next.input_tokens
            ));
        }
        let limit = self.cost_usd?;
        match next.model.cost_of_input(next.input_tokens) {
            Cost::Known(cost) if usage.cost_usd.unwrap_or(0.0) + cost > limit => Some(format!(
                "the next call costs at least {cost:.4} USD, and {:.4} of {whose}'s {limit} USD are spent",
                usage.cost_usd.unwrap_or(0.0)
            )),
            Cost::Unknown if self.price_must_be_known => Some(format!(
                "the price of the model is unknown, so {whose}'s limit of {limit} USD cannot be kept; \
                 give its price under [prices] in agentctl.toml, or limit the run with --max-tokens"
            )),
            _ => None,
        }
    }

    /// Why the run is going round in circles.
    pub fn repeated(&self, most: Option<&Repeated>) -> Option<String> {
        let (limit, most) = (self.identical_calls?, most?);
        (most.times >= limit).then(|| {
            format!(
                "{} was called {} times with the same arguments and the same result",
                most.tool, most.times
            )
        })
    }

    /// Time that is left; None: without a limit.
    pub fn left_ms(&self, elapsed_ms: u64) -> Option<u64> {
        self.wall_ms.map(|wall| wall.saturating_sub(elapsed_ms))
    }
}
