//! The accepted states in the user's folder: `accepted/<hash>.json`, one for each workflow of each n8n, and beside it, line by line,
//! the graph hashes that agentctl left since. Several processes share them, so each change is made under the folder's lock, and a
//! record is read again when its files are no longer what this process left.

use super::{Accepted, Base, NotKept, Record, State, Step, moved};
use crate::noted::BaseHow;
use agentctl_base::canonical::sha256_hex;
use agentctl_host::home::{Home, HomeError};
use agentctl_n8n::WorkflowId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

const FOLDER: &str = "accepted";
const VERSION: u32 = 1;
/// So many graph hashes are kept; with more, the record is written anew with the last of them, and says that it was cut.
const MOST_LEFT: usize = 4096;
const KEPT_LEFT: usize = 512;

pub struct HomeShelf {
    home: Home,
    /// What tells one n8n from another: an origin, or the real path of a project.
    place: String,
    read: Mutex<BTreeMap<String, Read>>,
}

/// A record as this process last saw it.
#[derive(Clone)]
struct Read {
    record: Option<Arc<Record>>,
    seen: [Stamp; 2],
}

/// What tells that a file is no longer the same; None: there is none.
type Stamp = Option<(u64, Option<SystemTime>, u64)>;

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    place: String,
    workflow: String,
    left: Vec<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    cut: bool,
    base: Base,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The names of a workflow's two files, relative to the home.
struct Names {
    record: String,
    left: String,
}

impl HomeShelf {
    pub fn new(home: Home, place: impl Into<String>) -> HomeShelf {
        HomeShelf {
            home,
            place: place.into(),
            read: Mutex::default(),
        }
    }

    fn names(&self, id: &WorkflowId) -> Names {
        // With its length before it, so that no other pair gives the same text.
        let text = format!("{}\n{}\n{}", self.place.len(), self.place, id.0);
        let name = sha256_hex(text.as_bytes());
        Names {
            record: format!("{FOLDER}/{name}.json"),
            left: format!("{FOLDER}/{name}.left"),
        }
    }

    fn stamps(&self, names: &Names) -> [Stamp; 2] {
        [&names.record, &names.left].map(|name| stamp(&self.home.dir().join(name)))
    }

    /// The record, from memory when the files are as they were.
    fn look(&self, id: &WorkflowId, names: &Names) -> Result<Option<Arc<Record>>, NotKept> {
        let stamps = self.stamps(names);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(&id.0).filter(|known| known.seen == stamps) {
            return Ok(known.record.clone());
        }
        let record = self.load(id, names)?.map(Arc::new);
        let known = Read {
            record: record.clone(),
            seen: stamps,
        };
        read.insert(id.0.clone(), known);
        Ok(record)
    }

    /// What the files say.
    fn load(&self, id: &WorkflowId, names: &Names) -> Result<Option<Record>, NotKept> {
        let Some(bytes) = self.home.read(&names.record).map_err(not_kept)? else {
            return Ok(None);
        };
        let broken = |why: String| {
            let path = self.home.dir().join(&names.record);
            not_kept(HomeError::Broken { path, why })
        };
        let file: File = serde_json::from_slice(&bytes).map_err(|e| broken(e.to_string()))?;
        if file.version != VERSION {
            return Err(broken(format!("its version is {}", file.version)));
        }
        if file.place != self.place || file.workflow != id.0 {
            return Err(broken("it is about another workflow".to_owned()));
        }
        let mut left: BTreeSet<String> = file.left.into_iter().collect();
        let lines = self.home.read(&names.left).map_err(not_kept)?;
        let lines = String::from_utf8_lossy(lines.as_deref().unwrap_or_default()).into_owned();
        left.extend(hashes(&lines).map(str::to_owned));
        Ok(Some(Record {
            base: Arc::new(file.base),
            left,
            cut: file.cut,
        }))
    }

    /// Under the lock: writes the record, and takes the lines away that it holds itself.
    fn keep(
        &self,
        id: &WorkflowId,
        names: &Names,
        record: Record,
        left: Vec<String>,
    ) -> Result<(), NotKept> {
        let file = File {
            version: VERSION,
            place: self.place.clone(),
            workflow: id.0.clone(),
            left,
            cut: record.cut,
            base: (*record.base).clone(),
        };
        let bytes = serde_json::to_vec(&file).map_err(|e| NotKept::new(e.to_string()))?;
        self.home.write(&names.record, &bytes).map_err(not_kept)?;
        self.home.remove(&names.left).map_err(not_kept)?;
        self.remember(id, names, Some(record));
        Ok(())
    }

