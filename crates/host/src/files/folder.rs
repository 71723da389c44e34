//! The project's files through one handle that cannot leave the project: no `..`, no symlink to the outside, no device.
//! Every write is whole and durable before it counts: temporary file beside the target, sync, rename or link, sync of the folder.

use super::regular::{Found, Links, read_below, size_below};
use super::{FileError, temporary};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

static TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// What a write does when the target is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Replace,
    Refuse,
}

#[derive(Debug)]
pub struct Files {
    root: Dir,
}

impl Files {
    pub fn open(root: &Path) -> Result<Self, FileError> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())
            .map_err(FileError::io("open the project folder", root))?;
        Ok(Files { root: dir })
    }

    pub fn read(&self, path: &Path, max_bytes: u64) -> Result<Found, FileError> {
        // Looked at before it is opened too: opening a device can do something.
        match self.root.symlink_metadata(path) {
            Ok(meta) if !meta.is_file() => {
                return Ok(Found::Odd("it is not a regular file".to_owned()));
            }
            Ok(_) => {}
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Found::Missing);
            }
            Err(e) if e.kind() == ErrorKind::PermissionDenied => {
                return Ok(Found::Odd(format!("it may not be read: {e}")));
            }
            Err(e) => return Err(failed("read", path, e)),
        }
        read_below(&self.root, path, max_bytes, Links::Refuse).map_err(|e| failed("read", path, e))
    }

    /// How many bytes a file has, without reading it; None: it is not there, or [`Files::read`] would find no file.
    pub fn size(&self, path: &Path) -> Result<Option<u64>, FileError> {
        size_below(&self.root, path).map_err(|e| failed("look at", path, e))
    }

    /// The names in a folder, sorted; none when the folder is not there.
    pub fn names(&self, folder: &Path) -> Result<Vec<String>, FileError> {
        let entries = match self.root.read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(failed("list", folder, e)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| failed("list", folder, e))?;
            // A name that is not UTF-8 cannot be an id, so nobody can ask for it.
            if let Ok(name) = entry.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    pub fn write(&self, path: &Path, bytes: &[u8], existing: Existing) -> Result<(), FileError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        self.make(folder)?;
        let (temporary, mut file) = self.temporary(path, folder)?;
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(|e| failed("write", path, e));
        drop(file);
        let placed = written.and_then(|()| self.place(&temporary, path, existing));
        if placed.is_err() {
            // The error in hand matters more than a leftover file with a leading dot.
            self.forget(&temporary);
        }
        placed?;
        self.sync_folder(folder)
    }

    pub fn remove(&self, path: &Path) -> Result<(), FileError> {
        self.root
            .remove_file(path)
            .map_err(|e| failed("remove", path, e))?;
        self.sync_folder(path.parent().unwrap_or(Path::new("")))
    }

    /// Makes the folder and those above it that are missing, and makes the new names last.
    fn make(&self, folder: &Path) -> Result<(), FileError> {
        let there = |folder: &Path| folder.as_os_str().is_empty() || self.root.is_dir(folder);
        if there(folder) {
            return Ok(());
        }
        let missing: Vec<&Path> = folder.ancestors().take_while(|f| !there(f)).collect();
        self.root
            .create_dir_all(folder)
            .map_err(|e| failed("create", folder, e))?;
        for new in missing.into_iter().rev() {
            self.sync_folder(new.parent().unwrap_or(Path::new("")))?;
        }
        Ok(())
    }

    fn temporary(
        &self,
        path: &Path,
        folder: &Path,
    ) -> Result<(std::path::PathBuf, std::fs::File), FileError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        loop {
            let n = TEMPORARY.fetch_add(1, Ordering::Relaxed);
            let candidate = folder.join(format!(".{name}.{}-{n}.tmp", std::process::id()));
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            match self.root.open_with(&candidate, &options) {
                Ok(file) => {
                    let file = file.into_std();
                    match temporary::claim(&file) {
                        Ok(true) => return Ok((candidate, file)),
                        Ok(false) => {}
                        Err(e) => {
                            self.forget(&candidate);
                            return Err(failed("lock", &candidate, e));
                        }
                    }
                }
                // Left by a killed process that had our process id.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(failed("write", path, e)),
            }
        }
    }

    /// Removes a temporary file. A command that ends in order is followed by nobody who looks for what was left, so a call that
    /// failed once is made again.
    fn forget(&self, temporary: &Path) {
        if self.root.remove_file(temporary).is_err() {
            drop(self.root.remove_file(temporary));
        }
    }

    fn place(&self, temporary: &Path, path: &Path, existing: Existing) -> Result<(), FileError> {
        if existing == Existing::Refuse {
            match self.root.hard_link(temporary, &self.root, path) {
                // The file stands under its name.
                Ok(()) => {
                    self.forget(temporary);
                    return Ok(());
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => return Err(taken(path)),
                // A file system without links: look, then rename.
                Err(_) if self.root.symlink_metadata(path).is_ok() => return Err(taken(path)),
                Err(_) => {}
            }
        }
        self.root
            .rename(temporary, &self.root, path)
            .map_err(|e| failed("write", path, e))
    }

    fn sync_folder(&self, folder: &Path) -> Result<(), FileError> {
        if cfg!(not(unix)) {
            return Ok(()); // elsewhere a folder cannot be opened as a file; the rename itself is what there is
        }
        let at = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        self.root
            .open(at)
            .and_then(|dir| dir.sync_all())
            .map_err(|e| failed("sync", at, e))
    }
}

fn failed(doing: &'static str, path: &Path, error: std::io::Error) -> FileError {
    FileError::io(doing, path)(error)
}

fn taken(path: &Path) -> FileError {
    FileError::Exists {
        path: path.to_owned(),
    }
}
