//! Taking back what a run did to workflows: each is put back as it was before the run, one that the run created is removed.
//! A user's command, never a model's: it asks no policy, but it is snapshotted and journaled like any other change, and it
//! refuses to overwrite what somebody did since.

use super::{
    Resume, RunContext, RunError,
    activation::{Reopened, reopen},
    driver::{Driver, gateway_error},
};
use crate::{
    backend::{Backend, BackendError, BackendErrorKind, Stored},
    gateway::{CallContext, Recorder},
    n8n::{Workflow, WorkflowId},
    store::{Event, Outcome, Project},
};
use serde::{Deserialize, Serialize};

/// What to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undo {
    /// Everything that the run changed; None: the active run.
    Run(Option<String>),
    /// What the last run that changed this workflow (an id, or what the backend takes for one) did to it.
    Workflow(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoReport {
    pub run_id: String,
    pub workflows: Vec<Undone>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Undone {
    pub workflow_id: String,
    pub what: UndoneHow,
    /// The workflow as it was right before this undo: a way back.
    pub snapshot: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoneHow {
    PutBack,
    /// The run had created it.
    Removed,
    /// The run had deleted it.
    Restored,
    /// It was already as before the run.
    Unchanged,
}

/// What one workflow needs; worked out for all of them before any is touched.
struct Plan {
    id: WorkflowId,
    now: Option<Stored>,
    /// The snapshot to put back; None: remove.
    back_to: Option<(String, Workflow)>,
}

/// Takes back a run's changes. Refused, before anything is changed, when a workflow is no longer what the run left;
/// `force` overrides that.
pub async fn undo(cx: RunContext<'_>, what: Undo, force: bool) -> Result<UndoReport, RunError> {
    let (run, only) = match what {
        Undo::Run(run) => (run, None),
        Undo::Workflow(named) => {
            // A file or a title means its workflow; one that is gone is still known by its id.
            let id = match cx.gateway.backend().resolve(&named).await {
                Ok(id) => id.0,
                Err(_) => named,
            };
            let run = last_run_that_changed(cx.project, &id)?;
            (Some(run), Some(id))
        }
    };
    let resume = Resume {
        allow_other_pack: true,
        ..Resume::default()
    };
    let (_lock, mut driver, project): Reopened<'_> = reopen(cx, run.as_deref(), resume)?;
    driver.settle_begun().await?;
    let plans = driver.plan_undo(only.as_deref(), force).await?;
    let before = driver.desk.ledger.activation_outcome;
    driver.activate("undo")?;
    let mut workflows = Vec::with_capacity(plans.len());
    for plan in plans {
        let undone = driver.carry_out(plan).await;
        workflows.push(undone?);
    }
    // An unfinished run cannot go on from a workflow that was taken away from under it.
    if driver.desk.ledger.ended.is_none() {
        driver.end(Outcome::Cancelled, "its changes were undone".into())?;
    }
    let outcome = match &driver.desk.ledger.ended {
        Some(ended) => ended.outcome,
        None => before.unwrap_or(Outcome::Cancelled),
    };
    driver.record(
        Event::ActivationEnded {
            activation: driver.desk.ledger.activation,
            outcome,
        },
        true,
    )?;
    driver.project(project, "its changes were undone")?;
    Ok(UndoReport {
        run_id: driver.desk.ledger.run_id.clone(),
        workflows,
    })
}

fn last_run_that_changed(project: &Project, workflow_id: &str) -> Result<String, RunError> {
    let runs = super::inspect::list(project)?;
    let run = runs
        .into_iter()
        .rev()
        .find(|run| run.workflows.iter().any(|id| id == workflow_id));
    run.map(|run| run.run_id).ok_or_else(|| {
        RunError::Usage(format!(
            "no run of this project changed a workflow {workflow_id:?}"
        ))
    })
}

impl Driver<'_> {
    /// A change that a killed process had begun is taken back like the others, when it was made.
    async fn settle_begun(&mut self) -> Result<(), RunError> {
        let begun = self.desk.ledger.unsettled();
        if begun.is_empty() {
            return Ok(());
        }
        let outcome = self.desk.ledger.activation_outcome;
        self.activate("settle")?;
        for intent in &begun {
            let Event::ToolIntent { step, role, .. } = intent else {
                continue;
            };
            let mut cx = CallContext {
                role,
                step,
                offered: None,
                can_ask: false,
                guards: &mut self.guards,
                recorder: &mut self.desk,
            };
            let settled = self.gateway.settle(&mut cx, intent).await;
            self.desk.sound()?;
            settled.map_err(gateway_error)?;
        }
        self.record(
            Event::ActivationEnded {
                activation: self.desk.ledger.activation,
                outcome: outcome.unwrap_or(Outcome::Interrupted),
            },
            true,
        )
    }

    async fn plan_undo(&self, only: Option<&str>, force: bool) -> Result<Vec<Plan>, RunError> {
        let ledger = &self.desk.ledger;
        let ids: Vec<String> = ledger
            .changed_workflows()
            .into_iter()
            .filter(|id| only.is_none_or(|only| only == *id))
            .map(str::to_owned)
            .collect();
        if ids.is_empty() {
            return Err(RunError::Usage(format!(
                "run {} changed no workflow",
                ledger.run_id
            )));
        }
        let backend = self.gateway.backend();
        let mut plans = Vec::with_capacity(ids.len());
        // The last change is taken back first.
        for id in ids.into_iter().rev() {
            let (Some(first), Some(last)) = (
                ledger.changes.iter().find(|c| c.change.workflow_id == id),
                ledger.last_change(Some(&id)),
            ) else {
                continue;
            };
            let now = read(backend, &WorkflowId(id.clone())).await?;
            let hash = now.as_ref().map(|s| s.graph_hash.as_str());
            let as_left = hash == last.change.after.as_deref();
            let as_before = hash == first.change.before.as_deref();
            if !as_left && !as_before && !force {
                return Err(RunError::Refused {
                    message: format!(
                        "the workflow {id:?} was changed since run {} left it",
                        ledger.run_id
                    ),
                    hint: "look at it first; `agentctl undo --force` puts it back anyway".into(),
                });
            }
            let back_to = match (&first.change.before, &first.change.snapshot) {
                (None, _) => None,
                (Some(_), Some(file)) => Some((file.clone(), self.snapshot(file)?)),
                (Some(_), None) => {
                    return Err(RunError::Refused {
                        message: format!(
                            "the run has no snapshot of {id:?} from before its change"
                        ),
                        hint: "its versions may still hold it".into(),
                    });
                }
            };
            plans.push(Plan {
                id: WorkflowId(id),
                now,
                back_to,
            });
        }
        Ok(plans)
    }

    fn snapshot(&self, file: &str) -> Result<Workflow, RunError> {
        let text = self.desk.snapshots.read(file)?;
        serde_json::from_str(&text).map_err(|e| RunError::Refused {
            message: format!("the snapshot {file} cannot be read: {e}"),
            hint: "nothing was changed".into(),
        })
    }

    async fn carry_out(&mut self, plan: Plan) -> Result<Undone, RunError> {
        let backend = self.gateway.backend();
        let mut kept = None;
        if let Some(now) = &plan.now {
            let mark = self
                .desk
                .snapshot(&plan.id, &now.workflow, &now.graph_hash)?;
            kept = Some(mark.file.clone());
            self.record(
                Event::SnapshotTaken {
                    workflow_id: mark.workflow_id,
                    file: mark.file,
                    graph_hash: mark.graph_hash,
                    node_count: mark.node_count,
                },
                true,
            )?;
        }
        let name = backend.name().to_owned();
        let failed = |e: BackendError| backend_error(&name, e);
        let (what, to) = match (&plan.back_to, &plan.now) {
            (None, None) => (UndoneHow::Unchanged, String::new()),
            (None, Some(_)) => {
                backend.delete(&plan.id).await.map_err(failed)?;
                (UndoneHow::Removed, String::new())
            }
            (Some((file, workflow)), Some(now)) if now.workflow == *workflow => {
                (UndoneHow::Unchanged, file.clone())
            }
            (Some((file, workflow)), Some(_)) => {
                backend.replace(&plan.id, workflow).await.map_err(failed)?;
                (UndoneHow::PutBack, file.clone())
            }
            (Some((file, workflow)), None) => {
                backend
                    .create(Some(&plan.id), workflow)
                    .await
                    .map_err(failed)?;
                (UndoneHow::Restored, file.clone())
            }
        };
        self.record(
            Event::Undone {
                workflow_id: plan.id.0.clone(),
                to_snapshot: to,
            },
            true,
        )?;
        Ok(Undone {
            workflow_id: plan.id.0,
            what,
            snapshot: kept,
        })
    }
}

async fn read(backend: &dyn Backend, id: &WorkflowId) -> Result<Option<Stored>, RunError> {
    match backend.get(id).await {
        Ok(stored) => Ok(Some(stored)),
        Err(e) if e.kind == BackendErrorKind::NotFound => Ok(None),
        Err(e) => Err(backend_error(backend.name(), e)),
    }
}

fn backend_error(backend: &str, error: BackendError) -> RunError {
    match error.kind {
        BackendErrorKind::Unavailable => RunError::Backend {
            message: format!("the {backend} backend is not available: {error}"),
            hint: error.hint.unwrap_or_default(),
        },
        BackendErrorKind::NotFound | BackendErrorKind::Rejected | BackendErrorKind::Unsupported => {
            RunError::Refused {
                message: format!("the {backend} backend refused: {error}"),
                hint: error.hint.unwrap_or_default(),
            }
        }
    }
}
