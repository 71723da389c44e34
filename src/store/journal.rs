//! The journal of a run: JSON lines, append-only, each record chained to the one before by its hash. It is the truth.
//! A torn last line (a crash while writing) is cut off and kept aside; anything else that does not fit is refused.

use super::{
    Event, Record, StoreError, atomic,
    event::JOURNAL_VERSION,
    hash::{chain, sha256_hex},
    write_atomic,
};
use serde_json::Value;
use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
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
        let dir = atomic::parent(path);
        atomic::create_dir(dir)?;
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(StoreError::io("create", path))?;
        // Without this a crash could lose the name of a journal whose records are synced.
        atomic::sync_dir(dir)?;
        Ok(Journal {
            file,
            path: path.to_owned(),
            seq: 0,
            hash: GENESIS.to_owned(),
            len: 0,
            synced: true,
            failed: false,
        })
    }

    /// Verifies the chain, heals a torn last line and opens for appending.
    pub fn open(path: &Path) -> Result<(Self, Loaded), StoreError> {
        let bytes = std::fs::read(path).map_err(StoreError::io("read", path))?;
        let mut loaded = parse(path, &bytes)?;
        let mut file = OpenOptions::new()
            .append(true)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        if let Some(torn) = &mut loaded.torn {
            let tail = bytes.get(loaded.whole..).unwrap_or_default();
            let name = format!(
                "journal.torn-{}-{}",
                loaded.last_seq + 1,
                sha256_hex(tail).get(..8).unwrap_or_default()
            );
            let aside = path.with_file_name(name);
            write_atomic(&aside, tail)?;
            file.set_len(loaded.whole as u64)
                .and_then(|()| file.sync_all())
                .map_err(StoreError::io("cut the torn last line of", path))?;
            torn.kept_as = Some(aside);
        }
        if loaded.newline_missing {
            file.write_all(b"\n")
                .and_then(|()| file.sync_all())
                .map_err(StoreError::io("end the last line of", path))?;
        }
        let journal = Journal {
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

    /// Reads and verifies without changing anything.
    pub fn read(path: &Path) -> Result<Loaded, StoreError> {
        let bytes = std::fs::read(path).map_err(StoreError::io("read", path))?;
        parse(path, &bytes)
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
        let value = serde_json::to_value(&event).map_err(encode)?;
        let seq = self.seq + 1;
        let hash = chain(&self.hash, seq, &at, &value);
        let record = Record {
            seq,
            at,
            prev: self.hash.clone(),
            hash: hash.clone(),
            event,
        };
        let mut line = serde_json::to_string(&record).map_err(encode)?;
        line.push('\n');
        // One write per record: a crash tears the last line at most.
        if let Err(e) = self.file.write_all(line.as_bytes()) {
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
            if let Err(e) = self.file.sync_data() {
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
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Loaded, StoreError> {
    let mut loaded = Loaded {
        records: Vec::new(),
        unknown: 0,
        torn: None,
        last_seq: 0,
        last_hash: GENESIS.to_owned(),
        whole: 0,
        newline_missing: false,
    };
    for (index, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let broken = |reason: String| StoreError::Broken {
            path: path.to_owned(),
            line: index as u64 + 1,
            reason,
        };
        let (text, ended) = match line.strip_suffix(b"\n") {
            Some(text) => (text, true),
            None => (line, false),
        };
        match read_record(text, &loaded) {
            Ok((at_head, event)) => {
                if index == 0 {
                    check_version(path, &event)?;
                }
                match serde_json::from_value::<Event>(event.clone()) {
                    Ok(event) => loaded.records.push(Record {
                        seq: at_head.seq,
                        at: at_head.at,
                        prev: at_head.prev,
                        hash: at_head.hash.clone(),
                        event,
                    }),
                    Err(e) if is_known(&event) => {
                        return Err(broken(format!("the event cannot be read: {e}")));
                    }
                    Err(_) => loaded.unknown += 1,
                }
                loaded.last_seq = at_head.seq;
                loaded.last_hash = at_head.hash;
                loaded.whole += line.len();
                loaded.newline_missing = !ended;
            }
            Err(_) if !ended => {
                loaded.torn = Some(Torn {
                    bytes: line.len(),
                    kept_as: None,
                });
            }
            Err(reason) => return Err(broken(reason)),
        }
    }
    Ok(loaded)
}

#[derive(serde::Deserialize)]
struct Line {
    seq: u64,
    at: String,
    prev: String,
    hash: String,
    event: Value,
}

struct Head {
    seq: u64,
    at: String,
    prev: String,
    hash: String,
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
    if chain(&line.prev, line.seq, &line.at, &line.event) != line.hash {
        return Err("the record was changed after it was written (its hash does not fit)".into());
    }
    let head = Head {
        seq: line.seq,
        at: line.at,
        prev: line.prev,
        hash: line.hash,
    };
    Ok((head, line.event))
}

/// The version stands in the first record, and is looked at before the event is read by this version's rules.
fn check_version(path: &Path, first: &Value) -> Result<(), StoreError> {
    let found = first.get("journal_version").and_then(Value::as_u64);
    match found {
        Some(found) if found > u64::from(JOURNAL_VERSION) => Err(StoreError::NewerVersion {
            path: path.to_owned(),
            found,
            known: JOURNAL_VERSION,
        }),
        Some(_) => Ok(()),
        None => Err(StoreError::Broken {
            path: path.to_owned(),
            line: 1,
            reason: "the first record is not the start of a run (no journal_version)".into(),
        }),
    }
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
