//! run_state.json: a summary of the active run for people and other programs. A projection of the journal: it is
//! rebuilt and never believed. Only the id of the active run and the keys of a newer writer are taken from an old file,
//! and only when its checksum says that a program wrote it.

use super::StoreError;
use agentctl_base::{
    canonical::{canonical, sha256_hex},
    question::{Outcome, Question},
};
use agentctl_host::files::{Disk, Found, read_own, write_atomic_on, write_cache};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Keys may be added under the same number; a key's meaning never changes (a new meaning gets a new key).
pub const STATE_SCHEMA_VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    pub schema_version: u32,
    pub run_id: String,
    pub flow: String,
    pub stage: String,
    /// None: the run was not finished and waits for nobody (it was killed, or it is running now).
    #[serde(default)]
    pub outcome: Option<Outcome>,
    #[serde(default)]
    pub message: String,
    /// UTC, RFC 3339: when the last record was written.
    pub updated_at: String,
    /// The journal that this was folded from, up to which record.
    pub journal: JournalHead,
    /// What the run waits for.
    #[serde(default)]
    pub questions: Vec<Question>,
    /// The flow's fields; large ones as summaries (full results: `memory/agent_results/`).
    #[serde(default)]
    pub state: Map<String, Value>,
    /// What a newer writer added.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHead {
    pub seq: u64,
    pub hash: String,
}

/// What is at a state file's place.
#[derive(Debug, Clone, PartialEq)]
pub enum StateFile {
    Missing,
    /// As a program wrote it.
    Good(Box<RunState>),
    /// Edited by hand, cut, or not a state at all.
    Corrupt {
        reason: String,
    },
}

/// Larger ones were not written by this program.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

const CHECKSUM: &str = "checksum";

impl StateFile {
    pub fn read(path: &Path) -> Result<StateFile, StoreError> {
        let bytes = match read_own(path, MAX_BYTES).map_err(StoreError::io("read", path))? {
            Found::Bytes(bytes) => bytes,
            Found::Missing => return Ok(StateFile::Missing),
            Found::Odd(reason) => return Ok(StateFile::Corrupt { reason }),
        };
        Ok(match parse(&bytes) {
            Ok(state) => StateFile::Good(Box::new(state)),
            Err(reason) => StateFile::Corrupt { reason },
        })
    }

    /// Replaces the file. Keys of a newer writer survive when the file is of the same run; a file that no program wrote
    /// is moved aside first, and its new name returned.
    pub fn write(path: &Path, state: &RunState) -> Result<Option<PathBuf>, StoreError> {
        Self::write_on(agentctl_host::files::real().as_ref(), path, state)
    }

    pub fn write_on(
        disk: &dyn Disk,
        path: &Path,
        state: &RunState,
    ) -> Result<Option<PathBuf>, StoreError> {
        let (bytes, aside) = Self::over(path, state)?;
        write_atomic_on(disk, path, &bytes)?;
        Ok(aside)
    }

    /// The same, but after a power loss the file may hold anything: for a summary that nobody needs once its journal is there.
    pub fn write_unsynced(path: &Path, state: &RunState) -> Result<Option<PathBuf>, StoreError> {
        let (bytes, aside) = Self::over(path, state)?;
        write_cache(path, &bytes).map_err(StoreError::io("write", path))?;
        Ok(aside)
    }

    /// The file's next text, over what it holds now, and where a damaged one was moved.
    fn over(path: &Path, state: &RunState) -> Result<(Vec<u8>, Option<PathBuf>), StoreError> {
        let mut state = state.clone();
        let mut aside = None;
        match StateFile::read(path)? {
            StateFile::Missing => {}
            StateFile::Good(old) if old.run_id == state.run_id => {
                for (key, value) in old.more {
                    state.more.entry(key).or_insert(value);
                }
                state.schema_version = state.schema_version.max(old.schema_version);
            }
            StateFile::Good(_) => {}
            StateFile::Corrupt { .. } => aside = Some(set_aside(path)?),
        }
        Ok((to_bytes(&state)?, aside))
    }
}

fn set_aside(path: &Path) -> Result<PathBuf, StoreError> {
    // A link or a pipe is moved as it is, and never read.
    let hash = match read_own(path, MAX_BYTES).map_err(StoreError::io("read", path))? {
        Found::Bytes(bytes) => sha256_hex(&bytes),
        Found::Missing | Found::Odd(_) => "unread".to_owned(),
    };
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy())
        .unwrap_or_default();
    let aside = path.with_file_name(format!(
        "{name}.corrupt-{}",
        hash.get(..8).unwrap_or_default()
    ));
    std::fs::rename(path, &aside).map_err(StoreError::io("move aside", path))?;
    Ok(aside)
}

fn checksum(map: &Map<String, Value>) -> String {
    sha256_hex(canonical(&Value::Object(map.clone())).as_bytes())
}

fn to_bytes(state: &RunState) -> Result<Vec<u8>, StoreError> {
    let encode = |reason: String| StoreError::Encode {
        what: "the run's state",
        reason,
    };
    let Value::Object(mut map) = serde_json::to_value(state).map_err(|e| encode(e.to_string()))?
    else {
        return Err(encode("not an object".into()));
    };
    map.shift_remove(CHECKSUM);
    let sum = checksum(&map);
    map.insert(CHECKSUM.into(), Value::String(sum));
    let text = serde_json::to_string_pretty(&map).map_err(|e| encode(e.to_string()))?;
    let mut bytes = agentctl_base::untrusted::json(&text)
        .into_owned()
        .into_bytes();
    bytes.push(b'\n');
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Result<RunState, String> {
    let mut map: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|e| format!("not a JSON object: {e}"))?;
    let Some(Value::String(sum)) = map.shift_remove(CHECKSUM) else {
        return Err("it has no checksum".into());
    };
    if sum != checksum(&map) {
        return Err("it was changed by hand (its checksum does not fit)".into());
    }
    serde_json::from_value(Value::Object(map)).map_err(|e| format!("not a run's state: {e}"))
}
