//! How long a run was worked on. Waiting between activations is no work, and neither is what is recorded there:
//! that a run was taken over, which may be days later, and how many calls were turned away.

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
    /// The step that is worked on, and since when.
    open: Option<(StepPath, i64)>,
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
            Event::StepStarted { step } | Event::ModelAsked { step, .. }
                if self.open.as_ref().is_none_or(|(of, _)| of != step) =>
            {
                self.close(now);
                self.open = Some((step.clone(), now));
            }
            Event::StepFinished { .. }
            | Event::StepFailed { .. }
            | Event::ActivationEnded { .. } => self.close(now),
            // Of a killed activation only what it wrote is known.
            Event::ActivationStarted { .. } => self.close(self.last),
            _ => {}
        }
        self.last = now;
    }

    fn close(&mut self, until: i64) {
        if let Some((step, since)) = self.open.take() {
            *self.of.entry(step).or_default() += span(since, until);
        }
    }

    /// From each activation's first record to its last.
    pub fn total(&self) -> u64 {
        let this = self.begun.map_or(0, |begun| span(begun, self.last));
        self.earlier.saturating_add(this)
    }

    /// By the step's path: from its start, or from where an activation took it up again, to its end or the activation's. Steps do
    /// not overlap.
    pub fn of_steps(&self) -> BTreeMap<StepPath, u64> {
        let mut of = self.of.clone();
        if let Some((step, since)) = &self.open {
            *of.entry(step.clone()).or_default() += span(*since, self.last);
        }
        of
    }
}

fn span(from: i64, to: i64) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}
