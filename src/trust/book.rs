//! What the user has approved of a folder: one file for each folder in the user's home, so that a start reads no other's. Reading,
//! changing and writing is one step under the home's lock.

use super::inventory::Inventory;
use super::item::Item;
use agentctl_base::canonical::{hex, sha256_hex};
use agentctl_host::home::{Home, HomeError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where earlier versions kept all folders in one file. Read for a folder that has no file of its own, and never written.
const OLD_FILE: &str = "trust.json";
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
    /// `init` made the folder, and nobody was asked about it since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made: bool,
}

/// What the user said of one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Book {
    version: u32,
    /// The folder's key.
    folder: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trusted: Option<Folder>,
    /// Data folders of development n8ns that this user made or approved, by their paths below the folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    n8n: BTreeMap<String, String>,
    /// The hash of the inventory to which the user said no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// All folders in one file.
#[derive(Debug, Deserialize)]
struct OldBook {
    version: u32,
    /// By key.
    #[serde(default)]
    folders: BTreeMap<String, Folder>,
    /// By key, `/` and the path below the folder.
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

/// The file of a folder, below the home.
fn file(key: &str) -> String {
    format!("trust/{}.json", sha256_hex(key.as_bytes()))
}

impl TrustError {
    /// A file could not be read or written, whatever stands in it.
    pub fn is_io(&self) -> bool {
        match self {
            TrustError::Home(HomeError::Io { .. }) => true,
            TrustError::Home(HomeError::Broken { .. })
            | TrustError::Broken { .. }
            | TrustError::Newer { .. }
            | TrustError::NoFolder { .. } => false,
        }
    }
}

impl Book {
    /// What was said of the folder of this key; of one that was never decided: nothing.
    pub fn read(home: &Home, key: &str) -> Result<Book, TrustError> {
        let name = file(key);
        let Some(bytes) = home.read(&name)? else {
            return Book::from_old(home, key);
        };
        let path = home.dir().join(&name);
        let book: Book = parse(&bytes, &path, |book: &Book| book.version)?;
        match book.folder == key {
            true => Ok(book),
            false => Err(TrustError::Broken {
                path,
                why: format!("it is of the folder {}", book.folder),
            }),
        }
    }

    fn from_old(home: &Home, key: &str) -> Result<Book, TrustError> {
        let Some(bytes) = home.read(OLD_FILE)? else {
            return Ok(Book::default());
        };
        let path = home.dir().join(OLD_FILE);
        let mut old: OldBook = parse(&bytes, &path, |old: &OldBook| old.version)?;
        let below = format!("{key}/");
        Ok(Book {
            trusted: old.folders.remove(key),
            n8n: (old.n8n.into_iter())
                .filter_map(|(data, hash)| Some((data.strip_prefix(&below)?.to_owned(), hash)))
                .collect(),
            ..Book::default()
        })
    }

    /// Changes what is said of a folder while nobody else does.
    fn change<T>(
        home: &Home,
        key: &str,
        change: impl FnOnce(&mut Book) -> T,
    ) -> Result<T, TrustError> {
        let _held = home.lock()?;
        let mut book = Book::read(home, key)?;
        let before = book.clone();
        let done = change(&mut book);
        if book != before {
            book.version = VERSION;
            key.clone_into(&mut book.folder);
            let name = file(key);
            let mut text = serde_json::to_vec_pretty(&book).map_err(|e| TrustError::Broken {
                path: home.dir().join(&name),
                why: e.to_string(),
            })?;
            text.push(b'\n');
            home.write(&name, &text)?;
        }
        Ok(done)
    }

    /// What was approved of the folder; None: it was never decided.
    pub fn folder(&self) -> Option<&Folder> {
        self.trusted.as_ref()
    }

    /// The hash of the development n8n that was made or approved at a path of the folder.
    pub fn n8n(&self, data: &str) -> Option<&str> {
        self.n8n.get(data).map(String::as_str)
    }

    /// Whether the user was asked about just these files, and said no.
    pub fn refuses(&self, all: &Inventory) -> bool {
        self.refused.as_deref().is_some_and(|no| no == all.hash())
    }

    /// Approves the folder as it stands in the inventory, and nothing that was approved of it before.
    pub fn trust(home: &Home, key: &str, all: &Inventory, now: &str) -> Result<(), TrustError> {
        Book::change(home, key, |book| {
            book.refused = None;
            book.trusted = Some(Folder {
                at: now.to_owned(),
                items: hashes(&all.items),
                made: false,
            });
        })
    }

    /// Approves what became of the folder by a command of agentctl, besides what was approved of it: these items, and that the
    /// `gone` ones are not there any more. `made`: the command made the folder.
    pub fn add(
        home: &Home,
        key: &str,
        items: &[Item],
        gone: &[Item],
        made: bool,
        now: &str,
    ) -> Result<(), TrustError> {
        Book::change(home, key, |book| {
            let folder = book.trusted.get_or_insert_with(|| Folder {
                made,
                ..Folder::default()
            });
            folder.at = now.to_owned();
            folder.items.extend(hashes(items));
            for item in gone {
                folder.items.remove(&item.name);
            }
        })
    }

    /// Keeps the user's no to these files: it is not asked about them again.
    pub fn refuse(home: &Home, key: &str, all: &Inventory) -> Result<(), TrustError> {
        Book::change(home, key, |book| book.refused = Some(all.hash()))
    }

    /// Approves the development n8n of a folder as it is.
    pub fn add_n8n(home: &Home, key: &str, item: &Item) -> Result<(), TrustError> {
        let Ok(hash) = &item.hash else {
            return Ok(());
        };
        Book::change(home, key, |book| {
            book.n8n.insert(item.name.clone(), hash.clone());
        })
    }

    /// Forgets a folder; false: it was not known. What an old file says of it does not come back, so its own one stays, and is empty.
    pub fn revoke(home: &Home, key: &str) -> Result<bool, TrustError> {
        Book::change(home, key, |book| {
            let known = book.trusted.is_some() || !book.n8n.is_empty();
            *book = Book::default();
            known
        })
    }
}

fn parse<T: serde::de::DeserializeOwned>(
    bytes: &[u8],
    path: &Path,
    version: impl Fn(&T) -> u32,
) -> Result<T, TrustError> {
    let path = || path.to_owned();
    let book: T = serde_json::from_slice(bytes).map_err(|e| TrustError::Broken {
        path: path(),
        why: e.to_string(),
    })?;
    match version(&book) {
        newer if newer > VERSION => Err(TrustError::Newer {
            path: path(),
            version: newer,
        }),
        _ => Ok(book),
    }
}

fn hashes(items: &[Item]) -> BTreeMap<String, String> {
    items
        .iter()
        .filter_map(|item| Some((item.name.clone(), item.hash.as_ref().ok()?.clone())))
        .collect()
}
