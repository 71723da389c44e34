//! `runs prune`: what nothing needs of old runs is told, and taken away by the user's word.

use crate::cli::args::ModelOptions;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::runtime;
use crate::cli::session::{self, Session};
use agentctl_base::counted::counted;
use agentctl_engine::run::{self, Kept, PruneTerms, Pruned};
use clap::Args;
use serde_json::json;
use std::path::Path;

/// Take away runs that nothing needs any more: journals, snapshots, results, versions
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl runs prune --keep 100\n  agentctl runs prune --older-than 30 --yes\n\nWithout --yes it only says what would go, and how much that is. What stays: the active run, runs that have not ended, the last run that changed a workflow, runs whose snapshots are needed to take another one back, runs that are not yours or cannot be read."
)]
pub struct PruneArgs {
    /// Only runs of which nothing was written for so many days
    #[arg(long, value_name = "DAYS", value_parser = days)]
    older_than: Option<u32>,
    /// Not the newest N runs
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Do it
    #[arg(long, short)]
    yes: bool,
}

/// `30`, `30d` or `4w`.
fn days(typed: &str) -> Result<u32, String> {
    let (number, each) = match typed.strip_suffix('w') {
        Some(weeks) => (weeks, 7),
        None => (typed.strip_suffix('d').unwrap_or(typed), 1),
    };
    let number: Option<u32> = number.parse().ok();
    let days = number.and_then(|number| number.checked_mul(each));
    days.ok_or_else(|| "write a number of days: 30, 30d, or weeks: 4w".to_owned())
}

pub fn prune(root: &Path, args: &PruneArgs, out: &Output) -> Result<Exit, CliError> {
    if args.older_than.is_none() && args.keep.is_none() {
        return Err(CliError::usage("it is not said which runs may go")
            .hint("--keep N, --older-than DAYS, or both"));
    }
    let days = args.older_than.map(i64::from);
    let span = days.map(|days| jiff::SignedDuration::from_hours(days.saturating_mul(24)));
    let terms = PruneTerms {
        before: span
            .map(|span| jiff::Timestamp::now().checked_sub(span))
            .transpose()
            .map_err(|e| CliError::usage(format!("--older-than: {e}")))?,
        keep: args.keep.unwrap_or(0),
    };
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = session.n8n()?.backend();
    let pruned = runtime::block_on(async {
        let (project, resources) = (&session.project, session.gateway.resources());
        let pruned = match args.yes {
            true => run::prune(project, resources, &session.effects, terms).await,
            false => run::prunable(project, resources, terms).await,
        };
        backend.close().await;
        pruned
    })?;
    let pruned = pruned.map_err(|e| session::run_error(&e))?;
    out.answer(
        Exit::Complete,
        || text(&pruned, args.yes),
        || json!({"removed": args.yes, "pruned": pruned}),
    )
}

fn text(pruned: &Pruned, removed: bool) -> String {
    let what = match removed {
        true => "removed",
        false => "would go",
    };
    let size = match pruned.bytes {
        bytes if bytes < 1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        bytes => format!("{} MB", bytes / 1_000_000),
    };
    let mut text = format!(
        "{what}: {}, {}, {} of workflows{}; {size}\n",
        counted(pruned.runs.len(), "run"),
        counted(pruned.results.len(), "result"),
        counted(pruned.versions, "version"),
        match pruned.texts {
            0 => String::new(),
            texts => format!(", {texts} whole texts of large ones"),
        }
    );
    if let (Some(first), Some(last)) = (pruned.runs.first(), pruned.runs.last()) {
        text.push_str(&format!("  from {first} to {last}\n"));
    }
    for (why, count) in &pruned.kept {
        text.push_str(&format!("stay: {count} {}\n", words(*why)));
    }
    if !removed && !pruned.runs.is_empty() {
        text.push_str("to remove them: --yes\n");
    }
    text
}

fn words(why: Kept) -> &'static str {
    match why {
        Kept::Recent => "by --keep or --older-than",
        Kept::Active => "active",
        Kept::Unfinished => "that can go on",
        Kept::LastChange => "that changed a workflow last",
        Kept::Needed => "whose snapshots are needed to take another one back",
        Kept::Foreign => "that your agentctl did not write",
        Kept::Damaged => "that cannot be read whole",
    }
}
