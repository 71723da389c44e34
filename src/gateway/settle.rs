//! After a crash: a mutation whose intent is in the journal, and whose result is not. What the backend holds now says
//! whether it happened; nothing is repeated on a guess.

use super::content::{error_content, head};
use super::plan::allowed_a_wipe;
use super::redact::clean;
use super::{CallContext, Gateway, GatewayError};
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::store::Event;
use agentctl_engine::store::event::{BaseHow, Change, CreateMark, MutationExpectation};
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::{BackendError, BackendErrorKind, ListQuery, Stored, list_all};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a workflow that was sent may take to be there, when whoever sent it is gone.
const APPEARS: Duration = Duration::from_millis(1500);
/// Calls that may be made twice.
const REPEATABLE: [&str; 3] = [
    super::tools::WRITE_LEARNING,
    "activate_workflow",
    "deactivate_workflow",
];

/// What became of an interrupted mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    Done,
    /// The state is as it was before: the call may be made.
    NotDone,
    /// Neither: somebody else changed it, or the call was of a kind that cannot be looked up.
    Unknown,
}

/// `found` is the graph hash that the backend holds now; None: there is no such workflow.
pub fn judge(expect: &MutationExpectation, found: Option<&str>) -> Settlement {
    let before = expect.before.as_deref();
    let after = expect.after.as_deref();
    if found == before {
        // Also when before and after are equal (only the name or positions change): writing the same document again is safe.
        Settlement::NotDone
    } else if found == after {
        Settlement::Done
    } else {
        Settlement::Unknown
    }
}

