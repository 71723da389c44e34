//! Doing what was planned, and reading it back: a write counts when the backend holds what was meant, whatever it said.
//! The caller has journaled the intent before, and journals the outcome after.

use super::content::head;
use super::findings::brief;
use super::n8n::{N8n, resource};
use super::scope::GivenScope;
use crate::backend::{BackendError, BackendErrorKind, Stored};
use crate::guards;
use agentctl_base::decision::Decision;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::store::event::Change;
use agentctl_engine::toolset::{Answer, Outcome, Performed, error_content};
use agentctl_n8n::{Workflow, WorkflowId};
use serde_json::{Map, Value, json};

impl N8n {
    /// Others work on an n8n too, and it replaces without asking: what was judged must be what is there, to the moment before
    /// the write. Only where the backend says which version it holds.
    pub(super) async fn moved_on(&self, before: &Stored) -> Option<Result<Outcome, BackendError>> {
        before.version_id.as_ref()?;
        let now = match self.backend.get(&before.id).await {
            Ok(now) => now,
            Err(error) => return Some(Err(error)),
        };
        if (&now.version_id, now.active) == (&before.version_id, before.active) {
            return None;
        }
        let why = "somebody changed the workflow since this call read it: nothing was written";
        Some(Ok(Outcome::Refused(guards::deny(guards::STALE, why))))
    }

    /// A workflow counts as published, or as taken back, when reading it says so.
    pub(super) async fn published(
        &self,
        id: &WorkflowId,
        active: bool,
        error: Option<BackendError>,
    ) -> Answer {
        match (self.backend.get(id).await, error) {
            (Ok(stored), _) if stored.active == active => {
                Ok(Outcome::Ok(Value::Object(head(&stored))))
            }
            (_, Some(error)) => Err(error),
            (Ok(stored), None) => {
                let error = format!("the workflow reads back as active: {}", stored.active);
                Ok(Outcome::failed(error, "verify", "read it again"))
            }
            (Err(read), None) => {
                let why = format!("whether `{id}` is published could not be read back: {read}");
                Ok(unread(why, read))
            }
        }
    }

    /// Deletes it, and looks whether it is gone.
    pub(super) async fn remove(
        &self,
        before: &Stored,
        snapshot: Option<&SnapshotRef>,
    ) -> Performed {
        if let Some(refused) = self.moved_on(before).await {
            return (refused, None);
        }
        let done = self.backend.delete(&before.id).await;
        let gone = match self.backend.get(&before.id).await {
            Err(error) if error.kind == BackendErrorKind::NotFound => true,
            Err(read) => {
                let why = format!(
                    "whether `{}` is gone could not be read back: {read}",
                    before.id
                );
                return (Ok(unread(why, read)), None);
            }
            Ok(_) => false,
        };
        let snapshot = snapshot.map(|s| s.file.clone());
        match (done, gone) {
            (_, true) => {
                let change = Change {
                    resource: resource(&before.id),
                    before: Some(before.graph_hash.clone()),
                    after: None,
                    size: 0,
                    snapshot: snapshot.clone(),
                };
                let content = json!({"id": before.id, "deleted": true, "snapshot": snapshot});
                (Ok(Outcome::Ok(content)), Some(change))
            }
            (Err(error), false) => (Err(error), None),
            (Ok(()), false) => (
                Ok(Outcome::failed(
                    format!(
                        "the workflow `{}` is still there after deleting it",
                        before.id
                    ),
                    "verify",
                    "tell the user",
                )),
                None,
            ),
        }
    }

    /// A write counts when reading it back gives the graph that was meant, whatever the write itself said.
    pub(super) async fn read_back(
        &self,
        was: Was<'_>,
        meant: &str,
        error: Option<BackendError>,
        notes: Map<String, Value>,
    ) -> Performed {
        let stored = match self.backend.get(&was.id).await {
            Ok(stored) => stored,
            Err(read) => {
                let unwritten = error.is_some() && read.kind == BackendErrorKind::NotFound;
                return match error {
                    Some(error) if unwritten && was.before.is_none() => (Err(error), None),
                    _ => {
                        let why =
                            format!("the write of `{}` could not be read back: {read}", was.id);
                        (Ok(unread(why, read)), None)
                    }
                };
            }
        };
        if let Some(error) = error
            && (was.before.is_none() || was.before.as_deref() == Some(&stored.graph_hash))
        {
            // A create that failed found a file that is not its own; a replace that failed left what was.
            return (Err(error), None);
        }
        let change = Change {
            resource: resource(&was.id),
            before: was.before,
            after: Some(stored.graph_hash.clone()),
            size: stored.workflow.nodes.len(),
            snapshot: was.snapshot.clone(),
        };
        let mut content = head(&stored);
        content.extend(notes);
        if let Some(snapshot) = was.snapshot {
            content.insert("snapshot".into(), json!(snapshot));
        }
        if stored.graph_hash == meant {
            let findings = self.findings(&stored.workflow);
            content.insert("check".into(), brief(&findings));
            return (Ok(Outcome::Ok(Value::Object(content))), Some(change));
        }
        let mut failure = error_content(
            "the workflow reads back with another graph than was written",
            "verify",
            "call get_workflow and compare; rollback_workflow puts it back",
        );
        let broken = was.judged.map(|(before, scope)| {
            [
                scope.map(|scope| scope.judge(before, &stored.workflow)),
                Some(guards::credentials(Some(before), &stored.workflow)),
            ]
        });
        let reasons: Vec<String> = (broken.into_iter().flatten().flatten())
            .filter_map(|decision| match decision {
                Decision::Allow { .. } => None,
                Decision::Ask { rule, reason } | Decision::Deny { rule, reason } => {
                    Some(format!("{rule}: {reason}"))
                }
            })
            .collect();
        if let (Value::Object(map), false) = (&mut failure, reasons.is_empty()) {
            map.insert("guards".into(), json!(reasons));
        }
        if let Value::Object(map) = &mut failure {
            map.insert("workflow".into(), Value::Object(content));
        }
        (Ok(Outcome::Failed(failure)), Some(change))
    }
}

/// What is known of a workflow before it is read back.
pub(super) struct Was<'a> {
    pub id: WorkflowId,
    pub before: Option<String>,
    pub snapshot: Option<String>,
    /// What the guards judged before the write, to judge what was read back by the same.
    pub judged: Option<(&'a Workflow, Option<&'a GivenScope>)>,
}

/// A store that cannot be reached now is asked again when the run is taken up; one that answers otherwise would answer so again.
fn unread(why: String, read: BackendError) -> Outcome {
    match read.kind {
        BackendErrorKind::Unavailable => Outcome::Unread(BackendError {
            message: why,
            ..read
        }),
        _ => Outcome::Unknown(error_content(
            &why,
            "verify",
            "read the workflow with get_workflow before anything else",
        )),
    }
}
