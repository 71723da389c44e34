//! A run as one file, to take it from a folder or a database to another: a line that says what it is, the journal's lines to the byte,
//! and what is kept beside them. The chain stays as it is. Marks hold for one place, so the file names the place that its marks were made
//! for: where it is brought in by the same user, each record that carries the user's mark for there gets one for here.

use super::{
    Entry, Foreign, Loaded, Marks, Project, RunFile, StoreError,
    journal::marked,
    ledger::{Holding, snapshot_name},
    line::Line,
};
use agentctl_host::files::{Existing, Files, write_atomic_on};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The form of the file.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    agentctl_run: u32,
    run: String,
    /// What its marks were made over.
    place: String,
    /// Lines of the journal that follow.
    lines: usize,
    /// What was not whole any more when it was taken out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    kept: String,
    base64: String,
}

/// A run as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub run: String,
    pub text: String,
    /// Snapshots of the run that are lost.
    pub missing: Vec<String>,
}

/// What became of a file that was brought in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub run: String,
    /// Records.
    pub records: u64,
    /// It was here before, the same.
    pub was_here: bool,
    /// From where on it is not this user's.
    pub foreign: Option<Foreign>,
}

/// A file of a run, read.
struct Given {
    run: String,
    place: PathBuf,
    journal: Vec<u8>,
    kept: Vec<(String, Vec<u8>)>,
}

/// The file of a snapshot that is kept under this name.
fn snapshot_of(name: &str) -> Option<String> {
    let file = Path::new(name.strip_prefix(&snapshot_name(""))?);
    (file.file_name() == Some(file.as_os_str())).then(|| file.to_string_lossy().into_owned())
}

/// The file that this run made for its user and that is kept under this name.
fn file_of(run_id: &str, name: &str) -> Option<RunFile> {
    RunFile::at(name).filter(|file| file.run() == run_id)
}

/// Whether this is the first line of an exported run, of whichever form.
pub fn begins_exported(first: &[u8]) -> bool {
    let head: Result<Map<String, Value>, _> = serde_json::from_slice(first);
    head.is_ok_and(|head| head.contains_key("agentctl_run"))
}

fn wrong(path: &Path, line: usize, why: impl std::fmt::Display) -> StoreError {
    let line = u64::try_from(line).unwrap_or(u64::MAX);
    super::read::broken(path, line, format!("it is no exported run: {why}"))
}

impl Given {
    fn read(path: &Path, text: &str) -> Result<Given, StoreError> {
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        let head: Head = serde_json::from_str(first).map_err(|e| wrong(path, 1, e))?;
        if head.agentctl_run != VERSION {
            let why = format!(
                "its form is {}, this agentctl reads {VERSION}",
                head.agentctl_run
            );
            return Err(wrong(path, 1, why));
        }
        let journal: Vec<&str> = lines.by_ref().take(head.lines).collect();
        if journal.len() != head.lines {
            let why = format!("it is cut off: {} of {} records", journal.len(), head.lines);
            return Err(wrong(path, 1, why));
        }
        let mut kept = Vec::new();
        for (number, line) in (head.lines + 2..).zip(lines) {
            let Kept { kept: name, base64 } =
                serde_json::from_str(line).map_err(|e| wrong(path, number, e))?;
            let bytes = STANDARD
                .decode(base64)
                .map_err(|e| wrong(path, number, e))?;
            kept.push((name, bytes));
        }
        Ok(Given {
            run: head.run,
            place: head.place.into(),
            journal: journal.concat().into_bytes(),
            kept,
        })
    }

    /// The journal with marks for here where it carried the user's for there; and what it says.
    fn marked(
        &self,
        path: &Path,
        project: &Project,
    ) -> Result<(Vec<u8>, Vec<Entry>, Loaded), StoreError> {
        // Marks of this folder count, too: a run of before its journals were shared has these.
        let there = Marks::of(project.key().cloned(), &self.place, &self.run);
        let there = match project.root().canonicalize() {
            Ok(folder) => there.or_of(&folder),
            Err(_) => there,
        };
        let loaded = Loaded::judged(path, &self.journal, &there)?;
        if loaded.torn.is_some() || loaded.newline_missing || loaded.head().0 == 0 {
            return Err(wrong(path, 1, "its journal is not whole"));
        }
        let (here, own) = (project.marks(&self.run), loaded.foreign.is_none());
        let (mut bytes, mut entries) = (Vec::new(), Vec::new());
        for (number, text) in (2..).zip(self.journal.split_inclusive(|b| *b == b'\n')) {
            let old: Line = serde_json::from_slice(text).map_err(|e| wrong(path, number, e))?;
            let text = match own {
                true => marked(&old, &here),
                false => String::from_utf8_lossy(text).into_owned(),
            };
            bytes.extend_from_slice(text.as_bytes());
            entries.push(Entry {
                seq: old.seq,
                prev: old.prev,
                hash: old.hash,
                line: text.trim_end().to_owned(),
            });
        }
        // What was marked must be what was there, to the last value.
        let marked = Loaded::judged(path, &bytes, &here)?;
        match marked.head() == loaded.head() && (!own || marked.foreign.is_none()) {
            true => Ok((bytes, entries, marked)),
            false => Err(wrong(path, 1, "it does not read back as it was")),
        }
    }
}

