//! Journals that several replicas share. The file in the project's folder stays what is read and folded; a ledger has each line first,
//! and only what it took is written to the file. So a folder's file is a beginning of what the ledger has, on every replica, and
//! whoever takes a run over fetches the rest. A run is written by one replica at a time: by whom says a lease, and that a late write of
//! another is refused say the number and the hash of the line before it.

use super::{Event, Marks, line::Wanted};
use fs2::FileExt as _;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Nothing is known of what was asked for last: it may have been done.
    #[error("the journals in {place} cannot be reached: {why}")]
    Away { place: String, why: String },
    #[error(
        "run {run} is worked on by {by}; where that one is gone, another may go on in {seconds} s"
    )]
    Held {
        run: String,
        by: String,
        seconds: u64,
    },
    #[error(
        "run {run} was taken over by another agentctl; what this one did since counts for nothing"
    )]
    Lost { run: String },
    #[error("run {run} is in {place} already")]
    Exists { run: String, place: String },
    #[error("run {run} was removed")]
    Gone { run: String },
    #[error(
        "run {run} is in this folder alone, and not in {place}: `agentctl runs export {run} FILE` and `agentctl runs import FILE` bring it there"
    )]
    OnlyHere { run: String, place: String },
    #[error("{} says otherwise than {place} of run {run}; nothing was done: move its folder away, and the run is fetched anew", path.display())]
    Split {
        run: String,
        place: String,
        path: PathBuf,
    },
    #[error("what {place} holds of run {run} is damaged: {why}")]
    Damaged {
        place: String,
        run: String,
        why: String,
    },
}

/// Who may write a run. It is worth nothing any more once another was given for the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub run: String,
    /// Higher than that of every lease of the run before.
    pub fence: i64,
}

/// A line that is to be appended, with what must be there before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub seq: u64,
    pub prev: String,
    pub hash: String,
    /// As it stands in the file, without its newline.
    pub line: String,
}

/// Lines of a run, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fetched {
    pub lines: Vec<String>,
    /// There are more behind them.
    pub more: bool,
}

/// Where all replicas have their journals. Every call may wait for a network, for a few seconds at most.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// What marks are made over in place of a folder: the same for all who share the ledger.
    fn id(&self) -> &str;

    /// Where it is, as messages call it.
    fn place(&self) -> &str;

    /// How long a replica may be unheard of before another can take what it holds.
    fn lease(&self) -> Duration;

    /// The runs that have a line, sorted, with the last one of each.
    fn runs(&self) -> Result<Vec<(String, Last)>, LedgerError>;

    /// The lines of a run that come after line `after`. Errors: [`LedgerError::Gone`].
    fn fetch(&self, run: &str, after: u64) -> Result<Fetched, LedgerError>;

    /// Takes a run's lease: of a run that `begins` and is not there yet, else of one that is. It lasts while this process lives and can
    /// reach the ledger, until it is left.
    ///
    /// Errors: [`LedgerError::Held`], [`LedgerError::Exists`], [`LedgerError::OnlyHere`], [`LedgerError::Gone`].
    fn take(&self, run: &str, begins: bool) -> Result<Lease, LedgerError>;

    /// Who has a run, as [`LedgerError::Held`] tells it; None: it can be taken.
    fn holder(&self, run: &str) -> Result<Option<LedgerError>, LedgerError>;

    /// Leaves a lease. One that cannot be left now runs out.
    fn leave(&self, lease: &Lease);

    /// Keeps a lease no longer and does not leave it: it runs out, and whoever looks after abandoned runs finds it.
    fn abandon(&self, lease: &Lease);

    /// Appends lines, all or none. They outlive the ledger's machine when this returns.
    ///
    /// Errors: [`LedgerError::Lost`] where the lease is over, or the run's last line is not the one before the first of these.
    fn append(&self, lease: &Lease, entries: &[Entry]) -> Result<(), LedgerError>;

    /// Keeps bytes of a run under a name; what stands there already stays.
    fn keep(&self, run: &str, name: &str, bytes: &[u8]) -> Result<(), LedgerError>;

    /// What was kept of a run under a name.
    fn kept(&self, run: &str, name: &str) -> Result<Option<Vec<u8>>, LedgerError>;

    /// The names of what is kept of a run.
    fn names(&self, run: &str) -> Result<Vec<String>, LedgerError>;

    /// Removes a run and what is kept of it, for good. False: it is not there, or was removed before. Errors: [`LedgerError::Held`].
    fn remove(&self, run: &str) -> Result<bool, LedgerError>;

    /// The runs that were removed.
    fn removed(&self) -> Result<Vec<String>, LedgerError>;

    /// The runs whose lease ran out and was never left: who held it died, or cannot reach the ledger.
    fn abandoned(&self) -> Result<Vec<String>, LedgerError>;

    /// Asks whoever holds a run to end it, once. False: nobody holds it.
    fn stop(&self, run: &str) -> Result<bool, LedgerError>;

    /// The runs which are held here and that somebody asked to end since they were taken.
    fn stops(&self) -> Result<Vec<String>, LedgerError>;
}

