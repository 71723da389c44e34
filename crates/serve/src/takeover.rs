//! What a replica does for one that died: turns whose lease ran out are settled as those of a killed server are at its next start, and
//! what was removed elsewhere is removed here.

use crate::clients::is_handed_out;
use crate::ending;
use crate::places::Priority;
use crate::server::{ServedPack, Server, Settled};
use agentctl_base::question::Outcome;
use agentctl_engine::store::{Ledger, Project};
use agentctl_sessions::SessionKey;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// So many looks at runs without a holder come to one at what was removed.
const LOOKS: u64 = 40;
/// What fails again and again is looked at at least once in 2 to the power of so many looks.
const MOST_DOUBLED: u32 = 6;

/// Looks after what other replicas leave and ask for, as long as it is polled.
pub async fn look_after(server: Arc<Server>) {
    let project = server
        .packs
        .values()
        .next()
        .map(|pack| Arc::clone(&pack.project));
    let Some((project, ledger)) = project.and_then(|project| {
        let ledger = Arc::clone(project.ledger()?);
        Some((project, ledger))
    }) else {
        return;
    };
    tokio::join!(
        take_up(&server, &project, &ledger),
        ending::heed(&server, &ledger)
    );
}

/// How a run that nobody holds any more stood when it was looked at last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stood {
    /// It is being settled.
    Going,
    /// Nothing more is to be done.
    Done,
    /// A process still has its conversation that does not renew its lease.
    Hung,
    /// It could not be settled so many times; it is not tried again before that look.
    Failed { times: u32, next: u64 },
}

async fn take_up(server: &Arc<Server>, project: &Arc<Project>, ledger: &Arc<dyn Ledger>) {
    let pause = (ledger.lease() / 2).max(Duration::from_millis(500));
    let (tells, mut hears) = mpsc::unbounded_channel();
    let mut stood: HashMap<String, Stood> = HashMap::new();
    let mut was_away = false;
    for look in 0.. {
        if look % LOOKS == 0 {
            sweep(server, project).await;
        }
        tokio::time::sleep(pause).await;
        if server.turns.is_ending() {
            return;
        }
        let asked = Arc::clone(ledger);
        let Ok(abandoned) = blocking(move || asked.abandoned()).await else {
            continue;
        };
        let abandoned = match abandoned {
            Ok(abandoned) => abandoned,
            Err(error) => {
                // Once for each time that it is away.
                if !was_away {
                    let at = jiff::Timestamp::now().to_string();
                    server.tell(json!({"at": at, "not_looked": error.to_string()}));
                }
                was_away = true;
                continue;
            }
        };
        was_away = false;
        while let Ok((run, now)) = hears.try_recv() {
            stood.insert(run, now);
        }
        stood.retain(|run, now| *now == Stood::Going || abandoned.contains(run));
        let mut free = {
            let going = stood.values().filter(|now| **now == Stood::Going);
            server.limits.turns.saturating_sub(going.count())
        };
        for run in abandoned {
            let before = stood.get(&run).copied();
            let waits = match before {
                Some(Stood::Going) => true,
                Some(Stood::Failed { next, .. }) => look < next,
                Some(Stood::Hung | Stood::Done) | None => false,
            };
            if waits || free == 0 {
                continue;
            }
            free -= 1;
            let times = match before {
                Some(Stood::Failed { times, .. }) => times,
                _ => 0,
            };
            stood.insert(run.clone(), Stood::Going);
            let (server, ledger, tells) = (Arc::clone(server), Arc::clone(ledger), tells.clone());
            // On its own, so that the next look does not wait for it and the end of the server does.
            tokio::spawn(async move {
                let is_hung = before == Some(Stood::Hung);
                let now = match server.place(Priority::Low).await {
                    Ok(_place) => server.take_over(&ledger, &run, is_hung).await,
                    // Too many wait: it is for the next look, here or elsewhere.
                    Err(_) => Stood::Done,
                };
                let now = match now {
                    Stood::Failed { .. } => failed(times + 1, look),
                    now => now,
                };
                // Who heard it has gone.
                let _ = tells.send((run, now));
            });
        }
    }
}

