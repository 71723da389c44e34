//! A new state of a workflow that is there: the guards of every write over it, and the write.

use super::base::Acceptance;
use super::content::head;
use super::memory::memory;
use super::n8n::resource;
use super::n8n::{N8n, mark, reserve};
use super::perform::Was;
use super::scope::GivenScope;
use super::shown::difference;
use crate::backend::Stored;
use crate::guards;
use crate::noted::{BaseHow, Counted, Noted};
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_base::question::Glance;
use agentctl_engine::redact::Redactor;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::store::event::{Change, MutationExpectation};
use agentctl_engine::toolset::{
    Act, Cx, Fault, Keep, Outcome, Performed, Plan, Planning, Reserved, Touches, Wanted,
};
use agentctl_n8n::diff::changes;
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::rehearsal::{Effect, Ground, effect};
use agentctl_n8n::{Node, Workflow};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A write over a workflow that is there.
pub(super) struct Write {
    pub after: Workflow,
    /// Said in the answer besides what changed.
    pub notes: Map<String, Value>,
    /// The scope that the change was judged by: what is read back is judged by it again.
    pub scope: Option<GivenScope>,
}

/// What an edit makes of a workflow.
pub(super) struct Edited {
    pub after: Workflow,
    /// Said in the answer besides what changed.
    pub notes: Map<String, Value>,
    /// What the caller does to credentials; what the program takes by type is not the caller's doing.
    pub credentials: Decision,
    /// What is said of the part of the workflow that the tool may touch; None: it may touch all.
    pub part: Option<Decision>,
}

struct Replace {
    n8n: Arc<N8n>,
    before: Stored,
    after: Workflow,
    meant: String,
    notes: Map<String, Value>,
    scope: Option<GivenScope>,
    counted: Option<Counted>,
    /// What a person accepts with it; known once it is decided.
    acceptance: Option<Acceptance>,
}

impl Act for Replace {
    fn touches(&self) -> Touches {
        Touches::Existing(mark(&self.before))
    }
    fn rewrites(&self) -> bool {
        self.after != self.before.workflow
    }
    fn diff(&self, redactor: &Redactor) -> Option<String> {
        Some(difference(redactor, &self.before.workflow, &self.after))
    }
    fn after_it(&self) -> Option<Value> {
        Some(self.after.to_value())
    }
    fn glance(&self, wanted: &Wanted<'_>) -> Option<Glance> {
        let before = Some(&self.before.workflow);
        Some(self.n8n.glance(wanted, before, &self.after))
    }
    fn keep(&self) -> Option<Keep> {
        Some(Keep {
            mark: mark(&self.before),
            text: self.before.workflow.to_text(),
        })
    }

    fn before(
        &mut self,
        decision: &Decision,
        by_person: bool,
    ) -> Result<Result<(), Decision>, Fault> {
        let (n8n, counted) = (&self.n8n, self.counted.as_ref());
        if let Err(refused) = n8n.note_left(&self.before, &self.meant, counted)? {
            return Ok(Err(refused));
        }
        let requested = counted.is_some_and(|counted| counted.requested);
        let how = match (by_person, requested) {
            (true, _) => Some(BaseHow::Pushed),
            (false, true) => Some(BaseHow::Requested),
            (false, false) => None,
        };
        self.acceptance = n8n.acceptance(&self.after, &self.meant, decision, how);
        Ok(Ok(()))
    }

    fn perform<'a>(&'a mut self, snapshot: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(async move {
            let n8n = &self.n8n;
            if let Some(refused) = n8n.moved_on(&self.before).await {
                return (refused, None);
            }
            let written = n8n.backend.replace(&self.before.id, &self.after).await;
            let mut notes = std::mem::take(&mut self.notes);
            notes.insert("changed".into(), Value::Bool(true));
            let lines = changes(&self.before.workflow, &self.after).to_string();
            notes.insert("changes".into(), lines.lines().collect());
            let was = Was {
                id: self.before.id.clone(),
                before: Some(self.before.graph_hash.clone()),
                snapshot: snapshot.map(|s| s.file.clone()),
                judged: Some((&self.before.workflow, self.scope.as_ref())),
            };
            n8n.read_back(was, &self.meant, written.err(), notes).await
        })
    }

    fn after<'a>(
        &'a mut self,
        change: Option<&'a Change>,
        now: jiff::Timestamp,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        let acceptance = self.acceptance.take();
        Box::pin(
            self.n8n
                .note_done(change, Some(&self.meant), acceptance, now),
        )
    }
}

