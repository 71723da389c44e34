//! Messages that build on others. One waits for those alone that came before it, so no ring can come about; how many of a client wait,
//! for how long, and how much goes along with one has a limit.

use super::read::Envelope;
use super::told::{self, Reason};
use crate::a2a::{find, said, task};
use crate::ask::Ask;
use crate::problem::Problem;
use crate::server::{ServedPack, Server};
use agentctl_a2a::TaskState;
use hyper::StatusCode;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// So many messages of one client wait at once; the next one is sent away.
const MOST_OF_A_CLIENT: usize = 32;
/// Results that go along with one message, in bytes: each may hold those of the ones before it.
const MAX_RESULTS: usize = 1024 * 1024;
/// Seconds after which one that was sent away may be sent again.
const LATER: u64 = 5;

/// The messages that wait for others.
#[derive(Debug, Default)]
pub struct Waiting(Mutex<Vec<Waits>>);

#[derive(Debug)]
struct Waits {
    /// Whose; None: it has what it waited for.
    client: Option<String>,
    id: String,
    /// Closed when it waits no more and what became of it is kept.
    over: watch::Receiver<()>,
}

/// Its place among those that wait; dropped, it is over.
pub struct Entered(Arc<Waiting>, watch::Sender<()>);

impl Entered {
    /// It has what it waited for: another one of its client may wait.
    fn goes_on(&self) {
        let ours = self.1.subscribe();
        for waits in self.0.all().iter_mut() {
            if waits.over.same_channel(&ours) {
                waits.client = None;
            }
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let ours = self.1.subscribe();
        let mut all = self.0.all();
        all.retain(|waits| !waits.over.same_channel(&ours));
    }
}

impl Waiting {
    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Waits>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn count(&self) -> usize {
        self.all()
            .iter()
            .filter(|waits| waits.client.is_some())
            .count()
    }

    /// None: so many of this client wait already.
    fn enter(self: &Arc<Self>, client: &str, id: &str) -> Option<Entered> {
        let mut all = self.all();
        let same = all
            .iter()
            .filter(|waits| waits.client.as_deref() == Some(client));
        if same.count() >= MOST_OF_A_CLIENT {
            return None;
        }
        let (sender, over) = watch::channel(());
        all.push(Waits {
            client: Some(client.to_owned()),
            id: id.to_owned(),
            over,
        });
        Some(Entered(Arc::clone(self), sender))
    }

