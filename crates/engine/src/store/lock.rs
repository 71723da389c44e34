//! One activation at a time in a project. The lock is the operating system's: it goes when its process goes, so what a
//! dead holder wrote into the file never blocks anybody.

use super::{StoreError, holder::Holder};
use agentctl_host::files::{self, open_given};
use fs2::FileExt;
use serde::{Deserialize, Serialize};
use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
};

/// Whether somebody has the project now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    No,
    /// By whom, when it can be read.
    By(Option<Holder>),
}

/// Held until dropped.
#[derive(Debug)]
pub struct ProjectLock {
    file: File,
    /// Which of the project's turns this is, from 1; None: the file did not say how many there were before.
    turn: Option<u64>,
    /// The holder before ended without letting go.
    after_a_crash: bool,
}

/// What stands in the file besides the holder, and alone when nobody has the project.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Turns {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    #[serde(flatten)]
    holder: Option<Holder>,
}

impl Drop for ProjectLock {
    /// Closing the file would be enough, were it not that a child which is just being started may have it open as well.
    fn drop(&mut self) {
        // Without its name in the file the holder let go; with it, it is taken for dead, which costs the next one a look around.
        let _ = self.write(None);
        // The operating system lets go of it anyway when the process ends.
        let _ = FileExt::unlock(&self.file);
    }
}

impl ProjectLock {
    /// Takes the lock at once or refuses with the holder's name.
    pub fn take(path: &Path, holder: &Holder) -> Result<Self, StoreError> {
        files::create_dir(files::parent(path))?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(StoreError::io("open the lock", path))?;
        match FileExt::try_lock_exclusive(&file) {
            Ok(()) => {}
            Err(e) if e.kind() == fs2::lock_contended_error().kind() => {
                let mut text = String::new();
                // A holder that is just writing its name is still a holder; its name is then not known.
                let read = file.read_to_string(&mut text).is_ok();
                return Err(StoreError::Locked {
                    holder: read.then(|| serde_json::from_str(&text).ok()).flatten(),
                });
            }
            Err(e) => return Err(StoreError::io("lock", path)(e)),
        }
        let mut text = String::new();
        // What cannot be read says nothing.
        let read = file.read_to_string(&mut text).is_ok();
        let before: Option<Turns> = read.then(|| serde_json::from_str(&text).ok()).flatten();
        let before = before.unwrap_or_default();
        let mut lock = ProjectLock {
            file,
            turn: before.turn.map(|turn| turn.saturating_add(1)),
            after_a_crash: before.turn.is_none() || before.holder.is_some(),
        };
        lock.write(Some(holder))
            .map_err(StoreError::io("write the lock", path))?;
        Ok(lock)
    }

    /// Which of the project's turns this is, from 1; None: the file does not say it.
    pub fn turn(&self) -> Option<u64> {
        self.turn
    }

    /// The holder before may have left something half done: it did not let go, or wrote no word about it.
    pub fn after_a_crash(&self) -> bool {
        self.after_a_crash
    }

    /// It is this turn of the project's; kept so that a later one is a higher one, also after a power loss.
    pub fn number(&mut self, path: &Path, turn: u64, holder: &Holder) -> Result<(), StoreError> {
        self.turn = Some(turn);
        self.write(Some(holder))
            .and_then(|()| self.file.sync_all())
            .map_err(StoreError::io("write the lock", path))
    }

    /// Whether the lock is held. Who asks may, for an instant, be in the way of who takes it: ask seldom.
    pub fn held(path: &Path) -> Result<Held, StoreError> {
        let mut file = match open_given(path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Held::No),
            Err(e) => return Err(StoreError::io("open the lock", path)(e)),
        };
        match FileExt::try_lock_shared(&file) {
            Ok(()) => Ok(Held::No),
            Err(e) if e.kind() == fs2::lock_contended_error().kind() => {
                let mut text = String::new();
                let read = file.read_to_string(&mut text).is_ok();
                let holder = read.then(|| serde_json::from_str(&text).ok()).flatten();
                Ok(Held::By(holder))
            }
            Err(e) => Err(StoreError::io("look at the lock", path)(e)),
        }
    }

    /// Never shorter for a moment: who reads it meanwhile finds a turn.
    fn write(&mut self, holder: Option<&Holder>) -> std::io::Result<()> {
        let turns = Turns {
            turn: self.turn,
            holder: holder.cloned(),
        };
        let text = serde_json::to_string(&turns)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(text.len() as u64)
    }
}
