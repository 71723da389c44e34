//! That a journal was read whole once, up to where, and what it told of the run. It is a cache: without it, or with one that does not
//! fit, the journal is read from its beginning, and nothing else is different. It carries the user's mark like a record, so
//! nobody else's is believed, and it is believed for a journal only that is still what it was: to the byte where records are
//! read, by its length and its time where they are not.

use super::{Journal, Loaded, Project, StoreError, read::broken};
use agentctl_base::untrusted;
use agentctl_host::files::{self, Found, Opened, open_own, read_own};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeMap,
    fs::{File, Metadata},
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// Of the form of the file, and of what is told in it; another one is not read.
const VERSION: u32 = 2;

/// What is kept beside a journal, each in a file of its own: who lists many runs reads no reports.
#[derive(Debug, Clone, Copy)]
enum Of {
    /// What a run tells among others.
    Told,
    /// What is shown of a run by itself.
    Report,
}

impl Of {
    /// What its mark is for.
    fn purpose(self) -> &'static str {
        match self {
            Of::Told => "checkpoint",
            Of::Report => "report",
        }
    }

    fn path(self, project: &Project, run_id: &str) -> Result<PathBuf, StoreError> {
        let paths = project.run(run_id)?;
        Ok(match self {
            Of::Told => paths.checkpoint(),
            Of::Report => paths.report(),
        })
    }
}

/// A journal of as many bytes is a long one.
pub(super) const LONG: u64 = 1024 * 1024;

/// Larger ones are not read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A file's time of change: seconds and nanoseconds.
type Time = (i64, i64);

fn time_of(found: &Metadata) -> Time {
    (found.mtime(), found.mtime_nsec())
}

/// A journal that was read whole: each record is this user's and fits the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Bytes.
    pub(super) len: u64,
    /// The number of the last record, and its hash.
    seq: u64,
    hash: String,
    /// Of all its bytes.
    sha256: String,
    /// When it was changed last.
    modified: Time,
}

impl Checked {
    pub(super) fn new(
        len: u64,
        (seq, hash): (u64, &str),
        digest: &Sha256,
        found: &Metadata,
    ) -> Checked {
        Checked {
            len,
            seq,
            hash: hash.to_owned(),
            sha256: hex(digest),
            modified: time_of(found),
        }
    }

    /// Whether the file begins with this journal, to the byte.
    pub(super) fn begins(&self, file: &mut File) -> io::Result<bool> {
        if file.metadata()?.len() < self.len {
            return Ok(false);
        }
        let mut digest = Sha256::new();
        let mut chunk = vec![0; 256 * 1024];
        let mut bytes = file.take(self.len);
        loop {
            match bytes.read(&mut chunk)? {
                0 => return Ok(hex(&digest) == self.sha256),
                n => digest.update(chunk.get(..n).unwrap_or_default()),
            }
        }
    }

    /// So long that what is shown of the run is worth keeping: a shorter one is read as fast.
    pub fn is_long(&self) -> bool {
        self.len >= LONG
    }

    /// The same journal, whenever its file was changed last.
    pub fn is_same(&self, other: &Checked) -> bool {
        (self.len, &self.sha256) == (other.len, &other.sha256)
    }

    /// What was read is what was looked at before it was read.
    pub(super) fn still(
        &self,
        path: &Path,
        (seq, hash): (u64, &str),
        digest: &Sha256,
    ) -> Result<(), StoreError> {
        if (seq, hash) == (self.seq, self.hash.as_str()) && hex(digest) == self.sha256 {
            return Ok(());
        }
        let why = "it was changed while it was read; try again".to_owned();
        Err(broken(path, seq, why))
    }
}

fn hex(digest: &Sha256) -> String {
    agentctl_base::canonical::hex(&digest.clone().finalize())
}

#[derive(Serialize, Deserialize)]
struct Checkpoint {
    version: u32,
    journal: Checked,
    /// What it told of the run, in the words of who kept it.
    told: Value,
    /// The hashes of the records that summaries name, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    noted: BTreeMap<u64, String>,
}

impl Project {
    /// The checkpoint of a run, and when it was written. None: there is none that this user's agentctl made.
    fn checkpoint(&self, run_id: &str, of: Of) -> Option<(Checkpoint, Time)> {
        let path = of.path(self, run_id).ok()?;
        let Found::Bytes(bytes) = read_own(&path, MAX_BYTES).ok()? else {
            return None;
        };
        let mut lines = bytes.split(|b| *b == b'\n');
        let (said, marked) = (lines.next()?, lines.next()?);
        let marked: Value = serde_json::from_slice(marked).ok()?;
        let mark = marked.get("mark")?.as_str()?;
        if !self.marks(run_id).is_of_text(of.purpose(), said, mark) {
            return None;
        }
        let checkpoint: Checkpoint = serde_json::from_slice(said).ok()?;
        let written = time_of(&std::fs::symlink_metadata(&path).ok()?);
        (checkpoint.version == VERSION).then_some((checkpoint, written))
    }

