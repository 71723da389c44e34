//! A task's events as they come: first the task, then what the journal gets, in its order, to each reader the same. A stream closes
//! when the task is at its end or waits for somebody.

use super::chain;
use super::feed::{Feed, Standing};
use super::task::{self, Seen};
use crate::answer::{Answer, Events};
use crate::following::Following;
use crate::router::named;
use crate::runs::Found;
use crate::server::Server;
use agentctl_a2a::StreamResponse;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long nothing comes before a connection is shown to be alive, and the journal is looked at again.
const QUIET: Duration = Duration::from_secs(15);
/// How long lies between two looks for the message that a task waits for: it may come to another replica.
const MESSAGE: Duration = Duration::from_secs(2);

/// How a binding writes an event.
pub type Wrap = Box<dyn Fn(Value) -> Value + Send + Sync>;

/// `waits`: a task that waits for somebody is told on when it goes on; else the stream ends with it.
pub fn open(server: &Arc<Server>, found: Found, seen: Seen, waits: bool, wrap: Wrap) -> Answer {
    let (events, answer) = Events::answer();
    let answer = named(answer, Some(&found.run), Some(&found.key.id()));
    let teller = Teller {
        server: Arc::clone(server),
        feed: Feed::after(server, found.clone(), &seen),
        found,
        events,
        wrap,
    };
    tokio::spawn(teller.tell(seen, waits));
    answer
}

struct Teller {
    server: Arc<Server>,
    found: Found,
    events: Events,
    wrap: Wrap,
    feed: Feed,
}

/// A stream is over: its reader has gone, or there is nothing more to tell.
struct Over;

impl Teller {
    async fn tell(mut self, seen: Seen, waits: bool) {
        let (mut last, state) = (seen.last, seen.task.status.state);
        let waits_for_a_message = seen.waits_for_a_message;
        let first = StreamResponse::Task(Box::new(seen.task));
        let told = self.send(&first).await;
        let stays = !state.is_terminal() && (waits || !state.is_interrupted());
        if told.is_err() || !stays {
            return;
        }
        if waits_for_a_message {
            if !self.goes_on().await {
                return;
            }
            last = 0;
        }
        let Some(mut following) = Following::new(&self.server, self.found.clone()) else {
            return;
        };
        loop {
            let (records, read) = following.more().await;
            for record in records.iter().filter(|record| record.seq > last) {
                let Ok(event) = self.feed.record(record).await else {
                    return;
                };
                if let Some(event) = event
                    && self.send(&event).await.is_err()
                {
                    return;
                }
            }
            if read.is_err() {
                return;
            }
            match self.feed.standing(last).await {
                Ok(Standing::Goes) => {}
                Ok(Standing::More) => continue,
                Ok(Standing::Rests(seen)) => return self.rests(*seen).await,
                Ok(Standing::WentOn(later)) => {
                    self.goes_on_with(*later);
                    let Some(of_later) = Following::new(&self.server, self.found.clone()) else {
                        return;
                    };
                    (following, last) = (of_later, 0);
                    continue;
                }
                Err(_) => return,
            }
            let rests = following.rests();
            tokio::select! {
                () = following.changed() => {}
                () = self.events.gone() => return,
                // A run that nobody goes on with here tells nothing more when the server ends.
                () = self.server.turns.ending(), if rests => return,
                () = tokio::time::sleep(QUIET) => {
                    if !self.events.heartbeat().await {
                        return;
                    }
                }
            }
        }
    }

    /// Waits until a task that waits for a message has one: the run of that is told from its first record on. False: its reader has
    /// gone, or there is nothing more to tell.
    async fn goes_on(&mut self) -> bool {
        let mut quiet = Instant::now();
        loop {
            let mut begun = self.server.live.begun();
            // A store that cannot be asked now is asked again.
            let waits = task::is_last(&self.server, &self.found).await;
            let waits = waits.unwrap_or(true);
            // Only now the journals are read.
            if !waits {
                let Ok(seen) = task::look(&self.server, &self.found).await else {
                    return false;
                };
                match chain::later(&self.server, &self.found, &seen).await {
                    Ok(Some(later)) => {
                        self.goes_on_with(later);
                        return true;
                    }
                    Ok(None) => {}
                    Err(_) => return false,
                }
                if !seen.waits_for_a_message {
                    self.rests(seen).await;
                    return false;
                }
            }
            tokio::select! {
                _ = begun.changed() => {}
                () = self.events.gone() => return false,
                () = self.server.turns.ending() => return false,
                () = tokio::time::sleep(MESSAGE) => {}
            }
            if quiet.elapsed() >= QUIET {
                quiet = Instant::now();
                if !self.events.heartbeat().await {
                    return false;
                }
            }
        }
    }

    /// The task goes on with another run, which is told from its first record on.
    fn goes_on_with(&mut self, later: Found) {
        self.feed = Feed::new(&self.server, later.clone());
        self.found = later;
    }

    /// What it gave and how it stands, and nothing after that.
    async fn rests(&mut self, seen: Seen) {
        for event in self.feed.rests(seen) {
            if self.send(&event).await.is_err() {
                return;
            }
        }
    }

    async fn send(&self, event: &StreamResponse) -> Result<(), Over> {
        let Ok(value) = serde_json::to_value(event) else {
            return Err(Over);
        };
        let text = (self.wrap)(value).to_string();
        match self.events.send(None, None, &text).await {
            true => Ok(()),
            false => Err(Over),
        }
    }
}
