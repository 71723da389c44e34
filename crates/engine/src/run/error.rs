//! Why an activation could not be carried through. What a run itself came to (blocked, waiting, refused …) is no error:
//! that is a [`super::RunReport`].

use crate::store::{LedgerError, StoreError};
use crate::toolset::BackendError;
use agentctl_base::model::ModelError;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
    /// n8n or an MCP server cannot be reached. The run is saved; `resume` goes on.
    #[error("{message}")]
    Backend { message: String, hint: String },
    /// This machine's disk or file handles. The run is saved as far as it came; `resume` goes on.
    #[error("{message}")]
    Machine { message: String, hint: String },
    /// What was asked of the run does not fit it: an unknown question, an answer of the wrong shape, an ended run.
    #[error("{0}")]
    Usage(String),
    /// The flow or the policy cannot be carried out as written.
    #[error("{0}")]
    Pack(String),
    /// A call failed, and who made it knows no other way: no fault of a model. The run is saved; `resume` goes on.
    #[error("{message}")]
    Stuck { message: String },
    #[error("{message}")]
    Refused { message: String, hint: String },
    /// A bug in agentctl.
    #[error("internal error: {0}")]
    Internal(String),
}

impl RunError {
    /// What gave no answer, with a message of its own for who it was; what this machine lacks is said as it is.
    pub(super) fn unavailable(
        error: BackendError,
        message: impl FnOnce(&BackendError) -> String,
    ) -> RunError {
        let hint = error.hint.clone().unwrap_or_default();
        match error.machine {
            true => RunError::Machine {
                message: error.message,
                hint,
            },
            false => RunError::Backend {
                message: message(&error),
                hint,
            },
        }
    }

    /// docs/exit-codes.md; exhaustive, so that a new error gets its code or does not compile.
    pub fn exit_code(&self) -> u8 {
        match self {
            RunError::Store(error) => match error {
                StoreError::Foreign { .. } => 5,
                StoreError::Ledger(error) => match error {
                    LedgerError::Away { .. }
                    | LedgerError::Held { .. }
                    | LedgerError::Lost { .. } => 7,
                    LedgerError::Exists { .. }
                    | LedgerError::Gone { .. }
                    | LedgerError::OnlyHere { .. } => 2,
                    LedgerError::Split { .. } | LedgerError::Damaged { .. } => 1,
                },
                StoreError::NoSuchRun { .. } | StoreError::BadId { .. } => 2,
                StoreError::File(_)
                | StoreError::Broken { .. }
                | StoreError::Lost { .. }
                | StoreError::Short { .. }
                | StoreError::NewerVersion { .. }
                | StoreError::Changed { .. }
                | StoreError::Locked { .. } => 1,
                StoreError::Encode { .. } => 70,
            },
            RunError::Usage(_) | RunError::Pack(_) => 2,
            RunError::Refused { .. } => 5,
            RunError::Model(_) => 6,
            RunError::Backend { .. } => 7,
            RunError::Machine { .. } | RunError::Stuck { .. } => 1,
            RunError::Internal(_) => 70,
        }
    }

    /// What to do next, when the message does not say it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            RunError::Backend { hint, .. }
            | RunError::Machine { hint, .. }
            | RunError::Refused { hint, .. } => Some(hint.as_str()).filter(|h| !h.is_empty()),
            RunError::Model(_) | RunError::Stuck { .. } => {
                Some("the run is saved; `agentctl resume` goes on with it")
            }
            RunError::Store(_) | RunError::Usage(_) | RunError::Pack(_) | RunError::Internal(_) => {
                None
            }
        }
    }
}
