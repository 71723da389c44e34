//! The journal of a run: JSON lines, append-only, each record chained to the one before by its hash. It is the truth.
//! A torn last line (a crash while writing) is cut off and kept aside; anything else that does not fit is refused.

use super::{
    Event, Foreign, Marks, Record, StoreError,
    event::v1,
    first::{check_run, check_version},
};
use crate::store::chain::chain;
use agentctl_base::canonical::sha256_hex;
use agentctl_base::untrusted;
use agentctl_host::files::{self, Disk, Found, read_own, write_atomic_on};
use serde_json::Value;
use std::{
    borrow::Cow,
    fs::{File, OpenOptions},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The first record's `prev`.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A journal as read, its chain verified.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub records: Vec<Record>,
    /// Records of event types that only a newer agentctl knows. They are in the chain and are not folded.
    pub unknown: usize,
    pub torn: Option<Torn>,
    /// From where on the records are not this user's; None: all of them are.
    pub foreign: Option<Foreign>,
    last_seq: u64,
    last_hash: String,
    /// Bytes of the file up to the end of the last whole record.
    whole: usize,
    /// The last record is whole, only its newline is missing.
    newline_missing: bool,
}

/// What a crash left behind the last whole record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    pub bytes: usize,
    /// Where the bytes were kept; None while only reading.
    pub kept_as: Option<PathBuf>,
}

/// Open for appending. Only the holder of the project's lock may have one.
#[derive(Debug)]
pub struct Journal {
    disk: Arc<dyn Disk>,
    marks: Marks,
    file: File,
    path: PathBuf,
    seq: u64,
    hash: String,
    /// Bytes of the file after the last append.
    len: u64,
    synced: bool,
    /// A write or a sync failed: what is on the disk is not known, so nothing may follow it.
    failed: bool,
}

