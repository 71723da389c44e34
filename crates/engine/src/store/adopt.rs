//! Taking over a journal that this user's agentctl did not write, by the user's word: every record gets the user's mark, the
//! chain stays as it is, and one record behind it says that it was taken over. The file is replaced whole or not at all.

use super::{
    Event, Marks, StoreError,
    journal::{keep_torn, line, marked},
    line::Line,
    marks::{Foreign, Whose},
    read::{Loaded, bytes_of},
};
use crate::store::chain::chain;
use agentctl_host::files::{self, Disk};
use std::path::Path;

/// Marks the journal whose chain ends in `head` (what the user was shown) and appends `event`. None: it is the user's already,
/// and nothing is written. A torn last line is kept aside first, as when a run is taken up.
pub fn adopt(
    disk: &dyn Disk,
    path: &Path,
    marks: &Marks,
    head: &str,
    (at, event): (jiff::Timestamp, &Event),
) -> Result<Option<Foreign>, StoreError> {
    let refused = |from: u64, why: Whose| StoreError::Foreign {
        run_id: marks.run_id().to_owned(),
        foreign: Foreign { from, why },
    };
    let bytes = bytes_of(path)?;
    let loaded = Loaded::judged(path, &bytes, marks)?;
    if !marks.has_key() {
        return Err(refused(1, Whose::NoKey));
    }
    let Some(foreign) = loaded.foreign.clone() else {
        return Ok(None);
    };
    let (last, hash) = loaded.head();
    if hash != head {
        let reason = "it was changed while you were shown it".to_owned();
        return Err(StoreError::Broken {
            path: path.to_owned(),
            line: last,
            reason,
        });
    }
    let encode = |e: serde_json::Error| StoreError::Encode {
        what: "a journal event",
        reason: e.to_string(),
    };
    let whole = usize::try_from(loaded.whole()).unwrap_or(usize::MAX);
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 4);
    let kept = bytes.get(..whole).unwrap_or_default();
    for old in kept.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let old: Line = serde_json::from_slice(old).map_err(encode)?;
        text.push_str(&marked(&old, marks));
    }
    let (seq, at) = (last + 1, at.to_string());
    let said = serde_json::to_string(event).map_err(encode)?;
    let new = chain(hash, seq, &at, &said);
    let mark = marks.mark(seq, &new);
    text.push_str(&line(seq, &at, (hash, &new), mark.as_deref(), &said));
    // What was marked must be what was there, to the last value.
    let read = Loaded::judged(path, text.as_bytes(), marks)?;
    if read.foreign.is_some() || read.head() != (seq, new.as_str()) {
        return Err(StoreError::Encode {
            what: "the marked journal",
            reason: "it does not read back as it was".to_owned(),
        });
    }
    keep_torn(disk, path, &loaded)?;
    files::write_atomic_on(disk, path, text.as_bytes())?;
    Ok(Some(foreign))
}
