//! A resource as it was before each change, one file per snapshot. Files are only added, never changed. A long one says how it differs
//! from a text that is kept whole elsewhere.

use super::{Event, Ledger, ResourceId, ResourceMark, StoreError, Texts, ledger::snapshot_name};
use agentctl_base::canonical::sha256_hex;
use agentctl_host::files::{self, Disk, Found, file_part, read_own, write_atomic_on};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger ones were not written by this program.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// One snapshot. `file` is the file's name inside the run's snapshots folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotRef {
    pub resource: ResourceId,
    pub file: String,
    pub revision: String,
    pub size: usize,
    /// Of the text; None: the journal does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Snapshots {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    texts: Option<Texts>,
    /// Where the run's journal is shared, and the run.
    kept_in: Option<(Arc<dyn Ledger>, String)>,
}

impl From<SnapshotRef> for Event {
    fn from(taken: SnapshotRef) -> Event {
        Event::SnapshotTaken {
            resource: taken.resource,
            file: taken.file,
            revision: taken.revision,
            size: taken.size,
            sha256: taken.sha256,
        }
    }
}

impl Snapshots {
    pub fn new(dir: PathBuf) -> Self {
        Self::on(files::real(), dir)
    }

    pub fn on(disk: Arc<dyn Disk>, dir: PathBuf) -> Self {
        Snapshots {
            disk,
            dir,
            texts: None,
            kept_in: None,
        }
    }

    /// Long ones rest on these.
    #[must_use]
    pub fn with_texts(mut self, texts: Texts) -> Self {
        self.texts = Some(texts);
        self
    }

    /// Those of this run are in the ledger as well, whole.
    #[must_use]
    pub fn kept_in(mut self, ledger: &Arc<dyn Ledger>, run_id: &str) -> Self {
        self.kept_in = Some((Arc::clone(ledger), run_id.to_owned()));
        self
    }

    /// Writes `text` (the resource's document) as `NNN-<id>-<first 8 of the revision>.json` and syncs it.
    pub fn save(&self, of: &ResourceMark, text: &str) -> Result<SnapshotRef, StoreError> {
        let file = format!(
            "{:03}-{}-{}.json",
            self.last_number()? + 1,
            file_part(&of.resource.id),
            file_part(of.revision.get(..8).unwrap_or(&of.revision)),
        );
        let written = match &self.texts {
            Some(texts) => texts.shortened(&of.resource.id, text)?,
            None => text.into(),
        };
        let path = self.dir.join(&file);
        write_atomic_on(self.disk.as_ref(), &path, written.as_bytes())?;
        if let Some((ledger, run_id)) = &self.kept_in {
            ledger.keep(run_id, &snapshot_name(&file), text.as_bytes())?;
        }
        Ok(SnapshotRef {
            resource: of.resource.clone(),
            file,
            revision: of.revision.clone(),
            size: of.size,
            sha256: Some(sha256_hex(text.as_bytes())),
        })
    }

    /// The text, if it is to the byte the one whose sha-256 the journal says.
    pub fn read_taken(&self, file: &str, sha256: Option<&str>) -> Result<String, StoreError> {
        let changed = |why: &str| StoreError::Changed {
            path: self.dir.join(file),
            why: why.to_owned(),
        };
        let text = self.read(file)?;
        match sha256 {
            None => Err(changed("the journal does not say what it held")),
            Some(sha256) if sha256_hex(text.as_bytes()) != sha256 => {
                Err(changed("its sha-256 is not the one in the journal"))
            }
            Some(_) => Ok(text),
        }
    }

    /// The text as it stands there now.
    pub fn read(&self, file: &str) -> Result<String, StoreError> {
        let name = Path::new(file);
        if name.file_name() != Some(name.as_os_str()) {
            return Err(StoreError::BadId {
                what: "snapshot",
                id: file.to_owned(),
            });
        }
        let path = self.dir.join(name);
        let unreadable =
            |why: String| StoreError::io("read the snapshot", &path)(io::Error::other(why));
        match read_own(&path, MAX_BYTES).map_err(StoreError::io("read the snapshot", &path))? {
            Found::Bytes(bytes) => {
                let text = String::from_utf8(bytes)
                    .map_err(|_| unreadable("it is not UTF-8 text".into()))?;
                let Some(texts) = &self.texts else {
                    return Ok(text);
                };
                texts
                    .whole(text)?
                    .map_err(|why| StoreError::Changed { path, why })
            }
            Found::Missing => Err(unreadable("there is none".into())),
            Found::Odd(why) => Err(unreadable(why)),
        }
    }

    fn last_number(&self) -> Result<u32, StoreError> {
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            Err(e) => return Err(StoreError::io("list", &self.dir)(e)),
        };
        let mut last = 0;
        for entry in entries {
            let entry = entry.map_err(StoreError::io("list", &self.dir))?;
            let name = entry.file_name();
            let number = name
                .to_str()
                .and_then(|n| n.split('-').next()?.parse().ok());
            last = last.max(number.unwrap_or(0));
        }
        Ok(last)
    }
}
