//! `agentctl runs list`.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::session;
use crate::cli::timeline::outcome;
use crate::cli::words::{LISTED, in_words};
use agentctl_base::question::Outcome;
use agentctl_engine::run::{self, RunSummary};
use agentctl_engine::store::Project;
use clap::Args;
use console::style;
use serde_json::json;

/// Which runs are listed.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The newest so many; 0: all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0)]
    pub limit: usize,
    /// Only runs that ended so: complete, draft, waiting, blocked, refused, failed, cancelled …; `open`: running now, or killed
    #[arg(long, value_name = "OUTCOME", value_parser = wanted)]
    pub outcome: Option<Wanted>,
}

/// How a run ended; None: it did not.
#[derive(Debug, Clone, Copy)]
pub struct Wanted(Option<Outcome>);

fn wanted(typed: &str) -> Result<Wanted, String> {
    if typed == "open" {
        return Ok(Wanted(None));
    }
    serde_json::from_value(json!(typed))
        .map(|outcome| Wanted(Some(outcome)))
        .map_err(|e| e.to_string())
}

pub fn list(project: &Project, args: &ListArgs, out: &Output) -> Result<Exit, CliError> {
    let mut runs = run::list(project).map_err(|e| session::run_error(&e))?;
    runs.reverse();
    let is_wanted = |run: &RunSummary| {
        args.outcome
            .is_none_or(|w| run.broken.is_none() && run.outcome == w.0)
    };
    let all = runs.len();
    runs.retain(is_wanted);
    if args.limit > 0 {
        runs.truncate(args.limit);
    }
    out.answer(
        Exit::Complete,
        || match (runs.is_empty(), all) {
            (true, 0) => "no runs yet; agentctl build \"…\" starts one\n".to_owned(),
            (true, _) => "no such runs\n".to_owned(),
            (false, _) => runs.iter().map(summary).collect(),
        },
        || json!({"runs": runs.iter().map(|run| in_words(run, LISTED)).collect::<Vec<_>>()}),
    )
}

fn summary(run: &RunSummary) -> String {
    let active = if run.active { "*" } else { " " };
    if let Some(broken) = &run.broken {
        return format!(
            "{active} {}  {}  {}\n",
            style(&run.run_id).bold(),
            style("unreadable").red(),
            plain_long(broken)
        );
    }
    let made = if run.resources.is_empty() {
        String::new()
    } else {
        format!("  → {}", run.resources.join(", "))
    };
    let foreign = match &run.foreign {
        Some(_) => format!("{}  ", style("foreign").yellow()),
        None => String::new(),
    };
    format!(
        "{active} {}  {:<11}  {foreign}{}{made}\n",
        style(&run.run_id).bold(),
        outcome(run.outcome),
        plain(&run.request)
    )
}
