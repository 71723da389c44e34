//! Serving over streamable HTTP on the loopback interface. One POST is one message, and its answer is JSON: this server has nothing
//! to say unasked, so there is no event stream to keep open. Everything that a caller sends is bounded in size and in time; there
//! are no redirects, no cookies, no CORS.

use super::door::{Shut, Token, admit};
use super::frame::{self, Frame, MAX_MESSAGE, Refusal};
use super::guests::{Guest, Seats};
use super::listen::{Answers, ListenLimits, Plain, listen};
use super::pending::NotTaken;
use super::sessions::{NotAsked, Sessions};
use super::{Hosts, versions};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap,
    HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// The one path.
pub const PATH: &str = "/mcp";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How much and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Of callers that have shown the token; as many more may wait for a place.
    pub connections: usize,
    /// Connections that have not shown it yet. The oldest gives way to a new one.
    pub strangers: usize,
    /// For the token, from the connection's first moment on.
    pub token: Duration,
    /// Sessions of one caller.
    pub sessions: usize,
    /// Sessions of all callers.
    pub sessions_in_all: usize,
    /// For a request's head, from its first to its last byte.
    pub head: Duration,
    /// For a request's body.
    pub body: Duration,
    /// For a caller that does not read its answer.
    pub write: Duration,
    /// A session that was silent for so long gives way to a new one.
    pub idle: Duration,
    /// For calls that are not answered when the server is stopped, and for their callers to read the answers.
    pub drain: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        HttpLimits {
            connections: 64,
            strangers: 64,
            token: Duration::from_secs(2),
            sessions: 32,
            sessions_in_all: 512,
            head: Duration::from_secs(10),
            body: Duration::from_secs(20),
            write: Duration::from_secs(30),
            idle: Duration::from_secs(30 * 60),
            drain: Duration::from_secs(10),
        }
    }
}

impl HttpLimits {
    pub fn of_connections(&self) -> ListenLimits {
        ListenLimits {
            strangers: self.strangers,
            token: self.token,
            head: self.head,
            write: self.write,
            drain: self.drain,
            late: false,
        }
    }
}

/// An answer, written at once.
pub type Answer = Response<Full<Bytes>>;

/// Serves until `stop` is ready. Then nothing more is taken, what was asked is answered as far as that does not take longer than
/// `limits.drain`, and every session's last change is done and journaled when this returns.
pub async fn serve(
    listener: TcpListener,
    hosts: Arc<dyn Hosts>,
    token: Token,
    limits: HttpLimits,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        let why = format!("{address} is not a loopback address");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let server = Arc::new(Server {
        mcp: Mcp::new(hosts, limits),
        token,
        port: address.port(),
        seats: Seats::new(limits.connections),
    });
    listen(listener, Plain, limits.of_connections(), server, stop).await;
    Ok(())
}

/// Whoever has the token is one caller.
const ONLY: &str = "";

/// What stands at [`PATH`] and nothing else, behind a token.
struct Server {
    mcp: Mcp,
    token: Token,
    port: u16,
    seats: Seats,
}

impl Answers for Server {
    type Body = Full<Bytes>;

    async fn answer(self: Arc<Self>, request: Request<Incoming>, guest: Arc<Guest>) -> Answer {
        let mut answer = match self.admitted(&request, &guest).await {
            Ok(()) => self.mcp.answer(request, ONLY).await,
            Err(answer) => answer,
        };
        let headers = answer.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }

    async fn finish(&self) {
        self.mcp.finish().await;
    }
}

impl Server {
    async fn admitted(&self, request: &Request<Incoming>, guest: &Guest) -> Result<(), Answer> {
        admit(request.uri(), request.headers(), self.port, &self.token).map_err(shut)?;
        self.seats.seat(guest).await.map_err(|_| {
            let mut answer = plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many connections are open",
            );
            let headers = answer.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
            answer
        })?;
        match request.uri().path() == PATH {
            true => Ok(()),
            false => Err(plain(
                StatusCode::NOT_FOUND,
                "there is /mcp and nothing else",
            )),
        }
    }
}

