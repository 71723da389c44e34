//! What a pull request touches: the files that differ from where the branch left `REV`, uncommitted and new ones included.
//! Asks git; changes nothing. The repository may be a stranger's: git is only asked what runs nothing that its settings name (no
//! diff of the working tree, so no filter, no textconv, no external diff), and files are compared here, byte by byte.

use super::source::{self, Source, absolute};
use agentctl_base::canonical::hex;
use agentctl_host::family::Family;
use agentctl_host::files::read_regular;
use sha2::Digest as _;
use std::collections::{BTreeMap, BTreeSet};
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

/// Keeps the sources that changed since `rev`; standard input counts as changed. `patience`: for one answer of git.
pub fn since(rev: &str, sources: Vec<Source>, patience: Duration) -> Result<Vec<Source>, GitError> {
    let mut roots: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut changed: BTreeMap<PathBuf, Since> = BTreeMap::new();
    let mut kept = Vec::new();
    for source in sources {
        if source.is_stdin() {
            kept.push(source);
            continue;
        }
        // The folder's own links are resolved, as git does; a file that is a link is itself what changes.
        let whole = absolute(&source.path);
        let folder = whole.parent().unwrap_or(Path::new("/"));
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let root = match roots.get(&folder) {
            Some(root) => root.clone(),
            None => {
                let root = root_of(&folder, patience)?;
                roots.insert(folder.clone(), root.clone());
                root
            }
        };
        if !changed.contains_key(&root) {
            changed.insert(root.clone(), Since::of(&root, rev, patience)?);
        }
        let file = folder.join(whole.file_name().unwrap_or_default());
        if changed.get(&root).is_some_and(|since| since.touched(&file)) {
            kept.push(source);
        }
    }
    Ok(kept)
}

fn root_of(folder: &Path, patience: Duration) -> Result<PathBuf, GitError> {
    let shown = git(folder, &["rev-parse", "--show-toplevel"], patience)?;
    let shown = shown.map_err(|why| GitError::NoRepository {
        folder: folder.to_owned(),
        why,
    })?;
    let root = path_of(shown.trim_ascii_end());
    Ok(root.canonicalize().unwrap_or(root))
}

/// A repository, and the commit that its files are compared with.
struct Since {
    /// Tracked files, and new ones that are not ignored.
    here: BTreeSet<PathBuf>,
    /// The files of the commit: whether it is a link, and its blob's name.
    then: BTreeMap<PathBuf, (bool, String)>,
}

impl Since {
    fn of(root: &Path, rev: &str, patience: Duration) -> Result<Since, GitError> {
        let git = |args: &[&str]| git(root, args, patience);
        let line = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
        let commit = |rev: &str| {
            let rev = format!("{rev}^{{commit}}");
            git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &rev])
        };
        let failed = |why: String| GitError::Failed(format!("in {}: {why}", root.display()));
        // From here on only the commit's own name is used: a revision that starts with a dash is no option.
        let then = match commit(rev)? {
            Ok(commit) => {
                let commit = line(commit);
                // Where the branch began; without a common ancestor (a shallow clone) the revision itself.
                let base = git(&["merge-base", &commit, "HEAD"])?.map_or(commit, line);
                let list = ["ls-tree", "-r", "-z", "--full-tree", &base];
                git(&list)?.map_err(failed)?
            }
            // Before the first commit everything is new.
            Err(_) if rev == "HEAD" && commit("HEAD")?.is_err() => Vec::new(),
            Err(_) => return Err(GitError::NoRevision(rev.to_owned())),
        };
        let list = [
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ];
        let here = git(&list)?.map_err(failed)?;
        Ok(Since {
            here: parts(&here).map(|name| root.join(path_of(name))).collect(),
            then: parts(&then)
                .filter_map(|entry| {
                    let (head, name) = split(entry, b'\t')?;
                    let head = String::from_utf8_lossy(head);
                    let mut words = head.split(' ');
                    let (mode, _, blob) = (words.next()?, words.next()?, words.next()?);
                    let file = root.join(path_of(name));
                    Some((file, (mode == "120000", blob.to_owned())))
                })
                .collect(),
        })
    }

    fn touched(&self, file: &Path) -> bool {
        if !self.here.contains(file) {
            return false;
        }
        let Some((was_link, blob)) = self.then.get(file) else {
            return true;
        };
        let is_link = file.is_symlink();
        let bytes = match is_link {
            true => std::fs::read_link(file).map(|to| bytes_of(&to)),
            false => read_regular(file, source::MAX_BYTES),
        };
        // What cannot be read is not known to be the same.
        !bytes.is_ok_and(|bytes| is_link == *was_link && is_blob(&bytes, blob))
    }
}

/// Whether the bytes are what git keeps under the name. It may keep a text with other line ends than the file has.
fn is_blob(bytes: &[u8], name: &str) -> bool {
    if blob_name(bytes, name.len()) == name {
        return true;
    }
    let is_text = !bytes.contains(&0) && bytes.windows(2).any(|pair| pair == b"\r\n");
    is_text && {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        blob_name(text.as_bytes(), name.len()) == name
    }
}

/// git's name of a blob, in as many hexadecimal digits as the repository's names have.
fn blob_name(bytes: &[u8], digits: usize) -> String {
    let head = format!("blob {}\0", bytes.len());
    if digits == 64 {
        let mut hash = sha2::Sha256::new();
        hash.update(head.as_bytes());
        hash.update(bytes);
        return hex(&hash.finalize());
    }
    let mut hash = sha1_smol::Sha1::new();
    hash.update(head.as_bytes());
    hash.update(bytes);
    hash.digest().to_string()
}

/// What git separates with NUL.
fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|b| *b == 0).filter(|part| !part.is_empty())
}

fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = bytes.iter().position(|b| *b == at)?;
    Some((bytes.get(..place)?, bytes.get(place + 1..)?))
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}
#[cfg(unix)]
fn bytes_of(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}
#[cfg(not(unix))]
fn bytes_of(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}
#[cfg(not(unix))]
fn path_of(name: &[u8]) -> PathBuf {
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

/// What git prints; an inner Err is what it complains of.
fn git(
    folder: &Path,
    args: &[&str],
    patience: Duration,
) -> Result<Result<Vec<u8>, String>, GitError> {
    let mut command = Command::new("git");
    // Inside a hook git sets these for itself; the repository is the one around the files.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
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

#[cfg(test)]
#[path = "changed_tests.rs"]
mod changed_tests;
