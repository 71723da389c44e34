//! A client's bytes, before rmcp sees them: one JSON-RPC message of MCP, or a refusal with the code that says why. Parsers
//! differ on batches, null ids, keys that stand twice and parameters of the wrong type; here each has one answer. Pure.

use agentctl_base::strict_json;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId};
use serde_json::{Map, Value, json};

/// The longest message, in bytes: the longest arguments that the gateway reads, and room around them.
pub(super) const MAX_MESSAGE: usize = 4 * 1024 * 1024;
const MAX_DEPTH: u32 = 96;
const MAX_ID: usize = 256;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
/// Of the range that JSON-RPC leaves to servers.
pub(super) const BUSY: i32 = -32000;

/// An acceptable message.
#[derive(Debug)]
pub(super) enum Frame {
    Initialize(RequestId, ClientJsonRpcMessage),
    Request(RequestId, ClientJsonRpcMessage),
    /// With the request that it cancels, when it does.
    Notification(Option<RequestId>, ClientJsonRpcMessage),
    /// An answer to a question that this server never asked.
    Response,
}

/// Why a message is not read. What has no id because it is a notification is not answered, as JSON-RPC wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    pub id: Option<RequestId>,
    pub code: i32,
    pub message: String,
    pub answered: bool,
}

impl Refusal {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Refusal {
            id: None,
            code,
            message: message.into(),
            answered: true,
        }
    }
    pub fn invalid(id: Option<RequestId>, message: impl Into<String>) -> Self {
        Refusal {
            id,
            ..Self::new(INVALID_REQUEST, message)
        }
    }
    pub fn too_long() -> Self {
        let message = format!("a message has at most {MAX_MESSAGE} bytes");
        Self::new(INVALID_REQUEST, message)
    }
    /// The error as it goes over the wire.
    pub fn text(&self) -> String {
        error(self.id.as_ref(), self.code, &self.message)
    }
}

/// A JSON-RPC error as it goes over the wire.
pub(super) fn error(id: Option<&RequestId>, code: i32, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}

/// One text for an id; `1` and `"1"` are two.
pub(super) fn id_key(id: &RequestId) -> String {
    match id {
        RequestId::Number(n) => n.to_string(),
        RequestId::String(text) => format!("{text:?}"),
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Frame, Refusal> {
    if bytes.len() > MAX_MESSAGE {
        return Err(Refusal::too_long());
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Refusal::new(PARSE_ERROR, "the message is not UTF-8"))?;
    let value = strict_json::value(text, MAX_DEPTH).map_err(|why| {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let code = if is_json {
            INVALID_REQUEST
        } else {
            PARSE_ERROR
        };
        Refusal::new(code, format!("the message is not acceptable JSON: {why}"))
    })?;
    match value {
        Value::Object(message) => object(message),
        Value::Array(_) => Err(Refusal::new(
            INVALID_REQUEST,
            "a batch is not accepted: send one message at a time",
        )),
        _ => Err(Refusal::new(
            INVALID_REQUEST,
            "a message is one JSON object",
        )),
    }
}

fn object(message: Map<String, Value>) -> Result<Frame, Refusal> {
    let answers = message.contains_key("result") || message.contains_key("error");
    if answers && message.contains_key("id") && !message.contains_key("method") {
        // Also an error without an id: to answer that with another one could go on for ever.
        return Ok(Frame::Response);
    }
    let id = match message.get("id") {
        None => None,
        Some(id) => Some(read_id(id)?),
    };
    let refuse = |code: i32, why: &str| Refusal {
        id: id.clone(),
        answered: id.is_some() || code == INVALID_REQUEST,
        ..Refusal::new(code, why)
    };
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(refuse(INVALID_REQUEST, "`jsonrpc` must be \"2.0\""));
    }
    let method = match message.get("method") {
        Some(Value::String(method)) if !answers => method.clone(),
        Some(Value::String(_)) => {
            return Err(refuse(
                INVALID_REQUEST,
                "a request has no `result` and no `error`",
            ));
        }
        Some(_) => return Err(refuse(INVALID_REQUEST, "`method` must be a text")),
        None => return Err(refuse(INVALID_REQUEST, "`method` is missing")),
    };
    let none = Map::new();
    let params = match message.get("params") {
        None => &none,
        Some(Value::Object(params)) => params,
        Some(_) => return Err(refuse(INVALID_PARAMS, "`params` must be an object")),
    };
    check_params(&method, params).map_err(|why| refuse(INVALID_PARAMS, why))?;
    let cancels = match params.get("requestId") {
        Some(id) if method == "notifications/cancelled" => Some(read_id(id)?),
        _ => None,
    };
    let parsed = serde_json::from_value::<ClientJsonRpcMessage>(Value::Object(message))
        .map_err(|_| refuse(INVALID_PARAMS, "the message does not fit its method"))?;
    match id {
        None if is_notification(&method) => Ok(Frame::Notification(cancels, parsed)),
        // A request's method without an id asks for nothing that could be answered.
        None => Err(Refusal {
            answered: false,
            ..Refusal::new(INVALID_REQUEST, "a request needs an id")
        }),
        Some(id) if is_notification(&method) => Err(Refusal {
            id: Some(id),
            ..Refusal::new(METHOD_NOT_FOUND, format!("{method} is a notification"))
        }),
        Some(id) if method == "initialize" => Ok(Frame::Initialize(id, parsed)),
        Some(id) => Ok(Frame::Request(id, parsed)),
    }
}

/// What may come before `initialize`: a ping, which rmcp answers.
pub(super) fn before_initialize(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::PingRequest(_)))
}

