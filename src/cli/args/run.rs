//! What can be typed about runs: beginning one, going on with it, looking at it, taking it back.

use super::{LimitOptions, ModelOptions};
use agentctl_engine::policy::Outside;
use agentctl_n8n::rehearsal::Hosts;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

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

#[derive(Debug, Args)]
pub struct BuildArgs {
    /// What to build or to change, in plain words (`-`: read it from stdin)
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// The workflow to change: a file, or the id of a workflow in the project
    #[arg(long, short, value_name = "FILE|ID")]
    pub workflow: Option<String>,
    /// Let this node act on the outside world in the test run instead of simulating it; may be given several times
    #[arg(long, value_name = "NODE")]
    pub let_act: Vec<String>,
    /// Let a model read out of the request, before any tool is called, which tools of other servers the run needs; it gets no others
    #[arg(long, conflicts_with = "grants")]
    pub plan_tools: bool,
    /// The same list from your own JSON file: {"tools": [{"tool": …, "times": …, "args": {…}}]}
    #[arg(long, value_name = "FILE")]
    pub grants: Option<PathBuf>,
    /// What becomes of a call outside of that list
    #[arg(long, value_name = "WHAT")]
    pub outside_plan: Option<OutsidePlan>,
    /// Let the test run read this host (a GET without an account and without computed values); may be given several times
    #[arg(long, value_name = "HOST", value_parser = Hosts::host)]
    pub test_host: Vec<String>,
    /// Connect new nodes of a service to this account of the n8n, by the credential's type and name; may be given several times
    #[arg(long, value_name = "TYPE=NAME", value_parser = named_account)]
    pub account: Vec<String>,
    #[command(flatten)]
    pub answers: AnswerOptions,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutsidePlan {
    /// You are asked; without a terminal the run waits, exit code 4
    Ask,
    /// It is refused, and the run goes on
    Deny,
}

impl From<OutsidePlan> for Outside {
    fn from(typed: OutsidePlan) -> Self {
        match typed {
            OutsidePlan::Ask => Outside::Ask,
            OutsidePlan::Deny => Outside::Deny,
        }
    }
}

fn named_account(text: &str) -> Result<String, &'static str> {
    match text.split_once('=') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() => Ok(text.to_owned()),
        _ => Err("write the credential's type and its name, e.g. slackApi=Sales"),
    }
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run; default: the active one
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Go on although agents, flow or policy changed since the run began
    #[arg(long)]
    pub allow_pack_change: bool,
    #[command(flatten)]
    pub answers: AnswerOptions,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The run that waits
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Answers, each as ID=VALUE or TOPIC=VALUE
    #[arg(value_name = "ID=VALUE")]
    pub pairs: Vec<String>,
    /// More answers from a JSON file (`-`: stdin)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

#[derive(Debug, Subcommand)]
pub enum ApprovalsCommand {
    /// The calls that a run waits with, each with what it would change
    #[command(
        after_help = "Examples:\n  agentctl approvals show\n  agentctl approvals show 019a… --reveal"
    )]
    Show {
        /// The run; default: the active one
        #[arg(value_name = "RUN")]
        run: Option<String>,
        /// Show the values that are hidden in the calls too: on a terminal only, and nowhere kept
        #[arg(long)]
        reveal: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// All runs of the project, newest first
    #[command(after_help = "Example:\n  agentctl runs list")]
    List,
    /// One run: what was asked, what happened, how it ended
    #[command(after_help = "Example:\n  agentctl runs show 019a…")]
    Show {
        #[arg(value_name = "RUN")]
        run: String,
    },
    /// Make a run yours that your agentctl did not write, after looking at what it would let happen
    #[command(
        after_help = "Example:\n  agentctl runs adopt 019a…\n\nSuch a run came with the folder, was written by an older agentctl, or without a folder of your own (AGENTCTL_HOME). Until it is\nadopted it is shown and nothing is done with it: resume, answer and undo end with exit code 5."
    )]
    Adopt {
        #[arg(value_name = "RUN")]
        run: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
    /// Check the hash chain of a journal, and whose it is (all runs when none is named)
    #[command(after_help = "Example:\n  agentctl runs verify")]
    Verify {
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct AcceptArgs {
    /// The workflow: its id, or its file
    #[arg(value_name = "WORKFLOW")]
    pub workflow: String,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The run whose changes are taken back; default: the active run
    #[arg(value_name = "RUN", conflicts_with = "workflow")]
    pub run: Option<String>,
    /// Take back what the last run did to this workflow, instead of a whole run
    #[arg(long, value_name = "ID|FILE")]
    pub workflow: Option<String>,
    /// Put it as change N left it (0: as before the first change); default: as before the run
    #[arg(long, value_name = "N")]
    pub to: Option<u32>,
    /// Also when the workflow was changed since by somebody else
    #[arg(long)]
    pub force: bool,
    /// Allow what would be asked: publish (the workflow is active, so that the change is live at once)
    #[arg(long, value_name = "GUARD", value_parser = ["publish"])]
    pub allow: Vec<String>,
    /// Never ask on the terminal
    #[arg(long)]
    pub no_input: bool,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A run (default: the active one): from what it started from to what it left; or two files
    #[arg(value_name = "RUN|FILE FILE", num_args = 0..=2)]
    pub what: Vec<String>,
    /// A workflow: from before the last run that changed it to how it is now
    #[arg(long, value_name = "ID|FILE", conflicts_with = "what")]
    pub workflow: Option<String>,
    /// From the state that change N left; 0: from before the first
    #[arg(long, value_name = "N")]
    pub from: Option<u32>,
    /// To the state that change N left
    #[arg(long, value_name = "N")]
    pub to: Option<u32>,
}

#[derive(Debug, Args)]
pub struct LogArgs {
    /// The run; default: the active one
    #[arg(value_name = "RUN", conflicts_with = "workflow")]
    pub run: Option<String>,
    /// The numbered changes of this workflow over all runs, instead of a run
    #[arg(long, value_name = "ID|FILE", conflicts_with_all = ["follow", "since"])]
    pub workflow: Option<String>,
    /// Go on with what comes, until the run ends or stops
    #[arg(long, short)]
    pub follow: bool,
    /// Only records from this number on
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub since: u64,
}
