//! What the tools of n8n work on: a backend with its catalog, and what they share to say which workflow is meant and in which state.

use crate::accepted::Accepted;
use crate::backend::{Backend, BackendError, BackendErrorKind, Stored};
use crate::guards;
use agentctl_base::decision::Decision;
use agentctl_engine::toolset::{
    Fault, Outcome, Reserved, ResourceId, ResourceMark, backend_failure,
};
use agentctl_n8n::WorkflowId;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::rehearsal::Hosts;
use agentctl_qa::Waiver;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the tools work on.
pub struct N8n {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) catalog: &'static Catalog,
    pub(super) accepted: Option<Arc<dyn Accepted>>,
    pub(super) test_hosts: Hosts,
    pub(super) waivers: Vec<Waiver>,
    /// The folder that the waivers' paths are seen from.
    pub(super) root: PathBuf,
    unsure_facts: Option<String>,
}

impl N8n {
    pub fn new(backend: Arc<dyn Backend>, catalog: &'static Catalog) -> Self {
        N8n {
            backend,
            catalog,
            accepted: None,
            test_hosts: Hosts::default(),
            waivers: Vec::new(),
            root: PathBuf::new(),
            unsure_facts: None,
        }
    }

    /// Says that the catalog is not of the connected n8n's release: to every agent of a run, and in its report.
    #[must_use]
    pub fn with_unsure_facts(mut self, why: Option<String>) -> Self {
        self.unsure_facts = why;
        self
    }

    /// Hosts that a test may read by itself: the user's own list, never a project's.
    #[must_use]
    pub fn with_test_hosts(mut self, hosts: Hosts) -> Self {
        self.test_hosts = hosts;
        self
    }

    /// Findings that the project decided to live with; their paths are seen from `root`.
    #[must_use]
    pub fn with_waivers(mut self, waivers: Vec<Waiver>, root: &Path) -> Self {
        self.waivers = waivers;
        self.root = root.to_owned();
        self
    }

    /// Counts losses from the state that a person accepted last. Without it each run counts from how it found a workflow.
    #[must_use]
    pub fn with_accepted(mut self, accepted: Arc<dyn Accepted>) -> Self {
        self.accepted = Some(accepted);
        self
    }

    pub fn backend(&self) -> &dyn Backend {
        self.backend.as_ref()
    }
    pub fn accepted(&self) -> Option<&dyn Accepted> {
        self.accepted.as_deref()
    }

    pub(crate) fn unsure_facts(&self) -> Option<&str> {
        self.unsure_facts.as_deref()
    }

    pub(super) fn unavailable(&self, error: BackendError) -> Fault {
        Fault::Backend {
            backend: self.backend.name().to_owned(),
            error,
        }
    }

    /// The workflow that a text of the model names.
    pub(super) async fn stored(&self, reference: &str) -> Result<Stored, BackendError> {
        let id = self.backend.resolve(reference).await?;
        self.backend.get(&id).await
    }

    /// The same for a change. An inner Err is the call's result.
    pub(super) async fn current(&self, reference: &str) -> Result<Result<Stored, Outcome>, Fault> {
        match self.stored(reference).await {
            Ok(stored) => Ok(Ok(stored)),
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                Err(self.unavailable(error))
            }
            Err(error) => Ok(Err(Outcome::Failed(backend_failure(&error)))),
        }
    }

    /// That the backend cannot do something, in words.
    pub(crate) fn cannot(&self, what: &str) -> String {
        format!(
            "the {} backend cannot {what}: not executed",
            self.backend.name()
        )
    }

    /// Said before anybody is asked for permission: there is nothing to permit.
    pub(super) fn unable(&self, what: &str) -> Outcome {
        let error = BackendError::unsupported(self.cannot(what)).with_hint(
            "report it as not executed; import the file into n8n, or connect one, to run it",
        );
        Outcome::Failed(backend_failure(&error))
    }
}

/// A workflow, as the engine names it.
pub(super) fn resource(id: &WorkflowId) -> ResourceId {
    ResourceId::new(guards::KIND, id.0.as_str())
}

/// A workflow in the state in which it was read.
pub(super) fn mark(at: &Stored) -> ResourceMark {
    ResourceMark {
        resource: resource(&at.id),
        revision: at.graph_hash.clone(),
        size: at.workflow.nodes.len(),
    }
}

/// An approval's subject: the exact call on the workflow as it is now.
pub(super) fn bound(exact: &Value, at: &Stored) -> Value {
    json!({"call": exact, "workflow": at.id, "graph": at.graph_hash})
}

pub(super) fn reserve(decision: Decision, before: &Stored, verb: &str, exact: &Value) -> Reserved {
    Reserved::new(decision, || {
        let what = format!("{verb} the workflow {:?}", before.workflow.name());
        (what, bound(exact, before))
    })
}
