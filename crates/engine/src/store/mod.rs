//! What is kept on disk: the journal with its marks, the run_state projection, the project lock, snapshots. A failed write is an
//! error, always. It decides nothing: of flows and policies it knows what an event says of them, of backends nothing at all.

mod adopt;
mod ahead;
mod chain;
mod checkpoint;
mod error;
pub mod event;
mod first;
mod holder;
mod journal;
mod ledger;
mod line;
mod lock;
mod marks;
mod project;
mod read;
mod removal;
mod resource;
mod run_files;
mod shared;
mod snapshot;
mod state;
mod tail;
mod texts;
mod transfer;
mod whole;

#[cfg(test)]
mod ahead_tests;
#[cfg(test)]
mod checkpoint_tests;
#[cfg(test)]
mod journal_tests;
#[cfg(test)]
mod marks_tests;
#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod state_tests;
#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod tail_tests;
#[cfg(test)]
mod texts_tests;
#[cfg(test)]
mod transfer_tests;

pub use adopt::adopt;
pub use checkpoint::Checked;
pub use error::StoreError;
pub use event::{Budgets, Event, LimitOverrides, Link, Means, Record, Shared, Side};
pub use holder::Holder;
pub use journal::Journal;
pub use ledger::{Entry, Fetched, Last, Lease, Ledger, LedgerError};
pub use lock::{Held, ProjectLock};
pub use marks::{Foreign, Marks, Whose};
pub use project::{MEMORY_IGNORED, Project, RunPaths};
pub use read::{Each, Loaded, Torn};
pub use resource::{ResourceId, ResourceMark};
pub use run_files::{KINDS, RunFile};
pub use shared::Copied;
pub use snapshot::{SnapshotRef, Snapshots};
pub use state::{JournalHead, RunState, STATE_SCHEMA_VERSION, StateFile};
pub use tail::Tail;
pub use texts::Texts;
pub use transfer::{Exported, Imported, begins_exported};
