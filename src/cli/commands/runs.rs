//! `status`, `runs list|show|verify`, `undo`: looking at runs, and taking them back.

use super::build::tell;
use crate::cli::args::{ModelOptions, RunsCommand, UndoArgs};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{line, plain, plain_long};
use crate::cli::report;
use crate::cli::session::{self, Session, Watcher};
use crate::run::{self, RunSummary, Undo, UndoneHow, Verified};
use crate::store::{Outcome, Project};
use console::style;
use serde_json::json;
use std::path::Path;

pub fn status(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let project = Project::open(root).map_err(|e| CliError::failed(e.to_string()))?;
    let pack = session::load_pack(root, out)?;
    let report = run::status(&project, &pack).map_err(|e| session::run_error(&e))?;
    if out.is_text() {
        println_head(&report, out)?;
    }
    // How the run ended is what is told, not how this command ended.
    tell(root, &report, out)?;
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
                outcome(Some(report.outcome))
            )
        },
        || json!({}),
    )
    .map(|_| ())
}

pub fn runs(root: &Path, command: &RunsCommand, out: &Output) -> Result<Exit, CliError> {
    let project = Project::open(root).map_err(|e| CliError::failed(e.to_string()))?;
    match command {
        RunsCommand::List => list(&project, out),
        RunsCommand::Show { run } => show(root, &project, run, out),
        RunsCommand::Verify { run } => verify(&project, run.as_deref(), out),
    }
}

fn list(project: &Project, out: &Output) -> Result<Exit, CliError> {
    let mut runs = run::list(project).map_err(|e| session::run_error(&e))?;
    runs.reverse();
    out.answer(
        Exit::Complete,
        || {
            if runs.is_empty() {
                return "no runs yet; agentctl build \"…\" starts one\n".to_owned();
            }
            runs.iter().map(summary).collect()
        },
        || json!({"runs": runs}),
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
    let made = if run.workflows.is_empty() {
        String::new()
    } else {
        format!("  → {}", run.workflows.join(", "))
    };
    format!(
        "{active} {}  {:<11}  {}{made}\n",
        style(&run.run_id).bold(),
        outcome(run.outcome),
        plain(&run.request)
    )
}

fn outcome(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        None => "unfinished",
        Some(Outcome::Complete) => "complete",
        Some(Outcome::Blocked) => "blocked",
        Some(Outcome::Waiting) => "waiting",
        Some(Outcome::Refused) => "refused",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Budget) => "budget",
        Some(Outcome::Cancelled) => "cancelled",
        Some(Outcome::Interrupted) => "interrupted",
    }
}

fn show(root: &Path, project: &Project, run: &str, out: &Output) -> Result<Exit, CliError> {
    let pack = session::load_pack(root, out)?;
    let (report, records) = run::show(project, &pack, run).map_err(|e| session::run_error(&e))?;
    out.answer(
        Exit::Complete,
        || {
            let mut text = format!(
                "run {} · stage {} · {}\n\n",
                style(&report.run_id).bold(),
                report.stage,
                outcome(Some(report.outcome))
            );
            for record in &records {
                if let Some(line) = line(&record.event) {
                    let time = record.at.get(11..19).unwrap_or("");
                    text.push_str(&format!("{} {line}\n", style(time).dim()));
                }
            }
            text.push('\n');
            text.push_str(&report::text(&report, None));
            text
        },
        || json!({"report": report, "records": records}),
    )
}

fn verify(project: &Project, run: Option<&str>, out: &Output) -> Result<Exit, CliError> {
    let ids = match run {
        Some(run) => vec![run.to_owned()],
        None => project
            .run_ids()
            .map_err(|e| CliError::failed(e.to_string()))?,
    };
    let checked: Vec<(String, Result<Verified, String>)> = ids
        .into_iter()
        .map(|id| {
            let result = run::verify(project, &id).map_err(|e| e.to_string());
            (id, result)
        })
        .collect();
    let exit = if checked.iter().any(|(_, r)| r.is_err()) {
        Exit::Failed
    } else {
        Exit::Complete
    };
    out.answer(
        exit,
        || {
            if checked.is_empty() {
                return "no runs yet\n".to_owned();
            }
            checked
                .iter()
                .map(|(id, result)| match result {
                    Ok(v) => {
                        let torn = v.torn_bytes.map(|b| format!(", a torn last line of {b} bytes that the next resume cuts off")).unwrap_or_default();
                        format!("{} {id}: {} records, the chain is whole{torn}\n", style("✓").green(), v.records)
                    }
                    Err(why) => format!("{} {id}: {}\n", style("✗").red(), plain_long(why)),
                })
                .collect()
        },
        || json!({"runs": checked.iter().map(|(id, r)| match r { Ok(v) => json!(v), Err(why) => json!({"run_id": id, "error": why}) }).collect::<Vec<_>>()}),
    )
}

pub fn undo(root: &Path, args: &UndoArgs, out: &Output) -> Result<Exit, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let what = match &args.workflow {
        Some(id) => Undo::Workflow(id.clone()),
        None => Undo::Run(args.run.clone()),
    };
    let mut watcher = Watcher::new(out, None);
    let progress = watcher.progress.clone();
    let context = session.context(&mut watcher, None);
    let done = session::block_on(&session.cancel, run::undo(context, what, args.force))?;
    progress.finish();
    let report = done.map_err(|e| session::run_error(&e))?;
    out.answer(
        Exit::Complete,
        || {
            let mut text = String::new();
            for item in &report.workflows {
                let what = match item.what {
                    UndoneHow::PutBack => "put back as it was before the run",
                    UndoneHow::Removed => "removed (the run had created it)",
                    UndoneHow::Restored => "restored (the run had deleted it)",
                    UndoneHow::Unchanged => "already as before the run",
                };
                text.push_str(&format!("{}: {what}\n", item.workflow_id));
                if let Some(snapshot) = &item.snapshot {
                    text.push_str(&format!("  as it was a moment ago: {snapshot}\n"));
                }
            }
            if report.workflows.is_empty() {
                text.push_str(&format!("run {} changed no workflow\n", report.run_id));
            }
            text
        },
        || json!(report),
    )
}