impl Project {
    /// A run with what is kept of it, as the text of a file. One whose chain does not hold is refused.
    pub fn export_run(&self, run_id: &str) -> Result<Exported, StoreError> {
        let loaded = self.verify_run(run_id, &mut |_, _| {})?.0;
        let paths = self.run(run_id)?;
        let bytes = super::read::bytes_of(&paths.journal())?;
        let whole = usize::try_from(loaded.whole()).unwrap_or(usize::MAX);
        let mut journal =
            String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default()).into_owned();
        if loaded.newline_missing {
            journal.push('\n');
        }
        let (mut kept, mut missing) = (Vec::new(), Vec::new());
        let snapshots = self.snapshots(&paths);
        for (file, sha256) in self.snapshots_of(run_id)? {
            match snapshots.read_taken(&file, sha256.as_deref()) {
                Ok(text) => kept.push((snapshot_name(&file), text.into_bytes())),
                Err(_) => missing.push(file),
            }
        }
        for file in self.files_of(run_id)? {
            if let Some(bytes) = self.run_file(&file)? {
                kept.push((file.place(), bytes));
            }
        }
        let encode = |e: serde_json::Error| StoreError::Encode {
            what: "an exported run",
            reason: e.to_string(),
        };
        let head = Head {
            agentctl_run: VERSION,
            run: run_id.to_owned(),
            place: self.place().to_string_lossy().into_owned(),
            lines: journal.lines().count(),
            missing: missing.clone(),
        };
        let mut text = serde_json::to_string(&head).map_err(encode)? + "\n" + &journal;
        for (kept, bytes) in kept {
            let base64 = STANDARD.encode(bytes);
            text += &serde_json::to_string(&Kept { kept, base64 }).map_err(encode)?;
            text.push('\n');
        }
        Ok(Exported {
            run: run_id.to_owned(),
            text,
            missing,
        })
    }

    /// The snapshots that a journal tells of, each once.
    fn snapshots_of(&self, run_id: &str) -> Result<Vec<(String, Option<String>)>, StoreError> {
        let mut all = Vec::new();
        self.read_run_each(run_id, &mut |record, _| {
            if let super::Event::SnapshotTaken { file, sha256, .. } = &record.event
                && !all.iter().any(|(known, _)| known == file)
            {
                all.push((file.clone(), sha256.clone()));
            }
        })?;
        Ok(all)
    }

    /// The files that a run made for its user.
    fn files_of(&self, run_id: &str) -> Result<Vec<RunFile>, StoreError> {
        let names = match self.ledger() {
            Some(ledger) => ledger.names(run_id)?,
            None => {
                let all = Files::open(self.root())?.names(&RunFile::folder(run_id))?;
                let folder = RunFile::folder(run_id);
                all.iter()
                    .map(|name| folder.join(name).to_string_lossy().into_owned())
                    .collect()
            }
        };
        Ok(names
            .iter()
            .filter_map(|place| file_of(run_id, place))
            .collect())
    }

    /// Brings a run in from the text of a file; `path` is the file, for messages. What is here already, the same, stays.
    ///
    /// Errors: [`StoreError::Broken`] for a file that is no whole run; a run of the same name that is another one.
    pub fn import_run(&self, path: &Path, text: &str) -> Result<Imported, StoreError> {
        let given = Given::read(path, text)?;
        let paths = self.run(&given.run)?;
        self.refuse_links(Some(&paths))?;
        let (bytes, entries, loaded) = given.marked(path, self)?;
        let imported = |was_here| Imported {
            run: given.run.clone(),
            records: loaded.head().0,
            was_here,
            foreign: loaded.foreign.clone(),
        };
        if self.has_journal(&given.run)? {
            let here = super::read::bytes_of(&paths.journal())?;
            let here = Loaded::judged(&paths.journal(), &here, &Marks::none())?;
            let in_ledger = match self.ledger() {
                Some(ledger) => !ledger.fetch(&given.run, 0)?.lines.is_empty(),
                None => true,
            };
            if here.head() != loaded.head() {
                let why = "a run of this name is here, and it is another one or has gone on";
                return Err(wrong(path, 1, why));
            }
            if in_ledger {
                return Ok(imported(true));
            }
        }
        let held = match self.ledger() {
            Some(ledger) => {
                let held = Holding::take(ledger, &given.run, true)?;
                for (name, bytes) in &given.kept {
                    if snapshot_of(name).is_some() || file_of(&given.run, name).is_some() {
                        ledger.keep(&given.run, name, bytes)?;
                    }
                }
                Some(held)
            }
            None => None,
        };
        self.put_kept(&given)?;
        if let Some(held) = &held {
            held.append(&entries)?;
        }
        // The last of all: what has a journal is whole.
        write_atomic_on(self.disk().as_ref(), &paths.journal(), &bytes)?;
        Ok(imported(false))
    }

    /// Puts snapshots and files in their places; what has another name is nothing of a run's.
    fn put_kept(&self, given: &Given) -> Result<(), StoreError> {
        let snapshots = self.run(&given.run)?.snapshots();
        let files = Files::open(self.root())?;
        for (name, bytes) in &given.kept {
            if let Some(file) = snapshot_of(name) {
                write_atomic_on(self.disk().as_ref(), &snapshots.join(file), bytes)?;
            }
            if let Some(file) = file_of(&given.run, name) {
                files.write(Path::new(&file.place()), bytes, Existing::Replace)?;
            }
        }
        Ok(())
    }
}