impl N8n {
    pub(super) fn plan_replace(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        before: Stored,
        edited: Edited,
        expected: Option<&str>,
        exact: &Value,
    ) -> Planning {
        let Edited {
            after,
            notes,
            credentials,
            part,
        } = edited;
        let mut reserved = vec![reserve(
            guards::stale(
                &before.graph_hash,
                cx.guards.log().seen(&before.id.0),
                expected,
            ),
            &before,
            "write",
            exact,
        )];
        if after == before.workflow {
            if let Some(Decision::Deny { .. }) = reserved.first().map(|r| &r.decision) {
                return Ok(Err(Outcome::Refused(reserved.remove(0).decision)));
            }
            let mut content = head(&before);
            content.insert("changed".into(), Value::Bool(false));
            content.extend(notes);
            return Ok(Err(Outcome::Ok(Value::Object(content))));
        }
        if let Some(decision) = part {
            reserved.push(reserve(decision, &before, "edit", exact));
        }
        let scope = self.given_scope(cx, &before)?;
        if let Some(scope) = &scope {
            let decision = scope.judge(&before.workflow, &after);
            reserved.push(reserve(decision, &before, "edit", exact));
            let stays = |node: &Node| effect(node, &Ground::default()) == Effect::Inside;
            let decision = scope.judge_data(&before.workflow, &after, &stays);
            let what = "let data from outside the scope into";
            reserved.push(reserve(decision, &before, what, exact));
        }
        reserved.push(reserve(
            credentials,
            &before,
            "change credentials in",
            exact,
        ));
        let write = Write {
            after,
            notes,
            scope,
        };
        self.plan_write(cx, before, write, exact, reserved)
    }

    /// The guards of every write over an existing workflow, whatever led to it.
    pub(super) fn plan_write(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        before: Stored,
        write: Write,
        exact: &Value,
        mut reserved: Vec<Reserved>,
    ) -> Planning {
        let Write {
            after,
            notes,
            scope,
        } = write;
        let losses = match self.losses(cx, &before, &after)? {
            Ok(losses) => losses,
            Err(refused) => return Ok(Err(refused)),
        };
        let counted = losses.map(|judged| {
            let reserve = reserve(judged.decision, &before, judged.what, exact);
            reserved.push(reserve);
            judged.counted
        });
        reserved.push(self.publish_reserve(cx, &before));
        let meant = graph_hash(&after);
        let noted = Noted {
            counted,
            ..Noted::default()
        };
        let expect = MutationExpectation {
            resource: Some(resource(&before.id)),
            before: Some(before.graph_hash.clone()),
            after: Some(meant.clone()),
            diff: Some(difference(cx.redactor, &before.workflow, &after)),
            more: noted.written(),
        };
        let act = Replace {
            n8n: Arc::clone(self),
            counted: noted.counted,
            before,
            after,
            meant,
            notes,
            scope,
            acceptance: None,
        };
        Ok(Ok(Plan {
            act: Box::new(act),
            reserved,
            expect: Some(expect),
            question: None,
        }))
    }

    /// Bound to the workflow and to what somebody else left of it, not to the call: the user is asked once in a run, and again when
    /// somebody changes it meanwhile.
    pub(super) fn publish_reserve(&self, cx: &Cx<'_>, before: &Stored) -> Reserved {
        let name = before.workflow.name();
        let found = memory(cx.guards).found_as(&before.id.0, &before.graph_hash);
        Reserved {
            // Where nothing is published by the write itself, `--yes` may go on.
            recommended: (!self.backend.can().activate).then(|| json!("approve")),
            ..Reserved::new(guards::publish(before.active, false, name), || {
                let what = format!("change the active workflow {name:?}");
                (what, json!({"workflow": before.id, "found": found}))
            })
        }
    }
}
