//! Long texts that are kept again and again with little changed: one stands whole in `memory/texts/`, and what is kept later says how
//! it differs from that one. A short text is kept as it is. Must never give back another text than was kept.

use super::StoreError;
use agentctl_base::canonical::sha256_hex;
use agentctl_base::patch::{Piece, patched, pieces};
use agentctl_host::files::{
    Disk, FileError, Found, Opened, file_part, open_own, read_own, write_atomic_on,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Bytes: shorter texts are kept as they are.
const LONG: usize = 32 * 1024;
/// What differs is at most this part of the text, else the text is kept whole.
const AT_MOST: usize = 8;
/// Larger ones were not written by this program.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// The form of what stands in the place of a text.
const VERSION: u32 = 1;
const BEGINNING: &str = "{\"agentctl_patch\":";

/// Stands in the place of a long text.
#[derive(Debug, Serialize, Deserialize)]
struct Patched {
    agentctl_patch: u32,
    /// Below `memory/texts/`.
    of: String,
    of_sha256: String,
    /// Of the text that it stands for.
    sha256: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
pub struct Texts {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
}

impl Texts {
    /// `memory`: the project's folder of that name.
    pub fn on(disk: Arc<dyn Disk>, memory: &Path) -> Self {
        Texts {
            disk,
            dir: memory.join("texts"),
        }
    }

    /// What is to be written in the place of a text; what it rests on is on the disk when this returns. `of`: the resource, whose
    /// texts are like each other.
    pub fn shortened<'t>(&self, of: &str, text: &'t str) -> Result<Cow<'t, str>, StoreError> {
        if text.len() < LONG {
            return Ok(Cow::Borrowed(text));
        }
        let folder = file_part(of);
        refuse_link(&self.dir)?;
        refuse_link(&self.dir.join(&folder))?;
        let sha256 = sha256_hex(text.as_bytes());
        let newest = self.newest(&folder)?;
        let number = newest.as_ref().map_or(0, |(number, ..)| *number);
        if let Some((_, file, base)) = newest {
            let written = written(&file, &base, text, &sha256)?;
            if written.len() <= text.len() / AT_MOST {
                return Ok(Cow::Owned(written));
            }
        }
        let file = format!(
            "{:04}-{}.json",
            number + 1,
            sha256.get(..16).unwrap_or_default()
        );
        let file = format!("{folder}/{file}");
        write_atomic_on(self.disk.as_ref(), &self.dir.join(&file), text.as_bytes())?;
        Ok(Cow::Owned(written(&file, text, text, &sha256)?))
    }

    /// The text that something written stands for: itself, or what its patch makes. Err within: why there is none; Err: what it
    /// rests on could not be looked at.
    pub fn whole(&self, written: String) -> Result<Result<String, String>, StoreError> {
        if !written.starts_with(BEGINNING) {
            return Ok(Ok(written));
        }
        let (path, patch) = match self.patch(&written) {
            Ok(read) => read,
            Err(why) => return Ok(Err(why)),
        };
        Ok(match read(&path)? {
            None => Err(format!("it rests on {}, which is gone", path.display())),
            Some(base) if sha256_hex(base.as_bytes()) != patch.of_sha256 => {
                Err(format!("it rests on {}, which was changed", path.display()))
            }
            Some(base) => patched(&base, &patch.pieces, MAX_BYTES as usize)
                .filter(|text| sha256_hex(text.as_bytes()) == patch.sha256)
                .ok_or_else(|| "what it says does not make the text that was kept".to_owned()),
        })
    }

    /// What stands in the place of a text, and the file that it rests on. Err: it is none that this version reads.
    fn patch(&self, written: &str) -> Result<(PathBuf, Patched), String> {
        let patch: Patched = serde_json::from_str(written)
            .map_err(|e| format!("what stands there for a text cannot be read: {e}"))?;
        if patch.agentctl_patch != VERSION {
            return Err(format!(
                "it is written in form {} and this agentctl reads form {VERSION}; update agentctl",
                patch.agentctl_patch
            ));
        }
        let parts = Path::new(&patch.of).components();
        let inside = parts.map(|part| matches!(part, Component::Normal(_)));
        if !inside.eq([true, true]) {
            return Err(format!(
                "it rests on {:?}, which is no text of this project",
                patch.of
            ));
        }
        Ok((self.dir.join(&patch.of), patch))
    }

    /// The texts on which nothing below `memory/` rests once these files and folders are gone, each with its bytes. None are known
    /// while something stands there that this version cannot read.
    pub fn unused(&self, without: &BTreeSet<PathBuf>) -> Result<Vec<(PathBuf, u64)>, StoreError> {
        refuse_link(&self.dir)?;
        let texts = files_below(&self.dir, &BTreeSet::new())?.into_iter();
        let is_text = |path: &Path| path.extension().is_some_and(|ending| ending == "json");
        let mut unused: BTreeMap<PathBuf, u64> = texts
            .filter(|(path, _)| is_text(path))
            .map(|(path, found)| (path, found.len()))
            .collect();
        if unused.is_empty() {
            return Ok(Vec::new());
        }
        let memory = self.dir.parent().unwrap_or(&self.dir);
        let mut without = without.clone();
        without.insert(self.dir.clone());
        for (path, _) in files_below(memory, &without)? {
            let Some(written) = stands_for_a_text(&path)? else {
                continue;
            };
            match self.patch(&written) {
                Ok((base, _)) => unused.remove(&base),
                Err(_) => return Ok(Vec::new()),
            };
        }
        Ok(unused.into_iter().collect())
    }

    /// The whole text that was kept last: its number, its place and the text. One that was changed is none.
    fn newest(&self, folder: &str) -> Result<Option<(u32, String, String)>, StoreError> {
        let dir = self.dir.join(folder);
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(StoreError::io("list", &dir)(e)),
        };
        let mut numbered = Vec::new();
        for entry in entries {
            let name = entry.map_err(StoreError::io("list", &dir))?.file_name();
            let Some(name) = name.to_str() else { continue };
            let parts = name.strip_suffix(".json").and_then(|n| n.split_once('-'));
            if let Some((number, hash)) = parts
                && let Ok(number) = number.parse::<u32>()
            {
                numbered.push((number, hash.to_owned(), name.to_owned()));
            }
        }
        numbered.sort();
        let Some((number, hash, name)) = numbered.pop() else {
            return Ok(None);
        };
        let text = read(&dir.join(&name))?.unwrap_or_default();
        let text = match sha256_hex(text.as_bytes()).starts_with(&hash) {
            true => text,
            // Nothing can rest on it: the number is passed over.
            false => String::new(),
        };
        Ok(Some((number, format!("{folder}/{name}"), text)))
    }
}