impl Journal {
    /// A new, empty journal; the file must not exist.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        Self::create_on(files::real(), path)
    }

    pub fn create_on(disk: Arc<dyn Disk>, path: &Path) -> Result<Self, StoreError> {
        let dir = files::parent(path);
        files::create_dir(dir)?;
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(StoreError::io("create", path))?;
        // Without this a crash could lose the name of a journal whose records are synced.
        files::sync_dir(dir)?;
        Ok(Journal {
            disk,
            marks: Marks::none(),
            file,
            path: path.to_owned(),
            seq: 0,
            hash: GENESIS.to_owned(),
            len: 0,
            synced: true,
            failed: false,
        })
    }

    /// What is appended from here on carries these marks.
    #[must_use]
    pub fn marked(self, marks: Marks) -> Self {
        Journal { marks, ..self }
    }

    /// Verifies the chain, heals a torn last line and opens for appending. Marks nothing and judges nobody: a run is opened with
    /// [`Journal::open_for`].
    pub fn open(path: &Path) -> Result<(Self, Loaded), StoreError> {
        let bytes = bytes_of(path)?;
        let loaded = Loaded::of(path, &bytes)?;
        Self::opened(files::real(), path, Marks::none(), (loaded, &bytes))
    }

    /// The same for a run of this user. One that this user's agentctl did not write, or not to its end, is refused, and nothing of
    /// it is healed; nor of one that is not `whole`.
    pub fn open_for(
        disk: Arc<dyn Disk>,
        path: &Path,
        marks: Marks,
        whole: &dyn Fn(&Loaded) -> Result<(), StoreError>,
    ) -> Result<(Self, Loaded), StoreError> {
        let bytes = bytes_of(path)?;
        let loaded = Loaded::judged(path, &bytes, &marks)?;
        if let Some(foreign) = loaded.foreign {
            return Err(StoreError::Foreign {
                run_id: marks.run_id().to_owned(),
                foreign,
            });
        }
        whole(&loaded)?;
        Self::opened(disk, path, marks, (loaded, &bytes))
    }

    fn opened(
        disk: Arc<dyn Disk>,
        path: &Path,
        marks: Marks,
        (mut loaded, bytes): (Loaded, &[u8]),
    ) -> Result<(Self, Loaded), StoreError> {
        let mut file = OpenOptions::new()
            .append(true)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        if let Some(aside) = keep_torn(disk.as_ref(), path, &loaded, bytes)? {
            file.set_len(loaded.whole as u64)
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
        }
        let journal = Journal {
            disk,
            marks,
            file,
            path: path.to_owned(),
            seq: loaded.last_seq,
            hash: loaded.last_hash.clone(),
            len: loaded.whole as u64 + u64::from(loaded.newline_missing),
            synced: true,
            failed: false,
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
        // One write per record: a crash tears the last line at most.
        if let Err(e) = self.disk.write(&mut self.file, line.as_bytes(), &self.path) {
            self.failed = true;
            return Err(StoreError::io("append to", &self.path)(e));
        }
        self.seq = seq;
        self.hash = hash;
        self.len += line.len() as u64;
        self.synced = false;
        if durable {
            self.sync()?;
        }
        Ok(record)
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

    /// After this, everything appended survives a power loss.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.usable()?;
        if !self.synced {
            if let Err(e) = self.disk.sync(&self.file, &self.path) {
                self.failed = true;
                return Err(StoreError::io("sync", &self.path)(e));
            }
            self.synced = true;
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

impl Loaded {
    /// The number of the last record, and its hash.
    pub fn head(&self) -> (u64, &str) {
        (self.last_seq, &self.last_hash)
    }

    /// A journal's bytes, its chain verified; `path` is only named in errors. Whose it is, is not known: all of it is foreign.
    pub fn of(path: &Path, bytes: &[u8]) -> Result<Self, StoreError> {
        Self::judged(path, bytes, &Marks::none())
    }

    /// The same, and whose it is.
    pub fn judged(path: &Path, bytes: &[u8], marks: &Marks) -> Result<Self, StoreError> {
        let mut loaded = Loaded::empty();
        loaded.read_on(path, bytes, marks)?;
        Ok(loaded)
    }

    /// The records that this user's agentctl wrote: those before the first that is foreign.
    pub fn own(&self) -> &[Record] {
        let from = self.foreign.as_ref().map_or(u64::MAX, |f| f.from);
        let count = self.records.partition_point(|record| record.seq < from);
        self.records.get(..count).unwrap_or_default()
    }

    /// The record of this number; None: there is none, or only a newer agentctl can read it.
    pub fn record(&self, seq: u64) -> Option<&Record> {
        let at = self.records.binary_search_by_key(&seq, |record| record.seq);
        self.records.get(at.ok()?)
    }

    /// Bytes up to the end of the last whole record.
    pub(super) fn whole(&self) -> u64 {
        self.whole as u64
    }

    pub(super) fn empty() -> Self {
        Loaded {
            records: Vec::new(),
            unknown: 0,
            torn: None,
            foreign: None,
            last_seq: 0,
            last_hash: GENESIS.to_owned(),
            whole: 0,
            newline_missing: false,
        }
    }

    /// Takes in the bytes behind the last whole record; after an error what was taken in before it stays.
    pub(super) fn read_on(
        &mut self,
        path: &Path,
        bytes: &[u8],
        marks: &Marks,
    ) -> Result<(), StoreError> {
        self.torn = None;
        let bytes = match bytes.strip_prefix(b"\n") {
            // The newline of a record that was read before it came.
            Some(rest) if self.newline_missing => {
                self.whole += 1;
                self.newline_missing = false;
                rest
            }
            _ => bytes,
        };
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            let number = self.last_seq + 1;
            let broken = |reason: String| StoreError::Broken {
                path: path.to_owned(),
                line: number,
                reason,
            };
            let (text, ended) = match line.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (line, false),
            };
            if number == 1 {
                check_version(path, text)?;
            }
            match read_record(text, self) {
                Ok((at_head, event)) => {
                    if number == 1 {
                        check_run(&event, marks.run_id()).map_err(broken)?;
                    }
                    if self.foreign.is_none() {
                        let mark = at_head.mark.as_deref();
                        let judged = marks.judge(at_head.seq, &at_head.hash, mark);
                        self.foreign = judged.err().map(|why| Foreign {
                            from: at_head.seq,
                            why,
                        });
                    }
                    let event = v1::in_words_of_today(event);
                    match serde_json::from_value::<Event>(event.clone()) {
                        Ok(event) => self.records.push(Record {
                            seq: at_head.seq,
                            at: at_head.at,
                            prev: at_head.prev,
                            hash: at_head.hash.clone(),
                            event,
                        }),
                        Err(e) if is_known(&event) => {
                            return Err(broken(format!("the event cannot be read: {e}")));
                        }
                        Err(_) => self.unknown += 1,
                    }
                    self.last_seq = at_head.seq;
                    self.last_hash = at_head.hash;
                    self.whole += line.len();
                    self.newline_missing = !ended;
                }
                Err(_) if !ended => {
                    self.torn = Some(Torn {
                        bytes: line.len(),
                        kept_as: None,
                    });
                }
                Err(reason) => return Err(broken(reason)),
            }
        }
        Ok(())
    }
}

/// A journal is this program's own: what stands in its place as a link, a pipe or a device is not waited for.
pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>, StoreError> {
    let odd = |why: String| std::io::Error::other(why);
    match read_own(path, u64::MAX - 1).map_err(StoreError::io("read", path))? {
        Found::Bytes(bytes) => Ok(bytes),
        Found::Missing => Err(StoreError::io("read", path)(
            std::io::ErrorKind::NotFound.into(),
        )),
        Found::Odd(why) => Err(StoreError::io("read", path)(odd(why))),
    }
}

/// Keeps what stands behind the last whole record in a file of its own; None: nothing does.
pub(super) fn keep_torn(
    disk: &dyn Disk,
    path: &Path,
    loaded: &Loaded,
    bytes: &[u8],
) -> Result<Option<PathBuf>, StoreError> {
    if loaded.torn.is_none() {
        return Ok(None);
    }
    let tail = bytes.get(loaded.whole..).unwrap_or_default();
    let name = format!(
        "journal.torn-{}-{}",
        loaded.last_seq + 1,
        sha256_hex(tail).get(..8).unwrap_or_default()
    );
    let aside = path.with_file_name(name);
    write_atomic_on(disk, &aside, tail)?;
    Ok(Some(aside))
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

#[derive(serde::Deserialize)]
pub(super) struct Line {
    pub seq: u64,
    pub at: String,
    pub prev: String,
    pub hash: String,
    /// Whose record it is; None: not said. It is not part of the chain.
    #[serde(default)]
    mark: Option<String>,
    pub event: Value,
}

struct Head {
    seq: u64,
    at: String,
    prev: String,
    hash: String,
    mark: Option<String>,
}

fn read_record(text: &[u8], before: &Loaded) -> Result<(Head, Value), String> {
    let line: Line = serde_json::from_slice(text).map_err(|e| format!("not a record: {e}"))?;
    if line.seq != before.last_seq + 1 {
        return Err(format!(
            "record {} follows record {}: records are missing or were moved",
            line.seq, before.last_seq
        ));
    }
    if line.prev != before.last_hash {
        return Err(
            "the record does not follow the one before it (its `prev` is another hash)".into(),
        );
    }
    // The hash is taken over the event as it stands in the file, with keys that this version does not know.
    if chain(&line.prev, line.seq, &line.at, &line.event.to_string()) != line.hash {
        return Err("the record was changed after it was written (its hash does not fit)".into());
    }
    let head = Head {
        seq: line.seq,
        at: line.at,
        prev: line.prev,
        hash: line.hash,
        mark: line.mark,
    };
    Ok((head, line.event))
}

/// Whether this version knows the event's type: then what it cannot read is a fault, not news.
fn is_known(event: &Value) -> bool {
    let Some(kind) = event.get("type").and_then(Value::as_str) else {
        return true;
    };
    let probe = serde_json::json!({ "type": kind });
    match serde_json::from_value::<Event>(probe) {
        Ok(_) => true,
        Err(e) => !e.to_string().starts_with("unknown variant"),
    }
}
