//! `agentctl resume [RUN]`: goes on with a run.

use crate::cli::activation::{self, Start};
use crate::cli::args::{AnswerOptions, LimitOptions, ModelOptions};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::session::{self, Session};
use agentctl_engine::run::Resume;
use clap::Args;
use std::path::Path;

/// Go on with a run that was interrupted or waits for answers
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl resume\n  agentctl resume 019a… --answers answers.json"
)]
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

pub fn resume(root: &Path, args: &ResumeArgs, out: &Output) -> Result<Exit, CliError> {
    let session = Session::reopen(root, args.run.as_deref(), &args.model, out)?;
    let resume = Resume {
        answering: session::answering(&args.answers)?,
        limits: activation::limits(&session.pack, &args.limits)?,
        allow_other_pack: args.allow_pack_change,
    };
    session.init("resume", out)?;
    activation::activate(
        &session,
        root,
        args.answers.no_input,
        out,
        false,
        Start::Resume(args.run.clone(), resume),
    )
}
