//! Writing a whole file so that a crash leaves the old one or the new one, never a part.

use super::disk::{self, Disk};
use super::{FileError, temporary};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Writes through a temporary file in the same folder: write, sync, rename, sync the folder. Creates the folder. What a killed
/// write left in it is removed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    temporary::tidy_here(parent(path))?;
    write_atomic_on(disk::real().as_ref(), path, bytes)
}

/// The same on a disk of its own; what was left is removed by who has the lock of the folder ([`super::tidy`]).
pub fn write_atomic_on(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let dir = parent(path);
    create_dir_on(disk, dir)?;
    let mut temporary =
        temporary::create(dir).map_err(FileError::io("create a temporary file in", dir))?;
    disk.write(temporary.as_file_mut(), bytes, path)
        .map_err(FileError::io("write", path))?;
    readable_like_a_new_file(temporary.as_file(), path)?;
    disk.sync(temporary.as_file(), path)
        .map_err(FileError::io("sync", path))?;
    disk.rename(temporary, path)
        .map_err(FileError::io("replace", path))?;
    sync_dir_on(disk, dir)
}

/// Replaces a file that can be made anew at any time: whole or not at all for who reads it now, and nothing is synced. After a power
/// loss it may hold anything.
pub fn write_cache(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut temporary = temporary::create(parent(path))?;
    std::io::Write::write_all(temporary.as_file_mut(), bytes)?;
    temporary.persist(path)?;
    Ok(())
}

/// A temporary file is made for its owner only; a file of a project has the usual permissions, or those it had before.
#[cfg(unix)]
fn readable_like_a_new_file(file: &fs::File, target: &Path) -> Result<(), FileError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::symlink_metadata(target)
        .ok()
        .filter(fs::Metadata::is_file)
        .map_or(0o644, |m| m.permissions().mode() & 0o777);
    file.set_permissions(fs::Permissions::from_mode(mode))
        .map_err(FileError::io("set the permissions of", target))
}
#[cfg(not(unix))]
fn readable_like_a_new_file(_: &fs::File, _: &Path) -> Result<(), FileError> {
    Ok(())
}

/// Creates the folder and those above it that are missing, and makes the new names last.
pub fn create_dir(dir: &Path) -> Result<(), FileError> {
    create_dir_on(disk::real().as_ref(), dir)
}

fn create_dir_on(disk: &dyn Disk, dir: &Path) -> Result<(), FileError> {
    create_dir_unsynced(dir)?
        .iter()
        .try_for_each(|holds| sync_dir_on(disk, holds))
}

/// The same, but a power loss can take the new names until the folders that are given back are synced, in this order.
pub fn create_dir_unsynced(dir: &Path) -> Result<Vec<PathBuf>, FileError> {
    if dir.is_dir() {
        return Ok(Vec::new());
    }
    let missing: Vec<&Path> = dir
        .ancestors()
        .take_while(|d| !d.as_os_str().is_empty() && !d.is_dir())
        .collect();
    fs::create_dir_all(dir).map_err(FileError::io("create the folder", dir))?;
    Ok(missing
        .into_iter()
        .map(|new| parent(new).to_owned())
        .collect())
}

pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

/// Makes a new or renamed entry of the folder last.
pub fn sync_dir(dir: &Path) -> Result<(), FileError> {
    sync_dir_on(disk::real().as_ref(), dir)
}

/// The same on a disk of its own.
pub fn sync_dir_on(disk: &dyn Disk, dir: &Path) -> Result<(), FileError> {
    disk.sync_folder(dir)
        .map_err(FileError::io("sync the folder", dir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::Mutex;

    /// Says which folders were synced, and cannot sync one of them.
    #[derive(Debug, Default)]
    struct Watched {
        synced: Mutex<Vec<PathBuf>>,
        broken: Option<PathBuf>,
    }

    impl Disk for Watched {
        fn sync_folder(&self, dir: &Path) -> io::Result<()> {
            if self.broken.as_deref() == Some(dir) {
                return Err(io::Error::other("the disk is broken"));
            }
            self.synced.lock().unwrap().push(dir.to_owned());
            Ok(())
        }
    }

    #[test]
    fn each_new_name_is_synced_into_the_folder_that_holds_it() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a"), root.path().join("a/b"));
        let disk = Watched::default();
        let written = |text: &[u8]| {
            write_atomic_on(&disk, &b.join("file"), text).unwrap();
            std::mem::take(&mut *disk.synced.lock().unwrap())
        };
        assert_eq!(
            written(b"1"),
            [a.clone(), root.path().to_owned(), b.clone()]
        );
        assert_eq!(written(b"2"), std::slice::from_ref(&b));
    }

    #[test]
    fn a_folder_that_cannot_be_synced_is_an_error_that_names_it() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a"), root.path().join("a/b"));
        for broken in [root.path(), &a, &b] {
            let _ = fs::remove_dir_all(&a);
            let disk = Watched {
                broken: Some(broken.to_owned()),
                ..Watched::default()
            };
            let error = write_atomic_on(&disk, &b.join("file"), b"1").unwrap_err();
            let named = format!(
                "cannot sync the folder {}: the disk is broken",
                broken.display()
            );
            assert_eq!(error.to_string(), named);
        }
    }
}
