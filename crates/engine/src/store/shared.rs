//! A project whose journals are in a ledger as well: its runs begun, opened and fetched there, and what is kept beside them.

use super::{
    Each, Fetched, Journal, Ledger, LedgerError, Loaded, Project, RunFile, RunPaths, StoreError,
    ledger::{Holding, Last, follow, snapshot_name},
    read::GENESIS,
};
use agentctl_host::files::{self, Existing, Files, Opened, open_own, write_atomic_on};
use fs2::FileExt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

/// Bytes that are looked at at once, from the end of a file.
const CHUNK: u64 = 64 * 1024;

/// How a folder's journal stands to the ledger's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// Nothing was to be fetched: there is no ledger, the folder has it all, or somebody here writes it now.
    Nothing,
    /// Something came.
    Some,
    /// The ledger knows no such run.
    OnlyHere,
    /// The run was removed, and so was what this folder had of it.
    Removed,
}

impl Project {
    /// Makes the journal of a new run, held where journals are shared.
    pub fn begin_run(&self, run_id: &str) -> Result<Journal, StoreError> {
        let held = self
            .ledger()
            .map(|ledger| Holding::take(ledger, run_id, true))
            .transpose()?;
        let path = self.run(run_id)?.journal();
        let journal = Journal::create_on(self.disk().clone(), &path)?;
        let journal = journal.marked(self.marks(run_id));
        match held {
            Some(held) => journal.held(held),
            None => Ok(journal),
        }
    }

    /// Opens a run of this user's for appending. Of one that is shared the lease is taken first and what the folder lacks is fetched;
    /// one that lost records is refused before it is healed.
    pub fn open_run(&self, run_id: &str, each: Each<'_>) -> Result<(Journal, Loaded), StoreError> {
        let Some(ledger) = self.ledger() else {
            return self.open_copy(run_id, each);
        };
        let held = Holding::take(ledger, run_id, false)?;
        // Whoever fetches it in this moment is waited for: what is opened must be all of it.
        self.fetch(ledger, run_id, true)?;
        let (journal, loaded) = self.open_copy(run_id, each)?;
        Ok((journal.held(held)?, loaded))
    }

    /// Who works on a run elsewhere, as the error that it would be to take it now.
    pub fn held_by(&self, run_id: &str) -> Result<Option<LedgerError>, StoreError> {
        match self.ledger() {
            Some(ledger) => Ok(ledger.holder(run_id)?),
            None => Ok(None),
        }
    }

    /// Whether there is a journal of the run, after it was fetched.
    pub fn has_journal(&self, run_id: &str) -> Result<bool, StoreError> {
        self.fetch_run(run_id)?;
        Ok(std::fs::symlink_metadata(self.run(run_id)?.journal()).is_ok())
    }

    /// Fetches what the folder lacks of a run, with its snapshots. A copy that says otherwise than the ledger is refused.
    pub fn fetch_run(&self, run_id: &str) -> Result<Copied, StoreError> {
        match self.ledger() {
            Some(ledger) => self.fetch(ledger, run_id, false),
            None => Ok(Copied::Nothing),
        }
    }

    fn fetch(
        &self,
        ledger: &Arc<dyn Ledger>,
        run_id: &str,
        waits: bool,
    ) -> Result<Copied, StoreError> {
        let paths = self.run(run_id)?;
        self.refuse_links(Some(&paths))?;
        let Some(copy) = Copy::open(&paths.journal(), waits)? else {
            return Ok(Copied::Nothing);
        };
        let after = copy.last.as_ref().map_or(0, |(last, _)| last.seq - 1);
        let mut fetched = match ledger.fetch(run_id, after) {
            Err(LedgerError::Gone { .. }) => {
                drop(copy);
                self.remove_here(run_id)?;
                return Ok(Copied::Removed);
            }
            other => other?,
        };
        if let Some((_, line)) = &copy.last {
            let is_there = !fetched.lines.is_empty() || !ledger.fetch(run_id, 0)?.lines.is_empty();
            if !is_there {
                return Ok(Copied::OnlyHere);
            }
            if fetched.lines.first() != Some(line) {
                return Err(LedgerError::Split {
                    run: run_id.to_owned(),
                    place: ledger.place().to_owned(),
                    path: paths.journal(),
                }
                .into());
            }
            fetched.lines.remove(0);
        }
        self.copy_on(ledger.as_ref(), run_id, &paths, copy, fetched)
    }

