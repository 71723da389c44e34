//! The doors for other agents: A2A 1.0 by JSON-RPC and by HTTP+JSON, and the cards that say so. A task is a run, its context a
//! conversation: nothing is kept of either but what the journal and the conversation hold, and `task` says how a run stands as a task.

mod card;
mod chain;
mod envelope;
mod feed;
mod list;
mod pushes;
mod refused;
mod rest;
mod rpc;
mod said;
mod send;
mod stream;
mod task;

pub use envelope::{Envelope, To, Waiting, answer_of};
pub use feed::{Feed, Standing};
pub use task::look;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::clients::May;
use crate::ending;
use crate::problem::Problem;
use crate::runs::{self, Found};
use crate::server::{ServedPack, Server};
use agentctl_a2a::{CARD_PATH, Fault, Kind, VERSION, VERSION_HEADER, v0_3};
use hyper::Method;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use refused::Refused;
use std::sync::Arc;
use task::Seen;

/// What stands at an address below an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door<'p> {
    Card,
    Rpc,
    /// What comes after the base of HTTP+JSON.
    Rest(&'p str),
    /// The envelope: messages, what is taken, how it stands, the schema.
    Message,
    Capabilities,
    Status,
    Schema,
}

/// An address of this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'p> {
    /// None: the one that is served first.
    agent: Option<&'p str>,
    pub door: Door<'p>,
}

/// Where an agent's JSON-RPC is, below its address.
const RPC_PATH: &str = "/a2a";
/// Where its HTTP+JSON begins.
const REST_PATH: &str = "/a2a/v1";

impl<'p> Place<'p> {
    /// None: the path is another door's.
    pub fn of(path: &'p str) -> Option<Place<'p>> {
        let (agent, below) = match path.strip_prefix("/agents/") {
            Some(rest) => {
                let (agent, below) = rest.split_once('/')?;
                (Some(agent), below)
            }
            None => (None, path.strip_prefix('/')?),
        };
        let door = match below {
            CARD_PATH => Door::Card,
            "a2a" | "a2a/" => Door::Rpc,
            "a2a/message" => Door::Message,
            "a2a/capabilities" => Door::Capabilities,
            "a2a/status" => Door::Status,
            "a2a/envelope.schema.json" => Door::Schema,
            other => Door::Rest(other.strip_prefix("a2a/v1/")?),
        };
        Some(Place { agent, door })
    }
}

/// What an agent tells of itself without a secret; None: the door wants one.
pub fn open(
    server: &Server,
    place: &Place<'_>,
    method: &Method,
    headers: &HeaderMap,
) -> Option<Result<Answer, Problem>> {
    if !matches!(place.door, Door::Card | Door::Capabilities | Door::Schema) {
        return None;
    }
    if method != Method::GET {
        return Some(Err(crate::router::not_this("GET")));
    }
    let pack = match place.agent {
        Some(name) => server.packs.get(name),
        None => server.packs.values().next(),
    };
    let below = place.agent.is_some();
    Some(match (pack, place.door) {
        (None, _) => Err(Problem::not_found("such agent")),
        (Some(pack), Door::Card) => card::answer(server, pack, below, headers),
        (Some(_), Door::Schema) => Ok(envelope::schema()),
        (Some(pack), _) => envelope::capabilities(server, pack, below),
    })
}

/// What goes through these doors once its caller was let in.
pub async fn serve(
    server: &Arc<Server>,
    ask: &Ask,
    place: Place<'_>,
    (method, query): (&Method, &str),
    body: Incoming,
) -> Result<Answer, Problem> {
    let pack = match place.agent {
        Some(name) => server.pack(ask, name)?,
        None => {
            let first = server.packs.keys().next().cloned().unwrap_or_default();
            server.pack(ask, &first)?
        }
    };
    // As it was called, so that what is said of other doors names those of the same agent.
    let at = match place.agent {
        Some(name) => format!("/agents/{name}"),
        None => String::new(),
    };
    match place.door {
        Door::Rpc if method == Method::POST => {
            rpc::answer(server, ask, &pack, (&at, query), body).await
        }
        Door::Rpc => Err(crate::router::not_this("POST")),
        Door::Rest(path) => {
            let asked = rest::Asked {
                at: &at,
                method,
                path,
                query,
            };
            Ok(rest::answer(server, ask, &pack, asked, body).await)
        }
        Door::Message if method == Method::POST => {
            Ok(envelope::message(server, ask, &pack, &at, body).await)
        }
        Door::Message => Err(crate::router::not_this("POST")),
        Door::Status if method == Method::GET => {
            ask.may(May::Read)?;
            Ok(envelope::status(server, &pack))
        }
        Door::Status | Door::Card | Door::Capabilities | Door::Schema => {
            Err(crate::router::not_this("GET"))
        }
    }
}

/// The versions that callers may speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoken {
    V1,
    /// Where the settings say so.
    V0_3,
}

