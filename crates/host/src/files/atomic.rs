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
    create_dir(dir)?;
    let mut temporary =
        temporary::create(dir).map_err(FileError::io("create a temporary file in", dir))?;
    disk.write(temporary.as_file_mut(), bytes, path)
        .map_err(FileError::io("write", path))?;
    readable_like_a_new_file(temporary.as_file(), path)?;
    disk.sync(temporary.as_file(), path)
        .map_err(FileError::io("sync", path))?;
    disk.rename(temporary, path)
        .map_err(FileError::io("replace", path))?;
    sync_dir(dir)
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
    create_dir_unsynced(dir)?
        .iter()
        .try_for_each(|holds| sync_dir(holds))
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

/// Makes a new or renamed entry of the folder last. Folders cannot be synced on Windows, where a rename is enough.
pub fn sync_dir(dir: &Path) -> Result<(), FileError> {
    if cfg!(unix) {
        fs::File::open(dir)
            .and_then(|d| d.sync_all())
            .map_err(FileError::io("sync the folder", dir))?;
    }
    Ok(())
}
