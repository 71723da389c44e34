//! One activation at a time in a project. The lock is the operating system's: it goes when its process goes, so what a
//! dead holder wrote into the file never blocks anybody.

use super::{StoreError, holder::Holder};
use agentctl_host::files::{self, open_given};
use fs2::FileExt;
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
}

impl Drop for ProjectLock {
    /// Closing the file would be enough, were it not that a child which is just being started may have it open as well.
    fn drop(&mut self) {
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
        let mut lock = ProjectLock { file };
        lock.name(holder)
            .map_err(StoreError::io("write the lock", path))?;
        Ok(lock)
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

    fn name(&mut self, holder: &Holder) -> std::io::Result<()> {
        let text = serde_json::to_string(holder)?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())
    }
}
