//! What a replica does for one that died: turns whose lease ran out are settled as those of a killed server are at its next start, and
//! what was removed elsewhere is removed here.

use crate::places::Priority;
use crate::server::{ServedPack, Server, Settled};
use agentctl_base::question::Outcome;
use agentctl_engine::store::{Ledger, Project};
use agentctl_sessions::SessionKey;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// So many looks at runs without a holder come to one at what was removed.
const LOOKS: u64 = 40;

/// Looks after what other replicas leave, as long as it is polled.
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
    let pause = (ledger.lease() / 2).max(Duration::from_millis(500));
    let mut looks = 0;
    // Whose conversation a process still has that does not renew its run's lease.
    let mut hung: HashSet<String> = HashSet::new();
    loop {
        if looks % LOOKS == 0 {
            sweep(&server, &project).await;
        }
        looks += 1;
        tokio::time::sleep(pause).await;
        if server.turns.is_ending() {
            return;
        }
        // Where it is away, those that wait for it are told; it is looked at again later.
        let asked = Arc::clone(&ledger);
        let Ok(Ok(abandoned)) = blocking(move || asked.abandoned()).await else {
            continue;
        };
        let mut taking = JoinSet::new();
        for run in abandoned {
            let (server, ledger) = (Arc::clone(&server), Arc::clone(&ledger));
            let is_hung = hung.contains(&run);
            taking.spawn(async move {
                // As many at once as turns are; where too many wait, it is for the next look, here or elsewhere.
                let _place = server.place(Priority::Low).await.ok()?;
                let hangs = server.take_over(&ledger, &run, is_hung).await;
                hangs.then_some(run)
            });
        }
        hung.clear();
        while let Some(taken) = taking.join_next().await {
            hung.extend(taken.ok().flatten());
        }
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
    /// Settles the turn of a run that nobody holds any more. True: somebody still has its conversation; where that was so at the last
    /// look (`hung`), it is taken from there.
    async fn take_over(&self, ledger: &Arc<dyn Ledger>, run: &str, hung: bool) -> bool {
        let of = match self.sessions.of_run(run).await {
            Ok(Some(key)) => match self.packs.get(&key.pack) {
                Some(pack) => Some((key, Arc::clone(pack))),
                // Another server's.
                None => return false,
            },
            Ok(None) => None,
            Err(_) => return false,
        };
        let of = match of {
            Some((key, pack)) => match self.sessions.load(&key).await {
                Ok(session) => {
                    let is_open = session.open_run.as_deref() == Some(run);
                    // Its turn is over, and the conversation may be in the next one: nobody is cut off from that.
                    is_open.then_some((key, pack))
                }
                Err(_) => return false,
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
            Some(Settled::UnderWay) => return true,
            Some(done) => self.tell(told(run, &done)),
            // A turn that had its end already, or a run of a command: there is nothing to settle, and it is free.
            None => {
                let (ledger, run) = (Arc::clone(ledger), run.to_owned());
                let freed =
                    blocking(move || ledger.take(&run, false).map(|held| ledger.leave(&held)));
                // Who took it in this moment has it.
                let _ = freed.await;
            }
        }
        false
    }

    /// Settles the open turn of a conversation; None: it has none.
    pub(crate) async fn settle_open(&self, pack: &ServedPack, key: &SessionKey) -> Option<Settled> {
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
