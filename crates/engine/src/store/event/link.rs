//! Runs that belong together: a call of a tool in one of them is worked on in the other, in a journal of its own.

use super::StepPath;
use serde::{Deserialize, Serialize};

/// Another run, as one of two that belong together names it. Both journals hold one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What the other run is to the one whose journal it is.
    pub side: Side,
    pub run_id: String,
    /// The pack of the other run.
    pub pack: String,
    /// Of the parent: the step that called, and its call.
    pub step: StepPath,
    pub call_id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The one that called.
    Parent,
    /// The one that worked on the call.
    Child,
}
