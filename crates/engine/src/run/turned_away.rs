//! Calls of a session whose limits are used up: refused unread and counted, not journaled one by one. A client that does not stop
//! costs no memory, and of the disk one line each time that their number has doubled.

use super::{
    RunError,
    session_run::{Live, Serving, SessionRun, Told},
};
use crate::store::Event;
use agentctl_base::decision::Decision;

/// How many there were since the session's run began.
#[derive(Debug, Default)]
pub(super) struct TurnedAway {
    count: u64,
    journaled: u64,
    rule: String,
}

impl TurnedAway {
    /// Counts one more, under the project's lock; `order` is its turn.
    pub fn one_more(
        &mut self,
        serving: &Serving,
        live: Live,
        order: Option<u64>,
        decision: &Decision,
    ) -> Result<Live, RunError> {
        self.count = self.count.saturating_add(1);
        decision.rule().clone_into(&mut self.rule);
        let mut told = Told(&serving.observer);
        let mut session_run = SessionRun::new(serving, live, order, &mut told);
        // A killed server loses less than half of the count.
        if self.count.is_power_of_two() {
            self.tell(&mut session_run, &serving.terms.role)?;
        }
        Ok(session_run.live())
    }

    /// Journals the count, when the journal does not have it yet.
    pub fn tell(&mut self, session_run: &mut SessionRun<'_>, role: &str) -> Result<(), RunError> {
        if self.journaled == self.count {
            return Ok(());
        }
        let event = Event::CallsTurnedAway {
            role: role.to_owned(),
            rule: self.rule.clone(),
            count: self.count,
        };
        session_run.record(event, false)?;
        self.journaled = self.count;
        Ok(())
    }
}
