//! The n8n port: one trait with typed operations, typed answers and typed errors. What stands behind it (files in the
//! project, an n8n through MCP) is not visible above this floor.
//! A backend decides nothing: who may do what, and whether an edit is safe, is settled before it is called.

mod address;
mod document;
mod embedded;
mod slug;

pub use embedded::EmbeddedBackend;
pub use slug::slug;

use crate::n8n::{Workflow, WorkflowId};
use crate::store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{future::Future, path::PathBuf, pin::Pin};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
pub type BackendResult<T> = Result<T, BackendError>;

/// What kind of failure it was: the gateway stops the run for `Unavailable`, and tells the model about the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendErrorKind {
    /// No workflow, version, execution or template of that id.
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
}

impl BackendError {
    pub fn new(kind: BackendErrorKind, message: impl Into<String>) -> Self {
        BackendError {
            kind,
            message: message.into(),
            hint: None,
        }
    }
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(BackendErrorKind::NotFound, message)
    }
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(BackendErrorKind::Unavailable, message)
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

impl From<StoreError> for BackendError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Exists { .. } => BackendError::rejected(error.to_string())
                .with_hint("nothing was written; use another name"),
            error => BackendError::unavailable(error.to_string()).with_hint(
                "check the permissions of the project folder and the space left on the disk",
            ),
        }
    }
}

/// What a backend can do beyond keeping workflows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendAbilities {
    /// Run workflows: trigger, executions.
    pub execute: bool,
    /// Publish and unpublish. Then an edit of an active workflow goes live at once.
    pub activate: bool,
    /// Keep earlier versions.
    pub versions: bool,
    pub templates: bool,
    /// Name the credentials that exist.
    pub credentials: bool,
    /// The caller may choose a new workflow's id, so that an interrupted create can be found again.
    pub chosen_ids: bool,
}

/// A workflow as the backend holds it now.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub id: WorkflowId,
    pub workflow: Workflow,
    /// Published: it runs when its trigger fires.
    pub active: bool,
    /// Relative to the project, where the backend keeps files.
    pub file: Option<PathBuf>,
    pub graph_hash: String,
}

/// One line of a listing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    pub id: WorkflowId,
    pub name: String,
    pub active: bool,
    pub node_count: usize,
    /// The node types used, sorted, each once.
    pub node_types: Vec<String>,
    pub graph_hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// A file that is there but holds no readable workflow. It is reported, never overwritten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrokenFile {
    pub file: PathBuf,
    pub message: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    pub workflows: Vec<Listed>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<BrokenFile>,
}

/// One kept version, newest first in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionHead {
    /// What `version` takes, e.g. `0003-9f2c11ab`.
    pub id: String,
    pub number: u32,
    pub name: String,
    pub node_count: usize,
    pub graph_hash: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionHead {
    pub id: String,
    pub workflow_id: WorkflowId,
    /// n8n's word: success, error, waiting, running, canceled, crashed, new, unknown.
    pub status: String,
    /// UTC, RFC 3339.
    pub started_at: Option<String>,
    pub stopped_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TemplateHead {
    pub id: String,
    pub name: String,
    pub description: String,
    pub node_types: Vec<String>,
    /// How often it was looked at; None when unknown.
    pub views: Option<u64>,
}

/// One n8n, or something that keeps workflows for one.
pub trait Backend: Send + Sync {
    /// For messages and reports, e.g. `embedded`.
    fn name(&self) -> &str;
    fn can(&self) -> BackendAbilities;

    /// Removes what a killed process of ours left half written. For who holds the project's lock, so that nobody is writing.
    fn tidy(&self) -> BackendResult<()> {
        Ok(())
    }

    fn list(&self) -> BoxFuture<'_, BackendResult<Listing>>;
    /// The id of the workflow that the text means: an id, or (where the backend keeps files) a path inside the project.
    /// The workflow need not exist; a text that can never be one is `Rejected`.
    fn resolve<'a>(&'a self, reference: &'a str) -> BoxFuture<'a, BackendResult<WorkflowId>>;
    fn get<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<Stored>>;
    /// The id that a new workflow of this name will have. None: the backend chooses it while it creates.
    fn reserve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, BackendResult<Option<WorkflowId>>>;
    /// Creates; never overwrites. `id` is what `reserve` said.
    fn create<'a>(
        &'a self,
        id: Option<&'a WorkflowId>,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>>;
    /// Replaces the whole document. The state before is kept as a version where the backend can.
    fn replace<'a>(
        &'a self,
        id: &'a WorkflowId,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>>;
    fn delete<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<()>>;

    fn versions<'a>(&'a self, id: &'a WorkflowId)
    -> BoxFuture<'a, BackendResult<Vec<VersionHead>>>;
    fn version<'a>(
        &'a self,
        id: &'a WorkflowId,
        version: &'a str,
    ) -> BoxFuture<'a, BackendResult<Workflow>>;

    fn set_active<'a>(
        &'a self,
        id: &'a WorkflowId,
        active: bool,
    ) -> BoxFuture<'a, BackendResult<Stored>>;
    /// Runs the workflow once with the payload as the trigger's item.
    fn trigger<'a>(
        &'a self,
        id: &'a WorkflowId,
        payload: &'a Value,
    ) -> BoxFuture<'a, BackendResult<ExecutionHead>>;
    fn executions<'a>(
        &'a self,
        id: Option<&'a WorkflowId>,
        limit: usize,
    ) -> BoxFuture<'a, BackendResult<Vec<ExecutionHead>>>;
    /// One execution with its data.
    fn execution<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Value>>;

    fn search_templates<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, BackendResult<Vec<TemplateHead>>>;
    fn template<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Workflow>>;
}

#[cfg(test)]
mod embedded_tests;
