//! Where a run's events are written down: journal, then the flow's log and the view of the run, then whoever watches. The
//! gateway records through it too, so that there is one order of events. A failed write stops everything.

use super::{Effects, Observer, RunError, earlier_states::own_snapshot, fold};
use crate::redact::Redactor;
use crate::toolset::{Recorder, ResourceMark};
use crate::{
    flow::{Flow, RunLog},
    store::{Event, Journal, Project, RunFile, SnapshotRef, Snapshots, StoreError},
    view::RunView,
};
use serde_json::Value;

pub(super) struct RunRecorder<'a> {
    pub journal: Journal,
    pub flow: &'a Flow,
    pub log: RunLog,
    pub view: RunView,
    pub project: &'a Project,
    pub snapshots: Snapshots,
    pub redactor: &'a Redactor,
    pub effects: &'a dyn Effects,
    pub observer: &'a mut dyn Observer,
    /// The project's turn that is recorded in; None: only looked at.
    pub order: Option<u64>,
    /// Time of the last record.
    pub at: String,
    /// An event that the flow could not take: its own fault is told after the write, since the trait only knows storage.
    pub broken: Option<String>,
}

impl RunRecorder<'_> {
    pub fn write(&mut self, event: Event, durable: bool) -> Result<Event, StoreError> {
        // Here everything that a run keeps passes by: requests, answers, patches, messages.
        let event = self.redactor.event(event).map_err(|e| StoreError::Encode {
            what: "a journal event without its secrets",
            reason: e.to_string(),
        })?;
        if let Event::ToolFinished { result, .. } = &event {
            self.keep_file(&result.content)?;
        }
        let record = self.journal.append(self.effects.now(), event, durable)?;
        if let Err(e) = fold::feed(&mut self.log, self.flow, &record.event) {
            self.broken.get_or_insert_with(|| e.to_string());
        }
        self.view.apply(&record);
        self.at.clone_from(&record.at);
        self.observer.event(&record);
        Ok(record.event)
    }

    /// A file that a call made for the run's user is kept where the run is before its result counts.
    fn keep_file(&self, result: &Value) -> Result<(), StoreError> {
        let place = result.get("file").and_then(Value::as_str);
        match place.and_then(RunFile::at) {
            Some(file) if file.run() == self.view.run_id => self.project.keep_file(&file),
            _ => Ok(()),
        }
    }

    /// An event that the flow itself gave and then cannot take is a bug.
    pub fn sound(&self) -> Result<(), RunError> {
        match &self.broken {
            None => Ok(()),
            Some(message) => Err(RunError::Internal(message.clone())),
        }
    }
}

impl Recorder for RunRecorder<'_> {
    fn run_id(&self) -> &str {
        &self.view.run_id
    }

    fn record(&mut self, event: Event, durable: bool) -> Result<Event, StoreError> {
        self.write(event, durable)
    }

    fn snapshot(&mut self, of: &ResourceMark, text: &str) -> Result<SnapshotRef, StoreError> {
        self.snapshots.save(of, text)
    }

    fn load_snapshot(&mut self, file: &str) -> Result<String, StoreError> {
        let taken = self.view.snapshot(file);
        let sha256 = taken.and_then(|taken| taken.sha256.as_deref());
        self.snapshots.read_taken(file, sha256)
    }

    fn earlier_snapshot(&mut self, run: &str, id: &str, file: &str) -> Result<String, String> {
        own_snapshot(self.project, run, id, file)
    }

    fn now(&self) -> jiff::Timestamp {
        self.effects.now()
    }

    fn new_id(&mut self) -> String {
        self.effects.new_id()
    }
}