/// The name under which a snapshot of a run is kept.
pub(super) fn snapshot_name(file: &str) -> String {
    format!("snapshots/{file}")
}

/// A run that is held; dropped, it is left.
#[derive(Debug)]
pub(super) struct Holding {
    ledger: Arc<dyn Ledger>,
    lease: Lease,
    /// The run's file, locked: nobody else of this folder writes what is fetched into it meanwhile.
    file: Option<File>,
    /// A write failed: the run is not as whoever held it left it, and somebody has to look after it.
    failed: bool,
}

impl Holding {
    pub fn take(ledger: &Arc<dyn Ledger>, run: &str, begins: bool) -> Result<Holding, LedgerError> {
        Ok(Holding {
            lease: ledger.take(run, begins)?,
            ledger: Arc::clone(ledger),
            file: None,
            failed: false,
        })
    }

    /// Keeps who fetches away from the file.
    pub fn lock(&mut self, file: &File) -> std::io::Result<()> {
        let file = file.try_clone()?;
        file.lock_exclusive()?;
        self.file = Some(file);
        Ok(())
    }

    /// As [`Ledger::append`].
    pub fn append(&self, entries: &[Entry]) -> Result<(), LedgerError> {
        self.ledger.append(&self.lease, entries)
    }

    /// It is not left, so that whoever looks after abandoned runs finds it.
    pub fn fail(&mut self) {
        self.failed = true;
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        // Closing the file would be enough, were it not that a child which is just being started may have it open as well.
        if let Some(file) = &self.file {
            let _ = file.unlock();
        }
        match self.failed {
            false => self.ledger.leave(&self.lease),
            true => self.ledger.abandon(&self.lease),
        }
    }
}

/// The last line of a journal so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
pub struct Last {
    pub seq: u64,
    pub hash: String,
}

/// A line that a ledger has, held against the one before it.
pub(super) struct Followed {
    pub last: Last,
    /// The snapshot that it tells of.
    pub snapshot: Option<String>,
}

/// Reads a line as the one behind `last`. Err: it is not.
pub(super) fn follow(last: &Last, line: &str) -> Result<Followed, String> {
    if line.contains('\n') {
        return Err("a line is more than one".to_owned());
    }
    let alone = Wanted::All(&Marks::none()).of(line.as_bytes(), false)?;
    alone.follows(last.seq, &last.hash)?;
    let read = alone.line;
    let snapshot = match read.event {
        Ok(Some(Event::SnapshotTaken { file, .. })) => Some(file),
        _ => None,
    };
    Ok(Followed {
        last: Last {
            seq: read.seq,
            hash: read.hash,
        },
        snapshot,
    })
}
