//! Which door a request is for, and whether its caller may come in.

use crate::answer::{Answer, json};
use crate::ask::Ask;
use crate::clients::{Client, May};
use crate::once::broke_off;
use crate::problem::Problem;
use crate::server::{ServedPack, Server};
use crate::threads::Hands;
use crate::{a2a, chat, commands, events, hooks, kept, listed, openai, runs, ui};
use agentctl_engine::nearest::nearest;
use agentctl_mcp::serve::Guest;
use agentctl_turns::TurnReply;
use hyper::body::Incoming;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap, HeaderName,
    HeaderValue, ORIGIN, VARY,
};
use hyper::{Method, Request, StatusCode, Uri};
use serde_json::json as value;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// So long a client that made too many requests waits to be told.
const TOO_MANY: Duration = Duration::from_millis(500);
/// The methods of a door where something is read.
const READS: &str = "GET, HEAD";
/// Of a door that has its own word on them.
const ALL: &str = "GET, POST, DELETE";
const RUN_ID: HeaderName = HeaderName::from_static("x-run-id");
const SESSION_ID: HeaderName = HeaderName::from_static("x-session-id");

/// Says in the answer's head which run and which conversation it was.
pub fn naming(answer: Answer, reply: &TurnReply) -> Answer {
    named(answer, Some(&reply.run_id), Some(&reply.session_id))
}

pub fn named(mut answer: Answer, run: Option<&str>, session: Option<&str>) -> Answer {
    name(&mut answer, &RUN_ID, run);
    name(&mut answer, &SESSION_ID, session);
    answer
}

fn name(answer: &mut Answer, header: &HeaderName, value: Option<&str>) {
    if let Some(value) = value.and_then(|v| HeaderValue::from_str(v).ok()) {
        answer.headers_mut().insert(header.clone(), value);
    }
}

/// What is noted of a request.
#[derive(Debug, Default)]
pub struct Noted {
    pub client: Option<String>,
}

