//! What a pull request touches: the files that differ from where the branch left `REV`, uncommitted and new ones included.
//! Files are compared here, byte by byte.

use super::git::{GitError, Kept, Repository, bytes_of, line, parts, path_of};
use super::source::{self, Source, absolute};
use agentctl_base::canonical::hex;
use agentctl_host::files::read_regular;
use sha2::Digest as _;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
                let repository = Repository::around(&folder, patience)?;
                let root = repository.root.clone();
                roots.insert(folder.clone(), root.clone());
                if !changed.contains_key(&root) {
                    changed.insert(root.clone(), Since::of(&repository, rev)?);
                }
                root
            }
        };
        let file = folder.join(whole.file_name().unwrap_or_default());
        if changed.get(&root).is_some_and(|since| since.touched(&file)) {
            kept.push(source);
        }
    }
    Ok(kept)
}

/// A repository, and the commit that its files are compared with.
struct Since {
    /// Tracked files, and new ones that are not ignored.
    here: BTreeSet<PathBuf>,
    /// The files of the commit.
    then: BTreeMap<PathBuf, Kept>,
}

impl Since {
    fn of(repository: &Repository, rev: &str) -> Result<Since, GitError> {
        let then = match repository.commit(rev)? {
            Some(commit) => {
                // Where the branch began; without a common ancestor (a shallow clone) the revision itself.
                let base = repository.ask(&["merge-base", &commit, "HEAD"])?;
                repository.files_of(&base.map_or(commit, line))?
            }
            // Before the first commit everything is new.
            None => BTreeMap::new(),
        };
        let here = repository.must(&[
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ])?;
        let here = parts(&here).map(|name| repository.root.join(path_of(name)));
        Ok(Since {
            here: here.collect(),
            then,
        })
    }

    fn touched(&self, file: &Path) -> bool {
        if !self.here.contains(file) {
            return false;
        }
        let Some(Kept {
            is_link: was_link,
            blob,
        }) = self.then.get(file)
        else {
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

#[cfg(test)]
#[path = "changed_tests.rs"]
mod changed_tests;
