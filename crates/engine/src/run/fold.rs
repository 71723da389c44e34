//! From a journal's records, as they are read, to the three views that an activation starts from. Pure.

use super::RunError;
use crate::gateway::Gateway;
use crate::guards::GuardState;
use crate::{
    flow::{Flow, FlowError, RunLog},
    store::{Event, Record},
    view::RunView,
};

pub(super) type Folded = (RunLog, RunView, GuardState);

/// The run as it stands behind the records so far.
pub(super) struct Folding<'a> {
    flow: &'a Flow,
    log: RunLog,
    view: RunView,
    /// Of the last record.
    at: String,
    /// The record that does not fit the flow, and why.
    unfit: Option<(u64, FlowError)>,
}

impl<'a> Folding<'a> {
    pub fn of(flow: &'a Flow) -> Self {
        Folding {
            flow,
            log: RunLog::new(flow),
            view: RunView::default(),
            at: String::new(),
            unfit: None,
        }
    }

    pub fn take(&mut self, record: &Record) {
        if self.unfit.is_some() {
            return;
        }
        match feed(&mut self.log, self.flow, &record.event) {
            Ok(()) => self.view.apply(record),
            Err(e) => self.unfit = Some((record.seq, e)),
        }
        self.at.clone_from(&record.at);
    }

    /// When the last record was written.
    pub fn at(&self) -> String {
        self.at.clone()
    }

    /// The run as it stands, for who only looks.
    pub fn looked(self) -> Result<(RunLog, RunView), RunError> {
        match self.unfit {
            None => Ok((self.log, self.view)),
            Some((seq, e)) => Err(RunError::Pack(format!(
                "the journal does not fit the flow at record {seq}: {e}"
            ))),
        }
    }
}

/// What an activation starts from.
pub(super) struct Taking<'a> {
    looked: Folding<'a>,
    guards: GuardState,
}

impl<'a> Taking<'a> {
    pub fn up(flow: &'a Flow, gateway: &Gateway) -> Self {
        Taking {
            looked: Folding::of(flow),
            guards: gateway.guards(flow.scope_field()),
        }
    }

    pub fn take(&mut self, record: &Record) {
        self.looked.take(record);
        self.guards.observe(&record.event);
    }

    /// With it when the last record was written.
    pub fn folded(self) -> Result<(Folded, String), RunError> {
        let at = self.looked.at();
        let (log, view) = self.looked.looked()?;
        Ok(((log, view, self.guards), at))
    }
}

/// The flow is over with the run's end; what is journaled after that (the activation's end, an undo) is none of its business.
pub(super) fn feed(log: &mut RunLog, flow: &Flow, event: &Event) -> Result<(), FlowError> {
    if log.outcome().is_some() {
        return Ok(());
    }
    log.apply(flow, event)
}
