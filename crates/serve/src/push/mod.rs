//! Telling others of a run's events: the outbox. Who is told and how far stands in the conversations' store, what is told in the run's
//! journal; so nothing is lost with this process, and what its receiver did not say it has taken is told again. Each receiver has a
//! follower of its own, so that a slow one keeps nobody waiting. Of servers that share a store one tells a receiver at a time; what one
//! leaves when it ends or dies another goes on with.

mod follow;
mod seal;
mod send;
mod target;

pub use target::{Form, Target};

use crate::problem::Problem;
use crate::runs::Found;
use crate::server::Server;
use agentctl_base::canonical::sha256_hex;
use agentctl_host::key::Key;
use agentctl_host::reach::Addresses;
use agentctl_sessions::{Push, SessionError, Take};
use follow::Follower;
use hyper::StatusCode;
use seal::Seal;
use serde_json::json;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use uuid::Uuid;

/// So many receivers can be followed for at once; the next one is refused.
const MOST: u32 = 4096;
/// So many requests to receivers are under way at once.
const AT_ONCE: usize = 32;
/// So often it is looked whether there is a receiver whom nobody tells.
const LOOK: Duration = Duration::from_secs(15);
/// For so many seconds a receiver is this server's; it is taken anew long before they are over.
const HELD: u32 = 60;

pub struct Outbox {
    /// What of this machine and of private networks may be told.
    pub allow: Addresses,
    /// What the servers that share the store call this one.
    name: String,
    seal: Seal,
    sending: Semaphore,
    followers: Mutex<Followers>,
}

#[derive(Default)]
struct Followers {
    next: u64,
    /// By the receiver's id.
    all: HashMap<String, (u64, AbortHandle)>,
    /// Those of which this server can tell nothing more, and that are not at their end.
    given_up: BTreeSet<String>,
}

impl Outbox {
    /// None: the key cannot seal anything.
    pub fn new(key: &Key, allow: Addresses) -> Option<Outbox> {
        Some(Outbox {
            allow,
            name: Uuid::new_v4().to_string(),
            seal: Seal::of(key)?,
            sending: Semaphore::new(AT_ONCE),
            followers: Mutex::default(),
        })
    }

    fn followers(&self) -> std::sync::MutexGuard<'_, Followers> {
        self.followers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// It is told here already, or nothing more can be.
    fn is_settled(&self, id: &str) -> bool {
        let followers = self.followers();
        followers.all.contains_key(id) || followers.given_up.contains(id)
    }

    fn is_full(&self) -> bool {
        u32::try_from(self.followers().all.len()).is_ok_and(|count| count >= MOST)
    }

    fn left(&self, id: &str, number: u64, left: Left) {
        let mut followers = self.followers();
        if followers.all.get(id).is_some_and(|(own, _)| *own == number) {
            followers.all.remove(id);
            if left == Left::GivenUp {
                followers.given_up.insert(id.to_owned());
            }
        }
    }

    fn stop(&self, id: &str) {
        let mut followers = self.followers();
        followers.given_up.remove(id);
        if let Some((_, task)) = followers.all.remove(id) {
            task.abort();
        }
    }
}

/// How a follower ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// All is told, or nobody wants it any more, or another server tells it.
    Settled,
    /// This server can tell no more of it.
    GivenUp,
}

/// A receiver as a client names it.
pub struct Wanted {
    pub name: String,
    pub target: Target,
}

fn id_of(kind: &str, of: &str, name: &str) -> String {
    let parts = [kind, of, name].map(|part| format!("{}:{part}", part.len()));
    sha256_hex(parts.concat().as_bytes())
}

fn sealed(outbox: &Outbox, id: &str, target: &Target) -> Result<String, Problem> {
    let broken = || {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "where to push to could not be sealed; nothing was done",
        )
    };
    let text = serde_json::to_string(target).map_err(|_| broken())?;
    outbox.seal.close(id, &text).ok_or_else(broken)
}

fn room(outbox: &Outbox) -> Result<(), Problem> {
    match outbox.is_full() {
        false => Ok(()),
        true => Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{MOST} receivers are told already; nothing was done"),
        )
        .retry(60)),
    }
}

/// Keeps a receiver for the run that a claimed request will come to; its id. `told`: the last record of a task that goes on.
pub async fn keep_for(
    server: &Server,
    outbox: &Outbox,
    request: &str,
    wanted: &Wanted,
    told: u64,
) -> Result<String, Problem> {
    room(outbox)?;
    let id = id_of("request", request, "");
    let push = Push {
        target: sealed(outbox, &id, &wanted.target)?,
        run: None,
        request: Some(request.to_owned()),
        name: wanted.name.clone(),
        told: i64::try_from(told).unwrap_or(i64::MAX),
        tries: 0,
        ended: false,
        at: server.now_ms(),
        id: id.clone(),
    };
    server.sessions.put_push(&push).await?;
    Ok(id)
}

/// The run of a request with a receiver has begun: from now on it is told.
pub async fn begun(server: &Arc<Server>, request: &str, run: &str) -> Result<(), Problem> {
    server.sessions.attach_pushes(request, run).await?;
    for push in server.sessions.pushes_of(run).await? {
        follow(server, push).await;
    }
    Ok(())
}

