//! What is kept on disk: the journal, the run_state projection, the project lock, snapshots; and files as others may have
//! put them there, read without a wait and never outside their folder. A failed write is an error,
//! always. Knows nothing of flows, policies and backends: it is handed ids, hashes and bytes.

mod adopt;
mod atomic;
mod chain;
mod disk;
mod error;
pub mod event;
mod files;
mod journal;
mod key;
mod lock;
mod marks;
mod project;
mod regular;
mod snapshot;
mod state;
mod tail;

#[cfg(test)]
mod journal_tests;
#[cfg(test)]
mod marks_tests;
#[cfg(test)]
mod state_tests;
#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod tail_tests;

pub use adopt::adopt;
pub use atomic::{sync_dir, write_atomic, write_atomic_on};
pub use disk::Disk;
pub use error::StoreError;
pub use event::{Budgets, Event, LimitOverrides, Means, Record};
pub use files::{Existing, Files};
pub use journal::{Journal, Loaded, Torn};
pub use key::Key;
pub use lock::{Held, Holder, ProjectLock};
pub use marks::{Foreign, Marks, Whose};
pub use project::{Project, RunPaths, file_part};
pub use regular::{
    Found, LEADS_OUT, Links, Within, has_other_names, open_given, plain_path, read_below,
    read_given, read_given_text, read_own, read_regular, read_regular_text, read_within, within,
};
pub use snapshot::{SnapshotRef, Snapshots};
pub use state::{JournalHead, RunState, STATE_SCHEMA_VERSION, StateFile};
pub use tail::Tail;
