//! What a run did to resources and last saw of them, folded from its journal: by their ids and the names of their states, whatever
//! they are.

use crate::store::event::Change;
use std::collections::{BTreeMap, BTreeSet};

/// One snapshot of this run, oldest first in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotMark {
    pub file: String,
    pub revision: String,
}

#[derive(Debug, Default)]
pub struct ResourceLog {
    /// As the run last read or left it.
    seen: BTreeMap<String, String>,
    /// What the run created and did not delete.
    owned: BTreeSet<String>,
    /// The state that this run's last change of it left.
    left: BTreeMap<String, String>,
    /// What this run made, and somebody else changed since.
    shared: BTreeSet<String>,
    snapshots: BTreeMap<String, Vec<SnapshotMark>>,
    /// Where the run starts to count losses of what it made and somebody else changed: an index into the snapshots.
    grown_from: BTreeMap<String, usize>,
    /// The call that changed it last, and the state that it left.
    made: BTreeMap<String, (String, String)>,
}

impl ResourceLog {
    pub(super) fn read(&mut self, id: String, revision: String) {
        self.seen.insert(id, revision);
    }

    pub(super) fn taken(&mut self, id: &str, mark: SnapshotMark) {
        self.snapshots.entry(id.to_owned()).or_default().push(mark);
    }

    /// `by`: what a call that means the same has too.
    pub(super) fn changed(&mut self, change: &Change, by: Option<&str>) {
        let id = &change.resource.id;
        match &change.after {
            Some(hash) => self.seen.insert(id.clone(), hash.clone()),
            None => self.seen.remove(id),
        };
        match (by, &change.after) {
            (Some(by), Some(hash)) => {
                let made = (by.to_owned(), hash.clone());
                self.made.insert(id.clone(), made);
            }
            _ => {
                self.made.remove(id);
            }
        }
        self.note_left(change);
        if change.before.is_none() && change.after.is_some() {
            self.owned.insert(id.clone());
        }
        if change.after.is_none() {
            self.owned.remove(id);
        }
    }

    /// What the change found and left. What this run made, and found in another state than it left, is no longer its own: from
    /// now on losses count from what it found.
    fn note_left(&mut self, change: &Change) {
        let id = &change.resource.id;
        let found = change.before.as_ref();
        if found.is_some_and(|found| self.owned.contains(id) && self.left.get(id) != Some(found)) {
            let before_it = self.snapshots(id).len().saturating_sub(1);
            if self.shared.insert(id.clone()) {
                self.grown_from.insert(id.clone(), before_it);
            }
        }
        match &change.after {
            Some(hash) => self.left.insert(id.clone(), hash.clone()),
            None => {
                self.shared.remove(id);
                self.left.remove(id)
            }
        };
    }

    pub(super) fn undone(&mut self, id: &str) {
        self.seen.remove(id);
        self.made.remove(id);
    }

    /// The state of the resource when this run last saw it.
    pub fn seen(&self, id: &str) -> Option<&str> {
        self.seen.get(id).map(String::as_str)
    }
    /// True for one that this run created (and did not delete), as long as nobody else changed it: in this state.
    pub fn owns(&self, id: &str, revision: &str) -> bool {
        self.made(id) && self.left.get(id).is_some_and(|left| left == revision)
    }
    /// True for one that this run created (and did not delete) and never found changed by somebody else when it changed it.
    pub fn made(&self, id: &str) -> bool {
        self.owned.contains(id) && !self.shared.contains(id)
    }
    /// What this run created and did not delete.
    pub fn created(&self) -> impl Iterator<Item = &str> {
        self.owned.iter().map(String::as_str)
    }
    pub fn snapshots(&self, id: &str) -> &[SnapshotMark] {
        self.snapshots.get(id).map_or(&[], Vec::as_slice)
    }
    /// How many snapshots of each there are.
    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        let lists = self.snapshots.iter();
        lists.map(|(id, list)| (id.clone(), list.len())).collect()
    }
    /// The snapshot from which on somebody else had changed it too: an index; None: nobody had.
    pub fn grown_from(&self, id: &str) -> Option<usize> {
        self.grown_from.get(id).copied()
    }
    /// True once the run has changed something.
    pub fn has_worked(&self) -> bool {
        !self.snapshots.is_empty() || !self.owned.is_empty()
    }
    /// True when the call of this key made the resource what it is now.
    pub(super) fn made_by(&self, key: &str, id: &str, revision: &str) -> bool {
        let made = self.made.get(id);
        made.is_some_and(|(by, hash)| hash == revision && by == key)
    }
}