/// Keeps a receiver of a task from its last record `told` on, in place of the one of the same name.
pub async fn keep(
    server: &Arc<Server>,
    outbox: &Outbox,
    found: &Found,
    wanted: &Wanted,
    (told, ended): (u64, bool),
) -> Result<(), Problem> {
    room(outbox)?;
    let known = server.sessions.pushes_of(&found.run).await?;
    let known = known.into_iter().find(|push| push.name == wanted.name);
    let id = known.map_or_else(|| id_of("run", &found.run, &wanted.name), |push| push.id);
    let push = Push {
        target: sealed(outbox, &id, &wanted.target)?,
        run: Some(found.run.clone()),
        request: None,
        name: wanted.name.clone(),
        told: i64::try_from(told).unwrap_or(i64::MAX),
        tries: 0,
        ended,
        at: server.now_ms(),
        id,
    };
    outbox.stop(&push.id);
    server.sessions.put_push(&push).await?;
    // Whoever tells it still tells by what stood there before.
    let (id, by) = (&push.id, &outbox.name);
    server.sessions.take_push(id, by, HELD, Take::Over).await?;
    if push.ended {
        let _ = server.sessions.leave_push(Some(id), by).await;
    }
    follow(server, push).await;
    Ok(())
}

/// Tells a receiver nothing more.
pub async fn forget(server: &Server, outbox: &Outbox, id: &str) -> Result<(), Problem> {
    outbox.stop(id);
    server.sessions.forget_push(id).await?;
    // Left alone it is free when its time is over.
    let _ = server.sessions.leave_push(Some(id), &outbox.name).await;
    Ok(())
}

/// Where a kept receiver is; None: it was sealed with another key.
pub fn target(outbox: &Outbox, push: &Push) -> Option<Target> {
    let text = outbox.seal.open(&push.id, &push.target)?;
    serde_json::from_str(&text).ok()
}

/// Goes on with what an earlier process or another server does not tell any more, as long as it is polled.
pub async fn look_after(server: Arc<Server>) {
    let Some(outbox) = server.outbox.clone() else {
        return;
    };
    let mut said = String::new();
    loop {
        match take_up(&server, &outbox).await {
            Ok(()) => said.clear(),
            // Once for each reason.
            Err(error) if error.to_string() != said => {
                said = error.to_string();
                server.tell(json!({
                    "at": jiff::Timestamp::now().to_string(), "push": "not resumed", "why": &said,
                }));
            }
            Err(_) => {}
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn take_up(server: &Arc<Server>, outbox: &Outbox) -> Result<(), SessionError> {
    let open = server.sessions.open_pushes(MOST).await?;
    let elsewhere: BTreeSet<_> = server
        .sessions
        .told_elsewhere(&outbox.name)
        .await?
        .into_iter()
        .collect();
    let still: BTreeSet<_> = open.iter().map(|push| push.id.clone()).collect();
    outbox.followers().given_up.retain(|id| still.contains(id));
    for push in open {
        if !elsewhere.contains(&push.id) {
            follow(server, push).await;
        }
    }
    Ok(())
}

/// Tells nothing more, and leaves it to others.
pub async fn rest(server: &Server) {
    let Some(outbox) = &server.outbox else { return };
    for (_, (_, task)) in outbox.followers().all.drain() {
        task.abort();
    }
    // Left alone it is free when its time is over.
    let _ = server.sessions.leave_push(None, &outbox.name).await;
}

/// Begins to tell a receiver. A run of another project's, in the same store, is left to that one's server.
async fn follow(server: &Arc<Server>, push: Push) {
    let Some(outbox) = &server.outbox else { return };
    let Some(run) = push.run.clone().filter(|_| !push.ended) else {
        return;
    };
    if outbox.is_settled(&push.id) {
        return;
    }
    let Ok(Some(key)) = server.whose(&run).await else {
        return;
    };
    let Some(pack) = server.packs.get(&key.pack).map(Arc::clone) else {
        outbox.followers().given_up.insert(push.id);
        return;
    };
    let Some(target) = target(outbox, &push) else {
        server.tell(json!({
            "at": jiff::Timestamp::now().to_string(), "push": "unreadable", "run": run, "name": push.name,
            "why": "where it goes to was sealed with another key",
        }));
        outbox.followers().given_up.insert(push.id);
        return;
    };
    let id = push.id.clone();
    let found = Found { run, key, pack };
    let follower = Follower::new(Arc::clone(server), Arc::clone(outbox), found, push, target);
    let mut followers = outbox.followers();
    // Another may have begun meanwhile.
    if followers.all.contains_key(&id) {
        return;
    }
    followers.next += 1;
    let number = followers.next;
    let (outbox, of) = (Arc::clone(outbox), id.clone());
    let task = tokio::spawn(async move {
        let left = follower.follow().await;
        outbox.left(&of, number, left);
    });
    followers.all.insert(id, (number, task.abort_handle()));
}
