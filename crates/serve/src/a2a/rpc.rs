//! The binding JSON-RPC 2.0: one call a request, its parameters as the protocol's messages.

use super::refused::Refused;
use super::{
    Spoken, cancel, envelope, extended_card, get, list, pushes, send, speaks, stream, subscribe,
};
use crate::answer::{Answer, json};
use crate::ask::Ask;
use crate::problem::Problem;
use crate::router::named;
use crate::runs::Found;
use crate::server::{ServedPack, Server};
use agentctl_a2a::{
    CancelTask, Fault, GetTask, Kind, ListTasks, PushConfig, PushOf, PushesOf, SendMessage,
    SubscribeToTask, v0_3,
};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, RETRY_AFTER};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json as value};
use std::sync::Arc;

/// What a call came to.
enum Done {
    One(Value, Option<Found>),
    Stream(Answer),
}

pub async fn answer(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    (at, query): (&str, &str),
    body: Incoming,
) -> Result<Answer, Problem> {
    let read = match ask.value(body).await {
        Ok((_, read)) => read,
        Err(problem) => {
            let mut refused = Refused::from(problem);
            if refused.fault.kind == Kind::InvalidParams {
                refused.fault.kind = Kind::Parse;
            }
            return Ok(refusal(&Value::Null, &refused));
        }
    };
    if envelope::is_one(&read) {
        return Ok(refusal(&Value::Null, &envelope::astray(at).into()));
    }
    let (id, method, params) = match call(read) {
        Ok(call) => call,
        Err((id, fault)) => return Ok(refusal(&id, &fault.into())),
    };
    let done = match speaks(server, ask, query) {
        Ok(Spoken::V1) => perform(server, ask, pack, (&method, params, &id), Spoken::V1).await,
        Ok(Spoken::V0_3) => in_old_words(server, ask, pack, (&method, params, &id)).await,
        Err(fault) => Err(fault.into()),
    };
    Ok(match done {
        Ok(Done::One(result, found)) => {
            let whole = value!({"jsonrpc": "2.0", "id": id, "result": result});
            let run = found.as_ref().map(|found| found.run.as_str());
            named(json(StatusCode::OK, &whole), run, None)
        }
        Ok(Done::Stream(answer)) => answer,
        Err(refused) => refusal(&id, &refused),
    })
}

/// Faults of the protocol are answers; what HTTP refuses has its status besides.
fn refusal(id: &Value, refused: &Refused) -> Answer {
    let status = match refused.fault.kind {
        Kind::Http(status) => StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST),
        _ => StatusCode::OK,
    };
    let whole = value!({"jsonrpc": "2.0", "id": id, "error": refused.fault.as_rpc()});
    let mut answer = json(status, &whole);
    if let Some(seconds) = refused.retry_after {
        let headers = answer.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

type Call = (Value, String, Map<String, Value>);

/// Takes a call apart. Error: its id, where it has one.
fn call(read: Value) -> Result<Call, (Value, Fault)> {
    let wrong = |why: &str| Fault::new(Kind::InvalidRequest, why);
    let Value::Object(mut read) = read else {
        let why = "a call is a JSON object; several at once are not taken";
        return Err((Value::Null, wrong(why)));
    };
    let id = read.remove("id").unwrap_or_default();
    if !matches!(id, Value::String(_) | Value::Number(_)) {
        return Err((Value::Null, wrong("a call has an id, text or a number")));
    }
    if read.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err((id, wrong("a call says \"jsonrpc\": \"2.0\"")));
    }
    let Some(Value::String(method)) = read.remove("method") else {
        return Err((id, wrong("a call names its method")));
    };
    match read.remove("params") {
        None | Some(Value::Null) => Ok((id, method, Map::new())),
        Some(Value::Object(params)) => Ok((id, method, params)),
        Some(_) => Err((id, Fault::field("params", "is an object"))),
    }
}

