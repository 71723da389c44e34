//! Streamable HTTP, bounded: each message of ours is one POST, its answer one body or one event stream, of limited size. No
//! redirect to another origin, no second try, no stream that nobody asked for: what a server says outside of answers is not heard.

use super::frame::{Cut, MAX_MESSAGE};
use super::secret::Secret;
use super::wire::{Inbound, LOST, NOT_SENT, Outgoing, Pipe};
use agentctl_base::plain_http::is_loopback;
use indexmap::IndexMap;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, redirect};
use rmcp::model::RequestId;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const CONNECT: Duration = Duration::from_secs(10);
const GOODBYE: Duration = Duration::from_secs(2);
const MAX_REDIRECTS: usize = 3;
/// Of a body that comes with an error status.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Answers that were received and not yet read.
const QUEUE: usize = 64;

const SESSION: &str = "mcp-session-id";
const VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";

pub(super) struct HttpPipe {
    shared: Arc<Shared>,
    sender: mpsc::Sender<Inbound>,
    inbox: mpsc::Receiver<Inbound>,
    /// Aborted when the pipe is dropped.
    posts: JoinSet<()>,
}

struct Shared {
    client: Client,
    url: Secret,
    headers: HeaderMap,
    session: Mutex<Session>,
}

#[derive(Default)]
struct Session {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

impl HttpPipe {
    /// Err says which header of the file HTTP cannot carry.
    pub fn new(url: &Secret, headers: &IndexMap<String, Secret>) -> Result<Self, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let pair = (
                HeaderName::try_from(name.as_str()),
                HeaderValue::try_from(value.expose()),
            );
            let (Ok(key), Ok(mut value)) = pair else {
                return Err(format!(
                    "the header {name:?} is not one that HTTP can carry"
                ));
            };
            value.set_sensitive(true);
            map.insert(key, value);
        }
        let mut client = agentctl_host::http::client()
            .connect_timeout(CONNECT)
            .redirect(redirect::Policy::custom(same_origin));
        if url::Url::parse(url.expose()).is_ok_and(|url| is_loopback(&url)) {
            // What is meant for this machine is not taken to another one first.
            client = client.no_proxy();
        }
        let client = client
            .build()
            .map_err(|e| format!("cannot set up HTTP: {e}"))?;
        let (sender, inbox) = mpsc::channel(QUEUE);
        Ok(HttpPipe {
            shared: Arc::new(Shared {
                client,
                url: url.clone(),
                headers: map,
                session: Mutex::default(),
            }),
            sender,
            inbox,
            posts: JoinSet::new(),
        })
    }
}

/// A redirect that keeps the method and stays where the user sent us is followed; any other is shown as what it is.
fn same_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_method = matches!(
        attempt.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let stays = attempt
        .previous()
        .first()
        .is_some_and(|first| first.origin() == attempt.url().origin());
    if keeps_method && stays && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

impl Pipe for HttpPipe {
    fn send(
        &mut self,
        message: Outgoing,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        while self.posts.try_join_next().is_some() {}
        let (shared, sender) = (self.shared.clone(), self.sender.clone());
        self.posts
            .spawn(async move { shared.post(message, sender).await });
        std::future::ready(Ok(()))
    }

    async fn next(&mut self) -> Result<Inbound, Cut> {
        Ok(self.inbox.recv().await.unwrap_or(Inbound::Ended))
    }

    fn agreed(&mut self, version: &str) {
        self.shared.session().version = HeaderValue::try_from(version).ok();
    }

    async fn close(&mut self) {
        self.posts.abort_all();
        let id = self.shared.session().id.take();
        if let Some(id) = id {
            let goodbye = self
                .shared
                .client
                .delete(self.shared.url.expose())
                .headers(self.shared.headers.clone())
                .header(SESSION, id)
                .send();
            // A courtesy: the server forgets the session by itself, too.
            let _ = tokio::time::timeout(GOODBYE, goodbye).await;
        }
    }
}

impl Shared {
    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn post(&self, message: Outgoing, to: mpsc::Sender<Inbound>) {
        let had_session = self.session().id.is_some();
        let unanswered = match self.request(&message).await {
            Ok(response) => {
                let status = response.status();
                let no_answer = self.answer(&message, response, &to).await;
                if status == StatusCode::NOT_FOUND && had_session {
                    // The session is over: whatever comes next needs a new one.
                    tell(&to, &message.id, no_answer).await;
                    let _ = to.send(Inbound::Ended).await;
                    return;
                }
                no_answer
            }
            Err(e) => {
                let code = if e.is_connect() || e.is_builder() {
                    NOT_SENT
                } else {
                    LOST
                };
                (code, format!("no answer over HTTP: {}", e.without_url()))
            }
        };
        tell(&to, &message.id, unanswered).await;
    }

    async fn request(&self, message: &Outgoing) -> reqwest::Result<Response> {
        let body = &message.message;
        let mut request = self
            .client
            .post(self.url.expose())
            .headers(self.headers.clone())
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        let method = body.get("method").and_then(Value::as_str);
        let own_version = body
            .pointer("/params/_meta")
            .and_then(|meta| meta.get(VERSION_META))
            .and_then(Value::as_str)
            .and_then(|version| HeaderValue::try_from(version).ok());
        {
            let session = self.session();
            if let Some(id) = &session.id {
                request = request.header(SESSION, id.clone());
            }
            if let Some(version) = own_version.or_else(|| session.version.clone()) {
                request = request.header("mcp-protocol-version", version);
            }
        }
        if let Some(method) = method {
            request = request.header("mcp-method", method);
            let name = body
                .pointer("/params/name")
                .and_then(Value::as_str)
                .and_then(|name| HeaderValue::try_from(name).ok());
            if let Some(name) = name {
                request = request.header("mcp-name", name);
            }
        }
        request.body(body.to_string()).send().await
    }

    /// Passes on what the response holds; what is returned counts if the request is still open afterwards.
    async fn answer(
        &self,
        message: &Outgoing,
        mut response: Response,
        to: &mpsc::Sender<Inbound>,
    ) -> (i32, String) {
        let status = response.status();
        let json = content_type(&response).starts_with("application/json");
        if status.is_redirection() {
            let place = response
                .headers()
                .get("location")
                .and_then(|at| at.to_str().ok())
                .and_then(|at| response.url().join(at).ok())
                .and_then(|at| at.host_str().map(str::to_owned))
                .unwrap_or_else(|| "nowhere".to_owned());
            return (
                NOT_SENT,
                format!(
                    "HTTP {}: the server redirects to {place}, which is not followed",
                    status.as_u16()
                ),
            );
        }
        if !status.is_success() {
            // A server that knows MCP says in the body what is wrong; it must name the request to count.
            if json && let Ok(body) = body(&mut response, MAX_ERROR_BODY).await {
                let names_it = serde_json::from_slice::<Value>(&body)
                    .ok()
                    .and_then(|v| v.get("id").and_then(Value::as_i64).map(RequestId::Number));
                if names_it.is_some() && names_it == message.id {
                    let _ = to.send(Inbound::Bytes(body)).await;
                }
            }
            let code = if status.is_server_error() {
                LOST
            } else {
                NOT_SENT
            };
            return (code, format!("HTTP {}", status.as_u16()));
        }
        if message.message.get("method") == Some(&Value::from("initialize")) {
            self.session().id = response.headers().get(SESSION).cloned();
        }
        if message.id.is_none() || matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return (
                LOST,
                "the server accepted the request and did not answer it".to_owned(),
            );
        }
        let read = if content_type(&response).starts_with("text/event-stream") {
            events(&mut response, to).await
        } else if json {
            match body(&mut response, MAX_MESSAGE).await {
                Ok(body) => {
                    let _ = to.send(Inbound::Bytes(body)).await;
                    Ok(())
                }
                Err(why) => Err(why),
            }
        } else {
            Err("the answer is neither JSON nor an event stream".to_owned())
        };
        let why = read
            .err()
            .unwrap_or_else(|| "the response ended without an answer to the request".to_owned());
        (LOST, why)
    }
}

