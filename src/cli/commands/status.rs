//! `agentctl status`: the active run, or how it ended.

use super::runs::{not_yours, tell_damage};
use crate::cli::activation::tell;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::project;
use crate::cli::session;
use crate::cli::timeline::standing;
use agentctl_engine::run;
use clap::Args;
use serde_json::json;
use std::path::Path;

/// What the active run is doing, or how it ended
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  agentctl status --output-format json")]
pub struct StatusArgs;

pub fn status(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let project = project::open(root, out)?;
    let pack = session::load_pack(root, out)?;
    let report = run::status(&project, &pack).map_err(|e| session::run_error(&e))?;
    if let Some(foreign) = &report.foreign {
        out.note(&not_yours(&report.run_id, foreign));
    }
    tell_damage(&report, out);
    if out.is_text() {
        println_head(&report, out)?;
    }
    // How the run ended is what is told, not how this command ended.
    tell(root, &report, None, false, out)?;
    Ok(Exit::Complete)
}

fn println_head(report: &run::RunReport, out: &Output) -> Result<(), CliError> {
    out.answer(
        Exit::Complete,
        || {
            format!(
                "run {} · stage {} · {}\n",
                report.run_id,
                report.stage,
                standing(Some(report.outcome), report.taken_back)
            )
        },
        || json!({}),
    )
    .map(|_| ())
}