    /// The last of the graph hashes that were left, the oldest first.
    fn last_left(&self, names: &Names) -> Result<Vec<String>, NotKept> {
        let bytes = self.home.read(&names.left).map_err(not_kept)?;
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        let lines: Vec<&str> = hashes(&text).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(KEPT_LEFT));
        Ok(last.map(|line| (*line).to_owned()).collect())
    }

    fn remember(&self, id: &WorkflowId, names: &Names, record: Option<Record>) {
        let seen = self.stamps(names);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let record = record.map(Arc::new);
        read.insert(id.0.clone(), Read { record, seen });
    }
}

#[cfg(test)]
impl HomeShelf {
    /// The graph hashes that agentctl is known to have left.
    pub fn left(&self, id: &WorkflowId) -> BTreeSet<String> {
        let record = self.look(id, &self.names(id)).ok().flatten();
        record.map(|record| record.left.clone()).unwrap_or_default()
    }
}

impl Accepted for HomeShelf {
    fn base(&self, id: &WorkflowId, state: &State<'_>) -> Result<Arc<Base>, NotKept> {
        let names = self.names(id);
        let record = self.look(id, &names)?;
        if let Some(record) = record.filter(|r| r.may_have_left(state.graph_hash)) {
            return Ok(Arc::clone(&record.base));
        }
        let _lock = self.home.lock().map_err(not_kept)?;
        // Another process may have been first.
        let record = self.load(id, &names)?;
        match (moved(record.as_ref(), state), record) {
            (Some(new), _) => {
                let base = Arc::clone(&new.base);
                let left = new.left.iter().cloned().collect();
                self.keep(id, &names, new, left)?;
                Ok(base)
            }
            (None, Some(record)) => {
                let base = Arc::clone(&record.base);
                self.remember(id, &names, Some(record));
                Ok(base)
            }
            (None, None) => Err(NotKept::new("it was not kept")),
        }
    }

    fn known(&self, id: &WorkflowId) -> Result<Option<Arc<Base>>, NotKept> {
        let record = self.look(id, &self.names(id))?;
        Ok(record.map(|record| Arc::clone(&record.base)))
    }

    fn accept(&self, id: &WorkflowId, how: BaseHow, state: &State<'_>) -> Result<(), NotKept> {
        let names = self.names(id);
        let record = Record::new(state.base(how), state.graph_hash);
        let _lock = self.home.lock().map_err(not_kept)?;
        let left = record.left.iter().cloned().collect();
        self.keep(id, &names, record, left)
    }

    fn leave(&self, id: &WorkflowId, step: &Step<'_>) -> Result<(), NotKept> {
        let names = self.names(id);
        let known = self.look(id, &names)?;
        if known.is_none_or(|record| record.left.contains(step.after)) {
            return Ok(());
        }
        let _lock = self.home.lock().map_err(not_kept)?;
        // Another process may have written since; what it left stays.
        if self.look(id, &names)?.is_none() {
            return Ok(());
        }
        let path = self.home.dir().join(&names.left);
        append(&path, step.after, step.lossy).map_err(|source| {
            let doing = "write";
            not_kept(HomeError::Io {
                doing,
                path,
                source,
            })
        })?;
        let seen = self.stamps(&names);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = read.get_mut(&id.0) else {
            return Ok(());
        };
        let Some(record) = &mut known.record else {
            return Ok(());
        };
        Arc::make_mut(record).left.insert(step.after.to_owned());
        known.seen = seen;
        if record.left.len() <= MOST_LEFT {
            return Ok(());
        }
        let mut record = (**record).clone();
        drop(read);
        // The workflow is still as it was before the step, and the step may never be made.
        let mut left = self.last_left(&names)?;
        if !left.iter().any(|hash| hash == step.before) {
            left.insert(0, step.before.to_owned());
        }
        record.left = left.iter().cloned().collect();
        record.cut = true;
        self.keep(id, &names, record, left)
    }

    fn forget(&self, id: &WorkflowId) -> Result<(), NotKept> {
        let names = self.names(id);
        if self.look(id, &names)?.is_none() {
            return Ok(());
        }
        let _lock = self.home.lock().map_err(not_kept)?;
        self.home.remove(&names.record).map_err(not_kept)?;
        self.home.remove(&names.left).map_err(not_kept)?;
        self.remember(id, &names, None);
        Ok(())
    }
}

fn not_kept(error: HomeError) -> NotKept {
    NotKept {
        why: error.to_string(),
        machine: error.is_of_machine(),
    }
}

/// The lines of the list; a write that broke off leaves a piece of one, or an empty one.
fn hashes(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

/// A line at the end, in one write. It begins with a line end, so that a piece that an earlier write left is not a part of it.
fn append(path: &Path, line: &str, durable: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(format!("\n{line}\n").as_bytes())?;
    match durable {
        true => file.sync_data(),
        false => Ok(()),
    }
}

fn stamp(path: &Path) -> Stamp {
    let meta = fs::symlink_metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&meta);
    #[cfg(not(unix))]
    let inode = 0;
    Some((meta.len(), meta.modified().ok(), inode))
}
