//! What is kept on disk: the journal, the run_state projection, the project lock, snapshots. A failed write is an error,
//! always. Knows nothing of flows, policies and backends: it is handed ids, hashes and bytes.

mod atomic;
mod error;
pub mod event;
mod hash;
mod journal;
mod lock;
mod project;
mod snapshot;
mod state;

#[cfg(test)]
mod journal_tests;
#[cfg(test)]
mod state_tests;
#[cfg(test)]
mod store_tests;

pub use atomic::{sync_dir, write_atomic};
pub use error::StoreError;
pub use event::{Event, Outcome, Proposal, Question, Record};
pub use hash::{canonical, sha256_hex};
pub use journal::{Journal, Loaded, Torn};
pub use lock::{Holder, ProjectLock};
pub use project::{Project, RunPaths, file_part};
pub use snapshot::{SnapshotRef, Snapshots};
pub use state::{JournalHead, RunState, STATE_SCHEMA_VERSION, StateFile};
