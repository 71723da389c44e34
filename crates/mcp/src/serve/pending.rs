//! The requests of one session that have no answer yet: how many there may be, and none twice under one id.

use super::frame::id_key;
use rmcp::model::{RequestId, ServerJsonRpcMessage};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// `T`: what waits for the answer.
pub(super) struct Pending<T> {
    open: Mutex<HashMap<String, T>>,
    freed: Notify,
    max: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// The id is one of a request that has no answer yet.
    Twice,
    Full,
}

impl<T> Pending<T> {
    pub fn new(max: usize) -> Self {
        Pending {
            open: Mutex::new(HashMap::new()),
            freed: Notify::new(),
            max,
        }
    }

    /// A holder that panicked left the map whole: each change of it is one insert or one remove.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, T>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, id: &RequestId, waits: T) -> Result<(), NotTaken> {
        let mut open = self.lock();
        let key = id_key(id);
        if open.contains_key(&key) {
            return Err(NotTaken::Twice);
        }
        if open.len() >= self.max {
            return Err(NotTaken::Full);
        }
        open.insert(key, waits);
        Ok(())
    }

    /// The request is answered, or will not be.
    pub fn remove(&self, id: &RequestId) -> Option<T> {
        let found = self.lock().remove(&id_key(id));
        if found.is_some() {
            self.freed.notify_waiters();
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Ready when every request has its answer.
    pub async fn emptied(&self) {
        loop {
            let freed = self.freed.notified();
            if self.is_empty() {
                return;
            }
            freed.await;
        }
    }

    /// Ready when another request may come.
    pub async fn room(&self) {
        loop {
            let freed = self.freed.notified();
            if self.lock().len() < self.max {
                return;
            }
            freed.await;
        }
    }
}

/// The request that a message answers.
pub(super) fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}
