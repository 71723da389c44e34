//! What goes through the n8n port besides workflows: typed, and without a secret.

use agentctl_n8n::todo_note::Item;
use agentctl_n8n::{TriggerPoint, Workflow, WorkflowId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{path::PathBuf, time::Duration};

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
    /// Keep tags.
    pub tags: bool,
    /// Say which node types it has.
    pub node_types: bool,
    /// It cannot even do what every other one can: write a workflow from a document.
    pub reads_only: bool,
}

/// An ability as it is shown: its word, and whether the backend has it.
pub type AbilityWord = (&'static str, bool);

impl BackendAbilities {
    /// One line for people and for `doctor`, in a fixed order.
    pub fn words(&self) -> [AbilityWord; 7] {
        [
            ("execute", self.execute),
            ("publish", self.activate),
            ("versions", self.versions),
            ("tags", self.tags),
            ("credentials", self.credentials),
            ("templates", self.templates),
            ("node types", self.node_types),
        ]
    }
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
    /// Names, sorted.
    pub tags: Vec<String>,
    /// What the note beside it says is still to do. It is no part of the document.
    pub todo: Vec<Item>,
    /// n8n's own word for this state of the document; it changes with every save.
    pub version_id: Option<String>,
    /// UTC, RFC 3339, as n8n writes it.
    pub updated_at: Option<String>,
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
    /// Names, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
}

impl Stored {
    /// What a listing says of it.
    pub fn listed(&self) -> Listed {
        let types: std::collections::BTreeSet<&str> =
            self.workflow.nodes.iter().map(|n| n.node_type()).collect();
        Listed {
            id: self.id.clone(),
            name: self.workflow.name().to_owned(),
            active: self.active,
            node_count: self.workflow.nodes.len(),
            node_types: types.into_iter().map(str::to_owned).collect(),
            graph_hash: self.graph_hash.clone(),
            file: self.file.clone(),
            tags: self.tags.clone(),
            updated_at: self.updated_at.clone(),
        }
    }
}

/// Which workflows a listing shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListQuery {
    /// Only those of exactly this name.
    pub name: Option<String>,
    /// Only those with this tag.
    pub tag: Option<String>,
    pub active: Option<bool>,
    /// What the page before said in `next`.
    pub cursor: Option<String>,
}

impl ListQuery {
    pub fn named(name: impl Into<String>) -> Self {
        ListQuery {
            name: Some(name.into()),
            ..ListQuery::default()
        }
    }
    pub fn tagged(tag: impl Into<String>) -> Self {
        ListQuery {
            tag: Some(tag.into()),
            ..ListQuery::default()
        }
    }
    /// Whether a workflow is among those meant; the cursor aside.
    pub fn fits(&self, listed: &Listed) -> bool {
        self.name.as_ref().is_none_or(|name| *name == listed.name)
            && self
                .tag
                .as_ref()
                .is_none_or(|tag| listed.tags.contains(tag))
            && self.active.is_none_or(|active| active == listed.active)
    }
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
    /// There is more: the cursor of the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
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

/// Which executions are meant.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionQuery {
    pub workflow: Option<WorkflowId>,
    /// n8n's word: `error`, `success`, `waiting`, …
    pub status: Option<String>,
    pub limit: usize,
}

impl ExecutionQuery {
    /// The last executions of a workflow.
    pub fn of(workflow: &WorkflowId, limit: usize) -> Self {
        ExecutionQuery {
            workflow: Some(workflow.clone()),
            status: None,
            limit,
        }
    }
    #[must_use]
    pub fn with_status(mut self, status: impl Into<String>) -> Self {
        self.status = Some(status.into());
        self
    }
}

/// A call of a trigger from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerCall {
    /// Which trigger, as the workflow's own document says.
    pub point: TriggerPoint,
    /// What is sent: a webhook's body (or query, with GET), a form's fields by label, a chat's `chatInput`.
    pub payload: Map<String, Value>,
    /// How long the answer and the end of the execution are waited for.
    pub wait: Duration,
}

impl TriggerCall {
    pub const WAIT: Duration = Duration::from_secs(60);

    pub fn new(point: TriggerPoint, payload: Map<String, Value>) -> Self {
        TriggerCall {
            point,
            payload,
            wait: Self::WAIT,
        }
    }
}

/// What a call of a trigger came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Triggered {
    /// The execution that this call started, at its end or as far as it was waited for. None: none was found, so nothing counts
    /// as executed.
    pub execution: Option<ExecutionHead>,
    /// The HTTP status that the caller saw.
    pub status: Option<u16>,
    /// What the caller was answered, bounded.
    pub answer: Option<Value>,
}

/// A credential: what it is called and what it is for, never what it holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CredentialHead {
    pub id: String,
    pub name: String,
    /// E.g. `slackApi`: what a node's `credentials` are keyed by.
    pub credential_type: String,
}

/// n8n's list of its node types.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeTypesFile {
    /// Where it is from, for messages.
    pub source: String,
    /// The n8n release, where it is known.
    pub n8n_version: Option<String>,
    /// JSON as n8n's `types/nodes.json`.
    pub bytes: Vec<u8>,
}

/// What a server that checks workflows itself says of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerVerdict {
    /// Which server.
    pub server: String,
    pub valid: bool,
    /// In its own words: text to show, not to act upon.
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
}

/// One thing that was looked at on the instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstanceCheck {
    /// `reachable`, `key`, `server`, …
    pub what: &'static str,
    pub ok: bool,
    pub detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl InstanceCheck {
    pub fn good(what: &'static str, detail: impl Into<String>) -> Self {
        InstanceCheck {
            what,
            ok: true,
            detail: detail.into(),
            hint: None,
        }
    }
    pub fn bad(what: &'static str, error: &super::BackendError) -> Self {
        InstanceCheck {
            what,
            ok: false,
            detail: error.message.clone(),
            hint: error.hint.clone(),
        }
    }
}
