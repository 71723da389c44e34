//! Stopping on a signal: who started the run says "stop", the driver sees it between two actions and saves.

use std::sync::Arc;
use tokio::sync::watch;

/// Why the run is to stop. It decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// SIGHUP: its terminal has gone.
    HangUp,
    /// SIGINT, Ctrl-C.
    Interrupt,
    /// SIGQUIT, Ctrl-\.
    Quit,
    /// SIGTERM.
    Terminate,
}

impl Cause {
    /// 128 and the signal's number, as a shell tells it (docs/exit-codes.md).
    pub fn exit_code(self) -> u8 {
        match self {
            Cause::HangUp => 129,
            Cause::Interrupt => 130,
            Cause::Quit => 131,
            Cause::Terminate => 143,
        }
    }
}

/// Cloned freely; every clone stops the same run. The first cause counts.
#[derive(Debug, Clone)]
pub struct Cancel {
    cause: Arc<watch::Sender<Option<Cause>>>,
}

impl Default for Cancel {
    fn default() -> Self {
        Cancel {
            cause: Arc::new(watch::Sender::new(None)),
        }
    }
}

impl Cancel {
    /// True when this was the first request: a second one should end the process at once.
    pub fn request(&self, cause: Cause) -> bool {
        self.cause.send_if_modified(|now| {
            let first = now.is_none();
            now.get_or_insert(cause);
            first
        })
    }

    pub fn cause(&self) -> Option<Cause> {
        *self.cause.borrow()
    }

    /// Ready once a stop was requested.
    pub async fn requested(&self) -> Cause {
        let mut watched = self.cause.subscribe();
        loop {
            if let Some(cause) = *watched.borrow_and_update() {
                return cause;
            }
            if watched.changed().await.is_err() {
                // Cannot be: `self` holds the sender. Waiting for ever is then the same as "no request".
                std::future::pending::<()>().await;
            }
        }
    }
}