    /// Those of this id that wait now.
    fn of(&self, id: &str) -> Vec<watch::Receiver<()>> {
        let all = self.all();
        let same = all.iter().filter(|waits| waits.id == id);
        same.map(|waits| waits.over.clone()).collect()
    }
}

/// One that came before.
struct Before {
    id: String,
    /// What it is kept under.
    once: String,
    /// It waits itself.
    waits: Vec<watch::Receiver<()>>,
}

/// Waits for the messages that this one builds on, no longer than a turn or its own deadline takes, and gives what came of each. The
/// place is held until what became of this one is kept: others may wait for it.
pub async fn wait(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    envelope: &Envelope,
) -> Result<(Vec<Value>, Option<Entered>), Reason> {
    let ids = envelope.dependencies();
    if ids.is_empty() {
        return Ok((Vec::new(), None));
    }
    let mut before = Vec::new();
    for id in ids {
        before.push(came(server, ask, pack, envelope, id).await?);
    }
    let own = said::id_of(ask, pack, &envelope.id);
    let entered = server.waiting.enter(ask.client.settings(), &own);
    let entered = entered.ok_or_else(|| {
        later(format!(
            "{MOST_OF_A_CLIENT} messages of this client wait already for what they depend on; nothing was done"
        ))
    })?;
    let longest = server.limits.turn_timeout;
    let left = envelope.left(server.now())?.filter(|left| *left < longest);
    let results = async {
        let (mut results, mut size) = (Vec::new(), 0);
        for one in before {
            let result = result(server, ask, pack, one).await?;
            size += result.to_string().len();
            if size > MAX_RESULTS {
                let told = format!(
                    "the results of what the message depends on have more than {MAX_RESULTS} bytes; nothing was done"
                );
                return Err(
                    Reason::new("too_large", told, StatusCode::PAYLOAD_TOO_LARGE).hint(
                        "depend on fewer messages, or send what is needed of them in the payload",
                    ),
                );
            }
            results.push(result);
        }
        Ok(results)
    };
    match (
        tokio::time::timeout(left.unwrap_or(longest), results).await,
        left,
    ) {
        (Ok(results), _) => {
            let results = results?;
            entered.goes_on();
            Ok((results, Some(entered)))
        }
        (Err(_), Some(_)) => Err(Reason::new(
            "deadline_passed",
            "the deadline passed before what the message depends on was done; nothing was done",
            StatusCode::OK,
        )),
        (Err(_), None) => Err(later(format!(
            "what the message depends on was not done within {} s; nothing was done",
            longest.as_secs()
        ))),
    }
}

pub fn later(told: String) -> Reason {
    let mut reason = Reason::new("busy", told, StatusCode::SERVICE_UNAVAILABLE);
    reason.retryable = true;
    reason.retry_after = Some(LATER);
    reason.hint("send it again later, under the same id")
}

fn unknown(id: &str) -> Reason {
    let told = format!("no message {id:?} of yours came before to this agent");
    Reason::new("unknown_dependency", told, StatusCode::CONFLICT)
        .hint("send it first; two that wait for each other are both refused")
}

/// Whether it came before, and waits itself or was begun.
async fn came(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    envelope: &Envelope,
    id: String,
) -> Result<Before, Reason> {
    if id == envelope.id {
        let told = format!("the message depends on itself ({id:?})");
        return Err(Reason::new("cyclic_dependency", told, StatusCode::CONFLICT));
    }
    let once = said::id_of(ask, pack, &id);
    // In this order: one that has just ceased to wait is kept.
    let waits = server.waiting.of(&once);
    if waits.is_empty() && kept(server, &once).await?.is_none() {
        return Err(unknown(&id));
    }
    Ok(Before { id, once, waits })
}

async fn kept(server: &Server, once: &str) -> Result<Option<agentctl_sessions::Asked>, Reason> {
    let kept = server.sessions.asked(once).await;
    kept.map_err(|e| Reason::of(&Problem::from(e).into()))
}

/// What came of it, when it is at its end.
async fn result(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    Before { id, once, waits }: Before,
) -> Result<Value, Reason> {
    for mut waits in waits {
        while waits.changed().await.is_ok() {}
    }
    // Held while it is worked on.
    drop(server.onces.of(&once).lock().await);
    let kept = kept(server, &once).await?;
    let run = kept.and_then(|kept| kept.run).ok_or_else(|| unknown(&id))?;
    let found = find(server, ask, pack, &run).await;
    let found = found.map_err(|refused| Reason::of(&refused))?;
    let seen = task::look(server, &found).await;
    let seen = seen.map_err(|problem| Reason::of(&problem.into()))?;
    if seen.task.status.state != TaskState::Completed {
        let told = format!("the message {id:?} that it depends on is not completed");
        return Err(Reason::new("dependency_failed", told, StatusCode::CONFLICT));
    }
    Ok(json!({"in_reply_to": id, "results": told::results(&seen)}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_so_many_places_and_gets_them_back() {
        let waiting = Arc::new(Waiting::default());
        let mut held: Vec<Entered> = (0..MOST_OF_A_CLIENT)
            .filter_map(|n| waiting.enter("one", &n.to_string()))
            .collect();
        assert_eq!(held.len(), MOST_OF_A_CLIENT);
        assert!(waiting.enter("one", "more").is_none());
        let other = waiting.enter("two", "0");
        assert!(other.is_some());
        assert_eq!(waiting.of("0").len(), 2);
        drop(held.remove(0));
        assert_eq!(waiting.of("0").len(), 1);
        let more = waiting.enter("one", "more").unwrap();
        assert!(waiting.enter("one", "again").is_none());
        more.goes_on();
        assert!(waiting.enter("one", "again").is_some());
        assert_eq!(waiting.of("more").len(), 1);
        drop((held, other, more));
        assert!(waiting.all().is_empty());
    }
}
