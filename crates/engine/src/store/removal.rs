//! Taking a run's folder away. It is moved aside first: a process that is killed meanwhile leaves no half run.

use super::{Project, StoreError};
use std::{fs, io};

/// What a run's folder is called while it goes: no run has such a name, so one that is left half is none.
const GOING: &str = ".pruned-";

impl Project {
    /// Removes a run: where journals are shared for all who share them, and what lies of it in the project. Whoever calls it holds what
    /// the run belongs to. False: there was nothing of it, here or where journals are shared.
    pub fn remove_run(&self, run_id: &str) -> Result<bool, StoreError> {
        let was_shared = match self.ledger() {
            Some(ledger) => ledger.remove(run_id)?,
            None => false,
        };
        Ok(self.remove_copy(run_id)? | was_shared)
    }

    /// Removes what lies of a run in the project, and the files that it made. False: there was nothing.
    pub(super) fn remove_here(&self, run_id: &str) -> Result<bool, StoreError> {
        Ok(self.remove_run_files(run_id)? | self.remove_copy(run_id)?)
    }

    /// Removes what lies of a run in the project.
    pub(super) fn remove_copy(&self, run_id: &str) -> Result<bool, StoreError> {
        let paths = self.run(run_id)?;
        self.refuse_links(Some(&paths))?;
        let going = self.runs().join(format!("{GOING}{run_id}"));
        match fs::rename(paths.dir(), &going) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(StoreError::io("move aside", paths.dir())(e)),
        }
        fs::remove_dir_all(&going).map_err(StoreError::io("remove", going))?;
        Ok(true)
    }

    /// Removes what a process left that was killed while it removed runs.
    pub fn finish_removals(&self) -> Result<(), StoreError> {
        let dir = self.runs();
        let failed = |e| StoreError::io("list", &dir)(e);
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(failed(e)),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(GOING.as_bytes()) {
                let path = entry.path();
                fs::remove_dir_all(&path).map_err(StoreError::io("remove", path))?;
            }
        }
        Ok(())
    }
}
