//! A turn in steps. The server of Restate is told of each (the run's beginning, a model's answer, a tool's result) once the run's
//! journal has it, and the turn goes on when Restate has it too. Where nobody waits for the next step any more, the turn stops there
//! and stays open: whoever is handed it next goes on from the journal.

use super::turns::{Order, take};
use crate::problem::Problem;
use agentctl_engine::run::{Cancel, Cause};
use agentctl_engine::store::{Event, Record};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::mpsc as blocking;
use tokio::sync::{mpsc, oneshot};

/// What Restate keeps of a step: where in the run's journal it stands. What it is, the journal has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    Step { what: String, seq: u64 },
    Done(Value),
}

/// The turn's side: told of each record, it holds the turn at each step until the next one is wanted.
pub struct Gate {
    told: mpsc::UnboundedSender<Next>,
    wanted: blocking::Receiver<()>,
}

impl Gate {
    /// False: nobody wants the next step.
    pub fn passes(&mut self, record: &Record) -> bool {
        let what = match &record.event {
            Event::RunStarted { run_id, .. } => format!("run {run_id}"),
            Event::ModelAnswered { step, turn, .. } => format!("model {step}/{turn}"),
            Event::ToolFinished { result, .. } => format!("tool {}", result.call_id),
            _ => return true,
        };
        let seq = record.seq;
        if self.told.send(Next::Step { what, seq }).is_err() {
            return false;
        }
        // The threads of turns are told that this one waits.
        tokio::task::block_in_place(|| self.wanted.recv()).is_ok()
    }
}

/// Restate's side.
pub enum Steps {
    /// Nothing was begun. Where Restate knows all steps already, nothing is.
    Ordered(Box<Order>),
    Begun(Begun),
    Over,
}

pub struct Begun {
    told: mpsc::UnboundedReceiver<Next>,
    wants: blocking::Sender<()>,
    done: oneshot::Receiver<Result<Value, Problem>>,
    cancel: Cancel,
}

impl Steps {
    pub fn of(order: Order) -> Steps {
        Steps::Ordered(Box::new(order))
    }

    /// The next step, done.
    pub async fn next(&mut self) -> Result<Next, Problem> {
        let mut begun = match std::mem::replace(self, Steps::Over) {
            Steps::Ordered(order) => begin(*order),
            Steps::Begun(begun) => {
                // Gone: it is at its end already.
                let _ = begun.wants.send(());
                begun
            }
            Steps::Over => return Err(crate::once::broke_off()),
        };
        tokio::select! {
            biased;
            Some(step) = begun.told.recv() => {
                *self = Steps::Begun(begun);
                Ok(step)
            }
            done = &mut begun.done => match done {
                Ok(done) => done.map(Next::Done),
                Err(_) => Err(crate::once::broke_off()),
            }
        }
    }

    /// Ends the turn at its next step: nobody wants it to go on, then or later.
    pub async fn end(&mut self) {
        if let Steps::Begun(begun) = std::mem::replace(self, Steps::Over) {
            begun.cancel.request(Cause::Interrupt);
            drop(begun.wants);
            let _ = begun.done.await;
        }
    }
}

/// Takes the turn, to its end or to the step at which nobody waits any more, whatever becomes of who began it.
fn begin(order: Order) -> Begun {
    let (tells, told) = mpsc::unbounded_channel();
    let (wants, wanted) = blocking::channel();
    let (ends, done) = oneshot::channel();
    let cancel = Cancel::default();
    let gate = Gate {
        told: tells,
        wanted,
    };
    let within = cancel.clone();
    tokio::spawn(async move {
        let done = take(order, gate, &within).await;
        // Who began it may have gone.
        let _ = ends.send(done);
    });
    Begun {
        told,
        wants,
        done,
        cancel,
    }
}
