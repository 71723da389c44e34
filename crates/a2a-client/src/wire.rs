//! How each operation is written in the two bindings, and how their answers are read.

use crate::error::Error;
use agentctl_a2a::{AgentInterface, Fault, Kind};
use agentctl_host::reach::{self, Body};
use reqwest::Method;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    JsonRpc,
    HttpJson,
}

impl Binding {
    pub fn of(name: &str) -> Option<Binding> {
        match name {
            AgentInterface::JSON_RPC => Some(Binding::JsonRpc),
            AgentInterface::HTTP_JSON => Some(Binding::HttpJson),
            _ => None,
        }
    }
}

/// An operation with its parameters as the protocol's messages have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    ExtendedCard,
}

/// What a request of HTTP+JSON is: method, path below the base, query or body.
pub(crate) struct Rest {
    pub method: Method,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub body: Option<Value>,
}

impl Operation {
    pub fn rpc(self) -> &'static str {
        match self {
            Operation::Send => "SendMessage",
            Operation::Stream => "SendStreamingMessage",
            Operation::Get => "GetTask",
            Operation::List => "ListTasks",
            Operation::Cancel => "CancelTask",
            Operation::Subscribe => "SubscribeToTask",
            Operation::ExtendedCard => "GetExtendedAgentCard",
        }
    }

    pub fn rest(self, tenant: &str, mut params: Map<String, Value>) -> Rest {
        let id = match params.remove("id") {
            Some(Value::String(id)) => segment(&id),
            _ => String::new(),
        };
        let (method, path, in_query) = match self {
            Operation::Send => (Method::POST, "message:send".to_owned(), false),
            Operation::Stream => (Method::POST, "message:stream".to_owned(), false),
            Operation::Get => (Method::GET, format!("tasks/{id}"), true),
            Operation::List => (Method::GET, "tasks".to_owned(), true),
            Operation::Cancel => (Method::POST, format!("tasks/{id}:cancel"), false),
            // The proto's word; the specification's text says POST.
            Operation::Subscribe => (Method::GET, format!("tasks/{id}:subscribe"), true),
            Operation::ExtendedCard => (Method::GET, "extendedAgentCard".to_owned(), true),
        };
        let path = match tenant {
            "" => path,
            tenant => format!("{}/{path}", segment(tenant)),
        };
        let text = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let (query, body) = match in_query {
            true => (
                params.into_iter().map(|(k, v)| (k, text(v))).collect(),
                None,
            ),
            false => (Vec::new(), Some(Value::Object(params))),
        };
        Rest {
            method,
            path,
            query,
            body,
        }
    }
}

/// A text as one segment of a path.
fn segment(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}

/// The body of an answer.
pub(crate) async fn whole(answer: reqwest::Response, max_bytes: u64) -> Result<Vec<u8>, Error> {
    match reach::body(answer, max_bytes).await {
        Body::Whole(body) => Ok(body),
        Body::Unreadable(why) => Err(Error::Unreadable(why)),
        Body::Lost(error) => Err(Error::of(&error)),
    }
}

/// Longer words of a server are cut, in characters.
const MAX_SAID: usize = 400;

/// The result that an answer holds.
pub(crate) fn result(binding: Binding, status: u16, body: &[u8]) -> Result<Value, Error> {
    let read = serde_json::from_slice::<Value>(body);
    let is_good = (200..300).contains(&status);
    let mut value = match (read, is_good) {
        (Ok(value), _) => value,
        (Err(_), false) => Value::Null,
        (Err(_), true) => return Err(Error::Unreadable("the answer is not JSON".to_owned())),
    };
    if let Some(error) = value.get("error").filter(|error| error.is_object()) {
        let mut fault = match binding {
            Binding::JsonRpc => Fault::of_rpc(error),
            Binding::HttpJson => Fault::of_status(status, error),
        };
        // What HTTP refuses is told in its own status.
        if !is_good && fault.kind == Kind::Internal {
            fault.kind = Kind::Http(status);
        }
        fault.message = fault.message.chars().take(MAX_SAID).collect();
        return Err(Error::Fault(fault));
    }
    if !is_good {
        let said = format!("its server answered with status {status}");
        return Err(Error::Fault(Fault::new(Kind::Http(status), said)));
    }
    match (binding, &mut value) {
        (Binding::HttpJson, _) => Ok(value),
        (Binding::JsonRpc, Value::Object(map)) if map.contains_key("result") => {
            Ok(map.remove("result").unwrap_or_default())
        }
        (Binding::JsonRpc, _) => Err(Error::Unreadable(
            "the answer has neither a result nor an error".to_owned(),
        )),
    }
}

pub(crate) fn call(operation: Operation, tenant: &str, mut params: Map<String, Value>) -> Value {
    if !tenant.is_empty() {
        params.insert("tenant".to_owned(), tenant.into());
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": operation.rpc(), "params": params})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_of_another_path_is_not_reached_by_its_id() {
        let params = json!({"id": "../t?x/y", "historyLength": 2});
        let rest = Operation::Get.rest("a b", params.as_object().cloned().unwrap());
        assert_eq!(rest.path, "a%20b/tasks/..%2Ft%3Fx%2Fy");
        assert_eq!(rest.query, [("historyLength".to_owned(), "2".to_owned())]);
    }

    #[test]
    fn an_answer_is_a_result_a_fault_or_nothing() {
        let body = |value: Value| value.to_string().into_bytes();
        let rpc = |status, value| result(Binding::JsonRpc, status, &body(value));
        assert_eq!(rpc(200, json!({"result": {"a": 1}})), Ok(json!({"a": 1})));
        assert!(matches!(rpc(200, json!({})), Err(Error::Unreadable(_))));
        let kind = |got: Result<Value, Error>| match got {
            Err(Error::Fault(fault)) => fault.kind,
            other => panic!("{other:?}"),
        };
        let gone = json!({"error": {"code": -32001, "message": "no"}});
        assert_eq!(kind(rpc(200, gone)), Kind::TaskNotFound);
        assert_eq!(
            kind(result(Binding::JsonRpc, 502, b"<html>")),
            Kind::Http(502)
        );
        let busy = json!({"error": {"code": -32000, "message": "too often"}});
        assert_eq!(kind(rpc(429, busy)), Kind::Http(429));
    }
}
