//! From a journal's records to the three views that an activation starts from. Pure.

use super::RunError;
use crate::gateway::Gateway;
use crate::guards::GuardState;
use crate::{
    flow::{Flow, FlowError, RunLog},
    store::{Event, Loaded},
    view::RunView,
};

pub(super) type Folded = (RunLog, RunView, GuardState);

/// What an activation starts from.
pub(super) fn fold(flow: &Flow, gateway: &Gateway, loaded: &Loaded) -> Result<Folded, RunError> {
    let (log, view) = look(flow, loaded)?;
    let mut guards = gateway.guards(flow.scope_field());
    for record in &loaded.records {
        guards.observe(&record.event);
    }
    Ok((log, view, guards))
}

/// The run as it stands, for who only looks.
pub(super) fn look(flow: &Flow, loaded: &Loaded) -> Result<(RunLog, RunView), RunError> {
    let mut log = RunLog::new(flow);
    let mut view = RunView::default();
    for record in &loaded.records {
        feed(&mut log, flow, &record.event).map_err(|e| {
            RunError::Pack(format!(
                "the journal does not fit the flow at record {}: {e}",
                record.seq
            ))
        })?;
        view.apply(record);
    }
    Ok((log, view))
}

/// The flow is over with the run's end; what is journaled after that (the activation's end, an undo) is none of its business.
pub(super) fn feed(log: &mut RunLog, flow: &Flow, event: &Event) -> Result<(), FlowError> {
    if log.outcome().is_some() {
        return Ok(());
    }
    log.apply(flow, event)
}