    /// What was checked of the run's journal.
    pub fn checked(&self, run_id: &str) -> Option<Checked> {
        Some(self.checkpoint(run_id, Of::Told)?.0.journal)
    }

    /// What the run's journal told when it was read last, if it is still that journal. None: read it.
    pub fn told(&self, run_id: &str) -> Option<Value> {
        let (Checkpoint { journal, told, .. }, written) = self.checkpoint(run_id, Of::Told)?;
        let path = self.run(run_id).ok()?.journal();
        let found = std::fs::symlink_metadata(&path).ok()?;
        if !found.is_file() || found.len() != journal.len {
            return None;
        }
        let modified = time_of(&found);
        // One that was changed in the same moment in which the checkpoint was written has the same time.
        if modified == journal.modified && modified < written {
            return Some(told);
        }
        if !self.is_still(run_id, &journal) {
            return None;
        }
        self.keep_told(
            run_id,
            Checked {
                modified,
                ..journal
            },
            &told,
        );
        Some(told)
    }

    /// What the run told when that was kept, whatever became of its journal since. None: this user's agentctl kept nothing.
    pub fn told_before(&self, run_id: &str) -> Option<Value> {
        Some(self.checkpoint(run_id, Of::Told)?.0.told)
    }

    /// The same as [`Project::told`], held against the journal's bytes, and not its length and its time.
    pub fn told_to_the_byte(&self, run_id: &str) -> Option<Value> {
        let (Checkpoint { journal, told, .. }, _) = self.checkpoint(run_id, Of::Told)?;
        self.is_still(run_id, &journal).then_some(told)
    }

    /// Whether the run's journal is this one, to the byte and to its end.
    fn is_still(&self, run_id: &str, journal: &Checked) -> bool {
        let path = self.run(run_id).map(|paths| paths.journal());
        let Ok(Ok(Opened::File(mut file))) = path.map(|path| open_own(&path)) else {
            return false;
        };
        let is_as_long = file
            .metadata()
            .is_ok_and(|found| found.len() == journal.len);
        is_as_long && journal.begins(&mut file).unwrap_or(false)
    }

    /// Keeps what the journal told. One that cannot be kept costs time, and nothing else: no error is told.
    pub fn keep_told(&self, run_id: &str, journal: Checked, told: &Value) {
        self.keep(run_id, Of::Told, journal, told, BTreeMap::new());
    }

    /// Keeps what is shown of the run. `loaded`: as the journal was read; None: it was written by who keeps this, to its end.
    pub fn keep_report(
        &self,
        run_id: &str,
        journal: Checked,
        loaded: Option<&Loaded>,
        told: &Value,
    ) {
        let noted = loaded.into_iter().flat_map(Loaded::all_noted);
        let mut noted: BTreeMap<_, _> = noted.collect();
        noted.insert(journal.seq, journal.hash.clone());
        self.keep(run_id, Of::Report, journal, told, noted);
    }

    /// What is shown of the run, if its journal is still the same to the byte and the records that its summaries name are known;
    /// with it the journal, its records left out. None: read it.
    pub fn reported(&self, run_id: &str) -> Option<(Loaded, Checked, Value)> {
        let (kept, _) = self.checkpoint(run_id, Of::Report)?;
        let Checkpoint {
            journal,
            told,
            noted,
            ..
        } = kept;
        if !self.is_still(run_id, &journal) {
            return None;
        }
        let loaded = Loaded::known((journal.seq, &journal.hash), journal.len, noted);
        let promised = self.promised(run_id).ok()?;
        let knows = |seq: &u64| *seq > journal.seq || loaded.noted(*seq).is_some();
        (promised.iter().all(knows)).then_some((loaded, journal, told))
    }

    fn keep(
        &self,
        run_id: &str,
        of: Of,
        journal: Checked,
        told: &Value,
        noted: BTreeMap<u64, String>,
    ) {
        let kept = Checkpoint {
            version: VERSION,
            journal,
            told: told.clone(),
            noted,
        };
        let Ok(said) = serde_json::to_string(&kept) else {
            return;
        };
        let said = untrusted::json(&said);
        let mark = self.marks(run_id).of_text(of.purpose(), said.as_bytes());
        let (Some(mark), Ok(paths), Ok(path)) = (mark, self.run(run_id), of.path(self, run_id))
        else {
            return;
        };
        if self.refuse_links(Some(&paths)).is_ok() {
            let lines = format!("{said}\n{}\n", json!({"mark": mark}));
            files::write_cache(&path, lines.as_bytes()).unwrap_or_default();
        }
    }
}

impl Journal {
    /// The journal as it was written up to here. None: it is not known what is on the disk.
    pub fn checked(&self) -> Option<Checked> {
        self.is_current().ok().filter(|current| *current)?;
        let found = self.file.metadata().ok()?;
        Some(Checked::new(self.len, self.head(), &self.digest, &found))
    }
}
