//! `agentctl runs list|show|adopt|verify|prune|export|import`: looking at runs, taking old ones away, and from one place to another.

mod adopt;
pub(in crate::cli) mod list;
mod prune;
mod transfer;

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::session::Which;
use crate::cli::timeline::{Detail, Timeline, standing};
use crate::cli::{project, report, session};
use agentctl_base::counted::counted;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{self, AllRuns, RunReport, Verified};
use agentctl_engine::store::{Foreign, Project};
use agentctl_n8n_tools::resources::parse;
use clap::Subcommand;
use console::style;
use serde_json::json;
use std::path::Path;

/// List, show, verify, move and prune runs
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl runs list")]
pub enum RunsCommand {
    /// All runs of the project, newest first
    #[command(
        after_help = "Examples:\n  agentctl runs list\n  agentctl runs list --limit 10 --status waiting"
    )]
    List(list::ListArgs),
    /// One run: what was asked, what happened, how it ended
    #[command(after_help = "Example:\n  agentctl runs show 019a…")]
    Show {
        #[arg(value_name = "RUN")]
        run: String,
    },
    /// Make a run yours that your agentctl did not write, after looking at what it would let happen
    #[command(
        after_help = "Example:\n  agentctl runs adopt 019a…\n\nSuch a run came with the folder, was written by an older agentctl, or without a folder of your own (AGENTCTL_HOME). Until it is adopted it is shown and nothing is done with it: resume, answer and undo end with exit code 5."
    )]
    Adopt {
        #[arg(value_name = "RUN")]
        run: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
    Prune(prune::PruneArgs),
    Export(transfer::ExportArgs),
    Import(transfer::ImportArgs),
    /// Check the hash chain of a journal, and whose it is (all runs when none is named)
    #[command(after_help = "Example:\n  agentctl runs verify")]
    Verify {
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
}

/// That a run is not this user's, why, and what can be done.
pub fn not_yours(run_id: &str, foreign: &Foreign) -> String {
    format!(
        "run {run_id} was not written by your agentctl: {foreign}; it is shown, and nothing is done with it (agentctl runs adopt {run_id})"
    )
}

/// What is lost of a run's records.
pub fn tell_damage(report: &RunReport, out: &Output) {
    for lost in &report.damage {
        out.note(&plain_long(lost));
    }
}

/// Fetches what other replicas wrote, before all runs are looked at.
fn fetch_all(project: &Project) -> Result<(), CliError> {
    project
        .fetch_all()
        .map_err(|e| session::run_error(&e.into()))
}

/// All runs, over which the changes of a workflow are numbered: those whose journals cannot be read are told.
pub fn all_runs(project: &Project, out: &Output) -> Result<AllRuns, CliError> {
    fetch_all(project)?;
    let runs = AllRuns::look(project).map_err(|e| session::run_error(&e))?;
    for (run_id, why) in runs.unreadable(project) {
        let note = format!("the changes of run {run_id} are not counted: {why}");
        out.note(&plain_long(&note));
    }
    Ok(runs)
}

pub fn runs(root: &Path, command: &RunsCommand, out: &Output) -> Result<Exit, CliError> {
    let project = project::open(root, out)?;
    // Where others share them, their runs are listed and checked as well.
    if matches!(
        command,
        RunsCommand::List(_) | RunsCommand::Verify { run: None } | RunsCommand::Prune(_)
    ) {
        fetch_all(&project)?;
    }
    match command {
        RunsCommand::List(args) => list::list(&project, args, out),
        RunsCommand::Show { run } => show(root, &project, run, out),
        RunsCommand::Prune(args) => prune::prune(root, args, out),
        RunsCommand::Export(args) => transfer::export(&project, args, out),
        RunsCommand::Import(args) => transfer::import(root, args, out),
        RunsCommand::Verify { run } => verify(&project, run.as_deref(), out),
        RunsCommand::Adopt { run, yes } => adopt::adopt(root, run, *yes, out),
    }
}

/// The pack that the run was started with, where it says which; `--pack` names another.
fn pack_of(root: &Path, project: &Project, run: &str, out: &Output) -> Result<Pack, CliError> {
    let kept = run::means(project, Some(run)).ok().flatten();
    let kept = kept.filter(|_| out.pack.is_none());
    match kept.and_then(|means| Some((means.pack?, means.orchestrator))) {
        Some((named, orchestrator)) => {
            session::pack_with(root, &named, &Which::of_run(orchestrator), out)
        }
        None => session::load_pack(root, out),
    }
}

fn show(root: &Path, project: &Project, run: &str, out: &Output) -> Result<Exit, CliError> {
    let pack = pack_of(root, project, run, out)?;
    let mut records = Vec::new();
    let mut timeline = Timeline::new(Detail::Progress);
    let mut story = String::new();
    let shown = run::show(project, &pack, run, &mut |record| match out.is_text() {
        true => story.push_str(&timeline.lines(record)),
        false => records.push(record.clone()),
    });
    let report = shown.map_err(|e| session::run_error(&e))?;
    if let Some(foreign) = &report.foreign {
        out.note(&not_yours(&report.run_id, foreign));
    }
    tell_damage(&report, out);
    out.answer(
        Exit::Complete,
        || {
            format!(
                "run {} · stage {} · {}\n\n{story}\n{}",
                style(&report.run_id).bold(),
                report.stage,
                standing(Some(report.outcome), report.taken_back),
                report::text(&report, None)
            )
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
    let found = run::verify_all(project, &parse, &ids).into_iter();
    let found = found.map(|result| result.map_err(|e| e.to_string()));
    let checked: Vec<(String, Result<Verified, String>)> = ids.into_iter().zip(found).collect();
    let any = |which: fn(&Verified) -> bool| {
        checked
            .iter()
            .any(|(_, result)| result.as_ref().is_ok_and(which))
    };
    let exit = if checked.iter().any(|(_, r)| r.is_err()) || any(|v| !v.is_whole()) {
        Exit::Failed
    } else if any(|v| v.foreign.is_some()) {
        // Nothing is broken, and nothing would be done with it either.
        Exit::Refused
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
                    Ok(v) => verified(id, v),
                    Err(why) => format!("{} {id}: {}\n", style("✗").red(), plain_long(why)),
                })
                .collect()
        },
        || json!({"runs": checked.iter().map(|(id, r)| match r { Ok(v) => json!(v), Err(why) => json!({"run_id": id, "error": why}) }).collect::<Vec<_>>()}),
    )
}

/// One run that can be read to its end.
fn verified(id: &str, v: &Verified) -> String {
    let mut text = match &v.foreign {
        None => format!(
            "{} {id}: {}, the chain is whole",
            style("✓").green(),
            counted(v.records, "record")
        ),
        Some(foreign) => format!(
            "{} {id}: {}, chain whole, author unknown: {foreign}",
            style("!").yellow(),
            counted(v.records, "record")
        ),
    };
    if let Some(bytes) = v.torn_bytes {
        text.push_str(&format!(
            ", a torn last line of {bytes} bytes that the next resume cuts off"
        ));
    }
    text.push('\n');
    let bad = style("✗").red();
    if let Some(seq) = v.shorter_than_state {
        text.push_str(&format!(
            "{bad} {id}: its summary was made from {seq} records: the end of the journal was cut off\n"
        ));
    }
    for file in &v.damaged_snapshots {
        text.push_str(&format!(
            "{bad} {id}: the snapshot {} is missing or not the one that was taken\n",
            plain(file)
        ));
    }
    text
}
