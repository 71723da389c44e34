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
    #[error("{} is in no git repository", .0.display())]
    NoRepository(PathBuf),
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
    let shown = git(folder, &["rev-parse", "--show-toplevel"])?
        .ok_or_else(|| GitError::NoRepository(folder.to_owned()))?;
    let root = PathBuf::from(String::from_utf8_lossy(&shown).trim_end_matches(['\n', '\r']));
    Ok(root.canonicalize().unwrap_or(root))
}

fn changed_in(root: &Path, rev: &str) -> Result<BTreeSet<PathBuf>, GitError> {
    let line = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    // From here on only the commit's own name is used: a revision that starts with a dash is no option.
    let commit = git(
        root,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{rev}^{{commit}}"),
        ],
    )?
    .map(line)
    .ok_or_else(|| GitError::NoRevision(rev.to_owned()))?;
    // Where the branch began; without a common ancestor (a shallow clone) the revision itself.
    let base = git(root, &["merge-base", &commit, "HEAD"])?.map_or(commit, line);
    let failed = |what: &str| GitError::Failed(format!("{what} in {}", root.display()));
    let tracked = git(
        root,
        &[
            "diff",
            "--name-only",
            "--no-renames",
            "--diff-filter=d",
            "-z",
            &base,
            "--",
        ],
    )?
    .ok_or_else(|| failed("diff"))?;
    let new = git(root, &["ls-files", "--others", "--exclude-standard", "-z"])?
        .ok_or_else(|| failed("ls-files"))?;
    Ok(tracked
        .split(|b| *b == 0)
        .chain(new.split(|b| *b == 0))
        .filter(|name| !name.is_empty())
        .map(|name| root.join(path_of(name)))
        .collect())
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

/// What git prints; None when it ends with a failure.
fn git(folder: &Path, args: &[&str]) -> Result<Option<Vec<u8>>, GitError> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(args)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|e| GitError::NoGit(e.to_string()))?;
    Ok(output.status.success().then_some(output.stdout))
}

#[cfg(test)]
#[path = "changed_tests.rs"]
mod changed_tests;
