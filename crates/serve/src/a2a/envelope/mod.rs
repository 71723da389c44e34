//! The envelope of seed systems, `POST …/a2a/message`: a message of its own form, translated into the protocol's and answered in that
//! form again. What it names its sender is a hint; who it is, its secret says.

mod capabilities;
mod depends;
mod read;
mod told;
mod tools;
mod use_tool;

pub use capabilities::{capabilities, schema};
pub use depends::Waiting;
pub use read::Envelope;
pub use told::To;

use super::refused::Refused;
use super::{end, find, pushes, said, send, task};
use crate::answer::{Answer, json};
use crate::ask::Ask;
use crate::clients::May;
use crate::jws;
use crate::problem::Problem;
use crate::push::{Target, Wanted};
use crate::router::named;
use crate::runs::Found;
use crate::server::{ServedPack, Server};
use agentctl_a2a::{Fault, Kind, Message, Part, Role, SendMessage};
use agentctl_engine::nearest::nearest;
use agentctl_sessions::Answered;
use hyper::StatusCode;
use hyper::body::Incoming;
use read::Type;
use serde_json::{Value, json as value};
use std::sync::Arc;
use std::time::Duration;
use told::{Reason, Reply};

/// What is kept of an answer says that it is one of these.
const KIND: &str = "application/vnd.agentctl.envelope+json";

/// `POST …/a2a/message`. `at`: the agent's address.
pub async fn message(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    at: &str,
    body: Incoming,
) -> Answer {
    let agent = &pack.pack.manifest.name;
    let (bytes, read) = match ask.value(body).await {
        Ok(both) => both,
        Err(problem) => {
            let reason = Reason::of(&Refused::from(problem));
            return told::error(agent, None, &reason);
        }
    };
    if let Err(reason) = signed(ask, &bytes, server.now()) {
        return told::error(agent, Some(&read), &reason);
    }
    let envelope = match Envelope::read(read.clone(), at) {
        Ok(envelope) => envelope,
        Err(reason) => return told::error(agent, Some(&read), &reason),
    };
    match perform(server, ask, pack, &envelope).await {
        Ok(reply) => {
            let run = reply.run.clone();
            named(json(StatusCode::OK, &reply.text), run.as_deref(), None)
        }
        Err(reason) => told::error(agent, Some(&read), &reason),
    }
}

/// Whether the message carries what its client's settings want of it. A signature is never passed over.
fn signed(ask: &Ask, body: &[u8], now: i64) -> Result<(), Reason> {
    let of = |reason, told: String| Reason::new(reason, told, StatusCode::FORBIDDEN);
    let given = ask.header(jws::HEADER);
    let given = given.map_err(|problem| Reason::of(&problem.into()))?;
    let name = ask.client.settings();
    match (given, &ask.client.keys) {
        (None, Some(keys)) if keys.is_required() => {
            let told = format!("the messages of the client {name:?} are signed, this one is not");
            Err(of("signature_required", told)
                .hint("send X-JWS-Signature, a detached JWS over the body (docs/a2a.md)"))
        }
        (None, _) => Ok(()),
        (Some(_), None) => {
            let told =
                format!("no keys are known to check a signature of the client {name:?} with");
            Err(of("signature_not_supported", told)
                .hint("send it without one, or name keys in [serve.clients.NAME] signature"))
        }
        (Some(given), Some(keys)) => {
            let checked = keys.check(given, body, now);
            checked.map_err(|why| of("signature_invalid", format!("X-JWS-Signature: {why}")))
        }
    }
}

async fn perform(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    envelope: &Envelope,
) -> Result<Reply, Reason> {
    let agent = &pack.pack.manifest.name;
    if !is_called(pack, envelope) {
        return Err(elsewhere(server, ask, agent, envelope));
    }
    takes_work(pack, envelope)?;
    match envelope.of {
        Type::Tools => {
            ask.may(May::Read).map_err(|p| Reason::of(&p.into()))?;
            Ok(tools::available(pack, envelope))
        }
        Type::Use => use_tool::made(server, ask, pack, envelope).await,
        Type::Factcheck if !is_taken(pack, Type::Factcheck) => {
            let told = format!("{agent:?} checks no facts");
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Err(Reason::new("unsupported_type", told, status)
                .hint("send it to an agent whose card has the skill \"factcheck\""))
        }
        Type::Task | Type::Orchestrator | Type::Factcheck => run(server, ask, pack, envelope).await,
    }
}

/// Who keeps the tools, as seed systems call it: each agent keeps its own.
const REGISTRY: &str = "tool-registry-id";

