//! Where things lie: the cache that all projects of a user share, and the data of one project's n8n.

use super::{ServerError, recipe};
use agentctl_host::files::open_given;
use fs2::FileExt;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// What npm installed, for all projects of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Cache { root: root.into() }
    }

    /// The user's folder for things that can be fetched again.
    pub fn of_user(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ServerError> {
        agentctl_host::cache::of_user(variable)
            .map(Cache::at)
            .ok_or(ServerError::NoCache)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }
    pub(super) fn app(&self, release: &str) -> PathBuf {
        self.root.join(recipe::label(release))
    }
    pub(super) fn node(&self) -> PathBuf {
        self.root.join(recipe::node_label())
    }
    /// Held while something is installed.
    pub(super) fn lock(&self) -> Result<Lock, ServerError> {
        make(&self.root, 0o755)?;
        Lock::wait(&self.root.join("install.lock"))
    }
}

/// The data of one n8n: its database, its keys, its log, and which process it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Folder { root: root.into() }
    }
    /// A project's own.
    pub fn of_project(project: &Path) -> Self {
        Folder::at(project.join(".agentctl").join("n8n"))
    }
    pub fn root(&self) -> &Path {
        &self.root
    }
    pub fn log(&self) -> PathBuf {
        self.root.join("n8n.log")
    }
    /// Shell lines that export the address and the keys.
    pub fn env_file(&self) -> PathBuf {
        self.root.join("env")
    }
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }
    pub(super) fn server_file(&self) -> PathBuf {
        self.root.join("server.json")
    }
    pub(super) fn owner_file(&self) -> PathBuf {
        self.root.join("owner.json")
    }

    /// Makes the folder, which only its owner can read and which git passes over.
    pub(super) fn make(&self) -> Result<(), ServerError> {
        self.refuse_links()?;
        make(&self.root, 0o700)?;
        let ignore = self.root.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(ServerError::io("write", &ignore))?;
        }
        Ok(())
    }

    pub(super) fn refuse_links(&self) -> Result<(), ServerError> {
        let parent = self.root.parent().filter(|p| p.ends_with(".agentctl"));
        for path in parent.into_iter().chain([self.root.as_path()]) {
            if path
                .symlink_metadata()
                .is_ok_and(|m| m.file_type().is_symlink())
            {
                return Err(ServerError::Linked {
                    path: path.to_owned(),
                });
            }
        }
        Ok(())
    }

    pub(super) fn lock(&self) -> Result<Lock, ServerError> {
        self.make()?;
        Lock::take(&self.root.join("lock"))
    }

    /// Forgets everything that this n8n knew; the installation stays.
    pub(super) fn delete(&self) -> Result<(), ServerError> {
        self.refuse_links()?;
        for folder in [self.home()] {
            match std::fs::remove_dir_all(&folder) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(ServerError::io("remove", folder)(e));
                }
                _ => {}
            }
        }
        for file in [
            self.env_file(),
            self.owner_file(),
            self.server_file(),
            self.log(),
        ] {
            match std::fs::remove_file(&file) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(ServerError::io("remove", file)(e));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// One agentctl at a time; let go when dropped, and by the operating system when the process ends.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    fn open(path: &Path) -> Result<File, ServerError> {
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(ServerError::io("open", path))
    }
    fn take(path: &Path) -> Result<Self, ServerError> {
        let file = Self::open(path)?;
        FileExt::try_lock_exclusive(&file).map_err(|_| ServerError::Busy {
            place: path.parent().unwrap_or(path).to_owned(),
        })?;
        Ok(Lock(file))
    }
    /// Waits: who installs now installs what we need.
    fn wait(path: &Path) -> Result<Self, ServerError> {
        let file = Self::open(path)?;
        FileExt::lock_exclusive(&file).map_err(ServerError::io("lock", path))?;
        Ok(Lock(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = FileExt::unlock(&self.0); // closing it does the same
    }
}

fn make(folder: &Path, mode: u32) -> Result<(), ServerError> {
    use std::os::unix::fs::DirBuilderExt;
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent).map_err(ServerError::io("make the folder", parent))?;
    }
    match std::fs::DirBuilder::new().mode(mode).create(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(ServerError::io("make the folder", folder)(e))
        }
        _ => Ok(()),
    }
}

/// A file that only its owner can read, replaced as a whole.
pub(super) fn write_private(path: &Path, text: &str) -> Result<(), ServerError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let failed = || ServerError::io("write", path);
    // A temporary file is made for its owner only, and stays so.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed())?;
    file.write_all(text.as_bytes()).map_err(failed())?;
    file.as_file().sync_all().map_err(failed())?;
    file.persist(path).map_err(|e| failed()(e.error))?;
    Ok(())
}

/// What is read of a log.
const TAIL: u64 = 1024 * 1024;

fn last_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = open_given(path)?;
    let from = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last lines of a log, without what could steer a terminal; empty when there is none.
pub(super) fn tail(path: &Path, lines: usize) -> String {
    let text = last_bytes(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let from = all.len().saturating_sub(lines);
    all.into_iter()
        .skip(from)
        .map(agentctl_base::untrusted::line)
        .collect::<Vec<_>>()
        .join("\n")
}
