//! What a run may use: the policy's limits, lowered by what was given on the command line. Checked before each model call.

use super::{LimitOverrides, RunUsage};

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
            wall_ms: self.wall_ms,
        }
    }

    /// Why no further model call may be made; None: one may.
    pub fn spent(&self, usage: &RunUsage, elapsed_ms: u64) -> Option<String> {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        let over = |used: u64, limit: Option<u64>| limit.filter(|limit| used >= *limit);
        if let Some(limit) = over(usage.model_calls, self.model_calls) {
            return Some(format!("the run has made its {limit} model calls"));
        }
        if let Some(limit) = over(usage.tool_calls, self.tool_calls) {
            return Some(format!("the run has made its {limit} tool calls"));
        }
        if let Some(limit) = over(tokens, self.tokens) {
            return Some(format!("the run has used its {limit} tokens"));
        }
        if let Some(limit) = self.cost_usd {
            match usage.cost_usd {
                Some(cost) if cost >= limit => {
                    return Some(format!("the run has spent its {limit} USD"));
                }
                None if usage.model_calls > 0 && self.price_must_be_known => {
                    return Some(format!(
                        "the price of this run's model is unknown, so the limit of {limit} USD cannot be kept"
                    ));
                }
                _ => {}
            }
        }
        if let Some(limit) = over(elapsed_ms, self.wall_ms) {
            return Some(format!("the run has taken its {} seconds", limit / 1000));
        }
        None
    }
}
