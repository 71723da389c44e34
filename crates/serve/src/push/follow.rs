//! Follows one run for one receiver. What counts as told is what the receiver answered with a status of success; it is noted record by
//! record, so that a new process tells what came after.

use super::{Form, HELD, Left, Outbox, Target, send};
use crate::a2a::{Feed, Standing, answer_of, look};
use crate::following::Following;
use crate::problem::{Problem, of_store};
use crate::runs::Found;
use crate::server::Server;
use agentctl_sessions::{Push, SessionError, Take};
use hyper::StatusCode;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So often an event is tried before the receiver is given up.
const MOST_TRIES: i64 = 20;
/// The longest wait between two tries.
const LONGEST: Duration = Duration::from_secs(15 * 60);
/// So long nothing is heard of a run before its journal is looked at again: another process may go on with it.
const QUIET: Duration = Duration::from_secs(15);

/// Each wait is twice as long as the one before it.
fn pause(tries: i64) -> Duration {
    let doubled = u32::try_from(tries.saturating_sub(1)).ok();
    let seconds = doubled.and_then(|n| 1_u64.checked_shl(n));
    seconds.map_or(LONGEST, Duration::from_secs).min(LONGEST)
}

/// Why it is not followed any longer.
enum Over {
    /// For good.
    Done,
    /// For good, and not because all is told.
    GivenUp,
    /// Another server tells it.
    Elsewhere,
    /// Another server told it meanwhile, or something else is to be told: it is begun again from what stands there.
    Anew,
    /// What it needs cannot be reached now: it is followed again later, from what was told last.
    Away(String),
}

pub struct Follower {
    server: Arc<Server>,
    outbox: Arc<Outbox>,
    found: Found,
    push: Push,
    target: Target,
    /// When it was taken last; None: another may have it.
    taken: Option<Instant>,
}

impl Follower {
    pub fn new(
        server: Arc<Server>,
        outbox: Arc<Outbox>,
        found: Found,
        push: Push,
        target: Target,
    ) -> Follower {
        Follower {
            server,
            outbox,
            found,
            push,
            target,
            taken: None,
        }
    }

    pub async fn follow(mut self) -> Left {
        let mut said = String::new();
        let left = loop {
            match self.tell_all().await {
                Err(Over::Away(why)) if said != why => {
                    self.note("waits", &why);
                    said = why;
                }
                Err(Over::Away(_)) => {}
                Err(Over::Anew) => continue,
                Err(Over::Elsewhere) => return Left::Settled,
                Err(Over::GivenUp) => break Left::GivenUp,
                Ok(()) | Err(Over::Done) => break Left::Settled,
            }
            self.taken = None;
            tokio::time::sleep(QUIET).await;
        };
        // Left alone it is free when its time is over.
        let (id, by) = (&self.push.id, &self.outbox.name);
        let _ = self.server.sessions.leave_push(Some(id), by).await;
        left
    }

    /// Takes the receiver, or keeps it for a while longer than `pause`. What was told meanwhile by whoever had it before is read.
    async fn take(&mut self, pause: Duration) -> Result<(), Over> {
        if pause.is_zero() && self.taken.is_some_and(|at| at.elapsed() < QUIET) {
            return Ok(());
        }
        let seconds = HELD.saturating_add(u32::try_from(pause.as_secs()).unwrap_or(u32::MAX));
        let (store, now) = (&self.server.sessions, Instant::now());
        let by = &self.outbox.name;
        let taken = store.take_push(&self.push.id, by, seconds, Take::Free);
        match taken.await {
            Ok(true) => {}
            Ok(false) => return Err(Over::Elsewhere),
            Err(error) => return Err(self.broken(&error.into())),
        }
        let is_first = self.taken.replace(now).is_none();
        let kept = store.pushes_of(&self.found.run).await;
        let kept = kept.map_err(|error: SessionError| self.broken(&error.into()))?;
        let kept = kept.into_iter().find(|push| push.id == self.push.id);
        let kept = kept.filter(|push| !push.ended).ok_or(Over::Done)?;
        let is_other = kept.told != self.push.told || kept.target != self.push.target;
        if kept.target != self.push.target {
            self.target = super::target(&self.outbox, &kept).ok_or(Over::GivenUp)?;
        }
        self.push = kept;
        match is_other && !is_first {
            true => Err(Over::Anew),
            false => Ok(()),
        }
    }

    /// Tells what comes, from what was told last on.
    async fn tell_all(&mut self) -> Result<(), Over> {
        self.take(Duration::ZERO).await?;
        let Some(mut following) = Following::new(&self.server, self.found.clone()) else {
            return Err(Over::GivenUp);
        };
        let mut feed = Feed::new(&self.server, self.found.clone());
        loop {
            let (records, read) = following.more().await;
            for record in &records {
                let event = feed.record(record).await.map_err(|p| self.broken(&p))?;
                let is_new = i64::try_from(record.seq).is_ok_and(|seq| seq > self.push.told);
                if let Some(event) = event.filter(|_| is_new && self.target.form == Form::Events) {
                    self.tell(&[event], record.seq, false).await?;
                }
            }
            read.map_err(|error| self.broken(&of_store(&error)))?;
            if self.standing(&mut feed).await? {
                continue;
            }
            // What comes is told, and the journal is looked at now and then all the same: another process may write it.
            let _ = tokio::time::timeout(QUIET, self.grows(&mut following)).await;
            self.take(Duration::ZERO).await?;
        }
    }