    /// Fetches what the folder lacks of every run.
    pub fn fetch_all(&self) -> Result<(), StoreError> {
        let Some(ledger) = self.ledger() else {
            return Ok(());
        };
        for (run, last) in ledger.runs()? {
            if self.has_all(&run, &last)? {
                continue;
            }
            match self.fetch_run(&run) {
                // It is told by whoever reads it; the others are fetched all the same.
                Err(error) if !error.is_of_one_journal() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether the folder's file ends with this line, so that nothing is to be fetched. False: that is to be looked at.
    fn has_all(&self, run_id: &str, last: &Last) -> Result<bool, StoreError> {
        let path = self.run(run_id)?.journal();
        let Ok(Opened::File(mut file)) = open_own(&path) else {
            return Ok(false);
        };
        let (line, _) = last_line(&mut file).map_err(StoreError::io("read", &path))?;
        let ends = line.and_then(|line| last_of(&path, &line).ok());
        Ok(ends.as_ref() == Some(last))
    }

    fn copy_on(
        &self,
        ledger: &dyn Ledger,
        run_id: &str,
        paths: &RunPaths,
        copy: Copy,
        mut fetched: Fetched,
    ) -> Result<Copied, StoreError> {
        if fetched.lines.is_empty() {
            return Ok(Copied::Nothing);
        }
        let path = paths.journal();
        let failed = |e| StoreError::io("append to", &path)(e);
        let mut last = copy.last.map_or_else(
            || Last {
                seq: 0,
                hash: GENESIS.to_owned(),
            },
            |(last, _)| last,
        );
        let mut file = match copy.file {
            // What stands behind the last whole line is in the ledger, or never counted.
            Some(file) => file.set_len(copy.whole).map(|()| file).map_err(failed)?,
            None => match new_file(&path)? {
                Some(file) => file,
                // Somebody else of this folder fetches it.
                None => return Ok(Copied::Nothing),
            },
        };
        loop {
            let mut text = String::new();
            for line in &fetched.lines {
                let followed = follow(&last, line).map_err(|why| LedgerError::Damaged {
                    place: ledger.place().to_owned(),
                    run: run_id.to_owned(),
                    why: format!("line {}: {why}", last.seq + 1),
                })?;
                if let Some(file) = followed.snapshot {
                    self.fetch_snapshot(ledger, run_id, paths, &file)?;
                }
                last = followed.last;
                text.push_str(line);
                text.push('\n');
            }
            file.write_all(text.as_bytes()).map_err(failed)?;
            if !fetched.more {
                break;
            }
            fetched = ledger.fetch(run_id, last.seq)?;
        }
        let _ = file.unlock();
        Ok(Copied::Some)
    }

    fn fetch_snapshot(
        &self,
        ledger: &dyn Ledger,
        run_id: &str,
        paths: &RunPaths,
        file: &str,
    ) -> Result<(), StoreError> {
        let name = Path::new(file);
        let path = paths.snapshots().join(name);
        if name.file_name() != Some(name.as_os_str()) || path.symlink_metadata().is_ok() {
            return Ok(());
        }
        // One that is missing is told by who reads it.
        if let Some(bytes) = ledger.kept(run_id, &snapshot_name(file))? {
            write_atomic_on(self.disk().as_ref(), &path, &bytes)?;
        }
        Ok(())
    }

    /// Keeps a file that a run made where the run is.
    pub(crate) fn keep_file(&self, file: &RunFile) -> Result<(), StoreError> {
        let Some(ledger) = self.ledger() else {
            return Ok(());
        };
        match self.run_file(file)? {
            Some(bytes) => Ok(ledger.keep(file.run(), &file.place(), &bytes)?),
            None => Ok(()),
        }
    }

    /// Fetches a file that a run made elsewhere.
    pub(super) fn fetch_file(&self, files: &Files, file: &RunFile) -> Result<(), StoreError> {
        let place = file.place();
        let Some(ledger) = self.ledger() else {
            return Ok(());
        };
        if files.size(Path::new(&place))?.is_some() {
            return Ok(());
        }
        if let Some(bytes) = ledger.kept(file.run(), &place)? {
            files.write(Path::new(&place), &bytes, Existing::Replace)?;
        }
        Ok(())
    }

    /// Removes what this folder has of runs that were removed elsewhere; gives these back, and what could not be removed and why.
    pub fn remove_what_is_gone(&self) -> Result<(Vec<String>, Vec<StoreError>), StoreError> {
        let (mut removed, mut left) = (Vec::new(), Vec::new());
        let Some(ledger) = self.ledger() else {
            return Ok((removed, left));
        };
        for run in ledger.removed()? {
            match self.remove_here(&run) {
                Ok(true) => removed.push(run),
                Ok(false) => {}
                Err(error) => left.push(error),
            }
        }
        Ok((removed, left))
    }
}

/// The folder's file of a run, locked.
struct Copy {
    /// None: there is none yet.
    file: Option<File>,
    last: Option<(Last, String)>,
    /// Bytes up to the end of that.
    whole: u64,
}

impl Copy {
    /// None: somebody here has it, who is not waited for.
    fn open(path: &Path, waits: bool) -> Result<Option<Copy>, StoreError> {
        let failed = |e| StoreError::io("read", path)(e);
        match open_own(path).map_err(failed)? {
            Opened::File(_) => {}
            Opened::Missing => {
                return Ok(Some(Copy {
                    file: None,
                    last: None,
                    whole: 0,
                }));
            }
            Opened::Odd(why) => return Err(failed(std::io::Error::other(why))),
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        let locked = match waits {
            true => FileExt::lock_exclusive(&file),
            false => FileExt::try_lock_exclusive(&file),
        };
        match locked {
            Ok(()) => {}
            Err(e) if e.kind() == fs2::lock_contended_error().kind() => return Ok(None),
            Err(e) => return Err(failed(e)),
        }
        let (line, whole) = last_line(&mut file).map_err(failed)?;
        let last = match line {
            None => None,
            Some(line) => Some((last_of(path, &line)?, line)),
        };
        Ok(Some(Copy {
            file: Some(file),
            last,
            whole,
        }))
    }
}

/// A new file for a run, locked; None: another made it in the same moment.
fn new_file(path: &Path) -> Result<Option<File>, StoreError> {
    let dir = files::parent(path);
    files::create_dir(files::parent(dir))?;
    files::create_dir(dir)?;
    let made = OpenOptions::new().append(true).create_new(true).open(path);
    let file = match made {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => return Ok(None),
        Err(e) => return Err(StoreError::io("create", path)(e)),
    };
    match FileExt::try_lock_exclusive(&file) {
        Ok(()) => Ok(Some(file)),
        Err(e) if e.kind() == fs2::lock_contended_error().kind() => Ok(None),
        Err(e) => Err(StoreError::io("lock", path)(e)),
    }
}

fn last_of(path: &Path, line: &str) -> Result<Last, StoreError> {
    let last: Last = serde_json::from_str(line)
        .map_err(|e| super::read::broken(path, 0, format!("its last line is no record: {e}")))?;
    match last.seq {
        0 => Err(super::read::broken(
            path,
            0,
            "records count from 1".to_owned(),
        )),
        _ => Ok(last),
    }
}

/// The last whole line of a file without its newline, and the bytes up to its end.
fn last_line(file: &mut File) -> std::io::Result<(Option<String>, u64)> {
    let len = file.metadata()?.len();
    let (mut from, mut tail) = (len, Vec::new());
    loop {
        let newlines: Vec<usize> = memchr::memchr_iter(b'\n', &tail).collect();
        let end = newlines.last().copied();
        let begin = newlines.iter().rev().nth(1).map(|at| at + 1);
        let begin = begin.or((from == 0).then_some(0));
        if let (Some(begin), Some(end)) = (begin, end) {
            let line = tail.get(begin..end).unwrap_or_default();
            let line = String::from_utf8_lossy(line).into_owned();
            return Ok((Some(line), from + end as u64 + 1));
        }
        if from == 0 {
            return Ok((None, 0));
        }
        let size = CHUNK.max(tail.len() as u64).min(from);
        from -= size;
        let mut more = vec![0; usize::try_from(size).unwrap_or_default()];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut more)?;
        more.extend_from_slice(&tail);
        tail = more;
    }
}
