//! A run's journal, held against what else is kept of the run: a summary names the last record that it was made from, and a
//! summary or a snapshot tells that there was a journal at all. A journal that lost its end, or everything, is told, and not taken
//! for a shorter run or for none.

use super::{
    Checked, Each, Journal, JournalHead, Loaded, Marks, Project, Record, StateFile, StoreError,
    project::first_line,
    read::{Reading, stream},
};
use std::path::PathBuf;

/// A summary of the run that names a record.
struct Summary {
    file: PathBuf,
    head: JournalHead,
}

impl Project {
    /// A run's journal as it stands, and whose it is. Nothing is changed.
    pub fn read_run(&self, run_id: &str) -> Result<Loaded, StoreError> {
        let mut records = Vec::new();
        let keep = &mut |record: &Record, _| records.push(record.clone());
        let (loaded, _) = self.read_run_each(run_id, keep)?;
        Ok(Loaded { records, ..loaded })
    }

    /// The same, its records handed on one by one; with it what need not be checked again (None: something of it must be).
    pub fn read_run_each(
        &self,
        run_id: &str,
        each: Each<'_>,
    ) -> Result<(Loaded, Option<Checked>), StoreError> {
        self.read_checked(run_id, self.checked(run_id).as_ref(), each)
    }

    /// The same, and nothing is taken for checked.
    pub fn verify_run(
        &self,
        run_id: &str,
        each: Each<'_>,
    ) -> Result<(Loaded, Option<Checked>), StoreError> {
        self.read_checked(run_id, None, each)
    }

    /// The first record of a run's journal, read by itself: whose it is, and what comes after it, is not looked at. None: it has none.
    pub fn first_record(&self, run_id: &str) -> Result<Option<Record>, StoreError> {
        self.fetch_run(run_id)?;
        let path = self.run(run_id)?.journal();
        let mut loaded = Loaded::empty();
        loaded.read_on(&path, &first_line(&path)?, &Marks::none())?;
        self.has_records(run_id, &loaded)?;
        Ok(loaded.records.into_iter().next())
    }

    fn read_checked(
        &self,
        run_id: &str,
        checked: Option<&Checked>,
        each: Each<'_>,
    ) -> Result<(Loaded, Option<Checked>), StoreError> {
        self.fetch_run(run_id)?;
        let reading = Reading {
            marks: &self.marks(run_id),
            checked,
            note: &self.promised(run_id)?,
            each,
        };
        let read = stream(&self.run(run_id)?.journal(), reading);
        let read = read.map_err(|error| self.unless_lost(run_id, error))?;
        self.has_records(run_id, &read.loaded)?;
        let checked = read.checked();
        Ok((read.loaded, checked))
    }

    /// Opens what the folder has of a run, as [`Journal::open_for`]; one that lost records is refused before it is healed.
    pub(super) fn open_copy(
        &self,
        run_id: &str,
        each: Each<'_>,
    ) -> Result<(Journal, Loaded), StoreError> {
        let path = self.run(run_id)?.journal();
        let whole = |loaded: &Loaded| {
            self.has_records(run_id, loaded)?;
            self.lost_end(run_id, loaded)?.map_or(Ok(()), Err)
        };
        let checked = self.checked(run_id);
        let reading = Reading {
            marks: &self.marks(run_id),
            checked: checked.as_ref(),
            note: &self.promised(run_id)?,
            each,
        };
        let opened = Journal::open_for(self.disk().clone(), &path, reading, &whole);
        opened.map_err(|error| self.unless_lost(run_id, error))
    }

    /// The numbers of the records that the run's summaries name.
    pub(super) fn promised(&self, run_id: &str) -> Result<Vec<u64>, StoreError> {
        let summaries = self.summaries(run_id)?.into_iter();
        Ok(summaries.map(|summary| summary.head.seq).collect())
    }

    fn has_records(&self, run_id: &str, loaded: &Loaded) -> Result<(), StoreError> {
        let lost = match loaded.head().0 {
            0 => self.lost(run_id, "holds no whole record")?,
            _ => None,
        };
        lost.map_or(Ok(()), Err)
    }

