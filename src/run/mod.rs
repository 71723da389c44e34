//! The driver: the only owner of a run's state. It asks the flow what comes next, does it, journals it, and can go on from
//! the journal after any crash. It decides nothing about order (that is `flow`) and nothing about permission (`gateway`).
//!
//! Entry points (each one activation: take the lock, fold the journal, run until blocked or done, sync, let go):
//! `start(RunContext, RunOptions)`, `advance(RunContext, run, Answering, LimitOverrides)`, `answer(RunContext, run, answers)`,
//! `cancel(RunContext, run)`, `undo(RunContext, Undo, force)`; reading only: `status`, `list`, `show`, `verify`.

mod cancel;
mod effects;
mod error;
mod options;
mod report;

pub use cancel::{Cancel, Cause};
pub use effects::{Counted, Effects, System};
pub use error::RunError;
pub use options::{Answering, Asked, Asker, LimitOverrides, Observer, RunOptions, Unobserved};
pub use report::{QaReport, RunReport, RunUsage, WorkflowReport, exit_code};
