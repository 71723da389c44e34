//! The limits of a policy file, each by its name.

use super::Limits;
use super::reader::Reader;
use agentctl_base::yaml::{Node, Place};

pub(super) struct SetLimit {
    pub name: &'static str,
    pub value: f64,
}

const LIMITS: &[&str] = &[
    "max_turns",
    "max_model_calls",
    "max_tool_calls",
    "max_identical_calls",
    "max_tokens",
    "max_cost_usd",
    "max_seconds",
    "max_approval_seconds",
    "max_offered_tools",
];

impl SetLimit {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "read as a whole number of at most 10^12, or as a price"
    )]
    pub fn apply(&self, mut limits: Limits) -> Limits {
        let whole = self.value as u64;
        match self.name {
            "max_turns" => limits.max_turns = whole,
            "max_model_calls" => limits.max_model_calls = whole,
            "max_tool_calls" => limits.max_tool_calls = whole,
            "max_identical_calls" => limits.max_identical_calls = whole,
            "max_tokens" => limits.max_tokens = whole,
            "max_cost_usd" => limits.max_cost_usd = self.value,
            "max_approval_seconds" => limits.max_approval_seconds = whole,
            "max_offered_tools" => limits.max_offered_tools = whole,
            _ => limits.max_seconds = whole,
        }
        limits
    }

    #[expect(clippy::cast_precision_loss, reason = "limits are at most 10^12")]
    pub fn of(&self, limits: &Limits) -> f64 {
        match self.name {
            "max_turns" => limits.max_turns as f64,
            "max_model_calls" => limits.max_model_calls as f64,
            "max_tool_calls" => limits.max_tool_calls as f64,
            "max_identical_calls" => limits.max_identical_calls as f64,
            "max_tokens" => limits.max_tokens as f64,
            "max_cost_usd" => limits.max_cost_usd,
            "max_approval_seconds" => limits.max_approval_seconds as f64,
            "max_offered_tools" => limits.max_offered_tools as f64,
            _ => limits.max_seconds as f64,
        }
    }
}

impl Reader {
    pub(super) fn limits(&mut self, node: &Node) -> Vec<(Place, SetLimit)> {
        let mut limits = Vec::new();
        self.keys(node, "`limits`", LIMITS);
        for entry in node.as_map().unwrap_or_default() {
            let Some(name) = LIMITS.iter().copied().find(|l| *l == entry.key) else {
                continue;
            };
            let value = entry.value.to_json().as_f64();
            let whole = entry.value.as_u64().is_some();
            match value {
                Some(value)
                    if (whole || name == "max_cost_usd") && (0.0..=1e12).contains(&value) =>
                {
                    limits.push((entry.key_place, SetLimit { name, value }));
                }
                _ => self.problems.add(
                    entry.value.place,
                    format!("{name} must be a number from 0 to 10^12"),
                ),
            }
        }
        limits
    }
}
