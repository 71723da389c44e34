//! The user's own folder, outside of every project: whom and what the user trusts, and the key that marks what this user's
//! agentctl wrote. Nothing of it may come from a project, so a folder inside the project, of another user, or that others may
//! write to is refused. Every file in it is for its owner only (0600). Must never be read for what a project may not know.

use crate::files::{Found, create_temporary, parent, read_own, sync_dir, tidy};
use crate::key::Key;
use crate::machine::is_at_fault;
use fs2::FileExt as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const KEY_FILE: &str = "key";
const LOCK_FILE: &str = "lock";
/// No file of it is this long.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Why there is no such folder, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoHome {
    #[error(
        "no folder of your own is known: neither AGENTCTL_HOME nor XDG_STATE_HOME nor HOME is an absolute path; set AGENTCTL_HOME to a folder outside of the project"
    )]
    Unnamed,
    #[error(
        "your agentctl folder {} lies inside the project {}, whose files could decide what you trust; set AGENTCTL_HOME to a folder outside of it", dir.display(), project.display()
    )]
    InProject { dir: PathBuf, project: PathBuf },
    #[error(
        "your agentctl folder {} lies inside the repository {} of the project, whose files could decide what you trust; set AGENTCTL_HOME to a folder outside of it", dir.display(), top.display()
    )]
    InRepository { dir: PathBuf, top: PathBuf },
    #[error("your agentctl folder {} cannot be used: {why}", dir.display())]
    Unsafe { dir: PathBuf, why: String },
    /// That says nothing of what stands there: without it nothing is done, and no run is written without its mark.
    #[error("your agentctl folder {} cannot be looked at: {why}", dir.display())]
    Fault { dir: PathBuf, why: String },
}

/// A variable of the user's environment; one that is no text counts as not set. Handed to whatever looks variables up.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// What failed in the folder. Its messages name the path.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is not what agentctl wrote there: {why}; move it away", path.display())]
    Broken { path: PathBuf, why: String },
}

impl HomeError {
    /// The machine is at fault, whatever stands in the file: nobody refused anything, and the folder can be used.
    pub fn is_of_machine(&self) -> bool {
        match self {
            HomeError::Io { source, .. } => is_at_fault(source),
            HomeError::Broken { .. } => false,
        }
    }
}

