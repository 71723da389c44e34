//! A trigger called from outside, and the execution that it started. The address is made of n8n's own and of what the workflow's
//! document says; the API key does not go along.

use super::rest::Rest;
use crate::backend::{
    BackendError, BackendErrorKind, BackendResult, ExecutionHead, ExecutionQuery, TriggerCall,
    Triggered,
};
use agentctl_n8n::{TriggerKind, WorkflowId};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Request, Url, redirect};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Tells our call from others that reach the same webhook at the same moment.
const MARK: &str = "x-agentctl-call";
/// Of the answer that the caller sees.
const MAX_ANSWER: usize = 64 * 1024;
/// How long an execution may take to be seen at all, once the call was answered.
const APPEARS: Duration = Duration::from_secs(10);
/// How long an address may take to be there, once the workflow is active.
const REGISTERS: Duration = Duration::from_secs(15);
/// The pause between two looks: most executions are there at once, a long one is not asked for more than this often.
const SHORT_LOOK: Duration = Duration::from_millis(25);
const LONG_LOOK: Duration = Duration::from_millis(400);
/// How many executions are looked at for ours.
const NEWEST: usize = 20;

pub(super) async fn trigger(
    rest: &Rest,
    id: &WorkflowId,
    call: &TriggerCall,
) -> BackendResult<Triggered> {
    let query = ExecutionQuery::of(id, NEWEST);
    let before = rest.executions(&query).await?;
    let before = before.iter().filter_map(number).max().unwrap_or(0);
    let mark = uuid::Uuid::new_v4().to_string();
    let deadline = Instant::now() + call.wait;
    let answered = answered(rest.http().base(), call, &mark).await?;
    let mut triggered = Triggered {
        execution: None,
        status: (answered.status != 0).then_some(answered.status),
        answer: answered.body,
    };
    let appears = Instant::now() + APPEARS;
    let mut look = SHORT_LOOK;
    loop {
        let found = ours(rest, &query, before, &mark).await?;
        let ended = found.as_ref().is_some_and(|head| !goes_on(&head.status));
        let late = Instant::now() >= if found.is_some() { deadline } else { appears };
        triggered.execution = found;
        if ended || late {
            return Ok(triggered);
        }
        tokio::time::sleep(look).await;
        look = (look * 2).min(LONG_LOOK);
    }
}

/// The answer to the call. A release may take a moment from its yes to an activation until the address is there; nothing ran until then.
async fn answered(base: &Url, call: &TriggerCall, mark: &str) -> BackendResult<Answered> {
    let registers = Instant::now() + REGISTERS;
    loop {
        let answered = send(base, call, mark).await?;
        if !answered.is_unregistered(call.point.kind) {
            return Ok(answered);
        }
        if Instant::now() >= registers {
            return Err(BackendError::rejected(format!(
                "n8n listens to no call at the address of {:?}",
                call.point.node
            ))
            .with_hint("activate the workflow first; one that is active and still not there has to be deactivated and activated again"));
        }
        tokio::time::sleep(LONG_LOOK).await;
    }
}

fn number(head: &ExecutionHead) -> Option<u64> {
    head.id.parse().ok()
}

fn goes_on(status: &str) -> bool {
    matches!(status, "new" | "running" | "unknown")
}

/// The execution since then; of several the one that our mark reached.
async fn ours(
    rest: &Rest,
    query: &ExecutionQuery,
    before: u64,
    mark: &str,
) -> BackendResult<Option<ExecutionHead>> {
    let mut new = rest.executions(query).await?;
    // n8n leaves those that still run out of its list, unless it is asked for them.
    let running = query.clone().with_status("running");
    match rest.executions(&running).await {
        Ok(running) => new.extend(running),
        Err(e) if e.kind == BackendErrorKind::Rejected => {} // a release that knows no such filter
        Err(e) => return Err(e),
    }
    new.retain(|head| number(head).is_some_and(|n| n > before));
    new.sort_by_key(number);
    new.dedup_by_key(|head| head.id.clone());
    if new.len() > 1 {
        for head in &new {
            let whole = rest.execution(&head.id).await;
            if whole.is_ok_and(|whole| whole.to_string().contains(mark)) {
                return Ok(Some(head.clone()));
            }
        }
    }
    Ok(new.into_iter().next())
}

struct Answered {
    /// 0: none came in time; the execution may run all the same.
    status: u16,
    body: Option<Value>,
}

impl Answered {
    /// n8n itself says that nobody listens there; a workflow may answer 404 as well.
    fn is_unregistered(&self, kind: TriggerKind) -> bool {
        let code = self.body.as_ref().and_then(|body| body.get("code"));
        self.status == 404 && (kind != TriggerKind::Webhook || code == Some(&json!(404)))
    }
}