/// What could not be settled is tried again after one look, two, four and so on.
fn failed(times: u32, look: u64) -> Stood {
    let looks = 1_u64.checked_shl(times.min(MOST_DOUBLED)).unwrap_or(1);
    Stood::Failed {
        times,
        next: look + looks,
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    tokio::task::spawn_blocking(work).await
}

async fn sweep(server: &Server, project: &Arc<Project>) {
    let project = Arc::clone(project);
    let Ok(swept) = blocking(move || project.remove_what_is_gone()).await else {
        return;
    };
    // Where the database is away, those that wait for it are told, and it is asked again.
    let Ok((runs, left)) = swept else { return };
    let at = jiff::Timestamp::now().to_string();
    if !runs.is_empty() {
        server.tell(json!({"at": at, "removed": runs}));
    }
    for error in left {
        server.tell(json!({"at": at, "not_removed": error.to_string()}));
    }
}

impl Server {
    /// Settles the turn of a run that nobody holds any more; where somebody still had its conversation at the last look (`hung`), it is
    /// taken from there.
    async fn take_over(self: &Arc<Self>, ledger: &Arc<dyn Ledger>, run: &str, hung: bool) -> Stood {
        let of = match self.sessions.of_run(run).await {
            // Another's.
            Ok(Some(key)) if is_handed_out(&key.tenant) => return Stood::Done,
            Ok(Some(key)) => match self.packs.get(&key.pack) {
                Some(pack) => Some((key, Arc::clone(pack))),
                // Another server's.
                None => return Stood::Done,
            },
            Ok(None) => None,
            // Where the conversations are cannot be reached: this is the next look's.
            Err(_) => return Stood::Done,
        };
        let of = match of {
            Some((key, pack)) => match self.sessions.load(&key).await {
                Ok(session) => {
                    let is_open = session.open_run.as_deref() == Some(run);
                    // Its turn is over, and the conversation may be in the next one: nobody is cut off from that.
                    is_open.then_some((key, pack))
                }
                Err(_) => return Stood::Done,
            },
            None => None,
        };
        if let Some((key, _)) = of.as_ref().filter(|_| hung) {
            // Where that cannot be told now, it is at the next look.
            let _ = self.sessions.wrest(key).await;
        }
        let done = match &of {
            Some((key, pack)) => self.settle_open(pack, key).await,
            None => None,
        };
        match done {
            Some(Settled::UnderWay) => return Stood::Hung,
            Some(done) => {
                self.tell(told(run, &done));
                if matches!(done, Settled::Failed(_)) {
                    return failed(0, 0);
                }
            }
            // A turn that had its end already, or a run of a command: there is nothing to settle, and it is free.
            None => {
                let (ledger, run) = (Arc::clone(ledger), run.to_owned());
                let freed =
                    blocking(move || ledger.take(&run, false).map(|held| ledger.leave(&held)));
                // Who took it in this moment has it.
                let _ = freed.await;
            }
        }
        Stood::Done
    }

    /// Settles the open turn of a conversation; None: it has none.
    pub(crate) async fn settle_open(
        self: &Arc<Self>,
        pack: &ServedPack,
        key: &SessionKey,
    ) -> Option<Settled> {
        let finishes = pack.pack.manifest.channels.finishes;
        let mut done = self.settle_one(pack, key, finishes).await;
        // One that took too long, or that could not go on now, would come again at each start.
        let is_stuck = matches!(&done, Ok(agentctl_turns::Settled::Ended(reply))
            if matches!(reply.outcome, Outcome::Interrupted | Outcome::Budget));
        if is_stuck {
            done = self.settle_one(pack, key, false).await;
        }
        match done {
            Ok(agentctl_turns::Settled::Nothing) => None,
            Ok(agentctl_turns::Settled::UnderWay) => Some(Settled::UnderWay),
            Ok(agentctl_turns::Settled::Ended(reply)) => Some(Settled::Ended(reply)),
            Err(error) => Some(Settled::Failed(error.to_string())),
        }
    }
}

/// As the log has it.
fn told(run: &str, done: &Settled) -> Value {
    let at = jiff::Timestamp::now().to_string();
    match done {
        Settled::Ended(reply) => {
            json!({"at": at, "taken_over": run, "session": reply.session_id, "outcome": reply.outcome})
        }
        Settled::UnderWay => json!({"at": at, "taken_over": run}),
        Settled::Failed(why) => json!({"at": at, "taken_over": run, "why": why}),
    }
}