/// The folder; it need not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// `$AGENTCTL_HOME`, else `agentctl` in the system's folder for a user's state (`$XDG_STATE_HOME`, `~/.local/state`; on macOS
    /// `~/Library/Application Support`). `project` is the folder that must not hold it.
    pub fn find(variable: impl Fn(&str) -> Option<String>, project: &Path) -> Result<Home, NoHome> {
        let absolute = |name: &str| {
            let path = PathBuf::from(variable(name)?);
            path.is_absolute().then_some(path)
        };
        let dir = absolute("AGENTCTL_HOME")
            .or_else(|| Some(absolute("XDG_STATE_HOME")?.join("agentctl")))
            .or_else(|| {
                let home = absolute("HOME")?;
                Some(match cfg!(target_os = "macos") {
                    true => home.join("Library/Application Support/agentctl"),
                    false => home.join(".local/state/agentctl"),
                })
            })
            .ok_or(NoHome::Unnamed)?;
        // Links in both paths are resolved as far as they exist, so that none can hide where the folder really lies.
        let unclear = |path: &Path| NoHome::Unsafe {
            dir: dir.clone(),
            why: format!(
                "where {} lies cannot be told: `..` follows a folder that is not there",
                path.display()
            ),
        };
        let project = resolved(project).ok_or_else(|| unclear(project))?;
        let dir = resolved(&dir).ok_or_else(|| unclear(&dir))?;
        if dir.starts_with(&project) {
            return Err(NoHome::InProject { dir, project });
        }
        let user = absolute("HOME").and_then(|home| home.canonicalize().ok());
        if let Some(top) = repository_of(&project, user.as_deref())
            && dir.starts_with(&top)
        {
            return Err(NoHome::InRepository { dir, top });
        }
        fit(&dir)?;
        Ok(Home { dir })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A file's bytes; None when there is no such file. `name` is relative and the program's own.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, HomeError> {
        let path = self.dir.join(name);
        #[cfg(unix)]
        if let Ok(meta) = fs::symlink_metadata(&path) {
            use std::os::unix::fs::MetadataExt as _;
            let own = meta.uid() == rustix::process::getuid().as_raw();
            let why = match own {
                false => Some("it belongs to another user, so it is not your word"),
                true if meta.mode() & 0o022 != 0 => {
                    Some("others may write to it, so it is not your word any more")
                }
                true => None,
            };
            if let Some(why) = why.filter(|_| meta.is_file()) {
                let why = why.to_owned();
                return Err(HomeError::Broken { path, why });
            }
        }
        match read_own(&path, MAX_BYTES) {
            Ok(Found::Bytes(bytes)) => Ok(Some(bytes)),
            Ok(Found::Missing) => Ok(None),
            Ok(Found::Odd(why)) => Err(HomeError::Broken { path, why }),
            Err(source) => Err(failed("read", &path)(source)),
        }
    }

    /// Writes a whole file for its owner only (0600): a crash leaves the old one or the new one. What a killed write left anywhere
    /// in the folder is removed.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), HomeError> {
        self.tidied()?;
        let path = self.dir.join(name);
        let (folder, temporary) = self.temporary(&path, bytes)?;
        temporary
            .persist(&path)
            .map_err(|e| failed("replace", &path)(e.error))?;
        sync_dir(&folder).map_err(|e| failed("sync", &folder)(io::Error::other(e)))
    }

    /// Removes a file; one that is not there is no error.
    pub fn remove(&self, name: &str) -> Result<(), HomeError> {
        let path = self.dir.join(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(failed("remove", &path)(e)),
        }
    }

    /// Holds off every other process that changes the folder, until the guard is dropped. For read, change, write.
    pub fn lock(&self) -> Result<HomeLock, HomeError> {
        let path = self.dir.join(LOCK_FILE);
        self.made(&path)?;
        let file = private(OpenOptions::new().create(true).append(true))
            .open(&path)
            .map_err(failed("open", &path))?;
        file.lock_exclusive().map_err(failed("lock", &path))?;
        Ok(HomeLock { _file: file })
    }

    /// The user's key, made at its first use. What a kill left of an earlier first use is removed.
    pub fn key(&self) -> Result<Key, HomeError> {
        if let Some(key) = self.known_key()? {
            return Ok(key);
        }
        self.tidied()?;
        let path = self.dir.join(KEY_FILE);
        let mut bytes = [0u8; Key::BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|e| failed("make a key for", &path)(io::Error::other(e.to_string())))?;
        let (folder, temporary) = self.temporary(&path, &bytes)?;
        match temporary.persist_noclobber(&path) {
            Ok(_) => {}
            // Another process was first: its key is the key.
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(failed("write", &path)(e.error)),
        }
        sync_dir(&folder).map_err(|e| failed("sync", &folder)(io::Error::other(e)))?;
        self.known_key()?.ok_or_else(|| HomeError::Broken {
            path,
            why: "it is gone again".to_owned(),
        })
    }

    /// The user's key, when there is one.
    pub fn known_key(&self) -> Result<Option<Key>, HomeError> {
        let Some(bytes) = self.read(KEY_FILE)? else {
            return Ok(None);
        };
        let path = self.dir.join(KEY_FILE);
        let broken = |why: String| HomeError::Broken {
            path: path.clone(),
            why,
        };
        // A key that others could read is known to them, and one of theirs is theirs.
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let meta = fs::symlink_metadata(&path).map_err(failed("look at", &path))?;
            if meta.uid() != rustix::process::getuid().as_raw() {
                return Err(broken("it belongs to another user".to_owned()));
            }
            if meta.mode() & 0o077 != 0 {
                return Err(broken(
                    "others may read it, so it marks nothing as yours any more".to_owned(),
                ));
            }
        }
        let bytes: [u8; Key::BYTES] = bytes
            .try_into()
            .map_err(|_| broken(format!("a key has {} bytes", Key::BYTES)))?;
        Ok(Some(Key::fixed(bytes)))
    }

    /// Takes away what a killed write left, of the first key too.
    fn tidied(&self) -> Result<(), HomeError> {
        tidy(&self.dir).map_err(|e| failed("tidy", &self.dir)(io::Error::other(e)))
    }

    /// These bytes, on the disk in a file that is only to be renamed to `path`; and the folder of both.
    fn temporary(
        &self,
        path: &Path,
        bytes: &[u8],
    ) -> Result<(PathBuf, tempfile::NamedTempFile), HomeError> {
        let folder = self.made(path)?;
        let mut temporary =
            create_temporary(&folder).map_err(failed("create a temporary file in", &folder))?;
        // By the file itself, whose error still is the system's.
        temporary
            .as_file_mut()
            .write_all(bytes)
            .and_then(|()| temporary.as_file().sync_all())
            .map_err(failed("write", path))?;
        Ok((folder, temporary))
    }

    /// The folder of a path in it, made for its owner only where it is missing.
    fn made(&self, path: &Path) -> Result<PathBuf, HomeError> {
        let folder = path.parent().unwrap_or(&self.dir).to_owned();
        if !folder.is_dir() {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            let missing = folder.ancestors().take_while(|above| !above.is_dir());
            let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
            builder.create(&folder).map_err(failed("make", &folder))?;
            for new in missing.iter().rev() {
                let above = parent(new);
                sync_dir(above).map_err(|e| failed("sync", above)(io::Error::other(e)))?;
            }
        }
        Ok(folder)
    }
}