/// Whether the message is for this pack, by its name, another one of its own, or because it is about tools.
fn is_called(pack: &ServedPack, envelope: &Envelope) -> bool {
    let manifest = &pack.pack.manifest;
    let receiver = &envelope.receiver;
    manifest.name == *receiver
        || manifest.channels.a2a.receivers.contains(receiver)
        || (receiver == REGISTRY && matches!(envelope.of, Type::Tools | Type::Use))
}

/// Its receiver is another one: where that is, if it is here.
fn elsewhere(server: &Server, ask: &Ask, agent: &str, envelope: &Envelope) -> Reason {
    let shown: String = envelope.receiver.chars().take(64).collect();
    let told = format!("{shown:?} is not here; this is {agent:?}");
    let reached = server.packs.iter();
    let mut reached = reached.filter(|(name, _)| ask.client.reaches(name));
    let at = reached.find(|(_, pack)| is_called(pack, envelope));
    let reason = Reason::new("unknown_receiver", told, StatusCode::NOT_FOUND);
    match at {
        Some((name, _)) => reason.hint(&format!("POST it to /agents/{name}/a2a/message")),
        None => reason.hint(&format!(
            "GET /agents/NAME/a2a/capabilities tells of each agent; name as receiver the one that you POST to{}",
            nearest(&envelope.receiver, server.packs.keys().map(String::as_str).filter(|name| ask.client.reaches(name)))
        )),
    }
}

/// The kind of work that is named has to be one that the pack knows, where it says which it knows.
fn takes_work(pack: &ServedPack, envelope: &Envelope) -> Result<(), Reason> {
    let known = &pack.pack.manifest.channels.a2a.task_types;
    let named = envelope.payload.get("task_type").and_then(Value::as_str);
    let Some(named) = named.filter(|_| !known.is_empty()) else {
        return Ok(());
    };
    if known.iter().any(|kind| kind == named) {
        return Ok(());
    }
    let shown: String = named.chars().take(64).collect();
    let near = nearest(named, known.iter().map(String::as_str));
    let told = format!(
        "payload.task_type: {shown:?} is no kind of work here; there are {}{near}",
        known.join(", ")
    );
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    Err(Reason::new("invalid_message", told, status))
}

/// The id of the skill by which a pack says that it checks claims: they come as `input.data.claims`.
const FACTCHECK: &str = "factcheck";

/// Whether the pack takes messages of this type.
fn is_taken(pack: &ServedPack, of: Type) -> bool {
    let skills = &pack.pack.manifest.channels.a2a.skills;
    match of {
        Type::Factcheck => skills.iter().any(|skill| skill.id == FACTCHECK),
        Type::Use => pack.tools.is_some(),
        Type::Task | Type::Orchestrator | Type::Tools => true,
    }
}

/// A message that is a run.
async fn run(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    envelope: &Envelope,
) -> Result<Reply, Reason> {
    let refused = |refused: Refused| Reason::of(&refused);
    ask.may_signed(May::Turn).map_err(|p| refused(p.into()))?;
    let request = translated(envelope);
    said::fits(&request.message).map_err(|f| refused(f.into()))?;
    let once = said::once_of(ask, pack, &envelope.id, &envelope.said);
    let kept = server.sessions.asked(&once.id).await;
    let kept = kept.map_err(|e| refused(Problem::from(e).into()))?;
    if let Some(kept) = kept.filter(|kept| kept.body == once.body())
        && let Some(answered) = kept.answered.filter(|a| a.content_type == KIND)
    {
        return Ok(Reply::again(&answered));
    }
    let (before, _place) = depends::wait(server, ask, pack, envelope).await?;
    let left = envelope.left(server.now())?;
    let request = match before.is_empty() {
        true => request,
        false => with(request, before),
    };
    let tells = called_back(server, envelope).await?;
    let as_this = (&request, &once, tells);
    let sent = send::begin_as(server, ask, pack, as_this, None, true);
    let (found, seen) = match left {
        None => sent.await.map_err(refused)?,
        Some(left) => match tokio::time::timeout(left, sent).await {
            Ok(done) => done.map_err(refused)?,
            Err(_) => return Err(late(server, ask, pack, &once.id).await),
        },
    };
    let reply = Reply::of(pack, &To::of(envelope), &found, &seen);
    let state = seen.task.status.state;
    if state.is_terminal() || state.is_interrupted() {
        let answered = Answered {
            status: StatusCode::OK.as_u16(),
            content_type: KIND.to_owned(),
            body: reply.text.to_string(),
            run: Some(found.run.clone()),
            session: Some(found.key.id()),
        };
        let kept = server.sessions.answered(&once.id, &answered).await;
        kept.map_err(|e| refused(Problem::from(e).into()))?;
    }
    Ok(reply)
}