/// Anything else must wait. How a newer protocol opens is a method that this server does not know: its client then falls back.
pub(super) fn not_opened(id: RequestId, message: &ClientJsonRpcMessage) -> Refusal {
    let discovers = matches!(message, ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::DiscoverRequest(_)));
    if discovers {
        Refusal {
            id: Some(id),
            ..Refusal::new(METHOD_NOT_FOUND, "server/discover")
        }
    } else {
        Refusal::invalid(Some(id), "send `initialize` first")
    }
}

fn is_notification(method: &str) -> bool {
    method.starts_with("notifications/")
}

fn read_id(id: &Value) -> Result<RequestId, Refusal> {
    let bad = || Refusal::new(INVALID_REQUEST, "`id` must be an integer or a short text");
    match id {
        Value::String(text) if text.len() > MAX_ID => Err(bad()),
        Value::String(_) => serde_json::from_value(id.clone()).map_err(|_| bad()),
        Value::Number(n) if n.is_i64() => serde_json::from_value(id.clone()).map_err(|_| bad()),
        _ => Err(bad()),
    }
}

/// The types of what this server reads. What it does not read is not its business.
fn check_params(method: &str, params: &Map<String, Value>) -> Result<(), &'static str> {
    let text = |key: &str| matches!(params.get(key), Some(Value::String(_)));
    let absent_or = |key: &str, fits: fn(&Value) -> bool| params.get(key).is_none_or(fits);
    if !absent_or("_meta", Value::is_object) {
        return Err("`_meta` must be an object");
    }
    match method {
        "initialize" => {
            let named = |key: &str| {
                let client = params.get("clientInfo");
                client
                    .and_then(|c| c.get(key))
                    .is_some_and(Value::is_string)
            };
            if !text("protocolVersion") || !named("name") || !named("version") {
                return Err(
                    "initialize needs `protocolVersion` and `clientInfo` with `name` and `version`",
                );
            }
            if !matches!(params.get("capabilities"), Some(Value::Object(_))) {
                return Err("`capabilities` must be an object");
            }
        }
        "tools/call" => {
            if !text("name") {
                return Err("tools/call needs the tool's `name`");
            }
            if !absent_or("arguments", Value::is_object) {
                return Err("`arguments` must be an object");
            }
        }
        "tools/list" if !absent_or("cursor", Value::is_string) => {
            return Err("`cursor` must be a text");
        }
        _ => {}
    }
    Ok(())
}
