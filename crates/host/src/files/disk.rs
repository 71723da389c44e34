//! What the records of a run need of a disk, in one place: so that a disk that is full, broken or read-only can be played in a
//! test, at the very write, sync or rename where it hurts.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The default of each is the real thing. `path` is the file that is meant, also while a temporary one is written.
pub trait Disk: fmt::Debug + Send + Sync {
    /// May fail after a part was written.
    fn write(&self, file: &mut File, bytes: &[u8], _path: &Path) -> io::Result<()> {
        file.write_all(bytes)
    }
    fn sync(&self, file: &File, _path: &Path) -> io::Result<()> {
        file.sync_all()
    }
    /// Puts the temporary file in the place of `path`.
    fn rename(&self, from: tempfile::NamedTempFile, path: &Path) -> io::Result<()> {
        from.persist(path).map(|_| ()).map_err(|e| e.error)
    }
    /// Makes new and renamed entries of the folder last. Folders cannot be synced on Windows, where a rename is enough.
    fn sync_folder(&self, dir: &Path) -> io::Result<()> {
        match cfg!(unix) {
            true => File::open(dir)?.sync_all(),
            false => Ok(()),
        }
    }
}

#[derive(Debug, Default)]
struct RealDisk;
impl Disk for RealDisk {}

pub fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}
