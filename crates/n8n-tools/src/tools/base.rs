//! What the losses of a change are counted from, and when that moves.

use super::memory::{N8nMemory, memory};
use super::n8n::N8n;
use crate::accepted::{Base, NotKept, State, Step};
use crate::backend::Stored;
use crate::guards::{self, Loss, Outline, Start, deny};
use crate::noted::{BaseHow, Counted};
use agentctl_base::decision::Decision;
use agentctl_base::shell;
use agentctl_engine::guards::{SnapshotMark, approved_rules};
use agentctl_engine::store::event::Change;
use agentctl_engine::toolset::{Cx, Fault, Outcome};
use agentctl_n8n::catalog::Lookup;
use agentctl_n8n::{Workflow, WorkflowId};
use std::sync::Arc;

/// A state of a workflow that a person accepts with the change that leads to it.
pub(super) struct Acceptance {
    how: BaseHow,
    meant: String,
    outline: Outline,
}

/// What is lost with a change, and what the wipe guard says of it.
pub(super) struct Judged {
    pub decision: Decision,
    /// What is asked for, before "the workflow …".
    pub what: &'static str,
    pub counted: Counted,
}

/// The state that losses are counted from.
enum From {
    /// As the run found it.
    Run(Arc<Outline>),
    Kept(Arc<Base>),
}

impl From {
    fn outline(&self) -> &Outline {
        match self {
            From::Run(outline) => outline,
            From::Kept(base) => &base.outline,
        }
    }

    fn counted(&self, loss: &Loss) -> Counted {
        let (how, since) = match self {
            From::Run(_) => (BaseHow::RunStart, None),
            From::Kept(base) => (base.how, Some(base.since.clone())),
        };
        Counted {
            how,
            since,
            lost: loss.lost.len(),
            total: loss.total,
            requested: false,
        }
    }

    /// Goes on "… of the N nodes".
    fn words(&self) -> String {
        match self {
            From::Run(_) => "it started from".to_owned(),
            From::Kept(base) => format!(
                "that were there on {}, {}",
                base.since.get(..10).unwrap_or_default(),
                base.how.when()
            ),
        }
    }
}

impl N8n {
    /// What the loss count keeps of a workflow.
    pub fn outline(&self, workflow: &Workflow) -> Outline {
        Outline::of(workflow, &|node_type| self.start(node_type))
    }

    /// What is lost of the base.
    pub fn loss(&self, base: &Outline, after: &Workflow) -> Loss {
        guards::loss(base, after, &|node_type| self.start(node_type))
    }

    /// A person says that the workflow as it is now is what is wanted: losses count from it.
    pub fn accept(&self, at: &Stored, how: BaseHow, now: jiff::Timestamp) -> Result<(), NotKept> {
        self.accept_state(&at.id, &at.graph_hash, &at.workflow, how, now)
    }

    pub(crate) fn accept_state(
        &self,
        id: &WorkflowId,
        graph_hash: &str,
        workflow: &Workflow,
        how: BaseHow,
        now: jiff::Timestamp,
    ) -> Result<(), NotKept> {
        let Some(accepted) = &self.accepted else {
            return Ok(());
        };
        let state = State {
            graph_hash,
            now,
            outline: &|| self.outline(workflow),
        };
        accepted.accept(id, how, &state)
    }

    /// The wipe guard's word on a change, and what it counted. None: the workflow is the run's own, and nobody else saw it.
    pub(super) fn losses(
        &self,
        cx: &mut Cx<'_>,
        before: &Stored,
        after: &Workflow,
    ) -> Result<Result<Option<Judged>, Outcome>, Fault> {
        let from = match self.counted_from(cx, before)? {
            Ok(Some(from)) => from,
            Ok(None) => return Ok(Ok(None)),
            Err(refused) => return Ok(Err(Outcome::Refused(refused))),
        };
        let loss = self.loss(from.outline(), after);
        let mut counted = from.counted(&loss);
        let allowed = |counted| Judged {
            decision: guards::allow(guards::WIPE),
            what: loss.what(),
            counted,
        };
        let mut alone = None;
        if loss.is_asked() {
            // What was as the user's words asked for is not asked about again when something else is changed.
            let was = self.loss(from.outline(), &before.workflow);
            if was.is_asked() && loss.adds_nothing_to(&was) {
                return Ok(Ok(Some(allowed(counted))));
            }
            // All that this run has done: the words are those of the whole run.
            let found = self.found(cx, before)?;
            let start = found.as_deref().unwrap_or(&before.workflow);
            let of_this = self.loss(&self.outline(start), after);
            let asked = guards::Asked {
                before: start,
                after,
                loss: &of_this,
            };
            // What an earlier change made of the workflow as a whole, no words of this one ask for.
            let is_plain = loss.replaced == 0 && loss.stopped.is_none();
            if is_plain && guards::is_asked_for(&asked, cx.guards.facts()) {
                // What an earlier change took out unasked still counts.
                counted.requested = loss.adds_nothing_to(&of_this);
                return Ok(Ok(Some(allowed(counted))));
            }
            alone = Some(self.loss(&self.outline(&before.workflow), after));
        }
        let mut decision = guards::wipe(&loss, &from.words());
        if let (Decision::Ask { reason, .. }, From::Kept(_)) = (&mut decision, &from)
            && alone.is_some_and(|alone| !alone.is_asked())
        {
            reason.push_str(&format!(
                "; if what is there now is what is wanted, `agentctl accept {}` counts from that",
                shell::word(&before.id.0)
            ));
        }
        Ok(Ok(Some(Judged {
            decision,
            what: loss.what(),
            counted,
        })))
    }

