//! Reading a request while the program starts: half of what an offline build computes needs nothing but the request.

use super::{choice, read};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// What is being read, by its request.
static AHEAD: Mutex<Option<(String, JoinHandle<read::Reading>)>> = Mutex::new(None);

/// Begins to read the request on another thread. The first [`reading`] of the same request takes the result.
pub fn read_ahead(request: &str) {
    let text = request.to_owned();
    let reader = move || choice::reading(&text, &read::ReadContext::default());
    // Without a thread nothing is lost but time.
    if let Ok(reader) = Builder::new().name("reader".to_owned()).spawn(reader) {
        let mut ahead = AHEAD.lock().unwrap_or_else(PoisonError::into_inner);
        *ahead = Some((request.to_owned(), reader));
    }
}

/// The request as read, ahead or now.
pub(super) fn reading(request: &str, cx: &read::ReadContext) -> read::Reading {
    let ahead = (AHEAD.lock().unwrap_or_else(PoisonError::into_inner)).take();
    match ahead {
        Some((text, reader)) if text == request && cx.answers.is_empty() => reader.join().ok(),
        _ => None,
    }
    .unwrap_or_else(|| choice::reading(request, cx))
}
