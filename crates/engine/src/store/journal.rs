//! The journal of a run: JSON lines, append-only, each record chained to the one before by its hash. It is the truth.
//! A torn last line (a crash while writing) is cut off and kept aside; anything else that does not fit is refused.

use super::{
    Event, Marks, Record, StoreError,
    ledger::{Entry, Holding},
    line::Line,
    read::{GENESIS, Loaded, Reading, Streamed, bytes_of, stream},
};
use crate::store::chain::chain;
use agentctl_base::canonical::sha256_hex;
use agentctl_base::untrusted;
use agentctl_host::files::{self, Disk, write_atomic_on};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::{
    borrow::Cow,
    fs::{File, OpenOptions},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Open for appending. Only the holder of the project's lock may have one.
#[derive(Debug)]
pub struct Journal {
    disk: Arc<dyn Disk>,
    marks: Marks,
    pub(super) file: File,
    path: PathBuf,
    seq: u64,
    hash: String,
    /// Bytes of the file after the last append.
    pub(super) len: u64,
    /// Over these bytes.
    pub(super) digest: Sha256,
    synced: bool,
    /// Folders that hold a new name on the way to the file, which a power loss could still take.
    unsynced_names: Vec<PathBuf>,
    /// A write or a sync failed: what is on the disk is not known, so nothing may follow it.
    failed: bool,
    /// Has each line before the file; None: the file alone counts.
    held: Option<Holding>,
}

impl Journal {
    /// A new, empty journal; the file must not exist.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        Self::create_on(files::real(), path)
    }

    /// Nothing of it is sure to outlive a power loss before the first [`Journal::sync`], its name neither.
    pub fn create_on(disk: Arc<dyn Disk>, path: &Path) -> Result<Self, StoreError> {
        let dir = files::parent(path);
        files::create_dir(files::parent(dir))?;
        let mut unsynced_names = vec![dir.to_owned()];
        unsynced_names.extend(files::create_dir_unsynced(dir)?);
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(StoreError::io("create", path))?;
        Ok(Journal {
            disk,
            marks: Marks::none(),
            file,
            path: path.to_owned(),
            seq: 0,
            hash: GENESIS.to_owned(),
            len: 0,
            digest: Sha256::new(),
            synced: false,
            unsynced_names,
            failed: false,
            held: None,
        })
    }

    /// What is appended from here on carries these marks.
    #[must_use]
    pub fn marked(self, marks: Marks) -> Self {
        Journal { marks, ..self }
    }

    /// What is appended from here on is in the ledger before it is in the file, and the file is nobody else's meanwhile.
    pub(super) fn held(self, mut held: Holding) -> Result<Self, StoreError> {
        let locked = held.lock(&self.file);
        locked.map_err(StoreError::io("lock", &self.path))?;
        Ok(Journal {
            held: Some(held),
            ..self
        })
    }

    /// Verifies the chain, heals a torn last line and opens for appending. Marks nothing and judges nobody: a run is opened with
    /// [`Journal::open_for`].
    pub fn open(path: &Path) -> Result<(Self, Loaded), StoreError> {
        let mut records = Vec::new();
        let reading = Reading {
            marks: &Marks::none(),
            checked: None,
            note: &[],
            each: &mut |record, _| records.push(record.clone()),
        };
        let streamed = stream(path, reading)?;
        let (journal, loaded) = Self::opened(files::real(), path, Marks::none(), streamed)?;
        Ok((journal, Loaded { records, ..loaded }))
    }

    /// The same for a run of this user. One that this user's agentctl did not write, or not to its end, is refused, and nothing of
    /// it is healed; nor of one that is not `whole`. `each` sees the records before that is known.
    pub(super) fn open_for(
        disk: Arc<dyn Disk>,
        path: &Path,
        read: Reading<'_>,
        whole: &dyn Fn(&Loaded) -> Result<(), StoreError>,
    ) -> Result<(Self, Loaded), StoreError> {
        let marks = read.marks.clone();
        let streamed = stream(path, read)?;
        if let Some(foreign) = streamed.loaded.foreign {
            return Err(StoreError::Foreign {
                run_id: marks.run_id().to_owned(),
                foreign,
            });
        }
        whole(&streamed.loaded)?;
        Self::opened(disk, path, marks, streamed)
    }

    fn opened(
        disk: Arc<dyn Disk>,
        path: &Path,
        marks: Marks,
        streamed: Streamed,
    ) -> Result<(Self, Loaded), StoreError> {
        let Streamed {
            mut loaded,
            mut digest,
            ..
        } = streamed;
        let mut file = OpenOptions::new()
            .append(true)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        if let Some(aside) = keep_torn(disk.as_ref(), path, &loaded)? {
            file.set_len(loaded.whole)
                .and_then(|()| file.sync_all())
                .map_err(StoreError::io("cut the torn last line of", path))?;
            if let Some(torn) = &mut loaded.torn {
                torn.kept_as = Some(aside);
            }
        }
        if loaded.newline_missing {
            disk.write(&mut file, b"\n", path)
                .and_then(|()| disk.sync(&file, path))
                .map_err(StoreError::io("end the last line of", path))?;
            digest.update(b"\n");
        }
        let journal = Journal {
            disk,
            marks,
            file,
            path: path.to_owned(),
            seq: loaded.last_seq,
            hash: loaded.last_hash.clone(),
            len: loaded.whole + u64::from(loaded.newline_missing),
            digest,
            synced: true,
            unsynced_names: Vec::new(),
            failed: false,
            held: None,
        };
        Ok((journal, loaded))
    }

    /// Reads and verifies without changing anything. Whose it is, is not known: all of it is foreign.
    pub fn read(path: &Path) -> Result<Loaded, StoreError> {
        Self::read_for(path, &Marks::none())
    }

    /// The same, and whose it is.
    pub fn read_for(path: &Path, marks: &Marks) -> Result<Loaded, StoreError> {
        Loaded::judged(path, &bytes_of(path)?, marks)
    }

    /// Appends one event. `durable` syncs it and everything before it.
    pub fn append(
        &mut self,
        at: jiff::Timestamp,
        event: Event,
        durable: bool,
    ) -> Result<Record, StoreError> {
        self.usable()?;
        let encode = |e: serde_json::Error| StoreError::Encode {
            what: "a journal event",
            reason: e.to_string(),
        };
        let at = at.to_string();
        let text = serde_json::to_string(&event).map_err(encode)?;
        let seq = self.seq + 1;
        let (prev, hash) = (&self.hash, chain(&self.hash, seq, &at, &text));
        let mark = self.marks.mark(seq, &hash);
        let line = line(seq, &at, (prev, &hash), mark.as_deref(), &text);
        let record = Record {
            seq,
            at,
            prev: prev.clone(),
            hash: hash.clone(),
            event,
        };
        if let Some(held) = &self.held {
            let entry = Entry {
                seq,
                prev: record.prev.clone(),
                hash: record.hash.clone(),
                line: line.trim_end().to_owned(),
            };
            let appended = held.append(&[entry]);
            appended.map_err(|e| self.failed(e))?;
        }
        // One write per record: a crash tears the last line at most.
        if let Err(e) = self.disk.write(&mut self.file, line.as_bytes(), &self.path) {
            let error = StoreError::io("append to", &self.path)(e);
            return Err(self.failed(error));
        }
        self.seq = seq;
        self.hash = hash;
        self.len += line.len() as u64;
        self.digest.update(line.as_bytes());
        self.synced = false;
        if durable {
            self.sync()?;
        }
        Ok(record)
    }

    /// What became of the last write is not known, or it counts for nothing: none may follow it, and where the run is held somebody has
    /// to look after it.
    fn failed(&mut self, error: impl Into<StoreError>) -> StoreError {
        self.failed = true;
        if let Some(held) = &mut self.held {
            held.fail();
        }
        error.into()
    }

    /// False when another process (that held the lock in between) appended, or the file is no longer this one: open it again.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        use std::os::unix::fs::MetadataExt as _;
        let open = self
            .file
            .metadata()
            .map_err(StoreError::io("look at", &self.path))?;
        let Ok(named) = std::fs::symlink_metadata(&self.path) else {
            return Ok(false);
        };
        Ok(!self.failed
            && open.len() == self.len
            && (named.dev(), named.ino()) == (open.dev(), open.ino()))
    }

    /// After this, everything appended survives a power loss, and so does the file's name.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.usable()?;
        // What a ledger has it has durably already, and the file is a copy.
        if self.held.is_some() {
            return Ok(());
        }
        if !self.synced {
            if let Err(e) = self.disk.sync(&self.file, &self.path) {
                let error = StoreError::io("sync", &self.path)(e);
                return Err(self.failed(error));
            }
            self.synced = true;
        }
        while let Some(dir) = self.unsynced_names.first() {
            if let Err(e) = files::sync_dir_on(self.disk.as_ref(), dir) {
                return Err(self.failed(e));
            }
            self.unsynced_names.remove(0);
        }
        Ok(())
    }

    fn usable(&self) -> Result<(), StoreError> {
        if self.failed {
            let e = std::io::Error::other("an earlier write failed");
            return Err(StoreError::io("append to", &self.path)(e));
        }
        Ok(())
    }

    /// The number of the last record, and its hash.
    pub fn head(&self) -> (u64, &str) {
        (self.seq, &self.hash)
    }
}

