//! The driver: the only owner of a run's state. It asks the flow what comes next, does it, journals it, and can go on from
//! the journal after any crash. It decides nothing about order (that is `flow`) and nothing about permission (`gateway`).
//!
//! Entry points (each one activation: take the lock, fold the journal, run until blocked or done, sync, let go):
//! `start(RunContext, RunOptions)`, `advance(RunContext, run, Resume)`, `answer(RunContext, run, answers, Resume)`,
//! `cancel(RunContext, run)`, `undo(RunContext, Undo, force)`; taking over a run that this user's agentctl did not write:
//! `adoption` (to look), `adopt`; reading only: `status`, `list`, `show`, `verify`, `changes`,
//! `compare`.
//! `ToolSessions` lets another agent call the tools, each call an activation of a run of its own.

mod activation;
mod active;
mod adopt;
mod ask_model;
mod budget;
mod by_user;
mod called;
mod cancel;
mod claims;
mod cleanup;
mod compaction;
mod compare;
mod context;
mod conversation;
mod dispatch;
mod driver;
mod earlier_states;
mod effects;
mod error;
mod fold;
mod history;
mod inspect;
mod limits;
mod linked;
mod models;
mod must_call;
mod of_commands;
mod options;
mod plan_tools;
mod projection;
mod prune;
mod questions;
mod recorder;
mod reopen;
mod reply_guard;
mod report;
mod retry;
mod run_id;
mod session_run;
mod session_terms;
mod shown;
mod step;
mod together;
mod told;
mod tool_session;
mod turned_away;
mod under_way;
mod undo;
mod undo_plan;
mod undo_published;
mod usage;

#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod rules_tests;

pub use crate::store::{Budgets, LimitOverrides};
pub use crate::view::{By, RunUsage, SessionOf};
pub use activation::{advance, answer, cancel, start};
pub use adopt::{Adoption, Answered, Approval, Pending, Touched, adopt, adoption};
pub use by_user::{ByUserDone, USER, by_user};
pub use cancel::{Cancel, Cause};
pub use claims::{Evidence, settle as settle_claims};
pub use compare::{Compare, Compared, Side, compare};
pub use context::{Resume, RunContext};
pub use conversation::{AnswerTo, Left, Turn};
pub use effects::{Counted, Effects, System};
pub use error::RunError;
pub use history::{Made, Numbering};
pub use inspect::{
    AllRuns, RunSummary, Verified, changes, conversation, list, means, newest, own, read, report,
    run_named, show, status, verify, verify_all,
};
pub use linked::{Linked, UsedByLinked, linked, view};
pub use models::{ChosenModel, Models};
pub use of_commands::{OfCommand, of_command, of_commands};
pub use options::{Answering, Asked, Asker, Observer, RunOptions, SessionGiven, Unobserved};
pub use prune::{Kept, PruneTerms, Pruned, prunable, prune};
pub use questions::fits;
pub use report::{Reply, RunReport, Taken, UnusedAnswer, exit_code};
pub use session_run::Serving;
pub use session_terms::SessionTerms;
pub use tool_session::{ToolSession, ToolSessions};
pub use undo::{Undo, UndoReport, UndoTerms, Undone, UndoneHow, undo, undo_by, undo_to};
pub use usage::{ToolUsage, UsageReport, usage};
