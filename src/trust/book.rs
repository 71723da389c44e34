//! What the user has approved, folder by folder: `trust.json` in the user's home. Reading, changing and writing is one step under
//! the home's lock.

use super::inventory::{Inventory, Item};
use crate::home::{Home, HomeError};
use crate::store::hex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const FILE: &str = "trust.json";
const VERSION: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error("{} cannot be read ({why}); move it away, and trust your folders again", path.display())]
    Broken { path: PathBuf, why: String },
    #[error("{} was written by a newer agentctl (version {version}); update agentctl", path.display())]
    Newer { path: PathBuf, version: u32 },
    #[error("cannot find the folder {}: {source}", path.display())]
    NoFolder {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// What was approved of one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// When it was last decided.
    #[serde(default)]
    pub at: String,
    /// An item's name → its hash.
    #[serde(default)]
    pub items: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Book {
    version: u32,
    /// By real path.
    #[serde(default)]
    folders: BTreeMap<String, Folder>,
    /// Data folders of development n8ns that this user made or approved, by real path.
    #[serde(default)]
    n8n: BTreeMap<String, String>,
}

/// The key of a folder: its real path. One that is no text is written in hexadecimal, which begins with no slash.
pub fn folder_key(project: &Path) -> Result<String, TrustError> {
    let real = project
        .canonicalize()
        .map_err(|source| TrustError::NoFolder {
            path: project.to_owned(),
            source,
        })?;
    Ok(match real.to_str() {
        Some(text) => text.to_owned(),
        None => format!("hex:{}", hex(real.as_os_str().as_encoded_bytes())),
    })
}

impl Book {
    pub fn read(home: &Home) -> Result<Book, TrustError> {
        let Some(bytes) = home.read(FILE)? else {
            return Ok(Book::default());
        };
        let path = || home.dir().join(FILE);
        let book: Book = serde_json::from_slice(&bytes).map_err(|e| TrustError::Broken {
            path: path(),
            why: e.to_string(),
        })?;
        if book.version > VERSION {
            return Err(TrustError::Newer {
                path: path(),
                version: book.version,
            });
        }
        Ok(book)
    }

    /// Changes the book while nobody else does.
    fn change<T>(home: &Home, change: impl FnOnce(&mut Book) -> T) -> Result<T, TrustError> {
        let _held = home.lock()?;
        let mut book = Book::read(home)?;
        let before = book.clone();
        let done = change(&mut book);
        if book != before {
            book.version = VERSION;
            let mut text = serde_json::to_vec_pretty(&book).map_err(|e| TrustError::Broken {
                path: home.dir().join(FILE),
                why: e.to_string(),
            })?;
            text.push(b'\n');
            home.write(FILE, &text)?;
        }
        Ok(done)
    }

    /// What was approved of a folder; None: it was never decided.
    pub fn folder(&self, key: &str) -> Option<&Folder> {
        self.folders.get(key)
    }

    /// The hash of the development n8n that was made or approved at a path of the folder.
    pub fn n8n(&self, key: &str, data: &str) -> Option<&str> {
        self.n8n.get(&n8n_key(key, data)).map(String::as_str)
    }

    /// Approves the folder as it stands in the inventory, and nothing that was approved of it before.
    pub fn trust(home: &Home, key: &str, all: &Inventory, now: &str) -> Result<(), TrustError> {
        Book::change(home, |book| {
            book.folders.insert(
                key.to_owned(),
                Folder {
                    at: now.to_owned(),
                    items: hashes(&all.items),
                },
            );
        })
    }

    /// Approves these items besides what was approved of the folder.
    pub fn add(home: &Home, key: &str, items: &[Item], now: &str) -> Result<(), TrustError> {
        Book::change(home, |book| {
            let folder = book.folders.entry(key.to_owned()).or_default();
            folder.at = now.to_owned();
            folder.items.extend(hashes(items));
        })
    }

    /// Approves the development n8n of a folder as it is.
    pub fn add_n8n(home: &Home, key: &str, item: &Item) -> Result<(), TrustError> {
        let Ok(hash) = &item.hash else {
            return Ok(());
        };
        Book::change(home, |book| {
            book.n8n.insert(n8n_key(key, &item.name), hash.clone());
        })
    }

    /// Forgets a folder; false: it was not known.
    pub fn revoke(home: &Home, key: &str) -> Result<bool, TrustError> {
        Book::change(home, |book| {
            let (known, below) = (book.n8n.len(), n8n_key(key, ""));
            book.n8n.retain(|data, _| !data.starts_with(&below));
            book.folders.remove(key).is_some() || book.n8n.len() < known
        })
    }
}

fn n8n_key(folder: &str, data: &str) -> String {
    format!("{folder}/{data}")
}

fn hashes(items: &[Item]) -> BTreeMap<String, String> {
    items
        .iter()
        .filter_map(|item| Some((item.name.clone(), item.hash.as_ref().ok()?.clone())))
        .collect()
}
