//! The observer of a run: its events on a terminal or as lines of JSON; and its questions, put to the person at the terminal.

use super::ask;
use super::choices::Events;
use super::error::CliError;
use super::look::{Look, is_look};
use super::output::Output;
use super::progress::{Progress, plain_long};
use super::traces::Traces;
use agentctl_base::model::ToolCall;
use agentctl_base::question::Question;
use agentctl_engine::run::{Asked, Asker, Observer};
use agentctl_engine::store::{Event, Record, Shared};
use agentctl_models::tape::Tape;
use agentctl_turns as turns;
use serde_json::{Value, json};
use std::sync::Arc;

/// Sees a run's events: progress on stderr, or lines of `stream-json` on stdout.
pub struct RunObserver<'a> {
    pub out: &'a Output,
    pub progress: Arc<Progress>,
    events: Events,
    /// What stdout refused; told at the end.
    pub failed: Option<CliError>,
    keeper: TapeKeeper,
    traces: Traces<'a>,
}

/// Keeps a run's tool calls on a tape, or compares them with it; without a tape it does not look.
#[derive(Default)]
pub struct TapeKeeper {
    tape: Option<Arc<Tape>>,
    /// The call whose result comes next.
    begun: Option<Shared<ToolCall>>,
}

impl<'a> RunObserver<'a> {
    pub fn new(out: &'a Output, tape: Option<Arc<Tape>>) -> Self {
        RunObserver {
            out,
            progress: Arc::new(Progress::new(out)),
            events: Events::All,
            failed: None,
            keeper: TapeKeeper::new(tape),
            traces: Traces::default(),
        }
    }

    /// Tells a collector too.
    #[must_use]
    pub fn traced(mut self, traces: Traces<'a>) -> Self {
        self.traces = traces;
        self
    }

    /// Tells no more than this of what happens.
    #[must_use]
    pub fn telling(mut self, events: Events) -> Self {
        self.events = events;
        if events == Events::User {
            self.progress = Arc::new(Progress::talk(self.out));
        }
        self
    }

    fn stream(&mut self, line: &Value) {
        if let Err(error) = self.out.stream(line) {
            self.failed.get_or_insert(error);
        }
    }

    /// Nothing more comes: what stdout refused.
    pub fn finish(self) -> Option<CliError> {
        self.traces.finish(self.out);
        self.failed
    }
}

impl TapeKeeper {
    pub fn new(tape: Option<Arc<Tape>>) -> Self {
        TapeKeeper { tape, begun: None }
    }
}

impl Observer for TapeKeeper {
    fn event(&mut self, record: &Record) {
        let Some(tape) = &self.tape else { return };
        match &record.event {
            Event::ToolIntent { call, .. } => self.begun = Some(Shared::clone(call)),
            Event::ToolFinished {
                step, role, result, ..
            } => {
                let begun = self.begun.take().filter(|call| call.id == result.call_id);
                let arguments = begun.as_ref().map_or("", |call| call.arguments.as_str());
                tape.tool(role, step, &result.name, arguments, result);
            }
            _ => {}
        }
    }
}

impl Observer for RunObserver<'_> {
    fn event(&mut self, record: &Record) {
        self.progress.record(record);
        self.keeper.event(record);
        self.traces.record(record);
        match self.events {
            Events::All => self.stream(&record.line()),
            // The end is told by the turn's reply, which knows more of it.
            Events::User => turns::seen(record)
                .into_iter()
                .filter(|_| !matches!(record.event, Event::RunEnded { .. }))
                .for_each(|seen| self.stream(&seen.line())),
        }
    }
    fn text(&mut self, delta: &str, spoken: bool) {
        self.progress.text(delta);
        match self.events {
            Events::All => self.stream(&json!({"type": "model.text", "text": delta})),
            Events::User if spoken => self.stream(&turns::words(delta).line()),
            Events::User => {}
        }
    }
    fn note(&mut self, text: &str) {
        self.progress.line(&plain_long(text));
    }
    fn mistake(&mut self, text: &str) {
        self.progress.mistake(&plain_long(text));
    }
}

/// A person at the terminal.
pub struct Terminal {
    pub progress: Arc<Progress>,
    /// What there is to say to the question that shows a change before it is made; None: it is a question like any other.
    pub look: Option<Look>,
}

impl Terminal {
    pub fn new(progress: &Arc<Progress>) -> Self {
        Terminal {
            progress: Arc::clone(progress),
            look: None,
        }
    }
}

impl Asker for Terminal {
    fn ask(&mut self, question: &Question) -> Result<Asked, String> {
        let (progress, look) = (&self.progress, &mut self.look);
        progress.suspend(|| match look {
            Some(look) if is_look(question) => look.ask(question, progress),
            _ => ask::ask(question),
        })
    }
    fn refuse(&mut self, _question: &Question, why: &str) {
        self.progress
            .mistake(&format!("that answer does not fit: {}", plain_long(why)));
    }
}
