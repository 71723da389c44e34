//! A run's journal as it grows, wherever it is written: by a turn of this server, by a command, or, where journals are shared, by another
//! replica.

use crate::runs::Readable;
use crate::server::Server;
use agentctl_engine::store::{Copied, LedgerError, Record, StoreError, Tail};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// So long lies between two looks at what another process may have written: twice as long each time that nothing was there, up to the
/// longest. A run that waits for a person for days is asked for by each who follows it.
const ELSEWHERE: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(4);

pub struct Following {
    server: Arc<Server>,
    found: Readable,
    tail: Tail,
    path: PathBuf,
    /// Bytes of the file when it was read last.
    read: u64,
    live: Option<watch::Receiver<u64>>,
    begun: watch::Receiver<u64>,
}

impl Following {
    /// None: no run has such a name.
    pub fn new(server: &Arc<Server>, found: impl Into<Readable>) -> Option<Following> {
        let found = found.into();
        let path = found.pack.project.run(&found.run).ok()?.journal();
        Some(Following {
            server: Arc::clone(server),
            found,
            tail: Tail::new(&path),
            path,
            read: 0,
            live: None,
            begun: server.live.begun(),
        })
    }

    /// The records that came since the last call; with them the error that comes after them, if there is one.
    pub async fn more(&mut self) -> (Vec<Record>, Result<(), StoreError>) {
        // Asked for before the journal is read, so that nothing comes in between unseen.
        self.live = self.server.live.of(&self.found.run);
        self.begun = self.server.live.begun();
        self.begun.mark_unchanged();
        if self.live.is_none()
            && let Err(error) = self.fetch().await
        {
            return (Vec::new(), Err(error));
        }
        self.read = self.len();
        self.tail.more()
    }

    /// Whether nobody goes on with the run here.
    pub fn rests(&self) -> bool {
        self.live.is_none()
    }

    /// Ready when there may be more.
    pub async fn changed(&mut self) {
        if let Some(live) = &mut self.live {
            return drop(live.changed().await);
        }
        let is_shared = self.found.pack.project.ledger().is_some();
        if !is_shared && self.found.key.is_some() {
            return drop(self.begun.changed().await);
        }
        let mut pause = ELSEWHERE;
        loop {
            tokio::select! {
                _ = self.begun.changed() => return,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(LONGEST);
            // An error is told by the next reading.
            if self.fetch().await.is_err() || self.len() != self.read {
                return;
            }
        }
    }

    fn len(&self) -> u64 {
        std::fs::symlink_metadata(&self.path).map_or(0, |found| found.len())
    }

    async fn fetch(&self) -> Result<(), StoreError> {
        let (project, run) = (Arc::clone(&self.found.pack.project), self.found.run.clone());
        if project.ledger().is_none() {
            return Ok(());
        }
        let fetched = tokio::task::spawn_blocking(move || match project.fetch_run(&run)? {
            Copied::Removed => Err(LedgerError::Gone { run }.into()),
            _ => Ok(()),
        });
        let broke = |e| StoreError::io("fetch", &self.path)(std::io::Error::other(e));
        fetched.await.unwrap_or_else(|e| Err(broke(e)))
    }
}
