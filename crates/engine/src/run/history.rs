//! The changes that journals tell of, numbered as a user names them. Change N of a run (or of a resource, over all runs) leads
//! from state N-1 to state N; state 0 is what was there before the first. What somebody did between two changes is a change
//! with a number of its own: its result was kept as the snapshot of the next one. Pure.

use crate::{
    store::{Record, event::Change},
    view::{By, Changed},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One change of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// From 1 in its history.
    pub number: u32,
    pub run_id: String,
    /// The record that tells of it.
    pub seq: u64,
    /// UTC, RFC 3339.
    pub at: String,
    pub by: By,
    #[serde(flatten)]
    pub change: Change,
}

/// Counts changes as their records go by.
#[derive(Debug, Clone, Default)]
pub struct Numbering {
    count: u32,
    /// Each resource as its last change left it.
    left: BTreeMap<String, Option<String>>,
}

impl Numbering {
    /// The changes that this record tells of: none, the one that was made, or before it one from outside.
    pub fn take(&mut self, run_id: &str, record: &Record) -> Vec<Made> {
        let changed = Changed::of(record);
        changed.map_or_else(Vec::new, |changed| self.count(run_id, changed))
    }

    fn count(&mut self, run_id: &str, changed: Changed) -> Vec<Made> {
        let change = &changed.change;
        let mut made = Vec::new();
        let left = self.left.get(change.id());
        if let Some(left) = left.filter(|left| **left != change.before).cloned() {
            let outside = Change {
                resource: change.resource.clone(),
                before: left,
                after: change.before.clone(),
                size: 0,
                snapshot: None,
            };
            made.push(self.number(run_id, &changed, By::Outside, outside));
        }
        made.push(self.number(run_id, &changed, changed.by.clone(), change.clone()));
        made
    }

    fn number(&mut self, run_id: &str, told: &Changed, by: By, change: Change) -> Made {
        self.count = self.count.saturating_add(1);
        self.left
            .insert(change.id().to_owned(), change.after.clone());
        Made {
            number: self.count,
            run_id: run_id.to_owned(),
            seq: told.seq,
            at: told.at.clone(),
            by,
            change,
        }
    }
}

/// All changes of a run.
pub fn of_run(run_id: &str, changes: &[Changed]) -> Vec<Made> {
    let mut numbering = Numbering::default();
    let made = changes.iter().cloned();
    made.flat_map(|changed| numbering.count(run_id, changed))
        .collect()
}

/// When a change was made: by the journal, in which of the project's turns; and of before journals said that (which is before all
/// that do) by the clock, as far as it did not go back within the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    Clock(Option<jiff::Timestamp>),
    Turn(u64),
}

/// All changes of one resource, over the runs given; in the order in which they were made.
pub fn of_resource<'a>(
    id: &str,
    runs: impl IntoIterator<Item = (&'a str, &'a [Changed])>,
) -> Vec<Made> {
    let mut told: Vec<(When, &str, Changed)> = Vec::new();
    for (run_id, changes) in runs {
        let mut when = When::Clock(None);
        for changed in changes.iter().filter(|of| of.change.id() == id) {
            when = match changed.turn {
                Some(turn) => When::Turn(turn),
                // An RFC 3339 time of fewer digits is not smaller as text.
                None => when.max(When::Clock(changed.at.parse().ok())),
            };
            told.push((when, run_id, changed.clone()));
        }
    }
    told.sort_by(|(a, run_a, of_a), (b, run_b, of_b)| {
        (a, run_a, of_a.seq).cmp(&(b, run_b, of_b.seq))
    });
    let mut numbering = Numbering::default();
    told.into_iter()
        .flat_map(|(_, run_id, changed)| numbering.count(run_id, changed))
        .collect()
}

/// The revision of state `number` of a resource, in its changes of one history; None: there was no such resource then.
/// `number` counts all changes of the history, those of other resources too.
pub fn state_hash(changes: &[Made], number: u32) -> Option<&str> {
    let last = changes.iter().rev().find(|m| m.number <= number);
    match (last, changes.first()) {
        (Some(last), _) => last.change.after.as_deref(),
        (None, Some(first)) => first.change.before.as_deref(),
        (None, None) => None,
    }
}

/// The ids of what was changed, in the order of their first change.
pub fn changed(changes: &[Made]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for made in changes {
        let id = made.change.id();
        if !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    ids
}

/// One resource's changes of a history; they keep their numbers.
pub fn only(changes: &[Made], id: &str) -> Vec<Made> {
    let of_it = changes.iter().filter(|m| m.change.id() == id);
    of_it.cloned().collect()
}

/// The state of a resource before the last run that changed it began to: what somebody did before that run stays.
pub fn before_last_run(changes: &[Made]) -> u32 {
    let Some(last) = changes.last() else { return 0 };
    let of_it = changes.iter().rev().take_while(|m| m.run_id == last.run_id);
    let own = of_it.filter(|m| m.by != By::Outside).last();
    own.map_or(0, |m| m.number.saturating_sub(1))
}
