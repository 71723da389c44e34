//! Reading a file that somebody else may have put there: a pipe, a device, a link or an endless file in its place is said, and
//! never waited for. What is checked is what was opened, not what stood under the name before.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, MetadataExt, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

const NO_FILE: &str = "it is not a regular file";

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

/// A file that the user named on the command line, ready to be read: what the shell hands over (`<(…)`, `/dev/stdin`) may be a
/// pipe, which is what was asked for; in any other place a pipe or a device is refused.
pub fn open_given(path: &Path) -> io::Result<std::fs::File> {
    let handed = ["/dev/fd", "/proc/self/fd"]
        .iter()
        .any(|folder| path.starts_with(folder))
        || path == Path::new("/dev/stdin");
    if handed {
        return std::fs::File::open(path);
    }
    let file = File::open_ambient_with(path, &options(Links::Follow), ambient_authority())?;
    if !file.metadata()?.is_file() {
        let why = "it is not a regular file";
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    Ok(file.into_std())
}

/// The bytes of such a file, at most `max`.
pub fn read_given(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_given(path)?;
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let why = format!("it has more than the {max} bytes that are read");
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    Ok(bytes)
}

/// The same as text.
pub fn read_given_text(path: &Path, max: u64) -> io::Result<String> {
    String::from_utf8(read_given(path, max)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// A file of this program's own, by its path: a link in its place is odd.
pub fn read_own(path: &Path, max: u64) -> io::Result<Found> {
    found(
        File::open_ambient_with(path, &options(Links::Refuse), ambient_authority()),
        max,
    )
}

/// Such a file, to be read piece by piece.
#[derive(Debug)]
pub enum Opened {
    File(std::fs::File),
    Missing,
    /// As [`Found::Odd`].
    Odd(String),
}

/// A file of this program's own, open to be read from its beginning: a link in its place is odd.
pub fn open_own(path: &Path) -> io::Result<Opened> {
    let opened = File::open_ambient_with(path, &options(Links::Refuse), ambient_authority());
    Ok(match opened {
        Ok(file) if file.metadata()?.is_file() => Opened::File(file.into_std()),
        Ok(_) => Opened::Odd(NO_FILE.to_owned()),
        Err(e) => match unopened(e)? {
            Found::Odd(why) => Opened::Odd(why),
            Found::Missing | Found::Bytes(_) => Opened::Missing,
        },
    })
}

/// A file below a folder that cannot be left: neither a link nor a race leads out of it.
pub fn read_below(folder: &Dir, path: &Path, max: u64, links: Links) -> io::Result<Found> {
    found(folder.open_with(path, &options(links)), max)
}

/// The bytes of a file below a folder, as [`read_below`] would find it without following a link. None: it would find none.
pub fn size_below(folder: &Dir, path: &Path) -> io::Result<Option<u64>> {
    let file = match folder.open_with(path, &options(Links::Refuse)) {
        Ok(file) => file,
        Err(e) => return unopened(e).map(|_| None),
    };
    let found = file.metadata()?;
    Ok(found.is_file().then(|| found.len()))
}

/// A project's own file, by its path below the project's root. A link is followed as long as it stays inside, and is odd when
/// it leads out; neither a race nor a `..` does.
pub fn read_within(root: &Path, path: &Path, max: u64) -> io::Result<Found> {
    let Some((dir, inside)) = (match within(root, path)? {
        Within::Inside(inside) => Some((Dir::open_ambient_dir(root, ambient_authority())?, inside)),
        Within::Missing => None,
        Within::Outside => return Ok(Found::Odd(LEADS_OUT.to_owned())),
    }) else {
        return Ok(Found::Missing);
    };
    // Resolved already: a link that stands here now was put here since.
    read_below(&dir, &inside, max, Links::Refuse)
}

/// What is said of a link that leads out of the project.
pub const LEADS_OUT: &str = "it is a link that leads out of the project, which is not followed";

/// Where a path below a root really leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// Its real place, below the real root.
    Inside(PathBuf),
    Outside,
    /// Nothing is there, or a link to nothing.
    Missing,
}

/// Resolves every link of a path below `root`.
pub fn within(root: &Path, path: &Path) -> io::Result<Within> {
    let missing =
        |e: &io::Error| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    let root = match root.canonicalize() {
        Ok(root) => root,
        Err(e) if missing(&e) => return Ok(Within::Missing),
        Err(e) => return Err(e),
    };
    match root.join(path).canonicalize() {
        Ok(real) => Ok(match real.strip_prefix(&root) {
            Ok(inside) => Within::Inside(inside.to_owned()),
            Err(_) => Within::Outside,
        }),
        Err(e) if missing(&e) => Ok(Within::Missing),
        Err(e) => Err(e),
    }
}

/// The path without `.` and `..`, by its words alone: nothing is looked at.
pub fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
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
        Err(e) => unopened(e),
    }
}

/// What it says of the place that nothing was opened there.
fn unopened(error: io::Error) -> io::Result<Found> {
    match error {
        e if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Found::Missing)
        }
        e if e.kind() == ErrorKind::PermissionDenied => {
            Ok(Found::Odd(format!("it may not be read: {e}")))
        }
        // Codes that std has no stable name for: ELOOP of Linux and of the BSDs, ENXIO for what cannot be opened.
        e => match e.raw_os_error() {
            Some(40 | 62) => Ok(Found::Odd("it is a link, not a regular file".to_owned())),
            Some(6) => Ok(Found::Odd(NO_FILE.to_owned())),
            _ => Err(e),
        },
    }
}

fn whole(file: File, max: u64) -> io::Result<Found> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(Found::Odd(NO_FILE.to_owned()));
    }
    let too_large = |bytes: u64| {
        Found::Odd(format!(
            "it has {bytes} bytes, more than the {max} that are read"
        ))
    };
    if meta.len() > max {
        return Ok(too_large(meta.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
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

    #[test]
    fn a_link_is_followed_within_the_root_and_not_out_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::write(root.join("a/file"), "text").unwrap();
        std::fs::write(dir.path().join("outside"), "secret").unwrap();
        let link = |to: &Path, name: &str| {
            std::os::unix::fs::symlink(to, root.join(name)).unwrap();
        };
        link(Path::new("a"), "inside");
        link(&root.join("a/file"), "absolute");
        link(Path::new("../outside"), "out");
        link(Path::new(".."), "up");
        link(Path::new("nowhere"), "dangling");
        for (path, want) in [
            ("a/file", "bytes"),
            ("inside/file", "bytes"),
            ("absolute", "bytes"),
            ("out", "odd"),
            ("up/outside", "odd"),
            ("../outside", "odd"),
            ("up/root/a/file", "bytes"),
            ("dangling", "missing"),
            ("none", "missing"),
            ("a", "odd"),
        ] {
            let found = read_within(&root, Path::new(path), 100).unwrap();
            assert_eq!(kind(&found), want, "{path}");
        }
    }
}
