//! `agentctl runs list`.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::session;
use crate::cli::timeline::{TAKEN_BACK, outcome};
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
    /// Only runs that stand so: complete, draft, waiting, blocked, refused, failed, cancelled …; `taken-back` by an undo; `open`: running now, or killed
    #[arg(long, value_name = "STATUS", value_parser = wanted)]
    pub status: Option<Wanted>,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Ended(Outcome),
    Open,
    TakenBack,
}

impl Wanted {
    fn of(run: &RunSummary) -> Wanted {
        match run.outcome {
            _ if run.taken_back => Wanted::TakenBack,
            Some(outcome) => Wanted::Ended(outcome),
            None => Wanted::Open,
        }
    }
}

/// How a run can stand besides how it ended.
const OPEN: &str = "open";
const TAKEN: &str = "taken-back";

/// All that can be asked for, in words.
pub fn standings() -> Vec<&'static str> {
    let ended = Outcome::ALL.iter().map(|outcome| outcome.name());
    ended.chain([OPEN, TAKEN]).collect()
}

fn wanted(typed: &str) -> Result<Wanted, String> {
    match typed {
        OPEN => Ok(Wanted::Open),
        TAKEN => Ok(Wanted::TakenBack),
        other => serde_json::from_value(json!(other))
            .map(Wanted::Ended)
            .map_err(|e| format!("{e}, or `open`, `taken-back`")),
    }
}

pub fn list(project: &Project, args: &ListArgs, out: &Output) -> Result<Exit, CliError> {
    // How a run stands is known when it was read; without that question only what is shown is read.
    let most = match (args.limit, args.status) {
        (limit @ 1.., None) => limit,
        _ => usize::MAX,
    };
    let mut runs = run::newest(project, most).map_err(|e| session::run_error(&e))?;
    runs.reverse();
    let is_wanted = |run: &RunSummary| {
        args.status
            .is_none_or(|wanted| run.broken.is_none() && Wanted::of(run) == wanted)
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
    let stands = match run.taken_back {
        true => TAKEN_BACK,
        false => outcome(run.outcome),
    };
    format!(
        "{active} {}  {}  {stands:<11}  {foreign}{}{made}\n",
        style(&run.run_id).bold(),
        minute(&run.started_at),
        plain(&run.request)
    )
}

/// A time in UTC as it is read in a list: `2026-11-24 03:50`.
fn minute(at: &str) -> String {
    let (day, time) = (at.get(..10), at.get(11..16));
    let shown = day.zip(time).map(|(day, time)| format!("{day} {time}"));
    plain(&shown.unwrap_or_default())
}