/// Keeps what stands behind the last whole record in a file of its own; None: nothing does.
pub(super) fn keep_torn(
    disk: &dyn Disk,
    path: &Path,
    loaded: &Loaded,
) -> Result<Option<PathBuf>, StoreError> {
    if loaded.torn.is_none() {
        return Ok(None);
    }
    let bytes = bytes_of(path)?;
    let whole = usize::try_from(loaded.whole).unwrap_or(usize::MAX);
    let tail = bytes.get(whole..).unwrap_or_default();
    let name = format!(
        "journal.torn-{}-{}",
        loaded.last_seq + 1,
        sha256_hex(tail).get(..8).unwrap_or_default()
    );
    let aside = path.with_file_name(name);
    write_atomic_on(disk, &aside, tail)?;
    Ok(Some(aside))
}

/// A line as it was, with a mark of these.
pub(super) fn marked(old: &Line, marks: &Marks) -> String {
    let mark = marks.mark(old.seq, &old.hash);
    line(
        old.seq,
        &old.at,
        (&old.prev, &old.hash),
        mark.as_deref(),
        &old.event.to_string(),
    )
}

/// One line of the file. A reader that knows no marks passes over the key `mark`.
pub(super) fn line(
    seq: u64,
    at: &str,
    (prev, hash): (&str, &str),
    mark: Option<&str>,
    event: &str,
) -> String {
    let mark = mark.map_or_else(String::new, |mark| format!(r#""mark":"{mark}","#));
    let mut line = format!(
        r#"{{"seq":{seq},"at":{},"prev":"{prev}","hash":"{hash}",{mark}"event":{event}}}"#,
        Value::from(at)
    );
    // The same value, but harmless to look at with any pager.
    if let Cow::Owned(escaped) = untrusted::json(&line) {
        line = escaped;
    }
    line.push('\n');
    line
}
