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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Known, load};
    use crate::testkit::journals::of_turn;
    use agentctl_base::model::{ToolCall, ToolResult};

    const FLOW: &str = "\
name: t
stages: [one]
fields:
  n: {kind: scalar, writers: [a]}
steps:
  - {id: work, agent: a, task: t, instructions: i, writes: [n], contract: {type: object, properties: {n: {}}}}
";

    /// Of a long run they are most of what is held: a copy in each view would be four times as much.
    #[test]
    fn what_a_call_was_given_and_gave_is_held_once() {
        let flow = load(FLOW, "f", Known::default()).unwrap();
        let mut taking = Taking {
            looked: Folding::of(&flow),
            guards: GuardState::new(Vec::new(), None),
        };
        let records = of_turn(&"work".to_owned(), "a", 7).into_iter().zip(1..);
        let records = records.map(|(event, seq)| Record {
            seq,
            at: "2026-01-01T00:00:00Z".into(),
            prev: String::new(),
            hash: String::new(),
            event,
        });
        let records: Vec<Record> = records.collect();
        records.iter().for_each(|record| taking.take(record));
        let ((log, view, guards), _) = taking.folded().unwrap();

        let (Event::ToolIntent { call, .. }, Event::ToolFinished { result, .. }) =
            (&records[2].event, &records[3].event)
        else {
            panic!("a turn is a question, an answer, a call and its result");
        };
        let is_result = |held: &ToolResult| std::ptr::eq(held, &**result);
        let is_call = |held: &ToolCall| std::ptr::eq(held, &**call);
        let viewed = &view.calls[0];
        assert!(is_result(&viewed.result.as_ref().unwrap().result));
        assert!(is_call(&viewed.intent.as_ref().unwrap().call));
        assert!(is_result(&view.trace("work").unwrap().results["more-7"]));
        let logged = &log.calls("work")[0];
        assert!(std::ptr::eq(logged.content(), &result.content));
        let known = &guards.facts().calls()[0];
        assert!(std::ptr::eq(known.result(), &result.content));
        // And they say what was said.
        assert_eq!(logged.args(), *known.args());
        assert_eq!(known.args()["page"], 7);
    }
}
