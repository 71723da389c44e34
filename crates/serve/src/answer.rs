//! Answers as they are written: whole, or event by event.

use crate::paths::Paths;
use hyper::body::{Bytes, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::Value;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

pub type Answer = Response<Body>;

/// So many events wait for a reader; who is slower holds its own sender up, and nobody else.
const WAITING: usize = 32;

pub enum Body {
    /// All of it; None: it is written.
    Whole(Option<Bytes>),
    /// Part by part, each text of its own; ends when the sender is dropped.
    Parts(mpsc::Receiver<Bytes>, Paths),
}

impl Body {
    /// The same, with these folders under their short names.
    pub fn shortened(self, paths: &Paths) -> Body {
        match self {
            Body::Whole(bytes) => Body::Whole(bytes.map(|bytes| paths.shortened_bytes(bytes))),
            Body::Parts(parts, _) => Body::Parts(parts, paths.clone()),
        }
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Body::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Body::Parts(parts, paths) => parts
                .poll_recv(cx)
                .map(|part| part.map(|bytes| Ok(Frame::data(paths.shortened_bytes(bytes))))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64))
            }
            Body::Parts(..) => SizeHint::default(),
        }
    }
}

pub fn json(status: StatusCode, value: &Value) -> Answer {
    whole(status, "application/json", value.to_string())
}

pub fn whole(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Answer {
    let text = text.into();
    let mut answer = Response::new(Body::Whole((!text.is_empty()).then_some(text)));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Writes events to one reader.
pub struct Events(mpsc::Sender<Bytes>);

impl Events {
    /// An answer of events, and what writes them.
    pub fn answer() -> (Events, Answer) {
        let (sender, receiver) = mpsc::channel(WAITING);
        let mut answer = Response::new(Body::Parts(receiver, Paths::default()));
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // A proxy that collects an answer before it passes it on would hold every event back.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        (Events(sender), answer)
    }

    /// False: the reader has gone.
    pub async fn send(&self, id: Option<u64>, event: Option<&str>, data: &str) -> bool {
        let mut text = String::new();
        if let Some(id) = id {
            text += &format!("id: {id}\n");
        }
        if let Some(event) = event {
            text += &format!("event: {event}\n");
        }
        for line in data.lines() {
            text += &format!("data: {line}\n");
        }
        text.push('\n');
        self.0.send(Bytes::from(text)).await.is_ok()
    }

    /// Ready when the reader has gone.
    pub async fn gone(&self) {
        self.0.closed().await;
    }

    /// A line that no reader shows, so that nobody on the way takes the connection for dead.
    pub async fn heartbeat(&self) -> bool {
        self.0.send(Bytes::from_static(b": \n\n")).await.is_ok()
    }
}
