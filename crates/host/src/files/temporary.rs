//! The temporary files of writes: how they are named beside their targets, and how those are removed that a killed process left.
//! Who writes one holds the operating system's lock on it, so that one which can be locked is nobody's.

use super::FileError;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{File, OpenOptions};
use fs2::FileExt as _;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// What stands before and behind the random part of a name.
const PREFIX: &str = ".agentctl-";
const SUFFIX: &str = ".tmp";

/// Whether a write made the name: `.agentctl-RANDOM.tmp`, or `.NAME.PROCESS-NUMBER.tmp` in a folder that cannot be left.
pub(super) fn is_temporary(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('.').and_then(|n| n.strip_suffix(SUFFIX)) else {
        return false;
    };
    let numbered = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let random = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric());
    let of_process = |(target, tail): (&str, &str)| {
        let (process, n) = tail.split_once('-')?;
        Some(!target.is_empty() && numbered(process) && numbered(n))
    };
    name.strip_prefix(PREFIX)
        .and_then(|n| n.strip_suffix(SUFFIX))
        .is_some_and(random)
        || rest.rsplit_once('.').and_then(of_process) == Some(true)
}

/// A new temporary file in the folder, which nobody takes for one that was left.
pub(crate) fn create(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut named = tempfile::Builder::new();
    named.prefix(PREFIX).suffix(SUFFIX);
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    loop {
        // Opened here: the library's own error no longer says which one of the system's it was.
        let temporary = named.make_in(folder, |path| options.open(path))?;
        if claim(temporary.as_file())? {
            return Ok(temporary);
        }
    }
}

/// Locks a temporary file that was just made. False: whoever tidies was faster, and it is gone. A file system that knows no locks
/// has nobody who could tell that it was left.
pub(super) fn claim(file: &fs::File) -> io::Result<bool> {
    match file.try_lock_exclusive() {
        Err(e) if e.kind() == fs2::lock_contended_error().kind() => return Ok(false),
        Ok(()) | Err(_) => {}
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Ok(file.metadata()?.nlink() > 0)
    }
    #[cfg(not(unix))]
    Ok(true)
}

/// Removes the temporary files in a folder, of writes that were cut short.
pub fn tidy_here(folder: &Path) -> Result<(), FileError> {
    visit(folder, &mut |_| Ok(()))
}

/// Removes the temporary files below a folder, of writes that were cut short. No link is followed; a folder that is not there has
/// none.
pub fn tidy(folder: &Path) -> Result<(), FileError> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => visit(folder, &mut tidy),
        _ => Ok(()),
    }
}

type Below<'a> = &'a mut dyn FnMut(&Path) -> Result<(), FileError>;

fn visit(folder: &Path, below: Below<'_>) -> Result<(), FileError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(e) => return Err(FileError::io("list", folder)(e)),
    };
    for entry in entries {
        let entry = entry.map_err(FileError::io("list", folder))?;
        let path = entry.path();
        let left = || entry.file_name().to_str().is_some_and(is_temporary);
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(&path)?,
            Ok(kind) if kind.is_file() && left() => remove_left(&path)?,
            // Another one may have removed it since.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Removes the file unless somebody writes it now, or it is gone.
fn remove_left(path: &Path) -> Result<(), FileError> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .nonblock(true)
        .follow(FollowSymlinks::No);
    let Ok(file) = File::open_ambient_with(path, &options, ambient_authority()) else {
        return Ok(());
    };
    if file.into_std().try_lock_exclusive().is_err() {
        return Ok(());
    }
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(FileError::io("remove", path)(e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_written_now_stays() {
        let dir = tempfile::tempdir().unwrap();
        let written = create(dir.path()).unwrap();
        tidy(dir.path()).unwrap();
        assert!(written.path().exists());
        let (file, path) = written.keep().unwrap();
        drop(file);
        tidy(dir.path()).unwrap();
        assert!(!path.exists(), "its writer is gone");
    }

    #[test]
    fn only_what_a_write_named_is_removed_wherever_it_lies() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        let kept = [
            ".agentctl-.tmp",
            ".agentctl-a b.tmp",
            ".orders.json.12.tmp",
            ".tmp",
            "a/.orders.tmp",
            "a/b/orders.json",
            "agentctl-abc.tmp",
        ];
        let left = [
            ".agentctl-aB3.tmp",
            "a/.orders.json.12-0.tmp",
            "a/b/.agentctl-x.tmp",
        ];
        for name in kept.iter().chain(&left) {
            fs::write(at(name), "x").unwrap();
        }
        tidy(dir.path()).unwrap();
        assert_eq!(kept.map(|name| at(name).exists()), [true; 7]);
        assert_eq!(left.map(|name| at(name).exists()), [false; 3]);
        tidy(&at("none")).unwrap();
    }
}
