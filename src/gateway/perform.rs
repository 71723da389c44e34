//! Doing what was planned, and reading it back: a write counts when the backend holds what was meant, whatever it said.
//! The caller has journaled the intent before, and journals the outcome after.

use super::checks::brief;
use super::content::{Outcome, error_content, head, knowledge_failure};
use super::plan::{GivenScope, Plan};
use super::{Gateway, guards};
use agentctl_base::decision::Decision;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::store::event::Change;
use agentctl_n8n::diff::changes;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::{BackendError, BackendErrorKind, Stored, TriggerCall, Triggered};
use serde_json::{Map, Value, json};

impl Plan {
    /// The workflow that it changes (None: a new one), and whether it deletes it. None: it changes no workflow.
    pub(super) fn touches(&self) -> Option<(Option<&str>, bool)> {
        match self {
            Plan::Create { .. } => Some((None, false)),
            Plan::Replace { before, .. } => Some((Some(before.id.0.as_str()), false)),
            Plan::Delete(before) => Some((Some(before.id.0.as_str()), true)),
            Plan::SetActive { at, .. } | Plan::Trigger { at, .. } => {
                Some((Some(at.id.0.as_str()), false))
            }
            Plan::Rehearse(test) => Some((Some(test.at.id.0.as_str()), false)),
            Plan::WriteLearning(_) => None,
        }
    }
}

impl Gateway {
    /// Does it, reads it back, and says what is there now.
    pub(super) async fn perform(
        &self,
        plan: Plan,
        snapshot: Option<SnapshotRef>,
    ) -> (Result<Outcome, BackendError>, Option<Change>) {
        match plan {
            Plan::Create {
                id,
                after,
                meant,
                mark,
                accounts,
            } => {
                let written = self.backend.create(id.as_ref(), &after).await;
                let (id, error) = match (written, id, mark) {
                    (Ok(stored), _, _) => (stored.id, None),
                    (Err(error), Some(id), _) => (id, Some(error)),
                    // It may be there all the same: then it is ours, and no second one is made.
                    (Err(error), None, Some(mark)) => match self.created(&mark).await {
                        Ok(found) => match found.as_slice() {
                            [one] => (one.id.clone(), None),
                            _ => return (Err(error), None),
                        },
                        Err(_) => return (Err(error), None),
                    },
                    (Err(error), None, None) => return (Err(error), None),
                };
                let was = Was {
                    id,
                    before: None,
                    snapshot: None,
                    judged: None,
                };
                let mut notes = Map::from_iter([("created".to_owned(), Value::Bool(true))]);
                if !accounts.is_empty() {
                    notes.insert("credentials".into(), Value::Array(accounts));
                }
                self.read_back(was, &meant, error, notes).await
            }
            Plan::Replace {
                before,
                after,
                meant,
                mut notes,
                scope,
            } => {
                if let Some(refused) = self.moved_on(&before).await {
                    return (refused, None);
                }
                let written = self.backend.replace(&before.id, &after).await;
                notes.insert("changed".into(), Value::Bool(true));
                let lines = changes(&before.workflow, &after).to_string();
                notes.insert("changes".into(), lines.lines().collect());
                let was = Was {
                    id: before.id.clone(),
                    before: Some(before.graph_hash.clone()),
                    snapshot: snapshot.map(|s| s.file),
                    judged: Some((before.workflow, scope)),
                };
                self.read_back(was, &meant, written.err(), notes).await
            }
            Plan::Delete(before) => self.delete(*before, snapshot).await,
            Plan::SetActive { at, active } => {
                let said = self.backend.set_active(&at.id, active).await;
                (self.published(&at.id, active, said.err()).await, None)
            }
            Plan::Trigger { at, call } => {
                let run = self.backend.trigger(&at.id, &call).await;
                (run.map(|run| triggered(&at, &call, &run)), None)
            }
            Plan::Rehearse(test) => (self.try_out(*test).await, None),
            Plan::WriteLearning(entry) => {
                let outcome = match self.knowledge.write_learning(&entry) {
                    Ok(id) => Outcome::Ok(json!({"learning_id": id, "title": entry.title})),
                    Err(error) => knowledge_failure(&error),
                };
                (Ok(outcome), None)
            }
        }
    }

    /// Others work on an n8n too, and it replaces without asking: what was judged must be what is there, to the moment before
    /// the write. Only where the backend says which version it holds.
    async fn moved_on(&self, before: &Stored) -> Option<Result<Outcome, BackendError>> {
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
    async fn published(
        &self,
        id: &WorkflowId,
        active: bool,
        error: Option<BackendError>,
    ) -> Result<Outcome, BackendError> {
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
                Ok(Outcome::Unknown(unknown(&why)))
            }
        }
    }

    async fn delete(
        &self,
        before: Stored,
        snapshot: Option<SnapshotRef>,
    ) -> (Result<Outcome, BackendError>, Option<Change>) {
        if let Some(refused) = self.moved_on(&before).await {
            return (refused, None);
        }
        let done = self.backend.delete(&before.id).await;
        let gone = match self.backend.get(&before.id).await {
            Err(error) => error.kind == BackendErrorKind::NotFound,
            Ok(_) => false,
        };
        let snapshot = snapshot.map(|s| s.file);
        match (done, gone) {
            (_, true) => {
                let change = Change {
                    workflow_id: before.id.0.clone(),
                    before: Some(before.graph_hash),
                    after: None,
                    node_count: 0,
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
    async fn read_back(
        &self,
        was: Was,
        meant: &str,
        error: Option<BackendError>,
        notes: Map<String, Value>,
    ) -> (Result<Outcome, BackendError>, Option<Change>) {
        let stored = match self.backend.get(&was.id).await {
            Ok(stored) => stored,
            Err(read) => {
                let unwritten = error.is_some() && read.kind == BackendErrorKind::NotFound;
                return match error {
                    Some(error) if unwritten && was.before.is_none() => (Err(error), None),
                    _ => {
                        let why =
                            format!("the write of `{}` could not be read back: {read}", was.id);
                        (Ok(Outcome::Unknown(unknown(&why))), None)
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
            workflow_id: was.id.0.clone(),
            before: was.before,
            after: Some(stored.graph_hash.clone()),
            node_count: stored.workflow.nodes.len(),
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
                scope.map(|scope| scope.judge(&before, &stored.workflow)),
                Some(guards::credentials(Some(&before), &stored.workflow)),
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

/// Only an execution that was found counts as one.
fn triggered(at: &Stored, call: &TriggerCall, run: &Triggered) -> Outcome {
    let content = json!({
        "id": at.id,
        "node": call.point.node,
        "executed": run.execution.is_some(),
        "execution": run.execution,
        "status": run.status,
        "answer": run.answer,
    });
    if run.execution.is_some() {
        return Outcome::Ok(content);
    }
    let mut failure = error_content(
        "the call started no execution that could be found",
        "trigger",
        "report it as not executed; see that the workflow is active and what it answered",
    );
    if let (Value::Object(failure), Value::Object(content)) = (&mut failure, content) {
        failure.extend(content);
    }
    Outcome::Failed(failure)
}

struct Was {
    id: WorkflowId,
    before: Option<String>,
    snapshot: Option<String>,
    /// What the guards judged before the write, to judge what was read back by the same.
    judged: Option<(Workflow, Option<GivenScope>)>,
}

fn unknown(error: &str) -> Value {
    error_content(
        error,
        "verify",
        "read the workflow with get_workflow before anything else",
    )
}
