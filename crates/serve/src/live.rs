//! The turns that are under way: what they say while they do, and their runs' journals, which grow.

use agentctl_engine::run::{Cancel, Observer, Reply};
use agentctl_engine::store::{Event, Record};
use agentctl_sessions::SessionKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};

/// By run.
#[derive(Debug, Default)]
pub struct Live {
    runs: Mutex<HashMap<String, Turn>>,
    /// How often one was begun or gone on with.
    begun: watch::Sender<u64>,
}

#[derive(Debug)]
struct Turn {
    /// The number of the last record that was written.
    last: watch::Sender<u64>,
    cancel: Cancel,
    key: SessionKey,
}

impl Live {
    fn runs(&self) -> std::sync::MutexGuard<'_, HashMap<String, Turn>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of each record of a run that is under way here; None: none is.
    pub fn of(&self, run: &str) -> Option<watch::Receiver<u64>> {
        self.runs().get(run).map(|turn| turn.last.subscribe())
    }

    /// Tells when any run is begun or gone on with here.
    pub fn begun(&self) -> watch::Receiver<u64> {
        self.begun.subscribe()
    }

    /// The conversation whose turn a run is that is under way here. It is known a moment before the conversation itself knows its run.
    pub fn key(&self, run: &str) -> Option<SessionKey> {
        self.runs().get(run).map(|turn| turn.key.clone())
    }

    /// What cancels a run that is under way here.
    pub fn cancel(&self, run: &str) -> Option<Cancel> {
        self.runs().get(run).map(|turn| turn.cancel.clone())
    }
}

/// Sees one turn; dropped, the turn is no longer under way.
pub struct Watch {
    live: Arc<Live>,
    cancel: Cancel,
    key: SessionKey,
    said: mpsc::UnboundedSender<Reply>,
    /// Told the run once it is in the journal.
    begun: Option<oneshot::Sender<String>>,
    /// Holds the turn at each step.
    #[cfg(feature = "restate")]
    gate: Option<crate::restate::Gate>,
    pub run: Option<String>,
}

impl Watch {
    pub fn new(
        live: Arc<Live>,
        cancel: &Cancel,
        key: &SessionKey,
        said: mpsc::UnboundedSender<Reply>,
    ) -> Watch {
        Watch {
            live,
            cancel: cancel.clone(),
            key: key.clone(),
            said,
            begun: None,
            #[cfg(feature = "restate")]
            gate: None,
            run: None,
        }
    }

    /// Holds the turn at each step until the next one is wanted; where none is, the turn stops.
    #[cfg(feature = "restate")]
    #[must_use]
    pub fn gated(mut self, gate: crate::restate::Gate) -> Watch {
        self.gate = Some(gate);
        self
    }

    /// Tells this one as soon as the run is in the journal.
    #[must_use]
    pub fn telling(mut self, begun: Option<oneshot::Sender<String>>) -> Watch {
        self.begun = begun;
        self
    }

    /// Notes the run whose records come from here on.
    pub fn follow(&mut self, run: &str) {
        let mut runs = self.live.runs();
        if let Some(before) = self.run.replace(run.to_owned())
            && before != run
        {
            runs.remove(&before);
        }
        runs.entry(run.to_owned()).or_insert_with(|| Turn {
            last: watch::Sender::new(0),
            cancel: self.cancel.clone(),
            key: self.key.clone(),
        });
        drop(runs);
        self.live.begun.send_modify(|count| *count += 1);
        if let Some(begun) = self.begun.take() {
            // Who waited for it may have gone.
            let _ = begun.send(run.to_owned());
        }
    }
}

impl Observer for Watch {
    fn goes_on(&mut self, run: &str) {
        self.follow(run);
    }

    fn event(&mut self, record: &Record) {
        match &record.event {
            Event::RunStarted { run_id, .. } => self.follow(&run_id.clone()),
            Event::Said {
                text,
                data,
                attachment,
                ..
            } => {
                // Nobody may be listening.
                let _ = self.said.send(Reply {
                    text: text.clone(),
                    data: data.clone(),
                    attachment: attachment.clone(),
                });
            }
            _ => {}
        }
        if let Some(run) = &self.run
            && let Some(told) = self.live.runs().get(run)
        {
            told.last.send_replace(record.seq);
        }
        #[cfg(feature = "restate")]
        if let Some(gate) = &mut self.gate
            && !gate.passes(record)
        {
            self.cancel.request(agentctl_engine::run::Cause::Terminate);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(run) = &self.run {
            self.live.runs().remove(run);
        }
    }
}
