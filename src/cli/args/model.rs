//! What can be typed about models: which one, recordings, limits.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
pub struct ModelNames {
    /// The model of all agents: `offline`, or `provider::model`; default: from agentctl.toml, else offline
    #[arg(long, value_name = "MODEL", env = "AGENTCTL_MODEL", hide_env = true)]
    pub model: Option<String>,
    /// The model of one agent
    #[arg(long, value_name = "AGENT=MODEL")]
    pub model_for: Vec<String>,
}

#[derive(Debug, Default, Args)]
pub struct ModelOptions {
    #[command(flatten)]
    pub names: ModelNames,
    /// Keep what the models and tools are asked and answer in a new file, without secrets; with --replay: the old answers to what is asked now
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Take the models' answers from such a file; what is asked otherwise than there fails
    #[arg(long, value_name = "FILE", conflicts_with = "model_for")]
    pub replay: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ModelsArgs {
    #[command(flatten)]
    pub model: ModelNames,
    /// Only list; ask nobody
    #[arg(long)]
    pub no_call: bool,
}

impl ModelOptions {
    /// For what asks no model: no key is needed.
    pub fn offline() -> Self {
        ModelOptions {
            names: ModelNames {
                model: Some("offline".to_owned()),
                ..ModelNames::default()
            },
            ..ModelOptions::default()
        }
    }
}

/// What the run may use; the policy's own limits hold as well.
#[derive(Debug, Default, Args)]
pub struct LimitOptions {
    /// US dollars; a model whose price is unknown is then not asked
    #[arg(long, value_name = "USD", value_parser = usd)]
    pub max_cost: Option<f64>,
    /// Tokens, input and output together
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Model calls in one step
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_turns: Option<u64>,
    /// Seconds of work, or like 90s, 10m, 1h; waiting for you does not count
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub max_time: Option<u64>,
}

fn usd(text: &str) -> Result<f64, String> {
    let usd = text.trim_start_matches('$').parse::<f64>();
    usd.ok()
        .filter(|n| n.is_finite() && *n >= 0.0)
        .ok_or_else(|| "write a number of US dollars, e.g. 0.50".to_owned())
}

fn seconds(text: &str) -> Result<u64, String> {
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
