//! Reading below a project that cannot be left: one file, or all files of a folder as one hash. Bounded, so that no folder takes
//! for ever; what cannot be read whole has no hash, and says why.

use agentctl_base::canonical::hex;
use agentctl_host::files::{FileError, Found, Links, read_below};
use agentctl_host::machine::is_at_fault;
use cap_std::fs::Dir;
use sha2::{Digest as _, Sha256};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

const DEPTH: usize = 16;

/// How much is read at most, over all that is asked of one inventory.
pub struct Room {
    pub files: usize,
    pub bytes: u64,
}

/// Why there is no hash.
#[derive(Debug)]
pub enum Unread {
    /// As it stands there it can never be trusted.
    Impossible(String),
    /// Nobody knows what stands there: the machine is at fault.
    Machine(FileError),
}

impl From<&str> for Unread {
    fn from(why: &str) -> Self {
        Unread::Impossible(why.to_owned())
    }
}

impl Unread {
    /// Says of which file of a folder it is.
    fn of(self, path: &Path) -> Unread {
        match self {
            Unread::Impossible(why) => Unread::Impossible(format!("{}: {why}", path.display())),
            machine @ Unread::Machine(_) => machine,
        }
    }
}

/// What stands under a name, inside the project: a link is followed as long as it does not lead out.
pub fn file(root: &Dir, path: &Path, max: u64) -> Result<Option<Vec<u8>>, Unread> {
    match read_below(root, path, max, Links::Follow) {
        Ok(Found::Bytes(bytes)) => Ok(Some(bytes)),
        Ok(Found::Missing) => Ok(None),
        Ok(Found::Odd(why)) => Err(Unread::Impossible(plainly(root, path, why))),
        Err(error) => Err(unread(root, path, error)),
    }
}

/// The names in a folder, sorted; None: there is no such folder. Names that are no text belong to no item.
pub fn names(root: &Dir, folder: &Path) -> Result<Option<Vec<String>>, Unread> {
    let entries = match root.read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            // A link to nothing is nothing; one in the way of the folder is the same.
            return Ok(None);
        }
        Err(error) => return Err(unread(root, folder, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| unread(root, folder, e))?;
        if let Ok(name) = entry.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort();
    Ok(Some(names))
}

/// A hash over every file of a folder: its path in it, its length, its bytes.
pub fn folder(
    root: &Dir,
    folder: &Path,
    max: u64,
    room: &mut Room,
    see: &mut dyn FnMut(&Path, &[u8]),
) -> Result<String, Unread> {
    let mut walk = Walk {
        root,
        folder,
        max,
        room,
        see,
        hash: Sha256::new(),
    };
    walk.below(&PathBuf::new(), 0)?;
    Ok(hex(&walk.hash.finalize()))
}

struct Walk<'a> {
    root: &'a Dir,
    folder: &'a Path,
    /// The largest file that is read.
    max: u64,
    room: &'a mut Room,
    /// Is shown each file.
    see: &'a mut dyn FnMut(&Path, &[u8]),
    hash: Sha256,
}

impl Walk<'_> {
    fn below(&mut self, below: &Path, depth: usize) -> Result<(), Unread> {
        let (root, at) = (self.root, self.folder.join(below));
        if depth > DEPTH {
            let why = format!("folders are nested more than {DEPTH} deep, or a link leads round");
            return Err(Unread::Impossible(why).of(&at));
        }
        let entries = root.read_dir(&at).map_err(|e| unread(root, &at, e))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| unread(root, &at, e))?;
            // What reads the file looks again at what it opened.
            let kind = entry.file_type().map_err(|e| unread(root, &at, e))?;
            names.push((entry.file_name(), kind));
        }
        names.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (name, kind) in names {
            let inside = below.join(&name);
            let path = self.folder.join(&inside);
            let is_dir = match kind.is_symlink() {
                true => root
                    .metadata(&path)
                    .map_err(|e| unread_as(root, &path, format!("{}: {e}", path.display()), e))?
                    .is_dir(),
                false => kind.is_dir(),
            };
            if is_dir {
                self.below(&inside, depth + 1)?;
                continue;
            }
            self.room.files = self
                .room
                .files
                .checked_sub(1)
                .ok_or("there are too many files to look at all of them")?;
            let bytes = file(root, &path, self.max.min(self.room.bytes))
                .map_err(|why| why.of(&path))?
                .ok_or_else(|| Unread::from("it is gone").of(&path))?;
            self.room.bytes = self.room.bytes.saturating_sub(bytes.len() as u64);
            (self.see)(&path, &bytes);
            let name = inside.as_os_str().as_encoded_bytes();
            for part in [name, bytes.as_slice()] {
                self.hash.update((part.len() as u64).to_be_bytes());
                self.hash.update(part);
            }
        }
        Ok(())
    }
}

fn unread(root: &Dir, path: &Path, error: io::Error) -> Unread {
    unread_as(root, path, error.to_string(), error)
}

/// `why`: what is said where neither the machine nor a link is the reason.
fn unread_as(root: &Dir, path: &Path, why: String, error: io::Error) -> Unread {
    match is_at_fault(&error) {
        true => Unread::Machine(FileError::io("read", path)(error)),
        false => Unread::Impossible(plainly(root, path, why)),
    }
}

/// What the sandbox says, in the words of its user: a link on the way that leads out of the project is named as that.
fn plainly(root: &Dir, path: &Path, why: String) -> String {
    let mut at = PathBuf::new();
    for part in path.components() {
        at.push(part);
        let linked = root
            .symlink_metadata(&at)
            .is_ok_and(|meta| meta.is_symlink());
        let leads_out = linked
            && match root.metadata(&at) {
                Err(e) => e.kind() == ErrorKind::PermissionDenied,
                Ok(_) => false,
            };
        if leads_out {
            return format!("{} is a link that leads out of the project", at.display());
        }
    }
    why
}
