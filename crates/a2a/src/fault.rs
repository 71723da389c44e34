//! Faults, and how each binding writes them: one table (specification 5.4, 9.5 and 11.6).

use serde_json::{Map, Value, json};
use std::ops::{Deref, DerefMut};

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    TaskNotFound,
    TaskNotCancelable,
    PushNotificationNotSupported,
    UnsupportedOperation,
    ContentTypeNotSupported,
    InvalidAgentResponse,
    ExtendedCardNotConfigured,
    ExtensionSupportRequired,
    VersionNotSupported,
    Parse,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    /// Of HTTP, with this status: not let in, too often, too busy.
    Http(u16),
}

/// Kind, JSON-RPC code, HTTP status, gRPC status, reason.
const TABLE: [(Kind, i64, u16, &str, &str); 14] = [
    (
        Kind::TaskNotFound,
        -32001,
        404,
        "NOT_FOUND",
        "TASK_NOT_FOUND",
    ),
    (
        Kind::TaskNotCancelable,
        -32002,
        400,
        FAILED,
        "TASK_NOT_CANCELABLE",
    ),
    (
        Kind::PushNotificationNotSupported,
        -32003,
        400,
        FAILED,
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
    ),
    (
        Kind::UnsupportedOperation,
        -32004,
        400,
        FAILED,
        "UNSUPPORTED_OPERATION",
    ),
    (
        Kind::ContentTypeNotSupported,
        -32005,
        400,
        INVALID,
        "CONTENT_TYPE_NOT_SUPPORTED",
    ),
    (
        Kind::InvalidAgentResponse,
        -32006,
        500,
        "INTERNAL",
        "INVALID_AGENT_RESPONSE",
    ),
    (
        Kind::ExtendedCardNotConfigured,
        -32007,
        400,
        FAILED,
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    ),
    (
        Kind::ExtensionSupportRequired,
        -32008,
        400,
        FAILED,
        "EXTENSION_SUPPORT_REQUIRED",
    ),
    (
        Kind::VersionNotSupported,
        -32009,
        400,
        FAILED,
        "VERSION_NOT_SUPPORTED",
    ),
    (Kind::Parse, -32700, 400, INVALID, ""),
    (Kind::InvalidRequest, -32600, 400, INVALID, ""),
    (Kind::MethodNotFound, -32601, 404, "UNIMPLEMENTED", ""),
    (Kind::InvalidParams, -32602, 400, INVALID, ""),
    (Kind::Internal, -32603, 500, "INTERNAL", ""),
];
const FAILED: &str = "FAILED_PRECONDITION";
const INVALID: &str = "INVALID_ARGUMENT";
/// For what HTTP refuses; the first code that JSON-RPC leaves to servers.
const REFUSED: i64 = -32000;
const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const DOMAIN: &str = "a2a-protocol.org";

impl Kind {
    fn row(self) -> (i64, u16, &'static str, &'static str) {
        let mut rows = TABLE.iter().filter(|(kind, ..)| *kind == self);
        match (rows.next(), self) {
            (Some((_, code, status, grpc, reason)), _) => (*code, *status, grpc, reason),
            (None, Kind::Http(status)) => (REFUSED, status, of_http(status), ""),
            (None, _) => (-32603, 500, "INTERNAL", ""),
        }
    }

    /// The code of JSON-RPC.
    pub fn code(self) -> i64 {
        self.row().0
    }

    pub fn status(self) -> u16 {
        self.row().1
    }

    fn of_code(code: i64) -> Option<Kind> {
        let row = TABLE.iter().find(|(_, known, ..)| *known == code);
        row.map(|(kind, ..)| *kind)
    }
}

/// The word of gRPC for a status of HTTP.
fn of_http(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        408 | 504 => "DEADLINE_EXCEEDED",
        409 => "ABORTED",
        413 | 429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        405 | 501 => "UNIMPLEMENTED",
        500..=599 => "INTERNAL",
        _ => INVALID,
    }
}

/// One fault, with what to do next in its words. In a box: most requests have none.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault(Box<Told>);

#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub kind: Kind,
    pub message: String,
    /// Each field that does not fit, and why.
    pub fields: Vec<(String, String)>,
    /// What else is told of it, as text.
    pub more: Map<String, Value>,
}

impl Deref for Fault {
    type Target = Told;
    fn deref(&self) -> &Told {
        &self.0
    }
}

impl DerefMut for Fault {
    fn deref_mut(&mut self) -> &mut Told {
        &mut self.0
    }
}

impl Fault {
    pub fn new(kind: Kind, message: impl Into<String>) -> Fault {
        Fault(Box::new(Told {
            kind,
            message: message.into(),
            fields: Vec::new(),
            more: Map::new(),
        }))
    }

