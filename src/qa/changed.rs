//! What a pull request touches: the files that differ from where the branch left `REV`, uncommitted and new ones included.
//! Asks git; changes nothing.

use super::source::{Source, absolute};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

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
}

/// Keeps the sources that changed since `rev`; standard input counts as changed.
pub fn since(rev: &str, sources: Vec<Source>) -> Result<Vec<Source>, GitError> {
    let mut roots: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut changed: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
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
                let root = root_of(&folder)?;
                roots.insert(folder.clone(), root.clone());
                root
            }
        };
        if !changed.contains_key(&root) {
            changed.insert(root.clone(), changed_in(&root, rev)?);
        }
        let file = folder.join(whole.file_name().unwrap_or_default());
        if changed
            .get(&root)
            .is_some_and(|files| files.contains(&file))
        {
            kept.push(source);
        }
    }
    Ok(kept)
}

fn root_of(folder: &Path) -> Result<PathBuf, GitError> {
    let shown =
        git(folder, &["rev-parse", "--show-toplevel"])?.map_err(|why| GitError::NoRepository {
            folder: folder.to_owned(),
            why,
        })?;
    let root = path_of(shown.trim_ascii_end());
    Ok(root.canonicalize().unwrap_or(root))
}

fn changed_in(root: &Path, rev: &str) -> Result<BTreeSet<PathBuf>, GitError> {
    let line = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    let commit = |rev: &str| {
        let rev = format!("{rev}^{{commit}}");
        git(
            root,
            &["rev-parse", "--verify", "--quiet", "--end-of-options", &rev],
        )
    };
    let failed = |why: String| GitError::Failed(format!("in {}: {why}", root.display()));
    let new: &[&str] = &["ls-files", "--others", "--exclude-standard", "-z"];
    // From here on only the commit's own name is used: a revision that starts with a dash is no option.
    let names = match commit(rev)? {
        Ok(commit) => {
            let commit = line(commit);
            // Where the branch began; without a common ancestor (a shallow clone) the revision itself.
            let base = git(root, &["merge-base", &commit, "HEAD"])?.map_or(commit, line);
            let differs = [
                "diff",
                "--name-only",
                "--no-renames",
                "--diff-filter=d",
                "-z",
                &base,
                "--",
            ];
            let mut names = git(root, &differs)?.map_err(failed)?;
            names.extend(git(root, new)?.map_err(failed)?);
            names
        }
        // Before the first commit everything is new.
        Err(_) if rev == "HEAD" && commit("HEAD")?.is_err() => {
            git(root, &[new, &["--cached"]].concat())?.map_err(failed)?
        }
        Err(_) => return Err(GitError::NoRevision(rev.to_owned())),
    };
    let files = names.split(|b| *b == 0).filter(|name| !name.is_empty());
    Ok(files.map(|name| root.join(path_of(name))).collect())
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}
#[cfg(not(unix))]
fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

/// What git prints; an inner Err is what it complains of.
fn git(folder: &Path, args: &[&str]) -> Result<Result<Vec<u8>, String>, GitError> {
    let mut command = Command::new("git");
    // Inside a hook git sets these for itself; the repository is the one around the files.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    let output = command
        .arg("-C")
        .arg(folder)
        .args(args)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|e| GitError::NoGit(e.to_string()))?;
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