fn typed<T: DeserializeOwned>(params: Map<String, Value>) -> Result<T, Fault> {
    serde_json::from_value(Value::Object(params))
        .map_err(|e| Fault::unread("params", &e.to_string()))
}

fn one(result: &impl Serialize, found: Option<Found>) -> Result<Done, Refused> {
    let result = serde_json::to_value(result);
    let result = result
        .map_err(|e| Fault::new(Kind::Internal, format!("the answer cannot be written: {e}")))?;
    Ok(Done::One(result, found))
}

/// The same of a caller who speaks 0.3.
async fn in_old_words(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    (method, params, id): (&str, Map<String, Value>, &Value),
) -> Result<Done, Refused> {
    let (method, params) = v0_3::call(method, params)?;
    match perform(server, ask, pack, (method, params, id), Spoken::V0_3).await? {
        Done::One(result, found) => Ok(Done::One(v0_3::result(method, result), found)),
        done => Ok(done),
    }
}

async fn perform(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    (method, params, id): (&str, Map<String, Value>, &Value),
    spoken: Spoken,
) -> Result<Done, Refused> {
    let wrap = || -> stream::Wrap {
        let id = id.clone();
        Box::new(move |event| {
            let event = match spoken {
                Spoken::V1 => event,
                Spoken::V0_3 => v0_3::event(event),
            };
            value!({"jsonrpc": "2.0", "id": id, "result": event})
        })
    };
    match method {
        "SendMessage" => {
            let request: SendMessage = typed(params)?;
            let tenant = request.tenant.as_deref();
            let (found, seen) = send::send(server, ask, pack, &request, tenant).await?;
            one(&value!({"task": seen.task}), Some(found))
        }
        "SendStreamingMessage" => {
            let request: SendMessage = typed(params)?;
            let tenant = request.tenant.as_deref();
            let begun = send::begin(server, ask, pack, &request, tenant, false).await;
            let (found, seen) = begun?;
            let answer = stream::open(server, found, seen, false, wrap());
            Ok(Done::Stream(answer))
        }
        "GetTask" => {
            let GetTask { id, history_length } = typed(params)?;
            let (found, seen) = get(server, ask, pack, &id, history_length).await?;
            one(&seen.task, Some(found))
        }
        "ListTasks" => one(
            &list::list(server, ask, pack, &typed::<ListTasks>(params)?).await?,
            None,
        ),
        "CancelTask" => {
            let CancelTask { id } = typed(params)?;
            let (found, seen) = cancel(server, ask, pack, &id).await?;
            one(&seen.task, Some(found))
        }
        "SubscribeToTask" => {
            let SubscribeToTask { id } = typed(params)?;
            let (found, seen) = subscribe(server, ask, pack, &id).await?;
            let answer = stream::open(server, found, seen, true, wrap());
            Ok(Done::Stream(answer))
        }
        "CreateTaskPushNotificationConfig" => {
            let config: PushConfig = typed(params)?;
            one(&pushes::create(server, ask, pack, &config).await?, None)
        }
        "GetTaskPushNotificationConfig" => {
            let of: PushOf = typed(params)?;
            one(&pushes::get(server, ask, pack, &of).await?, None)
        }
        "ListTaskPushNotificationConfigs" => {
            let of: PushesOf = typed(params)?;
            one(&pushes::list(server, ask, pack, &of).await?, None)
        }
        "DeleteTaskPushNotificationConfig" => {
            pushes::delete(server, ask, pack, &typed::<PushOf>(params)?).await?;
            one(&value!({}), None)
        }
        "GetExtendedAgentCard" => one(&extended_card(server, ask, pack)?, None),
        other => Err(unknown(other).into()),
    }
}

fn unknown(method: &str) -> Fault {
    let shown: String = method.chars().take(64).collect();
    let hint = match method.contains('/') {
        true => "; names like message/send are of A2A 0.3, in 1.0 it is SendMessage and the like",
        false => "",
    };
    Fault::new(
        Kind::MethodNotFound,
        format!("there is no method {shown:?}{hint}"),
    )
}
