//! Commits made to last, many at once. A commit to SQLite's log (WAL) survives the end of the process; a power loss it survives once the
//! log is synced. One sync covers all that was committed before it began, so of many turns that end together one waits for the disk
//! and the others for that one.

use crate::SessionError;
use agentctl_host::files;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

#[derive(Debug)]
pub(crate) struct Synced {
    log: PathBuf,
    /// Commits of this process so far.
    committed: AtomicU64,
    on_disk: Mutex<OnDisk>,
}

#[derive(Debug, Default)]
struct OnDisk {
    /// So many of the commits.
    commits: u64,
    /// The log whose name is.
    log: Option<Inode>,
}

/// Device and number.
type Inode = (u64, u64);

impl Synced {
    /// Of the store in this file.
    pub fn new(store: &Path) -> Synced {
        let mut log = store.as_os_str().to_owned();
        log.push("-wal");
        Synced {
            log: log.into(),
            committed: AtomicU64::new(0),
            on_disk: Mutex::default(),
        }
    }

    /// After this, what was committed before it was called survives a power loss.
    pub async fn commit(&self) -> Result<(), SessionError> {
        let number = self.committed.fetch_add(1, Ordering::SeqCst) + 1;
        let mut on_disk = self.on_disk.lock().await;
        if on_disk.commits >= number {
            return Ok(());
        }
        let all = self.committed.load(Ordering::SeqCst);
        let (log, known) = (self.log.clone(), on_disk.log);
        let synced = tokio::task::spawn_blocking(move || sync(&log, known)).await;
        let synced = synced.unwrap_or_else(|e| Err(std::io::Error::other(e)));
        on_disk.log = synced.map_err(|e| SessionError::File {
            path: self.log.clone(),
            why: format!("it cannot be synced: {e}"),
        })?;
        on_disk.commits = all;
        Ok(())
    }
}

/// A log that is gone was written over into the database, which SQLite syncs first. `known`: the log whose name is on the disk.
fn sync(log: &Path, known: Option<Inode>) -> std::io::Result<Option<Inode>> {
    let file = match File::open(log) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    file.sync_data()?;
    let found = file.metadata()?;
    let inode = Some((found.dev(), found.ino()));
    if inode != known {
        files::sync_dir(files::parent(log)).map_err(std::io::Error::other)?;
    }
    Ok(inode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_sync_covers_what_was_committed_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let synced = Synced::new(&dir.path().join("store.db"));
        // No log: it was written over into the database.
        synced.commit().await.unwrap();
        assert_eq!(synced.on_disk.lock().await.log, None);
        std::fs::write(dir.path().join("store.db-wal"), "frames").unwrap();
        // Two that committed before somebody synced.
        synced.committed.fetch_add(2, Ordering::SeqCst);
        synced.commit().await.unwrap();
        let on_disk = synced.on_disk.lock().await;
        assert_eq!(on_disk.commits, 4);
        assert!(on_disk.log.is_some());
    }

    #[tokio::test]
    async fn a_log_that_cannot_be_synced_is_an_error_each_time() {
        let dir = tempfile::tempdir().unwrap();
        let synced = Synced::new(&dir.path().join("store.db"));
        std::os::unix::fs::symlink("store.db-wal", dir.path().join("store.db-wal")).unwrap();
        for _ in 0..2 {
            let told = synced.commit().await.unwrap_err().to_string();
            assert!(told.contains("store.db-wal"), "{told}");
        }
        assert_eq!(synced.on_disk.lock().await.commits, 0);
    }
}
