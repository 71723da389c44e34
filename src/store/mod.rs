//! What is kept on disk: the journal, the run_state projection, the project lock, snapshots. A failed write is an error, always.

pub mod event;

pub use event::{Event, Outcome, Question, Record};
