//! How long a run was worked on. Waiting between activations is no work, and neither is what is recorded there:
//! that a run was taken over, which may be days later, and how many calls were turned away.

use crate::flow::within;
use crate::store::{Event, Record, event::StepPath};
use std::collections::BTreeMap;

/// Times in milliseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worked {
    /// Of the activations before this one.
    earlier: u64,
    /// The activation's first record, or the run's.
    begun: Option<i64>,
    last: i64,
    /// Of finished work, by step.
    of: BTreeMap<StepPath, u64>,
    /// The steps that are worked on, and since when.
    open: BTreeMap<StepPath, i64>,
}

impl Worked {
    pub(super) fn take(&mut self, record: &Record) {
        let Ok(at) = record.at.parse::<jiff::Timestamp>() else {
            return;
        };
        if matches!(
            record.event,
            Event::Adopted { .. } | Event::CallsTurnedAway { .. }
        ) {
            return;
        }
        let now = at.as_millisecond();
        if self.begun.is_none() || matches!(record.event, Event::ActivationStarted { .. }) {
            self.earlier = self.total();
            self.begun = Some(now);
        }
        match &record.event {
            Event::StepStarted { step } | Event::ModelAsked { step, .. } => {
                // A step that has steps inside of it does not work itself.
                self.close(now, |open| open != step && within(step, open));
                self.open.entry(step.clone()).or_insert(now);
            }
            Event::StepFinished { step, .. }
            | Event::StepFailed { step, .. }
            | Event::BranchesJoined { step, .. } => self.close(now, |open| within(open, step)),
            // No step of a flow is worked on when that is done.
            Event::ActivationEnded { .. } | Event::GrantsPinned { .. } => self.close(now, |_| true),
            // Of a killed activation only what it wrote is known.
            Event::ActivationStarted { .. } => self.close(self.last, |_| true),
            _ => {}
        }
        self.last = now;
    }

    fn close(&mut self, until: i64, over: impl Fn(&str) -> bool) {
        let over: Vec<StepPath> = self.open.keys().filter(|s| over(s)).cloned().collect();
        for step in over {
            if let Some(since) = self.open.remove(&step) {
                *self.of.entry(step).or_default() += span(since, until);
            }
        }
    }

    /// From each activation's first record to its last.
    pub fn total(&self) -> u64 {
        let this = self.begun.map_or(0, |begun| span(begun, self.last));
        self.earlier.saturating_add(this)
    }

    /// By the step's path: from its start, or from where an activation took it up again, to its end or the activation's.
    /// Only branches overlap.
    pub fn of_steps(&self) -> BTreeMap<StepPath, u64> {
        let mut of = self.of.clone();
        for (step, since) in &self.open {
            *of.entry(step.clone()).or_default() += span(*since, self.last);
        }
        of
    }
}

fn span(from: i64, to: i64) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}