impl Server {
    pub(crate) async fn route(
        self: &Arc<Self>,
        request: Request<Incoming>,
        guest: &Arc<Guest>,
        noted: &mut Noted,
        hands: &Hands,
    ) -> Answer {
        let origin = request.headers().get(ORIGIN).cloned();
        let path = request.uri().path();
        let is_openai = path.starts_with("/v1/");
        // Files are what they are, and the other server speaks for itself.
        let is_own = !matches!(parts(path).0, "files" | "mcp");
        let answered = self.answered(request, guest, noted, hands).await;
        let mut answer = answered.unwrap_or_else(|mut problem| {
            if is_openai {
                let error = problem.as_error();
                problem = problem.with("error", error);
            }
            let mut answer = problem.answer();
            let of = |key: &str| problem.more.get(key).and_then(|v| v.as_str());
            name(&mut answer, &RUN_ID, of("run_id"));
            name(&mut answer, &SESSION_ID, of("session_id"));
            answer
        });
        let kind = answer.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if is_own && (kind.contains("json") || kind.starts_with("text/event-stream")) {
            answer = answer.map(|body| body.shortened(&self.paths));
        }
        let headers = answer.headers_mut();
        headers
            .entry(CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
        headers.insert(
            "x-content-type-options",
            HeaderValue::from_static("nosniff"),
        );
        // Only a page that a client names is told that it may read.
        let known = origin.filter(|o| o.to_str().is_ok_and(|o| self.clients.may_page(o)));
        if let Some(origin) = known {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(VARY, HeaderValue::from_static("origin"));
            headers.insert(
                ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static("x-run-id, x-session-id, location, retry-after"),
            );
        }
        answer
    }

    async fn answered(
        self: &Arc<Self>,
        request: Request<Incoming>,
        guest: &Arc<Guest>,
        noted: &mut Noted,
        hands: &Hands,
    ) -> Result<Answer, Problem> {
        let (mut head, body) = request.into_parts();
        self.is_called(&head.uri, &head.headers)?;
        let path = head.uri.path();
        let parts = parts(path);
        // The same head as for GET; whoever writes the answer leaves out its body. The other server decides for itself.
        if head.method == Method::HEAD && !matches!(parts, ("mcp", None, ..)) {
            head.method = Method::GET;
        }
        match (&head.method, parts) {
            (&Method::GET, ("healthz", None, ..)) => {
                return Ok(json(StatusCode::OK, &value!({"status": "ok"})));
            }
            (&Method::GET, ("readyz", None, ..)) => return Ok(self.ready()),
            (&Method::OPTIONS, _) => return self.preflight(&head.headers, path),
            // What is open to all is so for every method.
            (method, ("healthz" | "readyz", None, ..) | ("files", Some(_), Some(_), None))
                if method != Method::GET =>
            {
                return Err(not_this(READS));
            }
            (&Method::GET, (one, two, three, None)) => {
                if let Some(page) = self.page((one, two, three)) {
                    return page;
                }
            }
            _ => {}
        }
        if let (&Method::GET, ("files", Some(run), Some(name), None)) = (&head.method, parts) {
            // The link's mark is what lets in.
            let (server, guest) = (Arc::clone(self), Arc::clone(guest));
            let (run, name) = (run.to_owned(), name.to_owned());
            let query = head.uri.query().unwrap_or_default().to_owned();
            let file = async move { server.file(&guest, (&run, &name), &query).await };
            return done(&hands.reads, file).await;
        }
        let open = |place: a2a::Place<'_>| a2a::open(self, &place, &head.method, &head.headers);
        if let Some(answer) = a2a::Place::of(path).and_then(open) {
            return answer;
        }
        let client = self.let_in(&head.headers, guest).await?;
        noted.client = Some(client.name.clone());
        let ask = Ask {
            client,
            headers: head.headers,
        };
        let (server, method, uri) = (Arc::clone(self), head.method, head.uri);
        let is_reading = method == Method::GET;
        let within = async move { server.within(&ask, method, uri, body).await };
        let place = match is_reading {
            true => &hands.reads,
            false => &hands.works,
        };
        done(place, within).await
    }

    /// What a client asks for that was let in.
    async fn within(
        self: &Arc<Self>,
        ask: &Ask,
        method: Method,
        uri: Uri,
        body: Incoming,
    ) -> Result<Answer, Problem> {
        let query = uri.query().unwrap_or_default();
        if let Some(place) = a2a::Place::of(uri.path()) {
            return a2a::serve(self, ask, place, (&method, query), body).await;
        }
        let parts = parts(uri.path());
        if let (("mcp", None, ..), Some(door)) = (parts, &self.mcp) {
            let mut request = Request::new(body);
            *request.method_mut() = method;
            *request.headers_mut() = ask.headers.clone();
            *request.uri_mut() = uri;
            return door.answer(ask, request).await;
        }
        let _reading = match method {
            Method::GET => Some(ask.client.reads.begin().await),
            _ => None,
        };
        match (&method, parts) {
            (&Method::POST, ("hooks", Some(name), None, _)) => {
                ask.may(May::Turn)?;
                let pack = self.pack(ask, name)?;
                hooks::post(self, ask, &pack, body).await
            }
            (&Method::POST, ("chat", Some(name), None, _)) => {
                ask.may(May::Turn)?;
                let pack = self.pack(ask, name)?;
                chat::post(self, ask, &pack, body).await
            }
            (&Method::POST, ("v1", Some("chat"), Some("completions"), None)) => {
                ask.may(May::Turn)?;
                openai::completions(self, ask, body).await
            }
            (&Method::GET, ("v1", Some("models"), None, _)) => Ok(openai::models(self, ask)),
            (&Method::GET, ("v1", Some("models"), Some(name), None)) => {
                openai::model(self, ask, name)
            }
            (&Method::GET, ("runs", None, ..)) => {
                ask.may(May::Read)?;
                listed::list(self, ask, query).await
            }
            (&Method::GET, ("runs", Some(run), Some("report"), None)) => {
                ask.may(May::Read)?;
                ui::report(self, &commands::readable(self, ask, run).await?).await
            }
            (&Method::GET, ("runs", Some(run), None, _)) => {
                ask.may(May::Read)?;
                match commands::find(self, ask, run).await? {
                    Some(begun) => commands::show(&begun),
                    None => runs::show(self, &runs::find(self, ask, run).await?).await,
                }
            }
            (&Method::GET, ("runs", Some(run), Some("events"), None)) => {
                ask.may(May::Read)?;
                let found = commands::readable(self, ask, run).await?;
                events::open(self, ask, found, query)
            }
            (&Method::POST, ("runs", Some(run), Some("answers"), None)) => {
                ask.may(May::Turn)?;
                let found = commands::touched(self, ask, run).await?;
                runs::answer(self, ask, found, None, body).await
            }
            (&Method::POST, ("runs", Some(run), Some("approvals"), Some(question))) => {
                ask.may(May::Approve)?;
                let found = commands::touched(self, ask, run).await?;
                runs::answer(self, ask, found, Some(question), body).await
            }
            (&Method::POST, ("runs", Some(run), Some("cancel"), None)) => {
                ask.may(May::Cancel)?;
                let found = commands::touched(self, ask, run).await?;
                runs::cancel(self, ask, found).await
            }
            (&Method::GET, ("sessions", Some(id), None, _)) => kept::show(self, ask, id).await,
            (&Method::DELETE, ("sessions", Some(id), None, _)) => kept::erase(self, ask, id).await,
            _ => Err(self.takes(parts).map_or_else(no_door, not_this)),
        }
    }

    /// The methods of a door; None: there is none, or it is another server's (A2A).
    fn takes(&self, parts: Parts<'_>) -> Option<&'static str> {
        let has_pages = self.limits.chat_page || self.ui.is_some();
        Some(match parts {
            ("sessions", Some(_), None, _) => "GET, HEAD, DELETE",
            ("runs", None, ..)
            | ("runs", Some(_), None | Some("events" | "report"), None)
            | ("files", Some(_), Some(_), None)
            | ("v1", Some("models"), _, None)
            | ("healthz" | "readyz", None, ..) => READS,
            ("ui", None, ..) if self.ui.is_some() => READS,
            ("page", Some(_), None, _) if has_pages => READS,
            ("chat", Some(_), None, _) if self.limits.chat_page => "GET, HEAD, POST",
            ("runs", Some(_), Some("answers" | "cancel"), None)
            | ("runs", Some(_), Some("approvals"), Some(_))
            | ("hooks" | "chat", Some(_), None, _)
            | ("v1", Some("chat"), Some("completions"), None) => "POST",
            ("mcp", None, ..) if self.mcp.is_some() => ALL,
            _ => return None,
        })
    }

    /// The pack of this name, where it is served and the client reaches it: nobody can tell the one from the other.
    pub(crate) fn pack(&self, ask: &Ask, name: &str) -> Result<Arc<ServedPack>, Problem> {
        let reached = self.packs.get(name).filter(|_| ask.client.reaches(name));
        reached.cloned().ok_or_else(|| {
            let known: Vec<&str> = self
                .packs
                .keys()
                .map(String::as_str)
                .filter(|name| ask.client.reaches(name))
                .collect();
            let near = nearest(name, known.iter().copied());
            let shown: String = name.chars().take(64).collect();
            Problem::not_found(&format!("pack {shown:?} here"))
                .hint(format!("packs: {}{near}", known.join(", ")))
        })
    }

    /// Whether the request was meant for this server: a page that had its name resolved to this machine still calls it by that name.
    fn is_called(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        if self.limits.hosts.is_empty() {
            return Ok(());
        }
        let ours = |authority: &str| {
            let mut known = self.limits.hosts.iter();
            known.any(|known| known.eq_ignore_ascii_case(authority))
        };
        let mut all = headers.get_all(HOST).iter();
        let named = match (all.next(), all.next()) {
            (Some(host), None) => host.to_str().is_ok_and(ours),
            _ => false,
        };
        let in_line = uri.authority().is_none_or(|a| ours(a.as_str()));
        match named && in_line {
            true => Ok(()),
            false => Err(Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "the request is not for this server",
            )
            .hint(format!("call it as {}", self.limits.hosts.join(" or ")))),
        }
    }

    async fn let_in(&self, headers: &HeaderMap, guest: &Guest) -> Result<Arc<Client>, Problem> {
        let client = self.clients.admit(headers).ok_or_else(|| {
            let mut problem = Problem::new(
                StatusCode::UNAUTHORIZED,
                "the request shows no client's password or token",
            );
            problem.challenges = self.clients.challenges();
            problem
        })?;
        // Only browsers send it; a page calls in a client's name only where that client names the page.
        let mut origins = headers.get_all(ORIGIN).iter();
        let named = |origin: &HeaderValue| {
            let origin = origin.to_str().unwrap_or_default();
            let mut known = client.origins.iter().chain(&self.limits.pages);
            known.any(|known| known == origin)
        };
        if !origins.all(named) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "calls from this web page are not accepted",
            )
            .hint("`origins` of the client names the pages that may call"));
        }
        self.seat(guest).await?;
        // What this server sees is too much by itself, or together with what others on the same store see.
        let spent = match client.rate.take(self.started.elapsed()) {
            Ok(()) => {
                let most = client.rate.per_minute();
                self.sessions.spend(client.settings(), most).await?
            }
            Err(seconds) => Err(seconds),
        };
        let Err(seconds) = spent else {
            return Ok(client);
        };
        // Who goes on asking all the same takes no more of the others' time than this.
        tokio::time::sleep(TOO_MANY).await;
        Err(Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "this client made too many requests",
        )
        .hint("`per_minute` of the client is the limit")
        .retry(seconds))
    }

    /// A connection whose caller showed that it may come in.
    pub(crate) async fn seat(&self, guest: &Guest) -> Result<(), Problem> {
        self.seats.seat(guest).await.map_err(|_| {
            Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many connections are open",
            )
            .retry(5)
        })
    }

    fn ready(&self) -> Answer {
        match self.turns.is_ending() {
            false => json(StatusCode::OK, &value!({"status": "ready"})),
            true => Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server ends").answer(),
        }
    }

    /// What a browser asks before a page may call.
    fn preflight(&self, headers: &HeaderMap, path: &str) -> Result<Answer, Problem> {
        let origin = headers.get(ORIGIN).and_then(|o| o.to_str().ok());
        if !origin.is_some_and(|origin| self.clients.may_page(origin)) {
            let of_agents = a2a::Place::of(path).map(|_| ALL);
            let takes = self.takes(parts(path)).or(of_agents);
            return Err(takes.map_or_else(no_door, not_this));
        }
        let mut answer = crate::answer::whole(StatusCode::NO_CONTENT, "text/plain", "");
        let headers = answer.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(ALL));
        headers.insert(
            ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static(
                "authorization, content-type, a2a-version, idempotency-key, last-event-id, prefer, traceparent, x-session-id, x-tenant-id",
            ),
        );
        Ok(answer)
    }
}

type Parts<'p> = (&'p str, Option<&'p str>, Option<&'p str>, Option<&'p str>);

/// A path's parts, as the doors are told apart by them; those of a longer one fit no door.
fn parts(path: &str) -> Parts<'_> {
    let mut segments = path.split('/').skip(1);
    let [one, two, three, four] = std::array::from_fn(|_| segments.next());
    match segments.next() {
        None => (one.unwrap_or_default(), two, three, four),
        Some(_) => ("", None, None, None),
    }
}

/// Does it there, for as long as its caller waits.
async fn done(
    place: &Handle,
    task: impl Future<Output = Result<Answer, Problem>> + Send + 'static,
) -> Result<Answer, Problem> {
    let mut alone = JoinSet::new();
    alone.spawn_on(task, place);
    match alone.join_next().await {
        Some(Ok(answer)) => answer,
        _ => Err(broke_off()),
    }
}

fn no_door() -> Problem {
    Problem::not_found("such door").hint("docs/serve.md lists the doors")
}

pub fn not_this(methods: &'static str) -> Problem {
    let mut problem = Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("this door takes {methods}"),
    );
    problem.allow = Some(methods);
    problem
}
