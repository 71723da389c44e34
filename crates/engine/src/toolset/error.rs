//! Why what a tool works on gave no answer.

use agentctl_host::files::FileError;
use serde::{Deserialize, Serialize};

pub type BackendResult<T> = Result<T, BackendError>;

/// What kind of failure it was: the gateway stops the run for `Unavailable`, and tells the model about the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendErrorKind {
    /// Nothing has that id.
    NotFound,
    /// The backend cannot be reached, or its storage cannot be read or written.
    Unavailable,
    /// The backend understood and said no: a broken file, a name that is taken, a document that is not valid.
    Rejected,
    /// This backend has no such ability.
    Unsupported,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct BackendError {
    pub kind: BackendErrorKind,
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The fault is this machine's, not that of what it wanted to reach: its disk, its file handles.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub machine: bool,
    /// It answers, and this one thing is not for who asks: a key without the right to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forbidden: bool,
}

impl BackendError {
    pub fn new(kind: BackendErrorKind, message: impl Into<String>) -> Self {
        BackendError {
            kind,
            message: message.into(),
            hint: None,
            machine: false,
            forbidden: false,
        }
    }
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(BackendErrorKind::NotFound, message)
    }
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(BackendErrorKind::Unavailable, message)
    }
    /// Whether what was asked for besides stays unknown, and all else can go on: it was not given, and what gives it answers.
    pub fn is_of_this_alone(&self) -> bool {
        self.forbidden || self.kind != BackendErrorKind::Unavailable
    }
    /// Nothing can be read or written here.
    pub fn of_machine(message: impl Into<String>) -> Self {
        BackendError {
            machine: true,
            ..Self::unavailable(message)
        }
        .with_hint("check the permissions of the project folder, the space left on the disk and the limit of open files (ulimit -n)")
    }
    pub fn rejected(message: impl Into<String>) -> Self {
        Self::new(BackendErrorKind::Rejected, message)
    }
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(BackendErrorKind::Unsupported, message)
    }
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<FileError> for BackendError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Exists { .. } => BackendError::rejected(error.to_string())
                .with_hint("nothing was written; use another name"),
            error => BackendError::of_machine(error.to_string()),
        }
    }
}