    fn counted_from(
        &self,
        cx: &mut Cx<'_>,
        before: &Stored,
    ) -> Result<Result<Option<From>, Decision>, Fault> {
        let own = cx.guards.log().owns(&before.id.0, &before.graph_hash);
        let Some(accepted) = &self.accepted else {
            return match own {
                true => Ok(Ok(None)),
                false => self.found_by_run(cx, before),
            };
        };
        let refused = |why: NotKept| why.refusal().map(Err);
        if own {
            match accepted.known(&before.id) {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(Ok(None)),
                Err(why) => return refused(why),
            }
        }
        let state = State {
            graph_hash: &before.graph_hash,
            now: cx.recorder.now(),
            outline: &|| self.outline(&before.workflow),
        };
        match accepted.base(&before.id, &state) {
            Ok(base) => Ok(Ok(Some(From::Kept(base)))),
            Err(why) => refused(why),
        }
    }

    /// Where nothing is kept from run to run: the workflow as the run found it, or as the user last allowed it to become.
    fn found_by_run(
        &self,
        cx: &mut Cx<'_>,
        before: &Stored,
    ) -> Result<Result<Option<From>, Decision>, Fault> {
        // What this run made, and somebody else has changed since: as that one left it.
        let grown = cx.guards.log().made(&before.id.0);
        let mark = memory(cx.guards)
            .wipe_base(cx.guards.log(), &before.id.0)
            .filter(|_| !grown);
        let Some(mark) = mark.cloned() else {
            let outline = self.outline(&before.workflow);
            return Ok(Ok(Some(From::Run(Arc::new(outline)))));
        };
        let Some(workflow) = self.snapshot_of(cx, &mark)? else {
            return Ok(Err(unreadable(&mark)));
        };
        let make = || self.outline(&workflow);
        let outline = match cx.guards.memory_mut::<N8nMemory>() {
            Some(memory) => memory.outlined(&mark.file, make),
            None => Arc::new(make()),
        };
        Ok(Ok(Some(From::Run(outline))))
    }

    /// Notes what a change is about to leave, so that it is not taken for somebody else's edit. Err: it must not be done. The note
    /// stays when the write is then refused: another process may have found it there and relied on it.
    pub(super) fn note_left(
        &self,
        before: &Stored,
        meant: &str,
        counted: Option<&Counted>,
    ) -> Result<Result<(), Decision>, Fault> {
        let Some(accepted) = &self.accepted else {
            return Ok(Ok(()));
        };
        let step = Step {
            before: &before.graph_hash,
            after: meant,
            lossy: counted.is_none_or(|counted| counted.lost > 0),
        };
        told(accepted.leave(&before.id, &step))
    }

    /// Before a workflow of this id is made: whatever had the id before is another workflow.
    pub(super) fn note_new(&self, id: &WorkflowId) -> Result<Result<(), Decision>, Fault> {
        let Some(accepted) = &self.accepted else {
            return Ok(Ok(()));
        };
        told(accepted.forget(id))
    }

    /// The state that the user accepts with a change: by allowing that most is taken away, or (`how`) by making the change.
    pub(super) fn acceptance(
        &self,
        after: &Workflow,
        meant: &str,
        decision: &Decision,
        how: Option<BaseHow>,
    ) -> Option<Acceptance> {
        let how = how.or_else(|| allowed_a_wipe(decision).then_some(BaseHow::Approved))?;
        self.accepted.as_ref()?;
        Some(Acceptance {
            how,
            meant: meant.to_owned(),
            outline: self.outline(after),
        })
    }

    /// After the change is journaled: what it left is agentctl's own doing, and perhaps what a person accepted.
    pub(super) async fn note_done(
        &self,
        change: Option<&Change>,
        meant: Option<&str>,
        acceptance: Option<Acceptance>,
        now: jiff::Timestamp,
    ) -> Result<(), Fault> {
        let (Some(accepted), Some(change)) = (&self.accepted, change) else {
            return Ok(());
        };
        let id = WorkflowId(change.id().to_owned());
        let Some(hash) = change.after.as_deref() else {
            return Ok(());
        };
        if let Some(meant) = meant.filter(|meant| *meant != hash) {
            // The backend wrote it in its own way.
            let step = Step {
                before: meant,
                after: hash,
                lossy: true,
            };
            accepted.leave(&id, &step)?;
        }
        let Some(acceptance) = acceptance else {
            return Ok(());
        };
        if acceptance.meant == hash {
            let state = State {
                graph_hash: hash,
                now,
                outline: &|| acceptance.outline.clone(),
            };
            accepted.accept(&id, acceptance.how, &state)?;
        } else if let Some(found) = self.find(&id).await? {
            self.accept(&found, acceptance.how, now)?;
        }
        Ok(())
    }

    /// A trigger, and what it takes for it to begin; a type that nobody knows may be one.
    fn start(&self, node_type: &str) -> Start {
        match self.catalog.lookup(node_type, None) {
            Lookup::Known(description) => description.begins().map_or(Start::No, Start::Known),
            _ => Start::Unknown,
        }
    }
}

fn told(noted: Result<(), NotKept>) -> Result<Result<(), Decision>, Fault> {
    noted.map_or_else(|why| why.refusal().map(Err), |()| Ok(Ok(())))
}

pub(super) fn allowed_a_wipe(decision: &Decision) -> bool {
    approved_rules(decision).any(|rule| rule == guards::WIPE)
}

/// Without what the losses are counted from, nothing more may be lost.
fn unreadable(mark: &SnapshotMark) -> Decision {
    deny(
        guards::WIPE,
        format!(
            "the snapshot {:?} that this run's losses are counted from cannot be read, or is not what was taken",
            mark.file
        ),
    )
}
