//! What is asked of a view.

use super::{Asked, Call, Changed, Returned, RunView, Trace, Use};
use crate::store::{Event, Link, Side, SnapshotRef};
use agentctl_base::model::ToolStatus;

impl RunView {
    /// All that was used, in the order in which it was.
    pub fn uses(&self) -> Vec<Use<'_>> {
        let models = self.model_calls.iter();
        let models = models.filter_map(|call| Some(Use::Model(call, call.usage.as_ref()?)));
        let tools = self.calls.iter();
        let tools = tools.filter_map(|call| Some(Use::Tool(call, call.result.as_ref()?)));
        let mut uses: Vec<Use<'_>> = models.chain(tools).collect();
        uses.sort_by_key(Use::seq);
        uses
    }

    /// The stage that the run is in; None: the flow's first.
    pub fn stage(&self) -> Option<&str> {
        self.stages.last().map(|change| change.to.as_str())
    }

    /// What already happened in a step; None: nothing did, or it is finished.
    pub fn trace(&self, step: &str) -> Option<&Trace> {
        self.open.get(step)
    }

    /// Changes that were begun and of which nobody knows what became: a killed process may or may not have made them, or what they
    /// left could not be read. Not those behind which the run changed something: that read what was there.
    pub fn unsettled(&self) -> Vec<Event> {
        let changed = self.changes.last().map_or(0, |changed| changed.seq);
        let known = |intent: &&Event| {
            let Event::ToolIntent { step, call, .. } = intent else {
                return true;
            };
            let mut calls = self.calls.iter().rev();
            let made = calls.find(|made| made.step == *step && made.id == call.id);
            let returned = made.and_then(|made| made.result.as_ref());
            returned.is_some_and(|returned| returned.at.seq < changed)
        };
        let open = self.open.values().flat_map(Trace::unsettled);
        open.filter(|intent| !known(intent)).cloned().collect()
    }

    /// The calls that have a result, in the order in which it came.
    pub fn returned(&self) -> Vec<(&Call, &Returned)> {
        let calls = self.calls.iter();
        let mut calls: Vec<_> = calls
            .filter_map(|call| Some((call, call.result.as_ref()?)))
            .collect();
        calls.sort_by_key(|(_, returned)| returned.at.seq);
        calls
    }

    /// The calls that may have changed something and of which nobody saw what became: without a result, or with one that says so.
    pub fn unseen(&self) -> impl Iterator<Item = &Call> {
        let is_unseen = |call: &&Call| {
            let result = call.result.as_ref();
            call.mutates() && result.is_none_or(|r| r.result.status == ToolStatus::Unknown)
        };
        self.calls.iter().filter(is_unseen)
    }

    pub fn open_questions(&self) -> impl Iterator<Item = &Asked> {
        self.questions.iter().filter(|a| a.answer.is_none())
    }

    /// The runs that worked on calls of this one, in the order in which they were.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = &Link> {
        self.links.iter().filter(|link| link.side == Side::Child)
    }

    /// The run whose call this one works on; None: it stands by itself.
    pub fn parent(&self) -> Option<&Link> {
        self.links.iter().find(|link| link.side == Side::Parent)
    }

    /// The snapshot of this name, as the journal tells of it.
    pub fn snapshot(&self, file: &str) -> Option<&SnapshotRef> {
        self.snapshots.iter().rev().find(|taken| taken.file == file)
    }

    /// Why the last activation came to no end of the run.
    pub fn stopped_for(&self) -> Option<&str> {
        let begun = self.activations.last().map_or(0, |last| last.at.seq);
        let last = self.stopped.last().filter(|stop| stop.at.seq > begun)?;
        Some(&last.reason)
    }

    /// The changes that the run can claim, in order.
    pub fn standing(&self) -> impl DoubleEndedIterator<Item = &Changed> {
        self.changes.iter().filter(|changed| changed.stands)
    }

    /// The last change of a resource; `id` None: of any.
    pub fn last_change(&self, id: Option<&str>) -> Option<&Changed> {
        let mut changes = self.standing().rev();
        changes.find(|c| id.is_none_or(|id| c.change.id() == id))
    }

    /// Ids of what this run changed, in the order of the first change.
    pub fn changed_resources(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for changed in self.standing() {
            let id = changed.change.id();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// An undo put back everything that the run changed, as it was before the run.
    pub fn is_taken_back(&self) -> bool {
        let changed = self.changed_resources();
        let is_undone = |id: &&str| self.undone.iter().any(|undone| undone == id);
        !changed.is_empty() && changed.iter().all(is_undone)
    }

    /// The name that the run last saw for something that it changed.
    pub fn name_of(&self, id: &str) -> Option<&str> {
        let of_it = self.standing().rev();
        of_it
            .filter(|c| c.change.id() == id)
            .find_map(|c| c.name.as_deref())
    }

    pub fn file_of(&self, id: &str) -> Option<&str> {
        let of_it = self.standing().rev();
        of_it
            .filter(|c| c.change.id() == id)
            .find_map(|c| c.file.as_deref())
    }
}