    /// A field of the request that does not fit.
    pub fn field(field: &str, why: impl Into<String>) -> Fault {
        let why = why.into();
        let mut fault = Fault::new(Kind::InvalidParams, format!("{field}: {why}"));
        fault.fields.push((field.to_owned(), why));
        fault
    }

    /// A whole that cannot be read as what it should be: which part of it, `why` says.
    pub fn unread(whole: &str, why: &str) -> Fault {
        Fault::field(whole, format!("does not fit: {why}"))
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Fault {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    fn details(&self) -> Vec<Value> {
        let (.., reason) = self.kind.row();
        let mut details = Vec::new();
        if !reason.is_empty() {
            details.push(
                json!({"@type": ERROR_INFO, "reason": reason, "domain": DOMAIN, "metadata": self.more}),
            );
        }
        if !self.fields.is_empty() {
            let fields = self.fields.iter();
            let fields = fields.map(|(field, why)| json!({"field": field, "description": why}));
            details
                .push(json!({"@type": BAD_REQUEST, "fieldViolations": fields.collect::<Vec<_>>()}));
        }
        details
    }

    /// `error` of an answer of JSON-RPC.
    pub fn as_rpc(&self) -> Value {
        let mut error = json!({"code": self.kind.code(), "message": self.message});
        let details = self.details();
        if let Value::Object(map) = &mut error
            && !details.is_empty()
        {
            map.insert("data".into(), details.into());
        }
        error
    }

    /// The body of an answer of HTTP+JSON: google.rpc.Status below `error`.
    pub fn as_status(&self) -> Value {
        let (_, status, grpc, _) = self.kind.row();
        json!({"error": {"code": status, "status": grpc, "message": self.message, "details": self.details()}})
    }

    /// Reads `error` of an answer of JSON-RPC.
    pub fn of_rpc(error: &Value) -> Fault {
        let code = error.get("code").and_then(Value::as_i64).unwrap_or(-32603);
        let message = error.get("message").and_then(Value::as_str);
        Fault::new(
            Kind::of_code(code).unwrap_or(Kind::Internal),
            message.unwrap_or("the agent told an error without words"),
        )
    }

    /// Reads `error` of an answer of HTTP+JSON: by the reason that it names, else by its status.
    pub fn of_status(status: u16, error: &Value) -> Fault {
        let details = error.get("details").and_then(Value::as_array);
        let reasons = details.into_iter().flatten();
        let mut reasons = reasons.filter_map(|detail| detail.get("reason")?.as_str());
        let kind = reasons.find_map(|named| {
            let mut rows = TABLE.iter().filter(|(.., reason)| !reason.is_empty());
            rows.find(|(.., reason)| *reason == named)
                .map(|(kind, ..)| *kind)
        });
        let message = error.get("message").and_then(Value::as_str);
        Fault::new(
            kind.unwrap_or(Kind::Http(status)),
            message.unwrap_or("the agent told an error without words"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_written_as_each_binding_has_it() {
        let fault = Fault::new(Kind::TaskNotFound, "there is no task t").with("taskId", "t");
        let info = json!({"@type": ERROR_INFO, "reason": "TASK_NOT_FOUND", "domain": DOMAIN, "metadata": {"taskId": "t"}});
        assert_eq!(
            fault.as_rpc(),
            json!({"code": -32001, "message": "there is no task t", "data": [info]})
        );
        assert_eq!(
            fault.as_status(),
            json!({"error": {"code": 404, "status": "NOT_FOUND", "message": "there is no task t", "details": [info]}})
        );
        assert_eq!(Fault::of_rpc(&fault.as_rpc()).kind, Kind::TaskNotFound);
        let read = |status| Fault::of_status(status, &fault.as_status()["error"]).kind;
        assert_eq!(read(404), Kind::TaskNotFound);
        let bare = Fault::of_status(429, &json!({"message": "too often"}));
        assert_eq!(
            (bare.kind, bare.message.as_str()),
            (Kind::Http(429), "too often")
        );
        let field = Fault::field("message.parts", "is empty");
        assert_eq!(
            field.as_rpc()["data"][0]["fieldViolations"][0]["field"],
            "message.parts"
        );
        let busy = Fault::new(Kind::Http(429), "too often");
        assert_eq!(
            busy.as_rpc(),
            json!({"code": -32000, "message": "too often"})
        );
        assert_eq!(busy.as_status()["error"]["status"], "RESOURCE_EXHAUSTED");
    }

    #[test]
    fn every_kind_has_its_own_code() {
        let mut codes: Vec<i64> = TABLE.iter().map(|(_, code, ..)| *code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), TABLE.len());
        assert_eq!(Kind::VersionNotSupported.code(), -32009);
    }
}
