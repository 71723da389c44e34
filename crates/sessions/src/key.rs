//! Whose a session is.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What a session belongs to. Two sessions that differ in any part know nothing of each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SessionKey {
    pub pack: String,
    pub tenant: String,
    pub user: String,
    /// The name of the conversation, as the channel or the person calls it.
    pub conversation: String,
}

impl SessionKey {
    /// The session's id: the first half of SHA-256 over the parts, each with its length before it, written as a UUID is, so that
    /// nobody takes it for a key. The same key has the same id in every store.
    pub fn id(&self) -> String {
        let mut hash = Sha256::new();
        for part in [&self.pack, &self.tenant, &self.user, &self.conversation] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let digits = agentctl_base::canonical::hex(&hash.finalize());
        let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
        let groups = groups.map(|at| digits.get(at).unwrap_or_default());
        groups.join("-")
    }
}

/// Which sessions may be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// One user's.
    Of { tenant: String, user: String },
    /// Every session: for who runs the store, never for a caller.
    Operator,
}
