//! Options that several commands share. What only one command takes stands in its own file.

pub use super::choices::{Color, FailOn, OutputFormat, page_file};

use crate::config::limit;
use agentctl_n8n_tools::backend::BackendName;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The project folder: holds workflows/, memory/ and your own agents/ and skills/
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = ".",
        env = "AGENTCTL_PROJECT",
        hide_env = true
    )]
    pub project: PathBuf,
    /// How the answer is written to stdout; progress and questions always go to stderr
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// No progress on stderr, only errors and questions
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Every step and every call of a tool on stderr
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Let the project's agents/policy.yaml allow more than the built-in policy; the run's journal and report say what
    #[arg(long, global = true)]
    pub allow_loose_policy: bool,
    /// Let everything in the project folder count for this command, without keeping it (see `agentctl trust`)
    #[arg(long, global = true)]
    pub trust_once: bool,
    /// Which pack (`agentctl packs list`); default: [packs] default of agentctl.toml, else n8n-builder
    #[arg(long, global = true, value_name = "PACK")]
    pub pack: Option<String>,
    #[arg(
        long,
        global = true,
        value_name = "BACKEND",
        hide_possible_values = true,
        help = "Where workflows live: auto (an n8n server enabled in .mcp.json, else files), embedded (files), n8n-mcp, instance-mcp, rest"
    )]
    pub backend: Option<BackendArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackendArg {
    Auto,
    Embedded,
    N8nMcp,
    InstanceMcp,
    Rest,
}

impl From<BackendArg> for BackendName {
    fn from(typed: BackendArg) -> Self {
        match typed {
            BackendArg::Auto => BackendName::Auto,
            BackendArg::Embedded => BackendName::Embedded,
            BackendArg::N8nMcp => BackendName::N8nMcp,
            BackendArg::InstanceMcp => BackendName::InstanceMcp,
            BackendArg::Rest => BackendName::Rest,
        }
    }
}

/// How questions are answered.
#[derive(Debug, Args)]
pub struct AnswerOptions {
    /// Take every recommendation; a required question without one still stops the run
    #[arg(long, short)]
    pub yes: bool,
    /// Answers given ahead: a JSON object, question id or topic → answer (`-`: stdin)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Never ask on the terminal: stop with exit code 4 instead
    #[arg(long)]
    pub no_input: bool,
}

#[derive(Debug, Clone, Default, Args)]
pub struct ModelNames {
    /// The model of all agents: `offline`, or `provider::model`; default: from agentctl.toml, else offline
    #[arg(long, value_name = "MODEL", env = "AGENTCTL_MODEL", hide_env = true)]
    pub model: Option<String>,
    /// The model of one agent
    #[arg(long, value_name = "AGENT=MODEL")]
    pub model_for: Vec<String>,
}

#[derive(Debug, Clone, Default, Args)]
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

    /// The same with a model for all agents, if one was found.
    pub fn or_model(&self, found: Option<String>) -> ModelOptions {
        let mut options = self.clone();
        options.names.model = options.names.model.or(found);
        options
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