impl Gateway {
    /// Settles an intent that has no result. Some: journaled, give it to the model. None: it did not happen (or changes nothing),
    /// so make the call again, which journals a new intent.
    pub async fn settle(
        &self,
        cx: &mut CallContext<'_>,
        intent: &Event,
    ) -> Result<Option<ToolResult>, GatewayError> {
        let Event::ToolIntent {
            step,
            role,
            call,
            decision,
            mutates,
            expect,
            ..
        } = intent
        else {
            return Ok(None);
        };
        if !mutates {
            return Ok(None);
        }
        let result = |status, content| ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            status,
            content: clean(&self.redactor, content),
        };
        let unknown = |why: &str| {
            error_content(
                why,
                "settle",
                "read the workflow with get_workflow before anything else",
            )
        };
        let mut allowed = None;
        let (result, change) = match expect {
            Some(MutationExpectation {
                workflow_id: Some(id),
                rehearsal: Some(left),
                ..
            }) => {
                self.clear_rehearsal(&WorkflowId(id.clone()), left).await?;
                if !super::rehearse::let_something_act(call) && cx.guards.let_act().is_empty() {
                    return Ok(None); // nothing acted, so the test can be made again
                }
                let why = "the run was interrupted during a test in which nodes may have acted; its copy is removed";
                (result(ToolStatus::Unknown, unknown(why)), None)
            }
            Some(MutationExpectation {
                created: Some(mark),
                after,
                ..
            }) => {
                let found = self.created(mark).await;
                let found = found.map_err(|error| self.unavailable(error))?;
                match found.as_slice() {
                    [] => return Ok(None),
                    [one] if Some(&one.graph_hash) == after.as_ref() => {
                        let change = Change {
                            workflow_id: one.id.0.clone(),
                            before: None,
                            after: Some(one.graph_hash.clone()),
                            node_count: one.workflow.nodes.len(),
                            snapshot: None,
                        };
                        let content = done_content(one, &change);
                        (result(ToolStatus::Ok, content), Some(change))
                    }
                    several => {
                        let ids: Vec<&str> = several.iter().map(|s| s.id.0.as_str()).collect();
                        let why = format!(
                            "the run was interrupted while it created {:?}, which is there now, but not as planned: {}",
                            mark.name,
                            ids.join(", ")
                        );
                        (result(ToolStatus::Unknown, unknown(&why)), None)
                    }
                }
            }
            Some(expect) if expect.workflow_id.is_some() => {
                let id = WorkflowId(expect.workflow_id.clone().unwrap_or_default());
                let found = self.find(&id).await?;
                let hash = found.as_ref().map(|stored| stored.graph_hash.as_str());
                match judge(expect, hash) {
                    Settlement::NotDone => return Ok(None),
                    Settlement::Done => {
                        let change = settled_change(cx, expect, &id, found.as_ref());
                        allowed = found.clone().filter(|_| allowed_a_wipe(decision));
                        let content = match &found {
                            Some(stored) => done_content(stored, &change),
                            None => json!({"id": id, "deleted": true, "settled": true}),
                        };
                        (result(ToolStatus::Ok, content), Some(change))
                    }
                    Settlement::Unknown => (
                        result(
                            ToolStatus::Unknown,
                            unknown(&format!(
                                "the run was interrupted during this call, and the workflow `{id}` is neither as before nor as planned"
                            )),
                        ),
                        None,
                    ),
                }
            }
            // A learning is written once however often it is asked for, and a workflow is published or it is not.
            _ if REPEATABLE.contains(&call.name.as_str()) => return Ok(None),
            _ => (
                result(
                    ToolStatus::Unknown,
                    unknown("the run was interrupted during this call; it may have happened"),
                ),
                None,
            ),
        };
        cx.record(
            Event::ToolFinished {
                step: step.clone(),
                role: role.clone(),
                result: result.clone(),
                change,
            },
            true,
        )?;
        if let Some(found) = allowed {
            self.accept(&found, BaseHow::Approved, cx.recorder.now())?;
        }
        Ok(Some(result))
    }

    /// What a new workflow will be known by. Taken right before it is made.
    pub(super) async fn create_mark(
        &self,
        workflow: &Workflow,
    ) -> Result<CreateMark, BackendError> {
        let name = workflow.name().to_owned();
        let query = ListQuery::named(name.clone());
        let listing = list_all(self.backend.as_ref(), &query).await?;
        Ok(CreateMark {
            name,
            known: listing.workflows.into_iter().map(|w| w.id.0).collect(),
            nodes: node_ids(workflow),
        })
    }

    /// The workflows that fit the mark. One that was just sent may take a moment to be there.
    pub(super) async fn created(&self, mark: &CreateMark) -> Result<Vec<Stored>, BackendError> {
        let query = ListQuery::named(mark.name.clone());
        for pause in [Some(APPEARS), None] {
            let listing = list_all(self.backend.as_ref(), &query).await?;
            let mut found = Vec::new();
            for listed in listing.workflows {
                if mark.known.contains(&listed.id.0) {
                    continue;
                }
                match self.backend.get(&listed.id).await {
                    Ok(stored) if node_ids(&stored.workflow) == mark.nodes => found.push(stored),
                    Err(error) if error.kind == BackendErrorKind::Unavailable => return Err(error),
                    Ok(_) | Err(_) => {}
                }
            }
            match pause {
                Some(pause) if found.is_empty() => tokio::time::sleep(pause).await,
                _ => return Ok(found),
            }
        }
        Ok(Vec::new())
    }

    /// The workflow, or None when there is none.
    pub(super) async fn find(&self, id: &WorkflowId) -> Result<Option<Stored>, GatewayError> {
        match self.backend.get(id).await {
            Ok(stored) => Ok(Some(stored)),
            Err(e) if e.kind == BackendErrorKind::NotFound => Ok(None),
            Err(e) => Err(self.unavailable(e)),
        }
    }
}

fn node_ids(workflow: &Workflow) -> Vec<String> {
    let mut ids: Vec<String> = workflow.nodes.iter().map(|node| node.id().0).collect();
    ids.sort_unstable();
    ids
}

fn settled_change(
    cx: &CallContext<'_>,
    expect: &MutationExpectation,
    id: &WorkflowId,
    found: Option<&Stored>,
) -> Change {
    Change {
        workflow_id: id.0.clone(),
        before: expect.before.clone(),
        after: found.map(|stored| stored.graph_hash.clone()),
        node_count: found.map_or(0, |stored| stored.workflow.nodes.len()),
        snapshot: expect
            .before
            .as_ref()
            .and_then(|_| cx.guards.snapshots(id).last())
            .map(|mark| mark.file.clone()),
    }
}

/// What the call itself would have answered, as far as it can still be known.
fn done_content(stored: &Stored, change: &Change) -> Value {
    let mut map = head(stored);
    map.insert("changed".into(), Value::Bool(true));
    if let Some(snapshot) = &change.snapshot {
        map.insert("snapshot".into(), json!(snapshot));
    }
    map.insert("settled".into(), Value::Bool(true));
    Value::Object(map)
}