async fn tell(to: &mpsc::Sender<Inbound>, id: &Option<RequestId>, (code, message): (i32, String)) {
    if let Some(id) = id.clone() {
        // Nobody receives any more: then nobody waits either.
        let _ = to.send(Inbound::NoAnswer { id, code, message }).await;
    }
}

fn content_type(response: &Response) -> &str {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or("")
}

async fn body(response: &mut Response, max: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = chunk(response).await? {
        if body.len() + chunk.len() > max {
            return Err(format!("the answer has more than {max} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

async fn chunk(response: &mut Response) -> Result<Option<Vec<u8>>, String> {
    match response.chunk().await {
        Ok(chunk) => Ok(chunk.map(|bytes| bytes.to_vec())),
        Err(e) => Err(format!("the answer broke off: {}", e.without_url())),
    }
}

/// The events of a stream, each as one message.
async fn events(response: &mut Response, to: &mpsc::Sender<Inbound>) -> Result<(), String> {
    let mut stream = Events::default();
    while let Some(chunk) = chunk(response).await? {
        for event in stream.feed(&chunk)? {
            if to.send(Inbound::Bytes(event)).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

#[derive(Default)]
struct Events {
    line: Vec<u8>,
    event: Vec<u8>,
}

impl Events {
    /// The events that are whole now; only their text counts.
    fn feed(&mut self, chunk: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let mut whole = Vec::new();
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + self.event.len() + part.len() > MAX_MESSAGE {
                return Err(format!(
                    "the server sent an event of more than {} MiB",
                    MAX_MESSAGE / (1024 * 1024)
                ));
            }
            self.line.extend_from_slice(part);
            if !self.line.ends_with(b"\n") {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                if !self.event.is_empty() {
                    whole.push(std::mem::take(&mut self.event));
                }
            } else if let Some(text) = line.strip_prefix(b"data:") {
                let text = text.strip_prefix(b" ").unwrap_or(text);
                if !self.event.is_empty() {
                    self.event.push(b'\n');
                }
                self.event.extend_from_slice(text);
            }
        }
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_put_together_however_they_arrive() {
        let text = b": hello\r\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nid: 7\n\ndata:x\n\ndata: cut off";
        for size in [1, 2, 7, text.len()] {
            let mut events = Events::default();
            let mut found = Vec::new();
            for chunk in text.chunks(size) {
                found.extend(events.feed(chunk).unwrap());
            }
            assert_eq!(found, [b"{\"a\":\n1}".to_vec(), b"x".to_vec()], "{size}");
        }
    }

    #[test]
    fn an_event_has_a_largest_size() {
        let mut events = Events::default();
        let chunk = vec![b'x'; MAX_MESSAGE / 4];
        let fed: Result<Vec<_>, _> = (0..5).map(|_| events.feed(&chunk)).collect();
        assert!(fed.is_err());
    }
}
