//! Who may do what: capabilities per role, rules for foreign tools, approvals. A decision is a value from a pure function.
//! Must never do IO; must refuse what it cannot decide.

mod decide;
mod examples;
mod explain;
mod facts;
mod grants;
mod leaf;
mod literal;
mod load;
mod load_limits;
mod loosening;
mod origin;
mod past;
mod program;
mod reader;

#[cfg(test)]
mod decide_tests;
#[cfg(test)]
mod facts_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod loosening_tests;

pub use crate::vocabulary::{Capability, Carries, Does};
pub use decide::{Effect, Policy, Rule};
pub use explain::Explanation;
pub use facts::Facts;
pub use grants::{Grants, Outside, RULE as PLAN_RULE};
pub use past::{PastCall, keys_of};

use serde::{Deserialize, Serialize};

/// What a run may use. All finite: a limit that is not written has its default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Model calls in one step.
    pub max_turns: u64,
    /// Model calls in one run.
    pub max_model_calls: u64,
    /// Tool calls in one run.
    pub max_tool_calls: u64,
    /// The same call (tool and arguments) in one step.
    pub max_identical_calls: u64,
    /// Input and output tokens in one run.
    pub max_tokens: u64,
    pub max_cost_usd: f64,
    /// Work in one run, in seconds; waiting for the user does not count.
    pub max_seconds: u64,
    /// How long an approval counts, in seconds from the question on.
    pub max_approval_seconds: u64,
    /// Tools of the pack's own that an agent is offered in one step, the best for what is to be done.
    pub max_offered_tools: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_turns: 30,
            max_model_calls: 200,
            max_tool_calls: 400,
            max_identical_calls: 3,
            max_tokens: 2_000_000,
            max_cost_usd: 10.0,
            max_seconds: 3_600,
            max_approval_seconds: 86_400,
            max_offered_tools: 16,
        }
    }
}
