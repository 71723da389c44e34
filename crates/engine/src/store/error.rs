//! What can go wrong on disk. Every one of these stops the activation: a state that could not be kept is no state.

use super::{holder::Holder, ledger::LedgerError, marks::Foreign};
use agentctl_host::files::FileError;
use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The journal's chain does not hold, or a line is not a record. `line` counts from 1.
    #[error("{} is broken at line {line}: {reason}; nothing was changed, restore the file from a copy or start a new run", path.display())]
    Broken {
        path: PathBuf,
        line: u64,
        reason: String,
    },
    /// Something else of the run is there, so it had begun, and its journal has no record (any more).
    #[error("the journal of run {run_id} is lost: {} {why}, and {left} is still there; nothing was done: put it back from a copy, or name the run that is meant, as in `agentctl undo RUN` (`agentctl runs list` shows them){}", path.display(), given_up(whole))]
    Lost {
        run_id: String,
        path: PathBuf,
        why: String,
        /// What tells that the run had begun.
        left: String,
        /// Its folder, and the summary of the active run where it is this one's. Empty: the folder is gone.
        whole: Vec<PathBuf>,
    },
    /// A summary was made from a record that the journal does not hold (any more).
    #[error("records of run {run_id} are lost: {} was made from record {promised}, and {} {has}; nothing was done, put the journal back from a copy, or remove the summary to go on with what is left", summary.display(), path.display())]
    Short {
        run_id: String,
        path: PathBuf,
        summary: PathBuf,
        promised: u64,
        has: String,
    },
    #[error("{} was written by a newer agentctl (journal version {found}, this one reads up to {known}); update agentctl", path.display())]
    NewerVersion {
        path: PathBuf,
        found: u64,
        known: u32,
    },
    /// The run is not this user's, or not to its end: it is looked at and not acted on.
    #[error(
        "run {run_id} was not written by your agentctl: {foreign}. Nothing was done; `agentctl runs show {run_id}` shows it, `agentctl runs adopt {run_id}` shows what it would let happen and makes it yours"
    )]
    Foreign { run_id: String, foreign: Foreign },
    #[error("the snapshot {} is not the one that was taken: {why}", path.display())]
    Changed { path: PathBuf, why: String },
    #[error("{}", locked(.holder.as_ref()))]
    Locked { holder: Option<Holder> },
    #[error("no run {id:?} in this project; `agentctl runs list` shows what there is")]
    NoSuchRun { id: String },
    #[error(
        "{what} {id:?} cannot be part of a file name; allowed are letters, digits, '-' and '_'"
    )]
    BadId { what: &'static str, id: String },
    #[error("cannot write {what} as JSON: {reason}")]
    Encode { what: &'static str, reason: String },
}

impl StoreError {
    /// Whether it tells of a journal that cannot be read as it stands, and of nothing else: the others of the project can be.
    pub fn is_of_one_journal(&self) -> bool {
        matches!(
            self,
            StoreError::Broken { .. }
                | StoreError::Lost { .. }
                | StoreError::NewerVersion { .. }
                | StoreError::Ledger(LedgerError::Split { .. } | LedgerError::Damaged { .. })
        )
    }

    pub fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> StoreError {
        let failed = FileError::io(doing, path);
        move |source| failed(source).into()
    }
}

/// The summary alone would not do: the next older run would be taken for this one.
fn given_up(whole: &[PathBuf]) -> String {
    let whole: Vec<String> = whole
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    match whole.is_empty() {
        true => String::new(),
        false => format!(
            "; to give the lost run up, remove the whole of {}: the newest run that is left is then the active one",
            whole.join(" and ")
        ),
    }
}

fn locked(holder: Option<&Holder>) -> String {
    match holder {
        Some(h) => format!(
            "this project is in use by {h}; wait for it, or stop it and run `agentctl resume`"
        ),
        None => "this project is in use by another agentctl; wait for it".to_owned(),
    }
}
