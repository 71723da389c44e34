//! Reading a journal: line by line, each record checked against the one before it, whose it is judged by its mark. What was read
//! whole before and has not changed by a byte since (see `checkpoint`) is not checked again. Nothing is changed.

use super::{
    Event, Foreign, Marks, Record, StoreError,
    ahead::{Ahead, Stopped, hands},
    checkpoint::{Checked, LONG},
    first::First,
    line::{Alone, Line, Wanted, ends},
};
use agentctl_host::files::{Opened, open_own};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs::{File, Metadata},
    io::{BufRead as _, BufReader, Read as _, Seek as _},
    path::{Path, PathBuf},
};

/// The first record's `prev`.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// A journal as read, its chain verified.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Empty where they were handed on one by one.
    pub records: Vec<Record>,
    /// Records of event types that only a newer agentctl knows. They are in the chain and are not folded.
    pub unknown: usize,
    pub torn: Option<Torn>,
    /// From where on the records are not this user's; None: all of them are.
    pub foreign: Option<Foreign>,
    pub(super) last_seq: u64,
    pub(super) last_hash: String,
    /// Bytes of the file up to the end of the last whole record.
    pub(super) whole: u64,
    /// The last record is whole, only its newline is missing.
    pub(super) newline_missing: bool,
    /// The hashes of the records that were asked for, by number; empty: there is none, so far.
    pub(super) noted: BTreeMap<u64, String>,
    /// Its first record was read, and is in the words of today; an older agentctl had others for some.
    pub(super) current: bool,
}

/// What a crash left behind the last whole record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    pub bytes: usize,
    /// Where the bytes were kept; None while only reading.
    pub kept_as: Option<PathBuf>,
}

/// Who sees the records one by one; with each whether it and all before it are this user's.
pub type Each<'a> = &'a mut dyn FnMut(&Record, bool);

/// A journal read from its file.
pub(super) struct Streamed {
    pub loaded: Loaded,
    /// Over the bytes of its whole records.
    pub digest: Sha256,
    /// The file as it was when it was opened.
    found: Metadata,
}

impl Streamed {
    /// That it was read whole; None: something of it is missing, is not this user's, or was not understood.
    pub fn checked(&self) -> Option<Checked> {
        let loaded = &self.loaded;
        let whole = loaded.last_seq > 0
            && loaded.torn.is_none()
            && !loaded.newline_missing
            && loaded.unknown == 0
            && loaded.foreign.is_none();
        let of = || Checked::new(loaded.whole, loaded.head(), &self.digest, &self.found);
        whole.then(of)
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

    /// Bytes up to the end of the last whole record.
    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    /// The hash of a record that was noted while reading; None: there is no such record.
    pub(super) fn noted(&self, seq: u64) -> Option<&str> {
        self.noted
            .get(&seq)
            .map(String::as_str)
            .filter(|h| !h.is_empty())
    }

    /// Each record that was noted, with its hash.
    pub(super) fn all_noted(&self) -> impl Iterator<Item = (u64, String)> {
        let found = self.noted.iter().filter(|(_, hash)| !hash.is_empty());
        found.map(|(seq, hash)| (*seq, hash.clone()))
    }

    /// A journal of this user's that was read before, to its end.
    pub(super) fn known(head: (u64, &str), whole: u64, noted: BTreeMap<u64, String>) -> Self {
        Loaded {
            last_seq: head.0,
            last_hash: head.1.to_owned(),
            whole,
            noted,
            ..Loaded::empty()
        }
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
            noted: BTreeMap::new(),
            current: false,
        }
    }

    /// That keeps the hashes of these records.
    fn noting(records: &[u64]) -> Self {
        let noted = records.iter().map(|seq| (*seq, String::new()));
        Loaded {
            noted: noted.collect(),
            ..Loaded::empty()
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
            let record = self.take(path, line, Wanted::All(marks), marks.run_id())?;
            self.records.extend(record);
        }
        Ok(())
    }

    /// Takes in the next line. None: it is torn, or only a newer agentctl can read it.
    fn take(
        &mut self,
        path: &Path,
        line: &[u8],
        wanted: Wanted<'_>,
        run_id: &str,
    ) -> Result<Option<Record>, StoreError> {
        let (text, _) = ends(line);
        let first = self.first(text);
        if let Some(first) = &first {
            first.check_version(path)?;
        }
        let read = wanted.of(line, self.current);
        let check = || first.map_or(Ok(()), |first| first.check_run(run_id));
        self.follow(path, line, read, check)
    }

    /// Takes in a line that was read by itself, where it follows what was taken in before and is as it must be besides.
    fn follow(
        &mut self,
        path: &Path,
        line: &[u8],
        read: Result<Alone, String>,
        check: impl FnOnce() -> Result<(), String>,
    ) -> Result<Option<Record>, StoreError> {
        let number = self.last_seq + 1;
        let broken = |reason: String| broken(path, number, reason);
        let (_, ended) = ends(line);
        let follows = read.and_then(|alone| {
            alone.follows(self.last_seq, &self.last_hash)?;
            Ok(alone)
        });
        let alone = match follows {
            Ok(alone) => alone,
            Err(_) if !ended => {
                self.torn = Some(Torn {
                    bytes: line.len(),
                    kept_as: None,
                });
                return Ok(None);
            }
            Err(reason) => return Err(broken(reason)),
        };
        check().map_err(broken)?;
        if self.foreign.is_none() {
            self.foreign = alone.whose.err().map(|why| Foreign {
                from: alone.line.seq,
                why,
            });
        }
        let said = alone.line.says(|said| said).map_err(broken)?;
        Ok(self.keep(said, line.len(), ended))
    }

