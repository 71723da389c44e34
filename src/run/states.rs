//! The documents of a workflow's earlier states: snapshots, versions of the backend, or what is there now. A document counts
//! only when its graph hash is the one that the journal names, and a snapshot only when it is to the byte what was taken, so a
//! damaged or swapped copy is never put back.

use super::{
    RunError,
    history::{Made, state_hash},
    inspect,
    ledger::Ledger,
};
use agentctl_engine::store::{Event, Project, Snapshots, StoreError};
use agentctl_n8n::{Workflow, WorkflowId, hash::graph_hash};
use agentctl_n8n_tools::backend::{Backend, BackendError, BackendErrorKind, Stored};

/// Where to look.
#[derive(Clone, Copy)]
pub(super) struct States<'a> {
    pub project: &'a Project,
    pub backend: &'a dyn Backend,
    pub believe: Believe,
}

/// Whose records tell what a snapshot was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Believe {
    /// This user's: something is done with the document.
    Own,
    /// Anybody's: it is only looked at.
    Any,
}

/// A state's document.
pub(super) struct Found {
    pub workflow: Workflow,
    /// The snapshot that holds it: run id and file.
    pub snapshot: Option<(String, String)>,
    /// Why the snapshot that should hold it was not taken for this, when another copy with the same graph was.
    pub instead: Option<String>,
}

/// A run, as the records tell of it that are believed.
struct Believed<'r> {
    run_id: &'r str,
    ledger: Ledger,
}

impl States<'_> {
    /// The workflow as it is now; None: there is none.
    pub async fn now(&self, id: &WorkflowId) -> Result<Option<Stored>, RunError> {
        match self.backend.get(id).await {
            Ok(stored) => Ok(Some(stored)),
            Err(e) if e.kind == BackendErrorKind::NotFound => Ok(None),
            Err(e) => Err(self.failed(e)),
        }
    }

    /// State `number` of a workflow by its changes; None: it did not exist then.
    pub async fn document(
        &self,
        id: &WorkflowId,
        changes: &[Made],
        number: u32,
        now: Option<&Stored>,
    ) -> Result<Option<Found>, RunError> {
        let Some(hash) = state_hash(changes, number) else {
            return Ok(None);
        };
        // The next change kept what it found: exactly this state, positions and names included.
        let next = changes.iter().find(|m| m.number > number);
        let mut instead = None;
        if let Some((made, file)) = next.and_then(|m| Some((m, m.change.snapshot.as_ref()?))) {
            match self.snapshot(&self.believed(&made.run_id)?, file, hash)? {
                Ok(workflow) => {
                    return Ok(Some(Found {
                        workflow,
                        snapshot: Some((made.run_id.clone(), file.clone())),
                        instead: None,
                    }));
                }
                Err(why) => instead = Some(why),
            }
        }
        if let Some(now) = now.filter(|now| now.graph_hash == hash) {
            return Ok(Some(Found {
                workflow: now.workflow.clone(),
                snapshot: None,
                instead,
            }));
        }
        if let Some(found) = self.any_snapshot(id, hash)? {
            return Ok(Some(Found { instead, ..found }));
        }
        match self.version(id, hash).await? {
            Some(workflow) => Ok(Some(Found {
                workflow,
                snapshot: None,
                instead,
            })),
            None => Err(RunError::Refused {
                message: format!(
                    "no undamaged copy is kept of {id:?} as it was after change {number}{}",
                    instead.map_or_else(String::new, |why| format!(": {why}")),
                    id = id.0,
                ),
                hint: "nothing was written; `agentctl runs verify` checks the snapshots, another change number may still be there".into(),
            }),
        }
    }

    /// A snapshot that is what was taken; inside: why it is not.
    fn snapshot(
        &self,
        believed: &Believed<'_>,
        file: &str,
        hash: &str,
    ) -> Result<Result<Workflow, String>, RunError> {
        let text = match self.taken(believed, file)? {
            Ok(text) => text,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let workflow = serde_json::from_str::<Workflow>(&text).ok();
        let same = workflow.filter(|w| graph_hash(w) == hash);
        Ok(same.ok_or_else(|| {
            format!(
                "the snapshot {file} of run {} holds another graph",
                believed.run_id
            )
        }))
    }

    /// What the run's records tell that are believed.
    fn believed<'r>(&self, run_id: &'r str) -> Result<Believed<'r>, RunError> {
        let loaded = inspect::read(self.project, run_id)?;
        let records = match self.believe {
            Believe::Own => loaded.own(),
            Believe::Any => &loaded.records,
        };
        let mut ledger = Ledger::default();
        for record in records {
            ledger.apply(&record.event);
        }
        Ok(Believed { run_id, ledger })
    }

    /// A snapshot's text; inside: why it is not what was taken.
    fn taken(
        &self,
        believed: &Believed<'_>,
        file: &str,
    ) -> Result<Result<String, StoreError>, RunError> {
        let snapshots = Snapshots::new(self.project.run(believed.run_id)?.snapshots());
        let told = believed.ledger.snapshot(file);
        let told = told.and_then(|taken| taken.sha256.as_deref());
        Ok(match (self.believe, told) {
            // One of before the journal said it: its graph is compared.
            (Believe::Any, None) => snapshots.read(file),
            (_, told) => snapshots.read_taken(file, told),
        })
    }

    /// The newest snapshot of any run of this user's with this graph.
    fn any_snapshot(&self, id: &WorkflowId, hash: &str) -> Result<Option<Found>, RunError> {
        for (run_id, records) in inspect::readable(self.project)?.into_iter().rev() {
            let mut believed = None;
            for record in records.iter().rev() {
                if let Event::SnapshotTaken {
                    workflow_id,
                    file,
                    graph_hash,
                    ..
                } = &record.event
                    && *workflow_id == id.0
                    && graph_hash == hash
                {
                    let believed = match &mut believed {
                        Some(read) => read,
                        unread => unread.insert(self.believed(&run_id)?),
                    };
                    let Ok(workflow) = self.snapshot(believed, file, hash)? else {
                        continue;
                    };
                    return Ok(Some(Found {
                        workflow,
                        snapshot: Some((run_id, file.clone())),
                        instead: None,
                    }));
                }
            }
        }
        Ok(None)
    }

    async fn version(&self, id: &WorkflowId, hash: &str) -> Result<Option<Workflow>, RunError> {
        if !self.backend.can().versions {
            return Ok(None);
        }
        let heads = match self.backend.versions(id).await {
            Ok(heads) => heads,
            Err(e) if e.kind == BackendErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(self.failed(e)),
        };
        let Some(head) = heads.into_iter().find(|head| head.graph_hash == hash) else {
            return Ok(None);
        };
        match self.backend.version(id, &head.id).await {
            Ok(workflow) => Ok(Some(workflow).filter(|w| graph_hash(w) == hash)),
            Err(e) if e.kind == BackendErrorKind::NotFound => Ok(None),
            Err(e) => Err(self.failed(e)),
        }
    }

    pub fn failed(&self, error: BackendError) -> RunError {
        let backend = self.backend.name();
        match error.kind {
            BackendErrorKind::Unavailable => RunError::Backend {
                message: format!("the {backend} backend is not available: {error}"),
                hint: error.hint.unwrap_or_default(),
            },
            BackendErrorKind::NotFound
            | BackendErrorKind::Rejected
            | BackendErrorKind::Unsupported => RunError::Refused {
                message: format!("the {backend} backend refused: {error}"),
                hint: error.hint.unwrap_or_default(),
            },
        }
    }
}