/// A project from somewhere else could point it at the user's own files.
fn refuse_link(path: &Path) -> Result<(), StoreError> {
    let found = std::fs::symlink_metadata(path);
    match found.is_ok_and(|found| found.file_type().is_symlink()) {
        true => Err(FileError::Linked { path: path.into() }.into()),
        false => Ok(()),
    }
}

fn written(file: &str, base: &str, text: &str, sha256: &str) -> Result<String, StoreError> {
    let patch = Patched {
        agentctl_patch: VERSION,
        of: file.to_owned(),
        of_sha256: sha256_hex(base.as_bytes()),
        sha256: sha256.to_owned(),
        pieces: pieces(base, text),
    };
    let written = serde_json::to_string(&patch).map_err(|e| StoreError::Encode {
        what: "what differs in a text",
        reason: e.to_string(),
    })?;
    Ok(written + "\n")
}

/// None: there is nothing that could be read as a text.
fn read(path: &Path) -> Result<Option<String>, StoreError> {
    Ok(
        match read_own(path, MAX_BYTES).map_err(StoreError::io("read", path))? {
            Found::Bytes(bytes) => String::from_utf8(bytes).ok(),
            Found::Missing | Found::Odd(_) => None,
        },
    )
}

/// What a file holds that stands in the place of a text; None: it does not.
fn stands_for_a_text(path: &Path) -> Result<Option<String>, StoreError> {
    let failed = |e| StoreError::io("read", path)(e);
    let Opened::File(mut file) = open_own(path).map_err(failed)? else {
        return Ok(None);
    };
    let mut written = Vec::new();
    let first = BEGINNING.len() as u64;
    (&mut file)
        .take(first)
        .read_to_end(&mut written)
        .map_err(failed)?;
    if written != BEGINNING.as_bytes() {
        return Ok(None);
    }
    file.take(MAX_BYTES)
        .read_to_end(&mut written)
        .map_err(failed)?;
    Ok(Some(String::from_utf8_lossy(&written).into_owned()))
}

/// All regular files below a folder that is or is not there, without what is named; no link is followed.
fn files_below(
    dir: &Path,
    without: &BTreeSet<PathBuf>,
) -> Result<Vec<(PathBuf, Metadata)>, StoreError> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(dir) = folders.pop() {
        let failed = |e| StoreError::io("list", &dir)(e);
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(failed(e)),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let (path, found) = (entry.path(), entry.metadata().map_err(failed)?);
            if without.contains(&path) {
                continue;
            }
            if found.is_dir() {
                folders.push(path);
            } else if found.is_file() {
                files.push((path, found));
            }
        }
    }
    Ok(files)
}
