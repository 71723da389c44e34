//! What can be typed about models: which one, recordings, limits.

use crate::config::limit;
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

    /// Whether the planner may be asked, as far as the command line says.
    pub fn may_be_offline(&self) -> bool {
        let offline = |model: &String| model == "offline";
        self.replay.is_none() && self.names.model.as_ref().is_none_or(offline)
    }
}

/// What the run, or one agent of it, may use; the policy's own limits hold as well.
#[derive(Debug, Default, Args)]
pub struct LimitOptions {
    /// US dollars, of the run or of one agent; a model whose price is unknown is then not asked
    #[arg(long, value_name = "[AGENT=]USD", value_parser = of(limit::usd))]
    pub max_cost: Vec<Limit<f64>>,
    /// Tokens, input and output together
    #[arg(long, value_name = "[AGENT=]N", value_parser = of(limit::count))]
    pub max_tokens: Vec<Limit<u64>>,
    /// Model calls in one step
    #[arg(long, value_name = "[AGENT=]N", value_parser = of(limit::turns))]
    pub max_turns: Vec<Limit<u64>>,
    /// Seconds of work, or like 90s, 10m, 1h; waiting for you does not count
    #[arg(long, value_name = "[AGENT=]TIME", value_parser = of(limit::seconds))]
    pub max_time: Vec<Limit<u64>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Limit<T> {
    /// None: of the whole run.
    pub agent: Option<String>,
    pub value: T,
}

/// `VALUE`, or `AGENT=VALUE`.
fn of<T>(read: fn(&str) -> Result<T, String>) -> impl Fn(&str) -> Result<Limit<T>, String> + Clone {
    move |text| {
        let (agent, value) = match text.split_once('=') {
            Some((agent, value)) => (Some(agent.to_owned()), value),
            None => (None, text),
        };
        Ok(Limit {
            agent,
            value: read(value)?,
        })
    }
}
