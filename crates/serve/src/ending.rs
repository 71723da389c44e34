//! Ending a turn before it is at its end, whichever replica works on it.

use crate::once::broke_off;
use crate::problem::{Problem, of_store};
use crate::runs::Found;
use crate::server::Server;
use agentctl_engine::run::{Cancel, Cause};
use agentctl_engine::store::{LedgerError, Project, StoreError};
use agentctl_turns::{self as turns, TurnReply};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

/// How long lies between two looks at what others want ended here: a person waits for it.
const LOOK: Duration = Duration::from_secs(1);
/// How long lies between two looks at a run that is to end elsewhere.
const AGAIN: Duration = Duration::from_millis(200);

/// Asks whoever works on a run to end it at its next step. False: nobody does.
pub async fn ask(server: &Server, found: &Found) -> Result<bool, Problem> {
    if let Some(cancel) = server.live.cancel(&found.run) {
        cancel.request(Cause::Interrupt);
        return Ok(true);
    }
    let asked = of_ledger(found, |project, run| match project.ledger() {
        Some(ledger) => ledger.stop(run).map_err(StoreError::from),
        None => Ok(false),
    });
    asked.await
}

/// Waits until nobody works on a run any more, as long as a turn may take.
pub async fn wait(server: &Server, found: &Found) -> Result<(), Problem> {
    // The sender goes with the turn.
    while let Some(mut live) = server.live.of(&found.run) {
        while live.changed().await.is_ok() {}
    }
    let until = Instant::now() + server.limits.turn_timeout;
    loop {
        let held: Option<LedgerError> = of_ledger(found, Project::held_by).await?;
        match held {
            None => return Ok(()),
            Some(held) if Instant::now() >= until => return Err(of_store(&held.into())),
            Some(_) => sleep(AGAIN).await,
        }
    }
}

async fn of_ledger<T: Send + 'static>(
    found: &Found,
    work: impl FnOnce(&Project, &str) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Problem> {
    let (project, run) = (Arc::clone(&found.pack.project), found.run.clone());
    let done = spawn_blocking(move || work(&project, &run)).await;
    done.map_err(|_| broke_off())?.map_err(|e| of_store(&e))
}

impl Server {
    /// Carries work of a turn through; what takes longer than a turn may is told to stop at its next step, and the second is true.
    pub(crate) async fn in_time<T>(
        &self,
        cancel: &Cancel,
        work: impl Future<Output = T>,
    ) -> (T, bool) {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            done = &mut work => (done, false),
            () = sleep(self.limits.turn_timeout) => {
                cancel.request(Cause::Terminate);
                (work.await, true)
            }
        }
    }
}

/// Ends a run that nobody works on. What it did stays and is told; None: there is no such run.
pub async fn stop(server: &Server, found: &Found, why: &str) -> Result<Option<TurnReply>, Problem> {
    let fresh = Cancel::default();
    let host = server.host(&found.pack, &fresh);
    let mut watch = server.watching(&fresh, &found.key);
    Ok(turns::stop(&host, &found.key, &found.run, why, &mut watch).await?)
}

/// Ends the turns here that were cancelled at another replica, as long as it is polled.
pub async fn heed(server: &Server) {
    let Some((_, ledger)) = server.shared() else {
        return;
    };
    loop {
        sleep(LOOK).await;
        if server.turns.is_ending() {
            return;
        }
        let asked = Arc::clone(&ledger);
        // Where it is away, the next write of the turn finds that out, and ends it.
        let Ok(Ok(stops)) = spawn_blocking(move || asked.stops()).await else {
            continue;
        };
        for run in stops {
            if let Some(cancel) = server.live.cancel(&run) {
                cancel.request(Cause::Interrupt);
            }
        }
    }
}
