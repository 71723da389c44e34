//! The flow engine: what runs next is a pure function of the flow and the journal. No model decides it, unless a `route`
//! step says so, and then only among its listed cases.
//! Must never do IO, read a clock or the environment, or know the name of an agent, a stage or a field of one pack.

mod choice;
mod data;
mod load;
mod load_actions;
mod load_all;
mod load_branches;
mod load_call;
mod load_control;
mod load_fields;
mod load_steps;
mod load_work;
mod log;
mod meaning;
mod merge;
mod mermaid;
mod model;
mod next;
mod next_branches;
mod next_call;
mod next_control;
mod prepare;
mod questions;
mod reach;
mod reader;
mod remote;
mod run_log;
mod schema;
mod scope;
mod steps;
mod verify;

#[cfg(test)]
mod branch_tests;
#[cfg(test)]
mod call_tests;
#[cfg(any(test, feature = "testkit"))]
pub mod fixture;
#[cfg(test)]
mod frames_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod meaning_tests;
#[cfg(test)]
mod merge_tests;
#[cfg(test)]
mod next_tests;
#[cfg(test)]
mod reach_tests;
#[cfg(test)]
mod talk_tests;

pub use load::load;
pub use load_all::{FlowFile, MAX_DEPTH, Written, called_by, load_all, load_beside, load_with};
pub use merge::{PatchRefusal, check_patch, merge, patch_of};
pub use mermaid::mermaid;
pub use model::*;
pub use next::{Action, AgentStep, next, ready};
pub use next_branches::too_late;
pub use next_call::{output, ready_called};
pub use questions::check_answer;
pub use reader::Known;
pub use remote::{A2A, RemoteAgent};
pub use run_log::{Call, Conversation, RunLog, SessionLog, Spoken, StepStatus};
pub use schema::Schema;
pub use scope::evaluated;
pub use verify::{ClaimRefusal, answer_of_calls, verify_output};

/// Why the engine cannot say what comes next, or cannot accept an event. All are either a mistake of the pack or a bug.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FlowError {
    #[error("step {step}: {source}")]
    Condition {
        step: String,
        source: crate::condition::ConditionError,
    },
    #[error("step {step}: {message}")]
    Step { step: String, message: String },
    #[error(
        "the stage cannot move from {from:?} to {to:?}: a stage moves forward one by one, or to {blocked:?}"
    )]
    Stage {
        from: String,
        to: String,
        blocked: String,
    },
    #[error(
        "the journal names the step {0:?}, which this flow does not have; resume with the pack that the run started with"
    )]
    UnknownStep(String),
    #[error(
        "step {step}: its patch was merged already; merging it again would repeat what it appends"
    )]
    PatchedTwice { step: String },
    #[error("the run has ended ({0:?}); nothing can be added to it")]
    Ended(agentctl_base::question::Outcome),
}
