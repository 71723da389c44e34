//! What the first record of a journal must say before the rest is read: a version that is known, and the run whose folder it is.

use super::{StoreError, event::JOURNAL_VERSION, read::Line};
use serde_json::Value;
use std::path::Path;

/// The version that the first record names.
pub(super) fn version_of(first: &[u8]) -> Option<u64> {
    let line = serde_json::from_slice::<Line>(first).ok()?;
    line.event.get("journal_version")?.as_u64()
}

/// The version stands in the first record, and is looked at before anything is read by this version's rules: a newer one may reckon
/// hashes otherwise.
pub(super) fn check_version(path: &Path, first: &[u8]) -> Result<(), StoreError> {
    let Ok(line) = serde_json::from_slice::<Line>(first) else {
        return Ok(());
    };
    let found = line.event.get("journal_version").and_then(Value::as_u64);
    match found {
        Some(found) if found > u64::from(JOURNAL_VERSION) => Err(StoreError::NewerVersion {
            path: path.to_owned(),
            found,
            known: JOURNAL_VERSION,
        }),
        Some(_) => Ok(()),
        // A later record in the first line: the chain says what is missing before it.
        None if line.seq != 1 => Ok(()),
        None => Err(StoreError::Broken {
            path: path.to_owned(),
            line: 1,
            reason: "the first record is not the start of a run (no journal_version)".into(),
        }),
    }
}

/// A journal that lies in another run's folder would be taken back there, and its changes be told of that run. `run_id` is empty
/// when it is not known whose folder it is.
pub(super) fn check_run(first: &[u8], run_id: &str) -> Result<(), String> {
    let first = serde_json::from_slice::<Line>(first).map_err(|e| e.to_string())?;
    match first.event.get("run_id").and_then(Value::as_str) {
        Some(told) if told != run_id && !run_id.is_empty() => Err(format!(
            "it is the journal of run {told:?}, and lies in the folder of run {run_id}"
        )),
        _ => Ok(()),
    }
}