/// Held by one process at a time.
#[derive(Debug)]
pub struct HomeLock {
    _file: File,
}

/// No path has more folders above it.
const MOST_ABOVE: usize = 64;

/// The top of the repository that a folder lies in: what lies there came the same way. Both paths without links. A repository that
/// holds the user's home folder is the user's, and is none of these.
pub fn repository_of(folder: &Path, user: Option<&Path>) -> Option<PathBuf> {
    folder
        .ancestors()
        .take(MOST_ABOVE)
        .take_while(|above| !user.is_some_and(|user| user.starts_with(above)))
        .find(|above| above.join(".git").symlink_metadata().is_ok())
        .map(Path::to_owned)
}

/// Whether a path lies in a folder, wherever links lead; what does not exist is where its name says, and what cannot be told is
/// taken to lie there.
pub fn lies_in(path: &Path, folder: &Path) -> bool {
    match (resolved(path), resolved(folder)) {
        (Some(path), Some(folder)) => path.starts_with(folder),
        _ => true,
    }
}

/// The whole path with its links resolved, as far down as it exists. None: below that `..` follows, and where it would lead is
/// decided by whoever makes the missing folder.
pub fn resolved(path: &Path) -> Option<PathBuf> {
    // `ancestors` of a relative path end at the empty one.
    let whole = std::path::absolute(path).ok()?;
    let (real, missing) = whole.ancestors().find_map(|there| {
        let real = there.canonicalize().ok()?;
        Some((real, whole.strip_prefix(there).ok()?))
    })?;
    let goes_up = missing
        .components()
        .any(|part| !matches!(part, std::path::Component::Normal(_)));
    match missing.as_os_str().is_empty() {
        true => Some(real),
        false => (!goes_up).then(|| real.join(missing)),
    }
}

/// A folder that is there must be the user's, and nobody else may write to it.
#[cfg(unix)]
fn fit(dir: &Path) -> Result<(), NoHome> {
    use std::os::unix::fs::MetadataExt as _;
    let no = |why: String| NoHome::Unsafe {
        dir: dir.to_owned(),
        why,
    };
    let meta = match fs::symlink_metadata(dir) {
        Ok(meta) => meta,
        Err(e) => return unseen(dir, &e),
    };
    if !meta.is_dir() {
        return Err(no("it is no folder".to_owned()));
    }
    if meta.uid() != rustix::process::getuid().as_raw() {
        return Err(no("it belongs to another user".to_owned()));
    }
    if meta.mode() & 0o022 != 0 {
        return Err(no(
            "others may write to it; take that from them with chmod go-w".to_owned(),
        ));
    }
    Ok(())
}
/// What it says of the folder that it could not be looked at.
#[cfg(unix)]
fn unseen(dir: &Path, error: &io::Error) -> Result<(), NoHome> {
    let (dir, why) = (dir.to_owned(), error.to_string());
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ if is_at_fault(error) => Err(NoHome::Fault { dir, why }),
        _ => Err(NoHome::Unsafe { dir, why }),
    }
}
#[cfg(not(unix))]
fn fit(_: &Path) -> Result<(), NoHome> {
    Ok(())
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HomeError {
    let path = path.to_owned();
    move |source| HomeError::Io {
        doing,
        path,
        source,
    }
}

#[cfg(test)]
#[path = "home_tests.rs"]
mod home_tests;