    /// The error of reading the journal, or that there is none to read where there was one.
    fn unless_lost(&self, run_id: &str, error: StoreError) -> StoreError {
        let journal = self.run(run_id).map(|paths| paths.journal());
        let why = match journal.map(std::fs::symlink_metadata) {
            Ok(Ok(found)) if !found.is_file() => "is no file",
            Ok(Err(e)) if e.kind() == std::io::ErrorKind::NotFound => "is not there",
            _ => return error,
        };
        match self.lost(run_id, why) {
            Ok(lost) => lost.unwrap_or(error),
            Err(error) => error,
        }
    }

    fn lost(&self, run_id: &str, why: &str) -> Result<Option<StoreError>, StoreError> {
        let paths = self.run(run_id)?;
        let Some(left) = self.trace_of(run_id)? else {
            return Ok(None);
        };
        let mut whole = Vec::new();
        if paths.dir().is_dir() {
            whole.push(paths.dir().to_owned());
            let summaries = self.summaries(run_id)?.into_iter().map(|s| s.file);
            whole.extend(summaries.filter(|file| !file.starts_with(paths.dir())));
        }
        Ok(Some(StoreError::Lost {
            run_id: run_id.to_owned(),
            path: paths.journal(),
            why: why.to_owned(),
            left: left.display().to_string(),
            whole,
        }))
    }

    /// The records that a summary was made from and that the journal does not hold (any more), as the error that they are; None:
    /// it holds them all. `loaded`: as a project reads it.
    pub fn lost_end(
        &self,
        run_id: &str,
        loaded: &Loaded,
    ) -> Result<Option<StoreError>, StoreError> {
        self.short_of_promised(run_id, loaded.head().0, |seq| loaded.noted(seq))
    }

    /// The same of a journal that was read as it came: `last` is its last record.
    pub fn ends_too_soon(&self, run_id: &str, last: u64) -> Result<Option<StoreError>, StoreError> {
        self.short_of_promised(run_id, last, |_| None)
    }

    fn short_of_promised<'l>(
        &self,
        run_id: &str,
        last: u64,
        noted: impl Fn(u64) -> Option<&'l str>,
    ) -> Result<Option<StoreError>, StoreError> {
        for Summary { file, head } in self.summaries(run_id)? {
            let other = noted(head.seq).map(|hash| hash != head.hash);
            let has = match other {
                _ if head.seq > last => format!("ends with record {last}"),
                Some(true) => "holds another one in its place".to_owned(),
                _ => continue,
            };
            return Ok(Some(StoreError::Short {
                run_id: run_id.to_owned(),
                path: self.run(run_id)?.journal(),
                summary: file,
                promised: head.seq,
                has,
            }));
        }
        Ok(None)
    }

    fn summaries(&self, run_id: &str) -> Result<Vec<Summary>, StoreError> {
        let mut summaries = Vec::new();
        for file in [self.state_file(), self.run(run_id)?.archived_state()] {
            if let StateFile::Good(state) = StateFile::read(&file)?
                && state.run_id == run_id
            {
                summaries.push(Summary {
                    file,
                    head: state.journal,
                });
            }
        }
        Ok(summaries)
    }

    /// What is left of a run besides its journal, and is only ever written behind the journal's first records: a summary, a
    /// snapshot, or what it told. None: nothing is.
    pub(super) fn trace_of(&self, run_id: &str) -> Result<Option<PathBuf>, StoreError> {
        if let Some(summary) = self.summaries(run_id)?.into_iter().next() {
            return Ok(Some(summary.file));
        }
        let paths = self.run(run_id)?;
        let is_file =
            |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        let files = [paths.archived_state(), paths.checkpoint(), paths.report()];
        if let Some(file) = files.into_iter().find(is_file) {
            return Ok(Some(file));
        }
        let held = std::fs::read_dir(paths.snapshots());
        let snapshots = held.is_ok_and(|mut entries| {
            entries.any(|entry| {
                entry.is_ok_and(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
            })
        });
        Ok(snapshots.then(|| paths.snapshots()))
    }
}
