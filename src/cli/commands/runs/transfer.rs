//! `agentctl runs export|import`: runs as files, from one place to another: a folder, or a Postgres that replicas share.

use super::not_yours;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::{project, session, settings};
use agentctl_base::counted::counted;
use agentctl_engine::store::{Imported, Project, begins_exported};
use agentctl_host::files::{Opened, open_own, read_given_text, write_atomic};
use clap::Args;
use serde_json::json;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// How an exported run's file ends.
const ENDING: &str = "run.jsonl";
/// No first line is longer that is looked at.
const LONGEST_HEAD: u64 = 64 * 1024;
/// Longer files are not read.
const MAX_BYTES: u64 = 1 << 30;

/// Write a run into a file: its journal to the byte, its snapshots and files
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl runs export 019a… run.jsonl\n  agentctl runs export --all runs/\n\nThe file holds what was asked, worked on and answered. The chain of hashes stays as it is; `agentctl runs import` brings it in elsewhere."
)]
pub struct ExportArgs {
    #[arg(
        value_name = "RUN",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    run: Option<String>,
    /// The file, which must not be there
    #[arg(value_name = "FILE")]
    to: Option<PathBuf>,
    /// All runs, each into a file of its own in this folder
    #[arg(long, value_name = "DIR")]
    all: Option<PathBuf>,
}

/// Bring in runs that were exported: into this folder, and where [journal] names a Postgres into that
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl runs import run.jsonl\n  agentctl runs import runs/\n\nOf a folder the files are taken whose first line says that they are exported runs. A run that is here already, the same, stays. One that carries your marks is yours here, too; any other is shown, and nothing is done with it (agentctl runs adopt)."
)]
pub struct ImportArgs {
    /// Files of exported runs, or folders of such
    #[arg(value_name = "FILE", required = true)]
    from: Vec<PathBuf>,
}

pub fn export(project: &Project, args: &ExportArgs, out: &Output) -> Result<Exit, CliError> {
    let failed = |e: agentctl_engine::store::StoreError| session::run_error(&e.into());
    let wanted: Vec<(String, PathBuf)> = match (&args.run, &args.to, &args.all) {
        (Some(run), Some(to), None) => vec![(project.find_run(run).map_err(failed)?, to.clone())],
        (None, None, Some(dir)) => {
            super::fetch_all(project)?;
            let ids = project.run_ids().map_err(failed)?.into_iter();
            ids.map(|run| (run.clone(), dir.join(format!("{run}.{ENDING}"))))
                .collect()
        }
        _ => {
            return Err(CliError::usage("a run is exported into a file")
                .hint("agentctl runs export RUN FILE, or agentctl runs export --all DIR"));
        }
    };
    let (mut written, mut left, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for (run, to) in wanted {
        if to.symlink_metadata().is_ok() {
            left.push((run, format!("{} is there already", to.display())));
            continue;
        }
        let exported = match project.export_run(&run) {
            Ok(exported) => exported,
            Err(error) if args.all.is_some() && error.is_of_one_journal() => {
                left.push((run, error.to_string()));
                continue;
            }
            Err(error) => return Err(failed(error)),
        };
        write_atomic(&to, exported.text.as_bytes()).map_err(|e| CliError::failed(e.to_string()))?;
        missing.extend(
            exported
                .missing
                .iter()
                .map(|file| (run.clone(), file.clone())),
        );
        written.push((run, to.display().to_string()));
    }
    for (run, why) in &left {
        out.note(&format!("run {run} was not exported: {}", plain(why)));
    }
    for (run, file) in &missing {
        out.note(&format!(
            "run {run}: the snapshot {} is lost, and not in the file",
            plain(file)
        ));
    }
    let exit = if left.is_empty() {
        Exit::Complete
    } else {
        Exit::Failed
    };
    out.answer(
        exit,
        || format!("{} exported\n", counted(written.len(), "run")),
        || {
            let all = written
                .iter()
                .map(|(run, file)| json!({"run": run, "file": file}));
            let left = left
                .iter()
                .map(|(run, why)| json!({"run": run, "why": why}));
            json!({"exported": all.collect::<Vec<_>>(), "left": left.collect::<Vec<_>>()})
        },
    )
}

pub fn import(root: &Path, args: &ImportArgs, out: &Output) -> Result<Exit, CliError> {
    let named = settings::journals(root, out)?;
    let project = project::shared(project::open_to_work(root, out)?, named.as_ref(), out)?;
    let mut all: Vec<(PathBuf, Imported)> = Vec::new();
    for path in files(&args.from)? {
        let text = read_given_text(&path, MAX_BYTES);
        let text = text.map_err(|e| CliError::usage(format!("{}: {e}", path.display())))?;
        let imported = project.import_run(&path, &text);
        let imported = imported.map_err(|e| {
            let done = counted(all.len(), "run");
            session::run_error(&e.into()).hint(format!("{done} were brought in before it; import goes on with the others when it is called again"))
        })?;
        all.push((path, imported));
    }
    for (_, imported) in &all {
        if let Some(foreign) = &imported.foreign {
            out.note(&not_yours(&imported.run, foreign));
        }
    }
    let was_here = all.iter().filter(|(_, imported)| imported.was_here).count();
    out.answer(
        Exit::Complete,
        || {
            let came = counted(all.len() - was_here, "run");
            match was_here {
                0 => format!("{came} imported\n"),
                known => format!("{came} imported, {known} here already\n"),
            }
        },
        || {
            let all = all.iter().map(|(path, imported)| {
                json!({
                    "run": imported.run, "file": path.display().to_string(), "records": imported.records,
                    "was_here": imported.was_here, "yours": imported.foreign.is_none(),
                })
            });
            json!({"imported": all.collect::<Vec<_>>()})
        },
    )
}

/// The files that are meant; of a folder those that begin as exported runs do, in the order of their names.
fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut all = Vec::new();
    for path in given {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let failed = |e: std::io::Error| CliError::io("list", path, &e);
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let file = path.join(entry.map_err(failed)?.file_name());
            if file.extension().is_some_and(|ending| ending == "jsonl") && is_exported(&file) {
                inside.push(file);
            }
        }
        if inside.is_empty() {
            return Err(CliError::usage(format!(
                "there is no exported run in {}",
                plain(&path.to_string_lossy())
            ))
            .hint("agentctl runs export --all DIR makes a file of each run; a journal of memory/runs is none"));
        }
        inside.sort();
        all.extend(inside);
    }
    Ok(all)
}

/// Whether a file begins as exported runs do. One that cannot be read is none here; named by itself it says what is wrong with it.
fn is_exported(file: &Path) -> bool {
    let Ok(Opened::File(file)) = open_own(file) else {
        return false;
    };
    let mut begins = Vec::new();
    let read = file.take(LONGEST_HEAD).read_to_end(&mut begins);
    let first = begins.split(|byte| *byte == b'\n').next();
    read.is_ok() && first.is_some_and(begins_exported)
}
