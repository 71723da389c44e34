//! The turns that are under way: what they say while they do, and their runs' journals, which grow.

use agentctl_engine::run::{Observer, Reply};
use agentctl_engine::store::{Event, Record};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, watch};

/// By run: the number of the last record that was written.
#[derive(Debug, Default)]
pub struct Live(Mutex<HashMap<String, watch::Sender<u64>>>);

impl Live {
    fn runs(&self) -> std::sync::MutexGuard<'_, HashMap<String, watch::Sender<u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sees one turn; dropped, the turn is no longer under way.
pub struct Watch {
    live: Arc<Live>,
    said: mpsc::UnboundedSender<Reply>,
    pub run: Option<String>,
}

impl Watch {
    pub fn new(live: Arc<Live>, said: mpsc::UnboundedSender<Reply>) -> Watch {
        Watch {
            live,
            said,
            run: None,
        }
    }

    /// Notes the run whose records come from here on.
    pub fn follow(&mut self, run: &str) {
        self.run = Some(run.to_owned());
        let mut runs = self.live.runs();
        runs.entry(run.to_owned())
            .or_insert_with(|| watch::Sender::new(0));
    }
}

impl Observer for Watch {
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
            told.send_replace(record.seq);
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
