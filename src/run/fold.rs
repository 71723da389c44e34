//! From a journal's records to the three views that an activation starts from. Pure.

use super::{RunError, ledger::Ledger};
use crate::gateway::GuardState;
use agentctl_engine::{
    flow::{Flow, FlowError, RunLog},
    store::{Event, Loaded, Record},
};
use std::collections::BTreeMap;

pub(super) type Folded = (RunLog, Ledger, GuardState);

pub(super) fn fold(flow: &Flow, loaded: &Loaded) -> Result<Folded, RunError> {
    let mut log = RunLog::new(flow);
    let mut ledger = Ledger::default();
    let mut guards = GuardState::new().with_scope_field(flow.scope_field());
    for record in &loaded.records {
        feed(&mut log, flow, &record.event).map_err(|e| {
            RunError::Pack(format!(
                "the journal does not fit the flow at record {}: {e}",
                record.seq
            ))
        })?;
        ledger.apply(&record.event);
        guards.observe(&record.event);
    }
    Ok((log, ledger, guards))
}

/// Taking a run over is no work on it, and may be days later.
fn is_work(record: &&Record) -> bool {
    !matches!(record.event, Event::Adopted { .. })
}

/// How long the run was worked on, from each activation's first record to its last.
pub(super) fn worked_ms(loaded: &Loaded) -> u64 {
    let mut total: i64 = 0;
    let mut begun: Option<i64> = None;
    let mut last: i64 = 0;
    for record in loaded.records.iter().filter(is_work) {
        let Ok(at) = record.at.parse::<jiff::Timestamp>() else {
            continue;
        };
        if begun.is_none() || matches!(record.event, Event::ActivationStarted { .. }) {
            total = total.saturating_add(begun.map_or(0, |b| last.saturating_sub(b).max(0)));
            begun = Some(at.as_millisecond());
        }
        last = at.as_millisecond();
    }
    total = total.saturating_add(begun.map_or(0, |b| last.saturating_sub(b).max(0)));
    u64::try_from(total).unwrap_or(0)
}

/// How long each step was worked on, by its path: from its start, or from where an activation took it up again, to its end or
/// the activation's. Steps do not overlap.
pub(super) fn worked_ms_of(loaded: &Loaded) -> BTreeMap<String, u64> {
    let mut total: BTreeMap<String, u64> = BTreeMap::new();
    let mut open: Option<(String, i64)> = None;
    let mut last = 0;
    for record in loaded.records.iter().filter(is_work) {
        let Ok(at) = record.at.parse::<jiff::Timestamp>() else {
            continue;
        };
        let now = at.as_millisecond();
        let mut close = |open: &mut Option<(String, i64)>, until: i64| {
            if let Some((step, since)) = open.take() {
                let worked = u64::try_from(until.saturating_sub(since)).unwrap_or(0);
                *total.entry(step).or_default() += worked;
            }
        };
        match &record.event {
            Event::StepStarted { step } | Event::ModelAsked { step, .. }
                if open.as_ref().is_none_or(|(of, _)| of != step) =>
            {
                close(&mut open, now);
                open = Some((step.clone(), now));
            }
            Event::StepFinished { .. } | Event::StepFailed { .. } => close(&mut open, now),
            // Of a killed activation only what it wrote is known.
            Event::ActivationStarted { .. } => close(&mut open, last),
            Event::ActivationEnded { .. } => close(&mut open, now),
            _ => {}
        }
        last = now;
    }
    if let Some((step, since)) = open {
        let worked = u64::try_from(last.saturating_sub(since)).unwrap_or(0);
        *total.entry(step).or_default() += worked;
    }
    total
}

/// The flow is over with the run's end; what is journaled after that (the activation's end, an undo) is none of its business.
pub(super) fn feed(log: &mut RunLog, flow: &Flow, event: &Event) -> Result<(), FlowError> {
    if log.outcome().is_some() {
        return Ok(());
    }
    log.apply(flow, event)
}