    /// What the next line says of the whole journal. None: it is not the first, or not a record.
    fn first(&mut self, line: &[u8]) -> Option<First> {
        let first = (self.last_seq == 0).then(|| First::of(line)).flatten()?;
        self.current = first.is_current();
        Some(first)
    }

    fn keep(&mut self, line: Line<Option<Event>>, bytes: usize, ended: bool) -> Option<Record> {
        if let Some(noted) = self.noted.get_mut(&line.seq) {
            noted.clone_from(&line.hash);
        }
        self.last_seq = line.seq;
        self.last_hash.clone_from(&line.hash);
        self.whole += bytes as u64;
        self.newline_missing = !ended;
        let record = line.event.map(|event| Record {
            seq: line.seq,
            at: line.at,
            prev: line.prev,
            hash: line.hash,
            event,
        });
        self.unknown += usize::from(record.is_none());
        record
    }
}

/// How a journal is read.
pub(super) struct Reading<'a> {
    pub marks: &'a Marks,
    /// What need not be checked again, when it is still the same to the byte.
    pub checked: Option<&'a Checked>,
    /// The records whose hashes are kept.
    pub note: &'a [u64],
    pub each: Each<'a>,
}

/// Reads a journal's file to its end; a long one with several threads.
pub(super) fn stream(path: &Path, reading: Reading<'_>) -> Result<Streamed, StoreError> {
    let is_long = |found: &Metadata| found.len() >= LONG;
    stream_with(path, reading, &|found| {
        if is_long(found) { hands() } else { 0 }
    })
}

/// The same, with as many threads as `hands` says of the file.
pub(super) fn stream_with(
    path: &Path,
    reading: Reading<'_>,
    hands: &dyn Fn(&Metadata) -> usize,
) -> Result<Streamed, StoreError> {
    let Reading {
        marks,
        checked,
        note,
        each,
    } = reading;
    let failed = |e| StoreError::io("read", path)(e);
    let mut file = opened(path)?;
    let found = file.metadata().map_err(failed)?;
    let begins = |checked: &&Checked| checked.begins(&mut file).unwrap_or(false);
    let checked = checked.filter(begins);
    file.rewind().map_err(failed)?;
    let mut lines = BufReader::with_capacity(CHUNK, file);
    let hands = hands(&found);
    let mut streamed = Streamed {
        loaded: Loaded::noting(note),
        digest: Sha256::new(),
        found,
    };
    let whole = checked.map_or(0, |checked| checked.len);
    let wanted = |from: u64| match from < whole {
        true => Wanted::Said,
        false => Wanted::All(marks),
    };
    let mut came = |streamed: &mut Streamed, line: &[u8], record: Option<Record>| {
        let loaded = &streamed.loaded;
        if loaded.torn.is_none() {
            streamed.digest.update(line);
        }
        if let Some(record) = record {
            each(&record, loaded.foreign.is_none());
        }
        match checked.filter(|checked| loaded.whole == checked.len) {
            Some(checked) => checked.still(path, loaded.head(), &streamed.digest),
            None => Ok(()),
        }
    };
    // By what the first record says, the others are read.
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line).map_err(failed)?;
    if line.is_empty() {
        return Ok(streamed);
    }
    let first = wanted(0);
    let record = streamed.loaded.take(path, &line, first, marks.run_id())?;
    came(&mut streamed, &line, record)?;
    let reading = Ahead {
        from: line.len() as u64,
        current: streamed.loaded.current,
        wanted: &wanted,
        hands,
    };
    let followed = reading.each_line(lines, &mut |line, read| {
        let record = streamed.loaded.follow(path, line, read, || Ok(()))?;
        came(&mut streamed, line, record)
    });
    followed.map_err(|stopped| match stopped {
        Stopped::Reading(e) => failed(e),
        Stopped::Here(error) => error,
    })?;
    Ok(streamed)
}

/// A journal is this program's own: what stands in its place as a link, a pipe or a device is not waited for.
fn opened(path: &Path) -> Result<File, StoreError> {
    let failed = StoreError::io("read", path);
    match open_own(path) {
        Ok(Opened::File(file)) => Ok(file),
        Ok(Opened::Missing) => Err(failed(std::io::ErrorKind::NotFound.into())),
        Ok(Opened::Odd(why)) => Err(failed(std::io::Error::other(why))),
        Err(e) => Err(failed(e)),
    }
}

/// All of a journal's bytes.
pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let read = opened(path)?.read_to_end(&mut bytes);
    read.map_err(StoreError::io("read", path))?;
    Ok(bytes)
}

pub(super) fn broken(path: &Path, line: u64, reason: String) -> StoreError {
    StoreError::Broken {
        path: path.to_owned(),
        line,
        reason,
    }
}
