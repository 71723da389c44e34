//! `[limits]`: what a run, or one agent of it, may use; and how such a limit is written, there and on the command line.

use agentctl_engine::store::{Budgets, LimitOverrides};
use indexmap::IndexMap;
use serde::Deserialize;

/// ```toml
/// [limits]
/// max_cost = 2.5
/// max_time = "20m"
/// [limits.agents.researcher]
/// max_tokens = 100000
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    max_cost: Option<Cost>,
    max_tokens: Option<u64>,
    max_turns: Option<Turns>,
    max_time: Option<Time>,
    #[serde(default)]
    agents: IndexMap<String, OfAgent>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfAgent {
    max_cost: Option<Cost>,
    max_tokens: Option<u64>,
    max_turns: Option<Turns>,
    max_time: Option<Time>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "toml::Value")]
struct Cost(f64);
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "toml::Value")]
struct Turns(u64);
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "toml::Value")]
struct Time(u64);

/// A number or a text: as it would be typed.
fn typed(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl TryFrom<toml::Value> for Cost {
    type Error = String;
    fn try_from(value: toml::Value) -> Result<Self, String> {
        usd(&typed(&value)).map(Cost)
    }
}

impl TryFrom<toml::Value> for Turns {
    type Error = String;
    fn try_from(value: toml::Value) -> Result<Self, String> {
        turns(&typed(&value)).map(Turns)
    }
}

impl TryFrom<toml::Value> for Time {
    type Error = String;
    fn try_from(value: toml::Value) -> Result<Self, String> {
        seconds(&typed(&value)).map(Time)
    }
}

impl OfAgent {
    fn limits(self) -> LimitOverrides {
        LimitOverrides {
            max_cost_usd: self.max_cost.map(|l| l.0),
            max_tokens: self.max_tokens,
            max_turns: self.max_turns.map(|l| l.0),
            max_seconds: self.max_time.map(|l| l.0),
            ..LimitOverrides::default()
        }
    }
}

impl Section {
    pub(super) fn budgets(self) -> Budgets {
        let run = OfAgent {
            max_cost: self.max_cost,
            max_tokens: self.max_tokens,
            max_turns: self.max_turns,
            max_time: self.max_time,
        };
        let agents = self.agents.into_iter();
        Budgets {
            run: run.limits(),
            agents: agents.map(|(agent, of)| (agent, of.limits())).collect(),
        }
    }
}

pub fn usd(text: &str) -> Result<f64, String> {
    let usd = text.trim_start_matches('$').parse::<f64>();
    usd.ok()
        .filter(|n| n.is_finite() && *n >= 0.0)
        .ok_or_else(|| "write a number of US dollars, e.g. 0.50".to_owned())
}

pub fn count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "write a whole number, e.g. 200000".to_owned())
}

pub fn turns(text: &str) -> Result<u64, String> {
    let turns = text.parse::<u64>().ok().filter(|n| *n > 0);
    turns.ok_or_else(|| "write a whole number from 1 on".to_owned())
}

pub fn seconds(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        None => (text, "s"),
        Some(at) => text.split_at(at),
    };
    let factor = match unit {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let number = number.parse::<u64>().ok();
    number
        .zip(factor)
        .and_then(|(n, f)| n.checked_mul(f))
        .ok_or_else(|| "write seconds, or like 90s, 10m, 1h".to_owned())
}
