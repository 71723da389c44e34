//! The binding HTTP+JSON: paths and methods as `a2a.proto` has them; a task's events by GET and by POST, since the specification's
//! text says one and its proto the other.

use super::refused::Refused;
use super::{
    Spoken, cancel, envelope, extended_card, get, list, pushes, send, speaks, stream, subscribe,
};
use crate::answer::{Answer, whole};
use crate::ask::Ask;
use crate::router::named;
use crate::server::{ServedPack, Server};
use agentctl_a2a::{
    Fault, Kind, ListTasks, MEDIA_TYPE, PushConfig, PushOf, PushesOf, SendMessage, VERSION,
};
use hyper::body::Incoming;
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What is asked for.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The agent's address.
    pub at: &'a str,
    pub method: &'a Method,
    /// What comes after the base.
    pub path: &'a str,
    pub query: &'a str,
}

pub async fn answer(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    asked: Asked<'_>,
    body: Incoming,
) -> Answer {
    let done = match speaks(server, ask, asked.query) {
        Ok(Spoken::V1) => perform(server, ask, pack, asked, body).await,
        Ok(Spoken::V0_3) => {
            let why = format!("A2A 0.3 is spoken over JSON-RPC only, here it is {VERSION}");
            Err(Fault::new(Kind::VersionNotSupported, why).into())
        }
        Err(fault) => Err(fault.into()),
    };
    done.unwrap_or_else(|refused| {
        let status = StatusCode::from_u16(refused.fault.kind.status());
        let status = status.unwrap_or(StatusCode::BAD_REQUEST);
        let mut answer = whole(status, MEDIA_TYPE, refused.fault.as_status().to_string());
        if let Some(seconds) = refused.retry_after {
            let headers = answer.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    })
}

fn one(value: &impl Serialize, run: Option<&str>) -> Result<Answer, Refused> {
    let text = serde_json::to_string(value)
        .map_err(|e| Fault::new(Kind::Internal, format!("the answer cannot be written: {e}")))?;
    Ok(named(whole(StatusCode::OK, MEDIA_TYPE, text), run, None))
}

/// The operations, each with its first word.
const FIRST: [&str; 4] = [
    "message:send",
    "message:stream",
    "tasks",
    "extendedAgentCard",
];

async fn perform(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    asked: Asked<'_>,
    body: Incoming,
) -> Result<Answer, Refused> {
    let Asked {
        at,
        method,
        path,
        query,
    } = asked;
    let (tenant, path) = match path.split_once('/') {
        Some((first, rest)) if !FIRST.contains(&first) => (Some(first), rest),
        _ => (None, path),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let (get_, post) = (method == Method::GET, method == Method::POST);
    match parts.as_slice() {
        ["message:send"] if post => {
            let request: SendMessage = typed(ask, at, body).await?;
            let tenant = tenant.or(request.tenant.as_deref());
            let (found, seen) = send::send(server, ask, pack, &request, tenant).await?;
            one(&json!({"task": seen.task}), Some(&found.run))
        }
        ["message:stream"] if post => {
            let request: SendMessage = typed(ask, at, body).await?;
            let tenant = tenant.or(request.tenant.as_deref());
            let begun = send::begin(server, ask, pack, &request, tenant, false).await;
            let (found, seen) = begun?;
            Ok(stream::open(
                server,
                found,
                seen,
                false,
                Box::new(|event| event),
            ))
        }
        ["tasks"] if get_ => one(&list::list(server, ask, pack, &listed(query)?).await?, None),
        ["tasks", id] => match id.rsplit_once(':') {
            None if get_ => {
                let history = listed(query)?.history_length;
                let (found, seen) = get(server, ask, pack, id, history).await?;
                one(&seen.task, Some(&found.run))
            }
            Some((id, "cancel")) if post => {
                let (found, seen) = cancel(server, ask, pack, id).await?;
                one(&seen.task, Some(&found.run))
            }
            Some((id, "subscribe")) if get_ || post => {
                let (found, seen) = subscribe(server, ask, pack, id).await?;
                Ok(stream::open(
                    server,
                    found,
                    seen,
                    true,
                    Box::new(|event| event),
                ))
            }
            _ => Err(unknown(method, path)),
        },
        ["tasks", task, "pushNotificationConfigs"] if post => {
            let mut config: PushConfig = typed(ask, at, body).await?;
            config.task_id = Some((*task).to_owned());
            one(&pushes::create(server, ask, pack, &config).await?, None)
        }
        ["tasks", task, "pushNotificationConfigs"] if get_ => {
            let listed = listed(query)?;
            let of = PushesOf {
                task_id: (*task).to_owned(),
                page_size: listed.page_size,
                page_token: listed.page_token,
            };
            one(&pushes::list(server, ask, pack, &of).await?, None)
        }
        ["tasks", task, "pushNotificationConfigs", id] if get_ => {
            let of = receiver(task, id);
            one(&pushes::get(server, ask, pack, &of).await?, None)
        }
        ["tasks", task, "pushNotificationConfigs", id] if method == Method::DELETE => {
            pushes::delete(server, ask, pack, &receiver(task, id)).await?;
            one(&json!({}), None)
        }
        ["extendedAgentCard"] if get_ => one(&extended_card(server, ask, pack)?, None),
        _ => Err(unknown(method, path)),
    }
}

fn unknown(method: &Method, path: &str) -> Refused {
    let shown: String = path.chars().take(64).collect();
    let told = format!("there is no operation {method} {shown}; docs/a2a.md lists them");
    Fault::new(Kind::MethodNotFound, told).into()
}

fn receiver(task: &str, id: &str) -> PushOf {
    // Ids are of what stands in a path as it is, or as the client wrote it in percent.
    let mut decoded = url::form_urlencoded::parse(id.as_bytes());
    let id = decoded
        .next()
        .map_or_else(String::new, |(id, _)| id.into_owned());
    PushOf {
        task_id: task.to_owned(),
        id,
    }
}

async fn typed<T: DeserializeOwned>(ask: &Ask, at: &str, body: Incoming) -> Result<T, Refused> {
    let (_, read) = ask
        .value_of(body, &["application/json", MEDIA_TYPE])
        .await?;
    if envelope::is_one(&read) {
        return Err(envelope::astray(at).into());
    }
    if read.get("jsonrpc").is_some() {
        let told = format!(
            "this is a call of JSON-RPC, here a message is the body itself: POST the call to {at}/a2a"
        );
        return Err(Fault::new(Kind::Http(StatusCode::BAD_REQUEST.as_u16()), told).into());
    }
    serde_json::from_value(read).map_err(|e| Fault::unread("body", &e.to_string()).into())
}

/// The parameters of a GET, read as the fields that they are called.
fn listed(query: &str) -> Result<ListTasks, Fault> {
    let mut fields = Map::new();
    for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let wrong = |what: &str| Fault::field(&key, format!("is {what}"));
        let field: Value = match key.as_ref() {
            "pageSize" | "page_size" | "historyLength" | "history_length" => {
                let number: i64 = value.parse().map_err(|_| wrong("a number"))?;
                number.into()
            }
            "includeArtifacts" | "include_artifacts" => {
                let word: bool = value.parse().map_err(|_| wrong("true or false"))?;
                word.into()
            }
            _ => value.into_owned().into(),
        };
        fields.insert(key.into_owned(), field);
    }
    serde_json::from_value(Value::Object(fields))
        .map_err(|e| Fault::unread("query", &e.to_string()))
}
