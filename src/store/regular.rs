//! Reading a file that somebody else may have put there: a pipe, a device, a link or an endless file in its place is said, and
//! never waited for. What is checked is what was opened, not what stood under the name before.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, MetadataExt, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// What stands under a name.
#[derive(Debug)]
pub enum Found {
    Bytes(Vec<u8>),
    Missing,
    /// There, but no file to read: a folder, a link, a pipe, a device, or too large.
    Odd(String),
}

/// Whether a link as the last part of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    Follow,
    Refuse,
}

/// The file's bytes, at most `max`. A link is followed: the path is one that the user or the project's owner gave.
pub fn read_regular(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let opened = File::open_ambient_with(path, &options(Links::Follow), ambient_authority());
    match whole(opened?, max)? {
        Found::Bytes(bytes) => Ok(bytes),
        Found::Odd(why) => Err(io::Error::new(ErrorKind::InvalidInput, why)),
        Found::Missing => Err(ErrorKind::NotFound.into()),
    }
}

/// The same as text.
pub fn read_regular_text(path: &Path, max: u64) -> io::Result<String> {
    let bytes = read_regular(path, max)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// A file of this program's own, by its path: a link in its place is odd.
pub fn read_own(path: &Path, max: u64) -> io::Result<Found> {
    found(
        File::open_ambient_with(path, &options(Links::Refuse), ambient_authority()),
        max,
    )
}

/// A file below a folder that cannot be left: neither a link nor a race leads out of it.
pub fn read_below(folder: &Dir, path: &Path, max: u64, links: Links) -> io::Result<Found> {
    found(folder.open_with(path, &options(links)), max)
}

/// True when the file has another name as well, which may be outside.
pub fn has_other_names(folder: &Dir, path: &Path) -> bool {
    folder.metadata(path).is_ok_and(|meta| meta.nlink() > 1)
}

fn options(links: Links) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a pipe for reading would wait for a writer.
    options.nonblock(true);
    options.follow(match links {
        Links::Follow => FollowSymlinks::Yes,
        Links::Refuse => FollowSymlinks::No,
    });
    options
}

fn found(opened: io::Result<File>, max: u64) -> io::Result<Found> {
    match opened {
        Ok(file) => whole(file, max),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Found::Missing)
        }
        Err(e) if e.kind() == ErrorKind::PermissionDenied => {
            Ok(Found::Odd(format!("it may not be read: {e}")))
        }
        // Codes that std has no stable name for: ELOOP of Linux and of the BSDs, ENXIO for what cannot be opened.
        Err(e) => match e.raw_os_error() {
            Some(40 | 62) => Ok(Found::Odd("it is a link, not a regular file".to_owned())),
            Some(6) => Ok(Found::Odd("it is not a regular file".to_owned())),
            _ => Err(e),
        },
    }
}

fn whole(file: File, max: u64) -> io::Result<Found> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(Found::Odd("it is not a regular file".to_owned()));
    }
    let too_large = |bytes: u64| {
        Found::Odd(format!(
            "it has {bytes} bytes, more than the {max} that are read"
        ))
    };
    if meta.len() > max {
        return Ok(too_large(meta.len()));
    }
    let mut bytes = Vec::new();
    // Files of the kernel say that they are empty, and are not.
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Ok(too_large(bytes.len() as u64));
    }
    Ok(Found::Bytes(bytes))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn kind(found: &Found) -> &'static str {
        match found {
            Found::Bytes(_) => "bytes",
            Found::Missing => "missing",
            Found::Odd(_) => "odd",
        }
    }

    #[test]
    fn only_regular_files_are_read_and_nothing_waits() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (name, want) in [
            ("file", "bytes"),
            ("none", "missing"),
            ("file/below", "missing"),
            ("folder", "odd"),
            ("link", "odd"),
            ("endless", "odd"),
            ("pipe", "odd"),
            ("socket", "odd"),
        ] {
            assert_eq!(kind(&read_own(&at(name), 100).unwrap()), want, "{name}");
        }
        assert_eq!(kind(&read_own(&at("file"), 3).unwrap()), "odd");
        for name in ["endless", "pipe", "folder", "none"] {
            assert!(read_regular(&at(name), 100).is_err(), "{name}");
        }
        assert_eq!(read_regular_text(&at("link"), 100).unwrap(), "text");
    }
}
