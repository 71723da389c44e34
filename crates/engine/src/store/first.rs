//! What the first record of a journal must say before the rest is read: a version that is known, and the run whose folder it is.

use super::{StoreError, event::JOURNAL_VERSION, line::Line};
use serde_json::Value;
use std::path::Path;

/// The first version in the words of today.
const CURRENT: u64 = 2;

/// What the first record says of its journal.
pub(super) struct First(Line);

impl First {
    /// None: the line is not a record.
    pub fn of(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok().map(Self)
    }

    fn said(&self, name: &str) -> Option<&Value> {
        self.0.event.get(name)
    }

    fn version(&self) -> Option<u64> {
        self.said("journal_version").and_then(Value::as_u64)
    }

    /// Whether its records are in the words of today; an older agentctl had others for some.
    pub fn is_current(&self) -> bool {
        self.version().is_some_and(|version| version >= CURRENT)
    }

    /// The version is looked at before anything is read by this version's rules: a newer one may reckon hashes otherwise.
    pub fn check_version(&self, path: &Path) -> Result<(), StoreError> {
        match self.version() {
            Some(found) if found > u64::from(JOURNAL_VERSION) => Err(StoreError::NewerVersion {
                path: path.to_owned(),
                found,
                known: JOURNAL_VERSION,
            }),
            Some(_) => Ok(()),
            // A later record in the first line: the chain says what is missing before it.
            None if self.0.seq != 1 => Ok(()),
            None => Err(StoreError::Broken {
                path: path.to_owned(),
                line: 1,
                reason: "the first record is not the start of a run (no journal_version)".into(),
            }),
        }
    }

    /// A journal that lies in another run's folder would be taken back there, and its changes be told of that run. `run_id` is empty
    /// when it is not known whose folder it is.
    pub fn check_run(&self, run_id: &str) -> Result<(), String> {
        match self.said("run_id").and_then(Value::as_str) {
            Some(told) if told != run_id && !run_id.is_empty() => Err(format!(
                "it is the journal of run {told:?}, and lies in the folder of run {run_id}"
            )),
            _ => Ok(()),
        }
    }
}
