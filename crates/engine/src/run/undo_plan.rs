//! What an undo would do, before it does it.

use super::driver::Driver;
use super::undo::{Plan, UndoReport, Undone, UndoneHow};
use crate::toolset::{Document, ResourceId};

impl Plan {
    /// What has to be done, from which document to which; None: there is none.
    pub(super) fn how(&self) -> (UndoneHow, Option<&Document>, Option<&Document>) {
        let wanted = self.target.as_ref().map(|copy| &copy.document);
        let now = self.now.as_ref().map(|now| &now.document);
        let what = match (now, wanted) {
            (now, wanted) if now == wanted => UndoneHow::Unchanged,
            (Some(_), Some(_)) => UndoneHow::PutBack,
            (Some(_), None) => UndoneHow::Removed,
            (None, _) => UndoneHow::Restored,
        };
        (what, now, wanted)
    }
}

impl Driver<'_> {
    /// The report that the undo would give, without what only the deed brings: snapshots and a way back.
    pub(super) fn undo_planned(&self, plans: &[Plan]) -> UndoReport {
        let redactor = self.gateway.redactor();
        let planned = |plan: &Plan| {
            let (what, now, wanted) = plan.how();
            Undone {
                resource: ResourceId::new(self.resources.kind(), plan.id.clone()),
                what,
                to: plan.to,
                snapshot: None,
                difference: self.resources.difference(redactor, now, wanted),
                planned: wanted.cloned(),
            }
        };
        UndoReport {
            run_id: self.recorder.view.run_id.clone(),
            resources: plans.iter().map(planned).collect(),
            redo: None,
        }
    }
}