/// Who is told what the message came to, besides its sender.
async fn called_back(server: &Server, envelope: &Envelope) -> Result<Option<Wanted>, Reason> {
    let Some(url) = &envelope.callback_url else {
        return Ok(None);
    };
    let wrong = |told: String| {
        Reason::new("callback_refused", told, StatusCode::UNPROCESSABLE_ENTITY)
            .hint("the answer comes as the response, too: send it without callback_url")
    };
    let outbox = pushes::offered(server).map_err(|fault| wrong(fault.message.clone()))?;
    let target = Target::callback(url, To::of(envelope), &outbox.allow).await;
    let target = target.map_err(|(field, why)| wrong(format!("{field} {why}")))?;
    Ok(Some(Wanted {
        name: "callback_url".to_owned(),
        target,
    }))
}

/// What a run that is at its end or waits answers to a message of before.
pub fn answer_of(found: &Found, to: &To, seen: &task::Seen) -> Value {
    Reply::of(&found.pack, to, found, seen).text
}

/// Its deadline has passed while it was worked on: it ends.
async fn late(server: &Arc<Server>, ask: &Ask, pack: &ServedPack, once: &str) -> Reason {
    let asked = server.sessions.asked(once).await.ok().flatten();
    let run = asked.and_then(|asked| asked.run);
    if let Some(run) = &run
        && let Ok(found) = find(server, ask, pack, run).await
    {
        // What could not be ended tells of itself at the next question for it.
        let _ = end(server, ask, &found).await;
    }
    let mut reason = Reason::new(
        "deadline_passed",
        "the deadline passed before it was done; it was cancelled, what was done before stays",
        StatusCode::OK,
    );
    reason.task = run;
    reason
}

/// The message as the protocol has it.
fn translated(envelope: &Envelope) -> SendMessage {
    let parts = vec![
        Part::text(envelope.query()),
        Part::data(Value::Object(envelope.payload.clone())),
    ];
    let mut message = Message::new(&envelope.id, Role::User, parts);
    message.context_id = envelope.named("context_id");
    message.task_id = envelope.named("task_id");
    message.metadata = Some(envelope.metadata.clone());
    SendMessage {
        message,
        configuration: None,
        tenant: None,
    }
}

/// The results of those that it waited for go with it.
fn with(mut request: SendMessage, before: Vec<Value>) -> SendMessage {
    let metadata = request.message.metadata.get_or_insert_default();
    metadata.insert("results".to_owned(), Value::Array(before));
    request
}

/// `GET …/a2a/status`.
pub fn status(server: &Server, pack: &ServedPack) -> Answer {
    let word = match server.turns.is_ending() {
        true => "ending",
        false => "ready",
    };
    let since = jiff::Timestamp::from_second(server.since);
    json(
        StatusCode::OK,
        &value!({
            "id": pack.pack.manifest.name, "status": word, "under_way": server.turns.count(), "waiting": server.waiting.count(),
            "since": since.map(|at| at.to_string()).unwrap_or_default(),
        }),
    )
}

/// Whether a body that came as a call is a message of the envelope.
pub fn is_one(body: &Value) -> bool {
    let of = body.get("type").and_then(Value::as_str);
    of.is_some_and(|of| of.starts_with("request:") || of.starts_with("response:"))
        && body.get("jsonrpc").is_none()
}

/// Where such a message belongs that came to the agent at this address.
pub fn astray(at: &str) -> Fault {
    let status = StatusCode::BAD_REQUEST.as_u16();
    Fault::new(
        Kind::Http(status),
        format!(
            "this is a message of the envelope, here the protocol's own are taken: POST it to {at}/a2a/message"
        ),
    )
}

impl Envelope {
    /// How long there is until its deadline; None: it has none. `now`: seconds since 1970.
    fn left(&self, now: i64) -> Result<Option<Duration>, Reason> {
        let Some(deadline) = self.payload.get("deadline").and_then(Value::as_str) else {
            return Ok(None);
        };
        let wrong =
            |told: String| Reason::new("invalid_message", told, StatusCode::UNPROCESSABLE_ENTITY);
        let at: jiff::Timestamp = deadline.parse().map_err(|_| {
            wrong(format!(
                "payload.deadline: {deadline:?} is no time like 2026-01-31T12:00:00Z"
            ))
        })?;
        let seconds = at.as_second().saturating_sub(now);
        match u64::try_from(seconds) {
            Ok(seconds) if seconds > 0 => Ok(Some(Duration::from_secs(seconds))),
            _ => Err(Reason::new(
                "deadline_passed",
                "the deadline had passed when the message came; nothing was done",
                StatusCode::OK,
            )),
        }
    }
}