/// The MCP sessions of a server, by requests whose callers were let in by somebody else.
pub struct Mcp {
    sessions: Sessions,
    limits: HttpLimits,
}

impl Mcp {
    pub fn new(hosts: Arc<dyn Hosts>, limits: HttpLimits) -> Mcp {
        Mcp {
            sessions: Sessions::new(hosts, limits.sessions, limits.sessions_in_all, limits.idle),
            limits,
        }
    }

    /// `caller`: who was let in; a session is that one's alone.
    pub async fn answer(&self, request: Request<Incoming>, caller: &str) -> Answer {
        match self.take(request, caller).await {
            Ok(answer) | Err(answer) => answer,
        }
    }

    /// Takes no more; what was asked is answered within the time for it, and every session's last change is done and journaled when
    /// this returns.
    pub async fn finish(&self) {
        self.sessions.drain(self.limits.drain).await;
        self.sessions.close_all().await;
    }

    async fn take(&self, request: Request<Incoming>, caller: &str) -> Result<Answer, Answer> {
        let (head, body) = request.into_parts();
        let session = one(&head.headers, &SESSION).map_err(shut)?;
        if head.method == Method::DELETE {
            let Some(session) = session else {
                return Err(plain(StatusCode::BAD_REQUEST, "which session?"));
            };
            return Err(match self.sessions.close((caller, session)).await {
                true => plain(StatusCode::NO_CONTENT, ""),
                false => plain(StatusCode::NOT_FOUND, "there is no such session"),
            });
        }
        if head.method != Method::POST {
            let mut answer = plain(
                StatusCode::METHOD_NOT_ALLOWED,
                "messages are sent by POST; there is no event stream",
            );
            let allow = HeaderValue::from_static("POST, DELETE");
            answer.headers_mut().insert(ALLOW, allow);
            return Err(answer);
        }
        check_head(&head.headers).map_err(shut)?;
        let body = self.body(body).await?;
        match frame::read(&body).map_err(refused)? {
            Frame::Initialize(id, message) => {
                if session.is_some() {
                    let why = "this session was initialized already";
                    return Err(refused(Refusal::invalid(Some(id), why)));
                }
                let opened = self.sessions.open(caller, &id, message).await;
                let (name, text) = opened.map_err(|why| not_asked(why, Some(&id)))?;
                let mut answer = json(StatusCode::OK, text);
                if let Ok(name) = HeaderValue::from_str(&name)
                    && !name.is_empty()
                {
                    answer.headers_mut().insert(SESSION, name);
                }
                Ok(answer)
            }
            Frame::Request(id, message) => {
                let Some(session) = session else {
                    return Err(refused(frame::not_opened(id, &message)));
                };
                match self.sessions.ask((caller, session), &id, message).await {
                    Ok(text) => Ok(json(StatusCode::OK, text)),
                    Err(why) => Err(not_asked(why, Some(&id))),
                }
            }
            Frame::Notification(cancels, message) => {
                let Some(session) = session else {
                    return Err(plain(StatusCode::BAD_REQUEST, "initialize first"));
                };
                let told = self
                    .sessions
                    .tell((caller, session), cancels.as_ref(), message);
                told.await.map_err(|why| not_asked(why, None))?;
                Ok(plain(StatusCode::ACCEPTED, ""))
            }
            Frame::Response => Ok(plain(StatusCode::ACCEPTED, "")),
        }
    }

