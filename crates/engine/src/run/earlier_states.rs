//! The documents of a resource's earlier states: snapshots, what its store keeps, or what is there now. A document counts only when
//! its revision is the one that the journal names, and a snapshot only when it is to the byte what was taken, so a damaged or
//! swapped copy is never put back.

use super::{
    RunError,
    history::{Made, state_hash},
    inspect,
    told::{self, Told},
};
use crate::{
    store::{Project, StoreError},
    toolset::{BackendError, BackendErrorKind, Document, Found, Resources},
};

/// Where to look.
#[derive(Clone, Copy)]
pub(super) struct EarlierStates<'a> {
    pub project: &'a Project,
    pub resources: &'a dyn Resources,
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
pub(super) struct Copy {
    pub document: Document,
    /// The snapshot that holds it: run id and file.
    pub snapshot: Option<(String, String)>,
    /// Why the snapshot that should hold it was not taken for this, when another copy of the same revision was.
    pub instead: Option<String>,
}

/// The text of a snapshot that a run of this user's took of the resource; Err: why it is not to be had.
pub(super) fn own_snapshot(
    project: &Project,
    run_id: &str,
    id: &str,
    file: &str,
) -> Result<String, String> {
    let run = told::one(project, run_id).map_err(|error| error.to_string())?;
    let told = run.own().snapshot(file);
    let told = told.filter(|taken| taken.resource.id == id);
    let Some(sha256) = told.and_then(|taken| taken.sha256.as_deref()) else {
        return Err("that run's own records tell of no such snapshot".to_owned());
    };
    let paths = project.run(run_id).map_err(|error| error.to_string())?;
    let text = project.snapshots(&paths).read_taken(file, Some(sha256));
    text.map_err(|error| error.to_string())
}

impl EarlierStates<'_> {
    /// The resource as it is now; None: there is none.
    pub async fn now(&self, id: &str) -> Result<Option<Found>, RunError> {
        let found = self.resources.find(id).await;
        found.map_err(|e| failed(self.resources, e))
    }

    /// State `number` of a resource by its changes; None: it did not exist then.
    pub async fn document(
        &self,
        id: &str,
        changes: &[Made],
        number: u32,
        now: Option<&Found>,
    ) -> Result<Option<Copy>, RunError> {
        let Some(hash) = state_hash(changes, number) else {
            return Ok(None);
        };
        // The next change kept what it found: exactly this state, positions and names included.
        let next = changes.iter().find(|m| m.number > number);
        let mut instead = None;
        if let Some((made, file)) = next.and_then(|m| Some((m, m.change.snapshot.as_ref()?))) {
            match self.snapshot(&made.run_id, &self.believed(&made.run_id)?, file, hash)? {
                Ok(document) => {
                    return Ok(Some(Copy {
                        document,
                        snapshot: Some((made.run_id.clone(), file.clone())),
                        instead: None,
                    }));
                }
                Err(why) => instead = Some(why),
            }
        }
        if let Some(now) = now.filter(|now| now.document.revision == hash) {
            return Ok(Some(Copy {
                document: now.document.clone(),
                snapshot: None,
                instead,
            }));
        }
        if let Some(found) = self.any_snapshot(id, hash)? {
            return Ok(Some(Copy { instead, ..found }));
        }
        let earlier = self.resources.earlier(id, hash).await;
        match earlier.map_err(|e| failed(self.resources, e))? {
            Some(document) => Ok(Some(Copy {
                document,
                snapshot: None,
                instead,
            })),
            None => Err(RunError::Refused {
                message: format!(
                    "no undamaged copy is kept of {id:?} as it was after change {number}{}",
                    instead.map_or_else(String::new, |why| format!(": {why}")),
                ),
                hint: "nothing was written; `agentctl runs verify` checks the snapshots, another change number may still be there".into(),
            }),
        }
    }

    /// A snapshot that is what was taken; inside: why it is not.
    fn snapshot(
        &self,
        run_id: &str,
        told: &Told,
        file: &str,
        hash: &str,
    ) -> Result<Result<Document, String>, RunError> {
        let text = match self.taken(run_id, told, file)? {
            Ok(text) => text,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let document = self.resources.parse(&text);
        let same = document.filter(|document| document.revision == hash);
        Ok(same.ok_or_else(|| format!("the snapshot {file} of run {run_id} holds another graph")))
    }

    /// What the run tells, by the records that are believed.
    fn believed(&self, run_id: &str) -> Result<Told, RunError> {
        let run = told::one(self.project, run_id)?;
        Ok(match self.believe {
            Believe::Own => run.own().clone(),
            Believe::Any => run.told,
        })
    }

    /// A snapshot's text; inside: why it is not what was taken.
    fn taken(
        &self,
        run_id: &str,
        told: &Told,
        file: &str,
    ) -> Result<Result<String, StoreError>, RunError> {
        let snapshots = self.project.snapshots(&self.project.run(run_id)?);
        let told = told.snapshot(file);
        let told = told.and_then(|taken| taken.sha256.as_deref());
        Ok(match (self.believe, told) {
            // One of before the journal said it: its graph is compared.
            (Believe::Any, None) => snapshots.read(file),
            (_, told) => snapshots.read_taken(file, told),
        })
    }

    /// The newest snapshot of any run of this user's with this graph.
    fn any_snapshot(&self, id: &str, hash: &str) -> Result<Option<Copy>, RunError> {
        for run in inspect::readable(self.project)?.iter().rev() {
            let told = match self.believe {
                Believe::Own => run.own(),
                Believe::Any => &run.told,
            };
            for taken in run.own().snapshots.iter().rev() {
                if taken.resource.id != id || taken.revision != hash {
                    continue;
                }
                let Ok(document) = self.snapshot(&run.run_id, told, &taken.file, hash)? else {
                    continue;
                };
                return Ok(Some(Copy {
                    document,
                    snapshot: Some((run.run_id.clone(), taken.file.clone())),
                    instead: None,
                }));
            }
        }
        Ok(None)
    }
}

/// What the store of the resources said, as the run's error.
pub(super) fn failed(resources: &dyn Resources, error: BackendError) -> RunError {
    let store = resources.store();
    match error.kind {
        BackendErrorKind::Unavailable => RunError::unavailable(error, |error| {
            format!("the {store} backend is not available: {error}")
        }),
        BackendErrorKind::NotFound | BackendErrorKind::Rejected | BackendErrorKind::Unsupported => {
            RunError::Refused {
                message: format!("the {store} backend refused: {error}"),
                hint: error.hint.unwrap_or_default(),
            }
        }
    }
}
