//! A session's run between its calls, and while one is made: what is folded from its journal, and the recorder that writes to it.

use super::{Effects, Observer, RunError, SessionTerms, recorder::RunRecorder};
use crate::{
    flow::RunLog,
    gateway::Gateway,
    guards::GuardState,
    pack::Pack,
    store::{Event, Journal, Project, Record, Snapshots},
    view::RunView,
};
use agentctl_base::{
    model::{ToolResult, ToolStatus},
    question::Outcome,
};
use serde_json::json;
use std::sync::{Mutex as StdMutex, PoisonError};
use std::time::Duration;

/// What all sessions of one server share.
pub struct Serving {
    pub project: Project,
    pub pack: Pack,
    pub gateway: Gateway,
    pub effects: Box<dyn Effects>,
    pub observer: StdMutex<Box<dyn Observer>>,
    pub terms: SessionTerms,
    /// How long a call waits for the project's lock.
    pub lock_wait: Duration,
}

/// A run's journal, and what is folded from it.
pub(super) struct Live {
    pub journal: Journal,
    pub log: RunLog,
    pub view: RunView,
    pub guards: GuardState,
    pub snapshots: Snapshots,
    pub at: String,
}

/// A run while its journal is written, under the lock.
pub(super) struct SessionRun<'a> {
    pub recorder: RunRecorder<'a>,
    pub guards: GuardState,
}

impl<'a> SessionRun<'a> {
    /// `order`: the project's turn, of the lock that is held.
    pub fn new(
        serving: &'a Serving,
        live: Live,
        order: Option<u64>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        SessionRun {
            recorder: RunRecorder {
                journal: live.journal,
                flow: &serving.pack.flow,
                log: live.log,
                view: live.view,
                project: &serving.project,
                snapshots: live.snapshots,
                effects: &*serving.effects,
                observer,
                at: live.at,
                order,
                broken: None,
                redactor: serving.gateway.redactor(),
            },
            guards: live.guards,
        }
    }

    pub fn record(&mut self, event: Event, durable: bool) -> Result<(), RunError> {
        self.guards.observe(&event);
        self.recorder.write(event, durable)?;
        self.recorder.sound()
    }

    pub fn activate(&mut self, kind: &str) -> Result<(), RunError> {
        let event = Event::ActivationStarted {
            activation: self.recorder.view.activation + 1,
            kind: kind.to_owned(),
            pid: self.recorder.effects.pid(),
            means: None,
            order: self.recorder.order,
            heard: None,
        };
        self.record(event, false)
    }

    pub fn rest(&mut self, outcome: Outcome, durable: bool) -> Result<(), RunError> {
        let event = Event::ActivationEnded {
            activation: self.recorder.view.activation,
            outcome,
            reason: None,
        };
        self.record(event, durable)
    }

    /// What is held between two calls: a session may stay open for long, so nothing of a call that is settled but what it changed.
    pub fn live(mut self) -> Live {
        self.recorder.view.forget_settled();
        Live {
            journal: self.recorder.journal,
            log: self.recorder.log,
            view: self.recorder.view,
            guards: self.guards,
            snapshots: self.recorder.snapshots,
            at: self.recorder.at,
        }
    }
}

/// What the observer is told goes through the server's one.
pub(super) struct Told<'a>(pub &'a StdMutex<Box<dyn Observer>>);

impl Observer for Told<'_> {
    fn event(&mut self, record: &Record) {
        let mut observer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        observer.event(record);
    }
    fn note(&mut self, text: &str) {
        let mut observer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        observer.note(text);
    }
    fn mistake(&mut self, text: &str) {
        let mut observer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        observer.mistake(text);
    }
}

/// A result that no journal holds.
pub(super) fn outside(
    name: &str,
    status: ToolStatus,
    error: &str,
    rule: &str,
    hint: &str,
) -> ToolResult {
    ToolResult {
        call_id: String::new(),
        name: name.to_owned(),
        status,
        content: json!({"error": error, "rule": rule, "hint": hint}),
    }
}

pub(super) fn cancelled_result(call_id: String, name: String) -> ToolResult {
    ToolResult {
        call_id,
        ..outside(
            &name,
            ToolStatus::Cancelled,
            "the client cancelled the call",
            "",
            "",
        )
    }
}
