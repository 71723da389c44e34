//! After a crash: a mutation whose intent is in the journal, and whose result is not. What the backend holds now says
//! whether it happened; nothing is repeated on a guess.

use super::base::allowed_a_wipe;
use super::content::head;
use super::memory::memory;
use super::n8n::N8n;
use super::rehearse_workflow::let_something_act;
use crate::backend::{BackendError, BackendErrorKind, ListQuery, Stored, list_all};
use agentctl_engine::store::Event;
use agentctl_engine::store::event::{BaseHow, Change, CreateMark, MutationExpectation, Rehearsing};
use agentctl_engine::toolset::{Cx, Fault, Settling};
use agentctl_n8n::{Workflow, WorkflowId};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a workflow that was sent may take to be there, when whoever sent it is gone.
const APPEARS: Duration = Duration::from_millis(1500);

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

/// The test that the intent begins: of which workflow, and what it puts on the n8n for its time.
pub(super) fn left(intent: &Event) -> Option<(WorkflowId, Rehearsing)> {
    let Event::ToolIntent {
        expect: Some(expect),
        ..
    } = intent
    else {
        return None;
    };
    let id = WorkflowId(expect.workflow_id.clone()?);
    Some((id, expect.rehearsal.clone()?))
}

impl N8n {
    pub(super) async fn settle(&self, cx: &mut Cx<'_>, intent: &Event) -> Result<Settling, Fault> {
        let Event::ToolIntent { call, expect, .. } = intent else {
            return Ok(Settling::NotDone);
        };
        if let Some((id, left)) = left(intent) {
            self.clear_rehearsal(&id, &left).await?;
            if !let_something_act(call) && memory(cx.guards).let_act().is_empty() {
                return Ok(Settling::NotDone); // nothing acted, so the test can be made again
            }
            let why = "the run was interrupted during a test in which nodes may have acted; its copy is removed";
            return Ok(Settling::Unknown(why.to_owned()));
        }
        match expect {
            Some(MutationExpectation {
                created: Some(mark),
                after,
                ..
            }) => self.settle_new(mark, after.as_deref()).await,
            Some(
                expect @ MutationExpectation {
                    workflow_id: Some(id),
                    ..
                },
            ) => self.settle_known(cx, expect, &WorkflowId(id.clone())).await,
            _ => Ok(Settling::Unknown(
                "the run was interrupted during this call; it may have happened".to_owned(),
            )),
        }
    }

    async fn settle_new(&self, mark: &CreateMark, after: Option<&str>) -> Result<Settling, Fault> {
        let found = self.created(mark).await;
        let found = found.map_err(|error| self.unavailable(error))?;
        Ok(match found.as_slice() {
            [] => Settling::NotDone,
            [one] if Some(one.graph_hash.as_str()) == after => {
                let change = Change {
                    workflow_id: one.id.0.clone(),
                    before: None,
                    after: Some(one.graph_hash.clone()),
                    node_count: one.workflow.nodes.len(),
                    snapshot: None,
                };
                let content = done_content(one, &change);
                Settling::Done { content, change }
            }
            several => {
                let ids: Vec<&str> = several.iter().map(|s| s.id.0.as_str()).collect();
                Settling::Unknown(format!(
                    "the run was interrupted while it created {:?}, which is there now, but not as planned: {}",
                    mark.name,
                    ids.join(", ")
                ))
            }
        })
    }

    async fn settle_known(
        &self,
        cx: &mut Cx<'_>,
        expect: &MutationExpectation,
        id: &WorkflowId,
    ) -> Result<Settling, Fault> {
        let found = self.find(id).await?;
        let hash = found.as_ref().map(|stored| stored.graph_hash.as_str());
        Ok(match judge(expect, hash) {
            Settlement::NotDone => Settling::NotDone,
            Settlement::Done => {
                let change = settled_change(cx, expect, id, found.as_ref());
                let content = match &found {
                    Some(stored) => done_content(stored, &change),
                    None => json!({"id": id, "deleted": true, "settled": true}),
                };
                Settling::Done { content, change }
            }
            Settlement::Unknown => Settling::Unknown(format!(
                "the run was interrupted during this call, and the workflow `{id}` is neither as before nor as planned"
            )),
        })
    }

    /// After the result is in the journal: a wipe that the user allowed is what losses count from.
    pub(super) async fn settled(
        &self,
        intent: &Event,
        change: &Change,
        now: jiff::Timestamp,
    ) -> Result<(), Fault> {
        let Event::ToolIntent { decision, .. } = intent else {
            return Ok(());
        };
        if !allowed_a_wipe(decision) {
            return Ok(());
        }
        // Only the state that was judged: what somebody made of it since is nobody's word. One that cannot be read now is asked for
        // again, which is stricter and stops nothing.
        match self.find(&WorkflowId(change.workflow_id.clone())).await {
            Ok(Some(found)) if Some(&found.graph_hash) == change.after.as_ref() => {
                self.accept(&found, BaseHow::Approved, now)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What a new workflow will be known by. Taken right before it is made.
    pub(super) async fn create_mark(
        &self,
        workflow: &Workflow,
    ) -> Result<CreateMark, BackendError> {
        let name = workflow.name().to_owned();
        let query = ListQuery::named(name.clone());
        let listing = list_all(self.backend(), &query).await?;
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
            let listing = list_all(self.backend(), &query).await?;
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
    pub(super) async fn find(&self, id: &WorkflowId) -> Result<Option<Stored>, Fault> {
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
    cx: &Cx<'_>,
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
            .and_then(|_| cx.guards.log().snapshots(&id.0).last())
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
