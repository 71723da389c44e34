//! A talk with another agent about one task. Where whoever talks is let go in the middle (the step has no time left, the run is stopped),
//! the task is cancelled: nobody waits for what comes of it.

use agentctl_a2a::Task;
use agentctl_a2a_client::Client;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// So long it takes at most to cancel a task.
const CANCELLING: Duration = Duration::from_secs(5);

/// The tasks that are being cancelled for talks that were let go.
static LEFT: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

pub(crate) struct Talk {
    client: Arc<Client>,
    /// None: it is not known yet, or the talk came to its end.
    task: Mutex<Option<String>>,
}

impl Talk {
    pub fn new(client: Arc<Client>) -> Talk {
        Talk {
            client,
            task: Mutex::default(),
        }
    }

    pub fn is_about(&self, task: &str) {
        let mut known = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(|| task.to_owned());
    }

    /// It is over; gives the task that it was about.
    pub fn ends(self) -> Option<String> {
        let mut known = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        known.take()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let known = self.task.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (Some(task), Ok(runtime)) = (known.take(), Handle::try_current()) else {
            return;
        };
        let client = Arc::clone(&self.client);
        let leaving = runtime.spawn(async move {
            // What came of it is nobody's concern any more.
            let _ = cancelled(&client, &task).await;
        });
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|leaving| !leaving.is_finished());
        left.push(leaving);
    }
}

/// Cancels a task; None: nobody said in time what became of it.
pub(crate) async fn cancelled(client: &Client, task: &str) -> Option<Task> {
    let cancelled = tokio::time::timeout(CANCELLING, client.cancel(task)).await;
    cancelled.ok()?.ok()
}

/// Ready when the tasks of all talks that were let go are cancelled, or cannot be.
pub async fn left() {
    let leaving = std::mem::take(&mut *LEFT.lock().unwrap_or_else(PoisonError::into_inner));
    for one in leaving {
        // It panicked, or its runtime has ended: there is nothing more to wait for.
        let _ = one.await;
    }
}
