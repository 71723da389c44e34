//! The MCP sessions of an HTTP server: opened by `initialize`, named by an id that nobody can guess, ended by their client, by
//! silence, or with the server. Each is one rmcp service that is fed message by message.

use super::pending::{NotTaken, Pending, answered};
use super::{Hosts, Session};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::serve_server;
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Requests of one session that have no answer yet.
const MAX_PENDING: usize = 16;

/// What waits for a request's answer: the text of it, or None when the request was cancelled.
type Answers = Pending<oneshot::Sender<Option<String>>>;

pub(super) struct Sessions {
    hosts: Arc<dyn Hosts>,
    /// Of one caller.
    max: usize,
    /// Of all callers.
    most: usize,
    idle: Duration,
    open: Mutex<HashMap<String, Entry>>,
    /// The server ends: nothing more is asked.
    ending: AtomicBool,
}

struct Entry {
    /// Whose it is: to another caller it is none.
    caller: String,
    inbox: mpsc::Sender<ClientJsonRpcMessage>,
    answers: Arc<Answers>,
    last_used: Instant,
    task: JoinHandle<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotAsked {
    /// As many sessions as there may be, all in use.
    TooMany,
    /// There is no such session (any more).
    Gone,
    /// The client took the request back: it wants no answer.
    Cancelled,
    NotTaken(NotTaken),
    /// The server ends.
    Ending,
}

impl Sessions {
    pub fn new(hosts: Arc<dyn Hosts>, max: usize, most: usize, idle: Duration) -> Self {
        Sessions {
            hosts,
            max,
            most,
            idle,
            open: Mutex::new(HashMap::new()),
            ending: AtomicBool::new(false),
        }
    }

    /// From now on nothing more is asked; returns when what was asked has its answer, or when the time is up.
    pub async fn drain(&self, within: Duration) {
        let open: Vec<Arc<Answers>> = {
            let open = self.lock(); // also keeps a request that is being taken from slipping through
            self.ending.store(true, Ordering::SeqCst);
            open.values()
                .map(|entry| Arc::clone(&entry.answers))
                .collect()
        };
        let answered = async {
            for answers in open {
                answers.emptied().await;
            }
        };
        // What takes longer is carried through, and its caller is told that the server ended.
        let _ = tokio::time::timeout(within, answered).await;
    }

    fn is_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    /// A holder that panicked left the map whole: each change of it is one insert or one remove.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a session with its `initialize`; the session's id, and the answer.
    pub async fn open(
        &self,
        caller: &str,
        id: &RequestId,
        message: ClientJsonRpcMessage,
    ) -> Result<(String, String), NotAsked> {
        // 122 random bits; without the token it opens nothing anyway.
        let name = uuid::Uuid::new_v4().simple().to_string();
        {
            let mut open = self.lock();
            let idle = self.idle;
            open.retain(|_, entry| entry.last_used.elapsed() < idle || !entry.answers.is_empty());
            let own = open.values().filter(|entry| entry.caller == caller);
            if open.len() >= self.most || own.count() >= self.max {
                return Err(NotAsked::TooMany);
            }
            open.insert(name.clone(), self.entry(caller));
        }
        let answer = self.ask((caller, &name), id, message).await;
        match answer {
            // The one session that a refused `initialize` opened is none.
            Ok(text) if text.contains("\"error\"") && is_error(&text) => {
                self.close((caller, &name)).await;
                Ok((String::new(), text))
            }
            Ok(text) => Ok((name, text)),
            Err(why) => {
                self.close((caller, &name)).await;
                Err(why)
            }
        }
    }

    fn entry(&self, caller: &str) -> Entry {
        let (inbox, messages) = mpsc::channel(MAX_PENDING);
        let answers = Arc::new(Answers::new(MAX_PENDING));
        let host = Arc::new(OnceLock::new());
        let session = Session {
            hosts: Arc::clone(&self.hosts),
            transport: "http",
            caller: caller.to_owned(),
            host: Arc::clone(&host),
        };
        let transport = Messages {
            messages,
            answers: Arc::clone(&answers),
        };
        let task = tokio::spawn(async move {
            if let Ok(running) = serve_server(session, transport).await {
                // However it ended: the session is over.
                let _ = running.waiting().await;
            }
            if let Some(host) = host.get() {
                host.close().await;
            }
        });
        Entry {
            caller: caller.to_owned(),
            inbox,
            answers,
            last_used: Instant::now(),
            task,
        }
    }

    /// Asks, and waits for the answer's text.
    pub async fn ask(
        &self,
        session: (&str, &str),
        id: &RequestId,
        message: ClientJsonRpcMessage,
    ) -> Result<String, NotAsked> {
        let (inbox, answer) = {
            let mut open = self.lock();
            if self.is_ending() {
                return Err(NotAsked::Ending);
            }
            let entry = mine(&mut open, session).ok_or(NotAsked::Gone)?;
            entry.last_used = Instant::now();
            let (sender, answer) = oneshot::channel();
            entry.answers.add(id, sender).map_err(NotAsked::NotTaken)?;
            (entry.inbox.clone(), answer)
        };
        inbox.send(message).await.map_err(|_| NotAsked::Gone)?;
        drop(inbox);
        match answer.await {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(NotAsked::Cancelled),
            Err(_) if self.is_ending() => Err(NotAsked::Ending),
            Err(_) => Err(NotAsked::Gone),
        }
    }

    pub async fn tell(
        &self,
        session: (&str, &str),
        cancels: Option<&RequestId>,
        message: ClientJsonRpcMessage,
    ) -> Result<(), NotAsked> {
        let inbox = {
            let mut open = self.lock();
            let entry = mine(&mut open, session).ok_or(NotAsked::Gone)?;
            entry.last_used = Instant::now();
            // rmcp drops the answer of a cancelled request; who waits for it is let go here.
            if let Some(waits) = cancels.and_then(|id| entry.answers.remove(id)) {
                let _ = waits.send(None);
            }
            entry.inbox.clone()
        };
        inbox.send(message).await.map_err(|_| NotAsked::Gone)
    }

    /// Ends a session; returns when its last change is done and journaled.
    pub async fn close(&self, session: (&str, &str)) -> bool {
        let entry = {
            let mut open = self.lock();
            mine(&mut open, session)
                .is_some()
                .then(|| open.remove(session.1))
        };
        let Some(entry) = entry.flatten() else {
            return false;
        };
        end(entry).await;
        true
    }

    pub async fn close_all(&self) {
        let all: Vec<Entry> = self.lock().drain().map(|(_, entry)| entry).collect();
        for entry in all {
            end(entry).await;
        }
    }
}

/// The session of this caller that has this name.
fn mine<'a>(
    open: &'a mut HashMap<String, Entry>,
    (caller, name): (&str, &str),
) -> Option<&'a mut Entry> {
    open.get_mut(name).filter(|entry| entry.caller == caller)
}

async fn end(entry: Entry) {
    drop(entry.inbox);
    // A session that panicked has nothing left to finish.
    let _ = entry.task.await;
}

fn is_error(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text)
        .is_ok_and(|message| message.get("error").is_some())
}

struct Messages {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    answers: Arc<Answers>,
}

impl Transport<RoleServer> for Messages {
    type Error = Infallible;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let waits = answered(&message).and_then(|id| self.answers.remove(id));
        if let (Some(waits), Ok(text)) = (waits, serde_json::to_string(&message)) {
            // Who asked may have gone; the answer is in the journal.
            let _ = waits.send(Some(text));
        }
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
