//! Asking git. The repository may be a stranger's: git is only asked what runs nothing that its settings name (no diff of the
//! working tree, so no filter, no textconv, no external diff), changes nothing, and is given up after a time.

use agentctl_host::family::Family;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Why it cannot be told what changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("git cannot be run: {0}")]
    NoGit(String),
    #[error("git finds no repository at {}: {why}", .folder.display())]
    NoRepository { folder: PathBuf, why: String },
    #[error("git knows no revision {0:?}")]
    NoRevision(String),
    #[error("git failed: {0}")]
    Failed(String),
    #[error(
        "git gave no answer in {} for {} s and was ended: something that it reads there may be a pipe, such as .gitignore, .git/info/exclude or .git/index (find {} -type p lists pipes)", .folder.display(), .patience.as_secs(), .folder.display()
    )]
    Waits { folder: PathBuf, patience: Duration },
}

/// How long git may take for one answer. In a folder that came from elsewhere it may read a pipe, and would wait for ever.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A repository, as git is asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The folder of the working tree, its links resolved.
    pub root: PathBuf,
    /// The index where it is not the repository's own: a commit of single files has one for itself.
    pub index: Option<PathBuf>,
    /// For one answer.
    pub patience: Duration,
}

/// What git prints; an inner Err is what it complains of.
pub type Answer = Result<Result<Vec<u8>, String>, GitError>;

/// A file as a commit keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub is_link: bool,
    /// The name of its blob.
    pub blob: String,
}

impl Repository {
    /// The one that the folder lies in.
    pub fn around(folder: &Path, patience: Duration) -> Result<Self, GitError> {
        let asked = ask(folder, None, &["rev-parse", "--show-toplevel"], patience)?;
        let shown = asked.map_err(|why| GitError::NoRepository {
            folder: folder.to_owned(),
            why,
        })?;
        let root = path_of(shown.trim_ascii_end());
        Ok(Repository {
            root: root.canonicalize().unwrap_or(root),
            index: None,
            patience,
        })
    }

    pub fn ask(&self, args: &[&str]) -> Answer {
        ask(&self.root, self.index.as_deref(), args, self.patience)
    }

    /// What git must be able to answer.
    pub fn must(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let failed = |why: String| GitError::Failed(format!("in {}: {why}", self.root.display()));
        self.ask(args)?.map_err(failed)
    }

    /// The commit's own name, with which it is named from then on: a revision that starts with a dash is no option. None: HEAD,
    /// before the first commit.
    pub fn commit(&self, rev: &str) -> Result<Option<String>, GitError> {
        let named = format!("{rev}^{{commit}}");
        let verify = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &named,
        ];
        match self.ask(&verify)? {
            Ok(commit) => Ok(Some(line(commit))),
            Err(_) if rev == "HEAD" => Ok(None),
            // Before the first commit there is nothing that a revision could name.
            Err(_) => Err(GitError::NoRevision(rev.to_owned())),
        }
    }

    /// The files of a commit.
    pub fn files_of(&self, commit: &str) -> Result<BTreeMap<PathBuf, Kept>, GitError> {
        let list = self.must(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let kept = parts(&list).filter_map(|entry| {
            let (head, name) = split(entry, b'\t')?;
            let head = String::from_utf8_lossy(head);
            let mut words = head.split(' ');
            let (mode, _, blob) = (words.next()?, words.next()?, words.next()?);
            let kept = Kept {
                is_link: mode == LINK,
                blob: blob.to_owned(),
            };
            Some((self.root.join(path_of(name)), kept))
        });
        Ok(kept.collect())
    }
}

/// The mode of a link.
const LINK: &str = "120000";

/// An answer of one line.
pub fn line(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// What git separates with NUL.
pub(super) fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|b| *b == 0).filter(|part| !part.is_empty())
}

pub(super) fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = bytes.iter().position(|b| *b == at)?;
    Some((bytes.get(..place)?, bytes.get(place + 1..)?))
}

#[cfg(unix)]
pub(super) fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}
#[cfg(unix)]
pub(super) fn bytes_of(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}
#[cfg(not(unix))]
pub(super) fn bytes_of(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}
#[cfg(not(unix))]
pub(super) fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

/// Over whatever the repository's settings say: nothing of theirs is started, no hook, no watcher of files, no program for the
/// network. Filters, external diffs and textconv have names of the repository's choosing: no command that would use them is given.
const QUIET: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.pager=cat",
    "credential.helper=",
    "gc.auto=0",
];

fn ask(folder: &Path, index: Option<&Path>, args: &[&str], patience: Duration) -> Answer {
    let mut command = Command::new("git");
    // Inside a hook git sets these for itself; the repository is the one around the files.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    command.args(["--no-pager", "--literal-pathspecs"]);
    for setting in QUIET {
        command.args(["-c", setting]);
    }
    // A group of its own, so that what it starts ends with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
        .arg("-C")
        .arg(folder)
        .args(args)
        .env("GIT_OPTIONAL_LOCKS", "0")
        // An object that a partial clone lacks is missing; it is not fetched.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command
        .spawn()
        .map_err(|e| GitError::NoGit(e.to_string()))?;
    let family = Family::of(child.id());
    let (done, is_done) = std::sync::mpsc::channel();
    // Nobody listens any more when git was given up.
    std::thread::spawn(move || drop(done.send(child.wait_with_output())));
    let output = match is_done.recv_timeout(patience) {
        Ok(output) => output.map_err(|e| GitError::NoGit(e.to_string()))?,
        // The family ends here.
        Err(_) => {
            return Err(GitError::Waits {
                folder: folder.to_owned(),
                patience,
            });
        }
    };
    family.let_go();
    if output.status.success() {
        return Ok(Ok(output.stdout));
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Ok(Err(complaint
        .lines()
        .next()
        .unwrap_or("no reason given")
        .to_owned()))
}