    /// Waits until there is more to read, or the run is gone on with here.
    async fn grows(&self, following: &mut Following) {
        let rested = following.rests();
        loop {
            following.changed().await;
            let is_live = self.server.live.of(&self.found.run).is_some();
            if !rested || is_live || self.found.pack.project.ledger().is_some() {
                return;
            }
        }
    }

    /// Tells how it stands, where that is to be told. True: there is more to read first.
    async fn standing(&mut self, feed: &mut Feed) -> Result<bool, Over> {
        let told = u64::try_from(self.push.told).unwrap_or_default();
        let seen = match feed.standing(told).await {
            Ok(Standing::Goes) => return Ok(false),
            Ok(Standing::More) => return Ok(true),
            Ok(Standing::Rests(seen)) => seen,
            Ok(Standing::WentOn(later)) => {
                let went = self.went_on(*later, feed.read_to()).await;
                return went.map(|()| false);
            }
            Err(problem) => return Err(self.broken(&problem)),
        };
        let (at, ends) = (feed.read_to(), seen.is_over());
        let events = match &self.target.form {
            Form::Events => feed.rests(*seen),
            Form::Envelope(to) => {
                let answer = answer_of(&self.found, to, &seen);
                return self.tell(&[answer], at, ends).await.map(|()| false);
            }
        };
        self.tell(&events, at, ends).await.map(|()| false)
    }

    /// Its task waited for a message, and goes on with that one's run. Receivers are named with each message: where any are, they are told
    /// what comes of it; else this one is, as soon as the task waits again or is at its end. `at`: the record that was read last.
    async fn went_on(&mut self, later: Found, at: u64) -> Result<(), Over> {
        if let Form::Envelope(to) = &self.target.form {
            // An answer is of its own message, however late.
            let seen = look(&self.server, &self.found).await;
            let answer = answer_of(&self.found, to, &seen.map_err(|p| self.broken(&p))?);
            return self.tell(&[answer], at, true).await;
        }
        let named = self.server.sessions.pushes_of(&later.run).await;
        let named = named.map_err(|error| self.broken(&error.into()))?;
        if !named.is_empty() {
            let nothing: [serde_json::Value; 0] = [];
            return self.tell(&nothing, at, true).await;
        }
        let seen = look(&self.server, &later).await;
        let seen = seen.map_err(|p| self.broken(&p))?;
        // What is under way is looked at again.
        if !seen.is_over() || seen.is_overtaken {
            return Ok(());
        }
        let events = Feed::after(&self.server, later, &seen).rests(seen);
        self.tell(&events, at, true).await
    }

    /// Tells these in their order, and notes that all up to the record `at` is told.
    async fn tell(&mut self, events: &[impl Serialize], at: u64, ends: bool) -> Result<(), Over> {
        for event in events {
            let body = serde_json::to_string(event).map_err(|_| Over::Done)?;
            let body = self.server.paths.shortened(&body).unwrap_or(body);
            self.deliver(body).await?;
        }
        self.push.told = i64::try_from(at).map_err(|_| Over::Done)?;
        self.push.ended = ends;
        self.keep().await?;
        match ends {
            false => Ok(()),
            true => Err(Over::Done),
        }
    }

    async fn deliver(&mut self, body: String) -> Result<(), Over> {
        loop {
            let sent = {
                let outbox = Arc::clone(&self.outbox);
                let place = outbox.sending.acquire().await;
                let _place = place.map_err(|_| Over::Done)?;
                // It may have waited for its place longer than the receiver is its own.
                self.take(Duration::ZERO).await?;
                send::post(&outbox, &self.target, body.clone()).await
            };
            let Err(why) = sent else {
                self.push.tries = 0;
                return Ok(());
            };
            self.push.tries += 1;
            self.push.ended = self.push.tries >= MOST_TRIES;
            self.keep().await?;
            if self.push.ended {
                self.note("given up", &why);
                return Err(Over::Done);
            }
            let pause = pause(self.push.tries);
            self.take(pause).await?;
            tokio::time::sleep(pause).await;
        }
    }

    async fn keep(&mut self) -> Result<(), Over> {
        self.push.at = self.server.now_ms();
        match self.server.sessions.told_push(&self.push).await {
            Ok(true) => Ok(()),
            // Its client wants no more of it, or the conversation was erased.
            Ok(false) => Err(Over::Done),
            Err(error) => Err(self.broken(&error.into())),
        }
    }

    /// What became of it by this problem, which is told where it is for good.
    fn broken(&self, problem: &Problem) -> Over {
        if problem.status == StatusCode::SERVICE_UNAVAILABLE {
            return Over::Away(problem.detail.clone());
        }
        self.note("broken off", &problem.detail);
        Over::GivenUp
    }

    /// A line of the log; of the address it names the host alone.
    fn note(&self, what: &str, why: &str) {
        self.server.tell(json!({
            "at": jiff::Timestamp::now().to_string(), "push": what, "run": self.found.run, "name": self.push.name,
            "host": self.target.host(), "tries": self.push.tries, "why": why,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_twice_the_one_before_and_has_a_bound() {
        let seconds = |tries| pause(tries).as_secs();
        assert_eq!(
            [1, 2, 3, 10, 11, 20, 90].map(seconds),
            [1, 2, 4, 512, 900, 900, 900]
        );
        let whole: u64 = (1..MOST_TRIES).map(seconds).sum();
        assert_eq!(whole, 1023 + 9 * 900);
    }
}