async fn send(base: &Url, call: &TriggerCall, mark: &str) -> BackendResult<Answered> {
    let client = agentctl_host::http::client()
        .connect_timeout(Duration::from_secs(5))
        .redirect(redirect::Policy::none())
        .user_agent(concat!("agentctl/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|e| BackendError::unavailable(format!("cannot set up HTTP: {e}")))?;
    let mut request = request(base, call)?;
    if let Ok(mark) = mark.parse() {
        request.headers_mut().insert(MARK, mark);
    }
    let asked = async {
        let mut response = client.execute(request).await?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            let room = MAX_ANSWER.saturating_sub(body.len());
            body.extend(chunk.iter().take(room));
            if room < chunk.len() {
                break; // the rest is not read
            }
        }
        let text = String::from_utf8_lossy(&body);
        let body = match serde_json::from_slice(&body) {
            Ok(value) => Some(value),
            Err(_) if text.is_empty() => None,
            Err(_) => Some(Value::from(text.into_owned())),
        };
        Ok::<_, reqwest::Error>(Answered { status, body })
    };
    match tokio::time::timeout(call.wait, asked).await {
        Ok(Ok(answered)) => Ok(answered),
        Ok(Err(e)) if e.is_connect() => Err(BackendError::unavailable(format!(
            "n8n at {base} cannot be reached"
        ))),
        // It was sent: what became of it is what n8n's list of executions says.
        Ok(Err(_)) | Err(_) => Ok(Answered {
            status: 0,
            body: None,
        }),
    }
}

/// The call as the trigger's kind wants it.
pub(super) fn request(base: &Url, call: &TriggerCall) -> BackendResult<Request> {
    let point = &call.point;
    let mut payload = call.payload.clone();
    let mut url = base.clone();
    let first = match point.kind {
        TriggerKind::Webhook | TriggerKind::Chat => "webhook",
        TriggerKind::Form => "form",
    };
    let mut parts = vec![first.to_owned()];
    for part in point.path.split('/') {
        parts.push(match part.strip_prefix(':') {
            Some(name) => varying(name, &mut payload)?,
            None => part.to_owned(),
        });
    }
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(parts);
    }
    let method = Method::from_bytes(point.method.as_bytes())
        .map_err(|_| BackendError::rejected(format!("{:?} is no HTTP method", point.method)))?;
    let in_query = matches!(point.method.as_str(), "GET" | "HEAD" | "DELETE");
    if point.kind == TriggerKind::Webhook && in_query && !payload.is_empty() {
        let mut pairs = url.query_pairs_mut();
        for (key, value) in &payload {
            pairs.append_pair(key, &plain(value));
        }
    }
    let mut request = Request::new(method, url);
    let (kind, body) = match point.kind {
        TriggerKind::Webhook if in_query => return Ok(request),
        TriggerKind::Webhook => (
            "application/json".to_owned(),
            Value::Object(payload).to_string(),
        ),
        TriggerKind::Chat => ("application/json".to_owned(), chat(payload).to_string()),
        TriggerKind::Form => form(&point.fields, &payload)?,
    };
    if let Ok(kind) = kind.parse() {
        request.headers_mut().insert(CONTENT_TYPE, kind);
    }
    *request.body_mut() = Some(body.into());
    Ok(request)
}

/// The part of a path that varies, taken out of the payload.
fn varying(name: &str, payload: &mut Map<String, Value>) -> BackendResult<String> {
    let value = payload.shift_remove(name).as_ref().map(plain);
    value
        .filter(|v| !v.is_empty() && v != "." && v != "..")
        .ok_or_else(|| {
            BackendError::rejected(format!("the webhook's path has a part {name:?}"))
                .with_hint(format!("give it in the payload as {name:?}"))
        })
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn chat(mut payload: Map<String, Value>) -> Value {
    let said = payload
        .shift_remove("chatInput")
        .unwrap_or_else(|| "".into());
    let session = payload
        .shift_remove("sessionId")
        .unwrap_or_else(|| uuid::Uuid::new_v4().to_string().into());
    let mut body = Map::from_iter([
        ("action".to_owned(), json!("sendMessage")),
        ("chatInput".to_owned(), said),
        ("sessionId".to_owned(), session),
    ]);
    if !payload.is_empty() {
        body.insert("metadata".to_owned(), Value::Object(payload));
    }
    Value::Object(body)
}

/// n8n's forms name their fields by position.
fn form(fields: &[String], payload: &Map<String, Value>) -> BackendResult<(String, String)> {
    let unknown: Vec<&str> = payload
        .keys()
        .filter(|key| !fields.contains(key))
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        return Err(BackendError::rejected(format!(
            "the form has no field {}",
            unknown.join(", ")
        ))
        .with_hint(format!("its fields: {}", fields.join(", "))));
    }
    let boundary = format!("agentctl-{}", uuid::Uuid::new_v4().simple());
    let mut body = String::new();
    for (index, field) in fields.iter().enumerate() {
        let Some(value) = payload.get(field) else {
            continue;
        };
        body.push_str(&format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"field-{index}\"\r\n\r\n{}\r\n",
            plain(value)
        ));
    }
    body.push_str(&format!("--{boundary}--\r\n"));
    Ok((format!("multipart/form-data; boundary={boundary}"), body))
}
