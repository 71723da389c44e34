//! A session's run between its calls, and while one is made: what is folded from its journal, and the desk that writes to it.

use super::{Observer, RunError, desk::Desk, tool_session::Serving};
use crate::gateway::GuardState;
use agentctl_base::question::Outcome;
use agentctl_engine::{
    flow::RunLog,
    run::RunView,
    store::{Event, Journal, Snapshots},
};

/// A run's journal, and what is folded from it.
pub(super) struct Live {
    pub journal: Journal,
    pub log: RunLog,
    pub ledger: RunView,
    pub guards: GuardState,
    pub snapshots: Snapshots,
    pub at: String,
}

/// A run while its journal is written, under the lock.
pub(super) struct AtWork<'a> {
    pub desk: Desk<'a>,
    pub guards: GuardState,
}

impl<'a> AtWork<'a> {
    pub fn new(serving: &'a Serving, live: Live, observer: &'a mut dyn Observer) -> Self {
        AtWork {
            desk: Desk {
                journal: live.journal,
                flow: &serving.pack.flow,
                log: live.log,
                ledger: live.ledger,
                snapshots: live.snapshots,
                effects: &*serving.effects,
                observer,
                at: live.at,
                broken: None,
                redactor: serving.gateway.redactor(),
            },
            guards: live.guards,
        }
    }

    pub fn record(&mut self, event: Event, durable: bool) -> Result<(), RunError> {
        self.guards.observe(&event);
        self.desk.write(event, durable)?;
        self.desk.sound()
    }

    pub fn activate(&mut self, kind: &str) -> Result<(), RunError> {
        let event = Event::ActivationStarted {
            activation: self.desk.ledger.activation + 1,
            kind: kind.to_owned(),
            pid: self.desk.effects.pid(),
            means: None,
        };
        self.record(event, false)
    }

    pub fn rest(&mut self, outcome: Outcome, durable: bool) -> Result<(), RunError> {
        let event = Event::ActivationEnded {
            activation: self.desk.ledger.activation,
            outcome,
        };
        self.record(event, durable)
    }

    pub fn live(self) -> Live {
        Live {
            journal: self.desk.journal,
            log: self.desk.log,
            ledger: self.desk.ledger,
            guards: self.guards,
            snapshots: self.desk.snapshots,
            at: self.desk.at,
        }
    }
}