    /// The whole body, if it is short enough and comes soon enough.
    async fn body(&self, body: Incoming) -> Result<Bytes, Answer> {
        let too_long = || json(StatusCode::PAYLOAD_TOO_LARGE, Refusal::too_long().text());
        let announced = hyper::body::Body::size_hint(&body).lower();
        if announced > MAX_MESSAGE as u64 {
            return Err(too_long());
        }
        let whole = Limited::new(body, MAX_MESSAGE).collect();
        match tokio::time::timeout(self.limits.body, whole).await {
            Ok(Ok(whole)) => Ok(whole.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
            Ok(Err(_)) => Err(plain(StatusCode::BAD_REQUEST, "the body broke off")),
            Err(_) => Err(plain(StatusCode::REQUEST_TIMEOUT, "the body took too long")),
        }
    }
}

/// The one value of a header; two are refused, since readers differ on which counts.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Shut> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value
            .to_str()
            .map(Some)
            .map_err(|_| bad("a header is not visible ASCII")),
        _ => Err(bad("a header stands twice")),
    }
}

fn bad(why: &'static str) -> Shut {
    let status = StatusCode::BAD_REQUEST;
    Shut { status, why }
}

fn check_head(headers: &HeaderMap) -> Result<(), Shut> {
    let shut = |status, why| Err(Shut { status, why });
    let is_json = |value: &str| {
        let kind = value.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
    };
    if !one(headers, &CONTENT_TYPE)?.is_some_and(is_json) {
        let why = "the body must be application/json";
        return shut(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    // Nothing is unpacked, so nothing can be packed to be large.
    if headers.contains_key(CONTENT_ENCODING) {
        let why = "the body must not be compressed";
        return shut(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    let takes_json = headers.get_all(ACCEPT).iter().any(|value| {
        let value = value.to_str().unwrap_or_default().to_ascii_lowercase();
        ["application/json", "application/*", "*/*"]
            .iter()
            .any(|kind| value.contains(kind))
    });
    if headers.contains_key(ACCEPT) && !takes_json {
        return shut(StatusCode::NOT_ACCEPTABLE, "answers are application/json");
    }
    let known = |given: &str| versions().iter().any(|version| version.as_str() == given);
    if one(headers, &VERSION)?.is_some_and(|given| !known(given)) {
        return Err(bad("this protocol version is not spoken here"));
    }
    Ok(())
}

fn shut(shut: Shut) -> Answer {
    let mut answer = plain(shut.status, shut.why);
    if shut.status == StatusCode::UNAUTHORIZED {
        let how = HeaderValue::from_static("Bearer realm=\"agentctl\"");
        answer.headers_mut().insert(WWW_AUTHENTICATE, how);
    }
    answer
}

fn refused(refusal: Refusal) -> Answer {
    json(StatusCode::BAD_REQUEST, refusal.text())
}

fn not_asked(why: NotAsked, id: Option<&rmcp::model::RequestId>) -> Answer {
    let busy = |status, why: &str| {
        let mut answer = json(status, frame::error(id, frame::BUSY, why));
        let seconds = HeaderValue::from_static("5");
        answer.headers_mut().insert(RETRY_AFTER, seconds);
        answer
    };
    match why {
        NotAsked::TooMany => busy(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many sessions are open",
        ),
        NotAsked::NotTaken(NotTaken::Full) => {
            busy(StatusCode::TOO_MANY_REQUESTS, "too many requests at once")
        }
        NotAsked::NotTaken(NotTaken::Twice) => refused(Refusal::invalid(
            id.cloned(),
            "a request with this id has no answer yet",
        )),
        NotAsked::Ending => json(
            StatusCode::SERVICE_UNAVAILABLE,
            frame::error(
                id,
                frame::BUSY,
                "the server ends: read the workflow before the call is made again",
            ),
        ),
        NotAsked::Cancelled => plain(StatusCode::ACCEPTED, ""),
        NotAsked::Gone => plain(StatusCode::NOT_FOUND, "there is no such session"),
    }
}

fn json(status: StatusCode, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *answer.status_mut() = status;
    if !text.is_empty() {
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        answer.headers_mut().insert(CONTENT_TYPE, kind);
    }
    answer
}
