//! What a commit would hold: the workflow files that are staged, with the text that git's index has of them. What stands in the
//! working tree beside it, repaired, broken or never added, is no part of the commit. Asks git; changes nothing.

use super::git::{GitError, Repository, line, parts, path_of};
use super::source::{Bytes, Content, MAX_BYTES, NotThere, Source, absolute, is_json, passed_over};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Why it cannot be told what is staged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StagedError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    NotThere(#[from] NotThere),
    #[error("the index {} that git names for this commit is not there", .0.display())]
    NoIndex(PathBuf),
}

/// A text in git's index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    repository: Arc<Repository>,
    name: String,
}

impl Blob {
    /// The text's bytes as git keeps them; no filter is run.
    pub(super) fn read(&self) -> Result<Bytes, GitError> {
        let size = line(self.repository.must(&["cat-file", "-s", &self.name])?);
        let size: u64 = size
            .parse()
            .map_err(|_| GitError::Failed(format!("no size of {}: {size:?}", self.name)))?;
        if size > MAX_BYTES {
            return Ok(Bytes::TooMany(Some(size)));
        }
        let text = self.repository.must(&["cat-file", "blob", &self.name])?;
        Ok(Bytes::All(text))
    }
}

/// The staged files that the paths mean: a file as named, a folder with all staged `.json` files below it, as
/// [`collect`](super::source::collect) finds them in the working tree. Files that are the same in the last commit, deleted files and
/// links do not count. `index`: what `GIT_INDEX_FILE` says, for the repository of the current folder: inside a hook it names the index
/// of this commit. `patience`: for one answer of git.
pub fn sources(
    paths: &[PathBuf],
    index: Option<&Path>,
    patience: Duration,
) -> Result<Vec<Source>, StagedError> {
    let own = index
        .map(|index| OwnIndex::of(index, patience))
        .transpose()?;
    let mut sources = Vec::new();
    let mut seen = BTreeSet::new();
    for path in paths {
        let (start, below) = standing(path);
        let mut repository = Repository::around(&start, patience)?;
        if let Some(own) = own.as_ref().filter(|own| own.root == repository.root) {
            repository.index = Some(own.index.clone());
        }
        let repository = Arc::new(repository);
        let file = start.join(&below);
        let mut is_known = file.symlink_metadata().is_ok();
        for change in changes(&repository)? {
            let Ok(rest) = change.file.strip_prefix(&file) else {
                continue;
            };
            is_known = true;
            let named = rest.as_os_str().is_empty();
            if !named && (!is_json(rest) || is_passed_over(&file, rest)) {
                continue;
            }
            if seen.insert(change.file.clone()) {
                sources.push(Source {
                    found: Vec::new(),
                    path: if named { path.clone() } else { path.join(rest) },
                    named,
                    content: match change.blob {
                        Some(name) => Content::Staged(Blob {
                            repository: Arc::clone(&repository),
                            name,
                        }),
                        None => Content::Missing("it is not merged yet: git add it".to_owned()),
                    },
                });
            }
        }
        if !is_known {
            return Err(NotThere(path.clone()).into());
        }
    }
    Ok(sources)
}

/// The index that a hook is about.
struct OwnIndex {
    root: PathBuf,
    index: PathBuf,
}

impl OwnIndex {
    fn of(index: &Path, patience: Duration) -> Result<Self, StagedError> {
        let index = absolute(index);
        // git would take it for an empty one, and nothing for staged.
        if !index.is_file() {
            return Err(StagedError::NoIndex(index));
        }
        let root = Repository::around(Path::new("."), patience)?.root;
        Ok(OwnIndex { root, index })
    }
}

/// The folder at or above the path that is there, its links resolved, and what stands below it.
fn standing(path: &Path) -> (PathBuf, PathBuf) {
    let whole = absolute(path);
    let start = whole.ancestors().find(|folder| folder.is_dir());
    let start = start.unwrap_or(Path::new("/"));
    let below = whole.strip_prefix(start).unwrap_or(Path::new(""));
    let resolved = start.canonicalize().unwrap_or_else(|_| start.to_owned());
    (resolved, below.to_owned())
}

fn is_passed_over(folder: &Path, rest: &Path) -> bool {
    let above = rest.ancestors().skip(1);
    above
        .filter(|part| !part.as_os_str().is_empty())
        .any(|part| passed_over(&folder.join(part)))
}

/// A file that the commit would add or change.
struct Change {
    file: PathBuf,
    /// None: its merge is not settled.
    blob: Option<String>,
}

fn changes(repository: &Repository) -> Result<Vec<Change>, GitError> {
    let then = match repository.commit("HEAD")? {
        Some(commit) => commit,
        // Before the first commit: the tree without files, in the repository's own kind of names.
        None => line(repository.must(&["hash-object", "-t", "tree", "--stdin"])?),
    };
    let list = repository.must(&[
        "diff-index",
        "--cached",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=all",
        // What was only announced (`git add -N`) is not committed.
        "--ita-invisible-in-index",
        "-z",
        &then,
    ])?;
    let mut words = parts(&list);
    let mut changes = Vec::new();
    // `:100644 100644 OLD NEW M`, then the name.
    while let (Some(head), Some(name)) = (words.next(), words.next()) {
        let head = String::from_utf8_lossy(head);
        let mut head = head.split(' ').skip(1);
        let (mode, _, new, status) = (head.next(), head.next(), head.next(), head.next());
        let (Some(mode), Some(new), Some(status)) = (mode, new, status) else {
            return Err(GitError::Failed(
                "an answer of diff-index in another form".into(),
            ));
        };
        let is_file = mode.starts_with("100");
        let is_unmerged = status == "U";
        if is_file || is_unmerged {
            changes.push(Change {
                file: repository.root.join(path_of(name)),
                blob: (!is_unmerged).then(|| new.to_owned()),
            });
        }
    }
    Ok(changes)
}

#[cfg(test)]
#[path = "staged_tests.rs"]
mod staged_tests;