/// Which version the caller speaks. It stands in a header, or in the query.
fn speaks(server: &Server, ask: &Ask, query: &str) -> Result<Spoken, Fault> {
    let named = ask.header(VERSION_HEADER);
    let named = named.map_err(|problem| Refused::from(problem).fault)?;
    let in_query = || {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        let named = pairs.find(|(key, _)| key.eq_ignore_ascii_case(VERSION_HEADER));
        named.map(|(_, value)| value.into_owned())
    };
    let named = named.map(str::to_owned).or_else(in_query);
    match named.as_deref().map(str::trim) {
        Some(VERSION) => Ok(Spoken::V1),
        None | Some("" | v0_3::VERSION) if server.limits.v0_3 => Ok(Spoken::V0_3),
        Some(other) if !other.is_empty() => Err(Fault::new(
            Kind::VersionNotSupported,
            format!("A2A {other} is not spoken here, only {VERSION}"),
        )
        .with("supportedVersions", VERSION)),
        _ => Err(Fault::new(
            Kind::VersionNotSupported,
            format!(
                "the request names no version, which means A2A 0.3; {VERSION} is spoken here: send the header A2A-Version: {VERSION}"
            ),
        )
        .with("supportedVersions", VERSION)),
    }
}

/// A task of this agent that is the client's; anything else does not exist.
async fn find(server: &Server, ask: &Ask, pack: &ServedPack, id: &str) -> Result<Found, Refused> {
    let none = || Fault::new(Kind::TaskNotFound, "there is no such task").with("taskId", id);
    match runs::find(server, ask, id).await {
        Ok(found) if found.key.pack == pack.pack.manifest.name => {
            match pack.pack.manifest.channels.a2a.may_wait() {
                true => Ok(chain::last(server, found).await?),
                false => Ok(found),
            }
        }
        Ok(_) => Err(none().into()),
        Err(problem) if problem.status == hyper::StatusCode::NOT_FOUND => Err(none().into()),
        Err(problem) => Err(problem.into()),
    }
}

/// The task as it stands now.
async fn now(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    id: &str,
) -> Result<(Found, Seen), Refused> {
    let found = find(server, ask, pack, id).await?;
    Ok(chain::now(server, found).await?)
}

async fn get(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    id: &str,
    history: Option<i64>,
) -> Result<(Found, Seen), Refused> {
    ask.may(May::Read)?;
    let most = task::history_length(history)?;
    let (found, mut seen) = now(server, ask, pack, id).await?;
    seen.keep_history(most);
    Ok((found, seen))
}

/// Cancels a task. One that is cancelled already is told again.
async fn cancel(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &ServedPack,
    id: &str,
) -> Result<(Found, Seen), Refused> {
    ask.may(May::Cancel)?;
    let (mut found, mut seen) = now(server, ask, pack, id).await?;
    while !seen.task.status.state.is_terminal() {
        match seen.waits_for_a_message {
            // Nothing of it is under way: that it waits is taken back.
            true => chain::withdraw(server, &found, &seen, &why_ended(ask)).await?,
            false => end(server, ask, &found).await?,
        }
        // Where a message came meanwhile, the task is what that made of it.
        (found, seen) = now(server, ask, pack, id).await?;
    }
    match seen.task.status.state {
        agentctl_a2a::TaskState::Canceled => Ok((found, seen)),
        _ => Err(Fault::new(
            Kind::TaskNotCancelable,
            "the task came to its end before: it cannot be cancelled",
        )
        .with("taskId", id)
        .into()),
    }
}

/// Ends a run, and waits until it is at its end, which may be that its task waits for a message.
async fn end(server: &Arc<Server>, ask: &Ask, found: &Found) -> Result<(), Refused> {
    if ending::ask(server, found).await? {
        ending::wait(server, found).await?;
        if task::look(server, found).await?.is_over() {
            return Ok(());
        }
        // It had just come to wait for somebody.
    }
    let stopped = ending::stop(server, found, &why_ended(ask)).await?;
    let none = || Problem::not_found("such run, or it is not yours");
    Ok(stopped.map(drop).ok_or_else(none)?)
}

fn why_ended(ask: &Ask) -> String {
    format!("cancelled by the client {}", ask.client.name)
}

/// A task whose events are asked for; one at its end has no more of them.
async fn subscribe(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    id: &str,
) -> Result<(Found, Seen), Refused> {
    let (found, seen) = get(server, ask, pack, id, None).await?;
    match seen.task.status.state.is_terminal() {
        false => Ok((found, seen)),
        true => Err(Fault::new(
            Kind::UnsupportedOperation,
            "the task is at its end, so there is nothing more to tell: GetTask gives all of it",
        )
        .with("taskId", id)
        .into()),
    }
}

/// The card for a client that was let in.
fn extended_card(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
) -> Result<serde_json::Value, Refused> {
    ask.may(May::Read)?;
    Ok(card::extended(server, &ask.client, pack)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_one_agents_door() {
        let door = |path| Place::of(path).map(|place| (place.agent, place.door));
        assert_eq!(
            door("/.well-known/agent-card.json"),
            Some((None, Door::Card))
        );
        assert_eq!(
            door("/agents/desk/.well-known/agent-card.json"),
            Some((Some("desk"), Door::Card))
        );
        assert_eq!(door("/a2a"), Some((None, Door::Rpc)));
        assert_eq!(door("/a2a/"), Some((None, Door::Rpc)));
        assert_eq!(door("/agents/desk/a2a/"), Some((Some("desk"), Door::Rpc)));
        assert_eq!(
            door("/agents/desk/a2a/v1/tasks/t:cancel"),
            Some((Some("desk"), Door::Rest("tasks/t:cancel")))
        );
        for other in ["/", "/agents/desk", "/agents", "/a2a/v2/tasks", "/runs/a2a"] {
            assert_eq!(door(other), None, "{other}");
        }
    }
}
