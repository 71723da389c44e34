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
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// So many looks at runs without a holder come to one at what was removed.
const LOOKS: u64 = 40;
/// What fails again and again is looked at at least once in 2 to the power of so many looks.
const MOST_DOUBLED: u32 = 6;

/// Runs that this replica worked on and lost. Who took one may have found nothing to do yet, where this replica stood still before it
/// noted the turn, and has let go of it: then nobody else knows of it.
#[derive(Debug, Default)]
pub struct Lost(Mutex<BTreeSet<String>>);

impl Lost {
    pub fn note(&self, run: &str) {
        self.all().insert(run.to_owned());
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks after what other replicas leave and ask for, as long as it is polled.
pub async fn look_after(server: Arc<Server>) {
    tokio::join!(take_up(&server), ending::heed(&server));
}

/// What came of a try to settle a run that nobody holds any more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tried {
    /// Nothing more is to be done here.
    Done,
    /// A process still has its conversation that does not renew its lease.
    Hangs,
    /// It could not be looked at now: it is for the next look, here or elsewhere.
    Later,
    Failed,
}

/// What is known of such a run from the looks before.
enum Known {
    /// It is being settled, after so many tries that failed.
    Going {
        trying: JoinHandle<Tried>,
        failed: u32,
    },
    Hangs,
    /// It is not tried again before that look.
    Failed {
        times: u32,
        next: u64,
    },
}

impl Known {
    fn is_going(&self) -> bool {
        matches!(self, Known::Going { .. })
    }

    /// What could not be settled is tried again after two looks, four and so on.
    fn failed(times: u32, look: u64) -> Known {
        let looks = 1_u64.checked_shl(times.min(MOST_DOUBLED)).unwrap_or(1);
        Known::Failed {
            times,
            next: look + looks,
        }
    }
}

async fn take_up(server: &Arc<Server>) {
    let Some((project, ledger)) = server.shared() else {
        return;
    };
    let pause = (ledger.lease() / 2).max(Duration::from_millis(500));
    let mut known: HashMap<String, Known> = HashMap::new();
    let mut was_away = false;
    for look in 0.. {
        if look % LOOKS == 0 {
            sweep(server, &project).await;
        }
        tokio::time::sleep(pause).await;
        if server.turns.is_ending() {
            return;
        }
        let asked = Arc::clone(&ledger);
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
        hear(server, &mut known, look).await;
        let open: BTreeSet<String> = abandoned.into_iter().collect();
        let open = &open | &*server.lost.all();
        known.retain(|run, now| now.is_going() || open.contains(run));
        // As many at once as turns are.
        let going = known.values().filter(|now| now.is_going()).count();
        let mut free = server.limits.turns.saturating_sub(going);
        for run in open {
            if free == 0 {
                break;
            }
            let (hangs, failed) = match known.get(&run) {
                Some(Known::Going { .. }) => continue,
                Some(Known::Failed { next, .. }) if look < *next => continue,
                Some(Known::Failed { times, .. }) => (false, *times),
                Some(Known::Hangs) => (true, 0),
                None => (false, 0),
            };
            // On its own, so that the next look does not wait for it and the end of the server does.
            let trying = tokio::spawn(settled(
                Arc::clone(server),
                Arc::clone(&ledger),
                run.clone(),
                hangs,
            ));
            known.insert(run, Known::Going { trying, failed });
            free -= 1;
        }
    }
}

/// Takes up what came of the tries that are at their end.
async fn hear(server: &Server, known: &mut HashMap<String, Known>, look: u64) {
    let is_over = |now: &Known| matches!(now, Known::Going { trying, .. } if trying.is_finished());
    let over: Vec<(String, Known)> = known.extract_if(|_, now| is_over(now)).collect();
    for (run, now) in over {
        let Known::Going { trying, failed } = now else {
            continue;
        };
        match trying.await {
            Ok(Tried::Done) => drop(server.lost.all().remove(&run)),
            Ok(Tried::Later) => {}
            // Of a run that was lost it is at work, and nobody is cut off from it.
            Ok(Tried::Hangs) if server.lost.all().remove(&run) => {}
            Ok(Tried::Hangs) => drop(known.insert(run, Known::Hangs)),
            Ok(Tried::Failed) | Err(_) => drop(known.insert(run, Known::failed(failed + 1, look))),
        }
    }
}

async fn settled(server: Arc<Server>, ledger: Arc<dyn Ledger>, run: String, hangs: bool) -> Tried {
    match server.place(Priority::Low).await {
        Ok(_place) => server.take_over(&ledger, &run, hangs).await,
        // Too many wait.
        Err(_) => Tried::Later,
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
    /// The project of all packs, and where its journals are shared; None: they are not.
    pub(crate) fn shared(&self) -> Option<(Arc<Project>, Arc<dyn Ledger>)> {
        let project = &self.packs.values().next()?.project;
        Some((Arc::clone(project), Arc::clone(project.ledger()?)))
    }

    /// Settles the turn of a run that nobody holds any more; where somebody still had its conversation at the last look (`hung`), it is
    /// taken from there.
    async fn take_over(self: &Arc<Self>, ledger: &Arc<dyn Ledger>, run: &str, hung: bool) -> Tried {
        let of = match self.sessions.of_run(run).await {
            // Another's.
            Ok(Some(key)) if is_handed_out(&key.tenant) => return Tried::Done,
            Ok(Some(key)) => match self.packs.get(&key.pack) {
                Some(pack) => Some((key, Arc::clone(pack))),
                // Another server's.
                None => return Tried::Done,
            },
            Ok(None) => None,
            // Where the conversations are cannot be reached.
            Err(_) => return Tried::Later,
        };
        let of = match of {
            Some((key, pack)) => match self.sessions.load(&key).await {
                Ok(session) => {
                    let is_open = session.open_run.as_deref() == Some(run);
                    // Its turn is over, and the conversation may be in the next one: nobody is cut off from that.
                    is_open.then_some((key, pack))
                }
                Err(_) => return Tried::Later,
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
            Some(Settled::UnderWay) => return Tried::Hangs,
            Some(done) => {
                self.tell(told(run, &done));
                if matches!(done, Settled::Failed(_)) {
                    return Tried::Failed;
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
        Tried::Done
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
