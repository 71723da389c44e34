//! What ties each record of a journal to the one before it.

use agentctl_base::canonical::{hex, sorted};
use sha2::{Digest, Sha256};

/// Hash of one journal record: each part ends with a newline, which no part can contain (the event is JSON). `event` is the text
/// that `serde_json` makes of it.
pub(super) fn chain(prev: &str, seq: u64, at: &str, event: &str) -> String {
    let mut hasher = Sha256::new();
    for part in [prev, &seq.to_string(), at, &sorted(event)] {
        hasher.update(part.as_bytes());
        hasher.update(b"\n");
    }
    hex(&hasher.finalize())
}
