//! A message of the envelope, checked against the published schema (docs/schemas/a2a-envelope.schema.json).

use super::told::Reason;
use agentctl_base::canonical::canonical;
use agentctl_engine::flow::Schema;
use hyper::StatusCode;
use serde_json::{Map, Value, json};

pub const SCHEMA: &str = include_str!("../../../../../docs/schemas/a2a-envelope.schema.json");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Task,
    Orchestrator,
    /// Claims, each held against sources.
    Factcheck,
    Tools,
    /// One call of a tool.
    Use,
}

impl Type {
    pub const ALL: [(Type, &'static str, &'static str); 5] = [
        (Type::Task, "request:task", "response:results"),
        (
            Type::Orchestrator,
            "request:orchestrator:task",
            "response:orchestrator:results",
        ),
        (
            Type::Factcheck,
            "request:factcheck:verify",
            "response:factcheck:results",
        ),
        (
            Type::Tools,
            "request:discover-tools",
            "response:available-tools",
        ),
        (Type::Use, "request:use-tool", "response:tool-result"),
    ];

    /// What answers it.
    pub fn answer(self) -> &'static str {
        let mut all = Type::ALL.into_iter();
        all.find(|(of, ..)| *of == self)
            .map_or("", |(_, _, answer)| answer)
    }
}

#[derive(Debug, Clone)]
pub struct Envelope {
    pub of: Type,
    pub id: String,
    pub sender: String,
    pub receiver: String,
    pub payload: Map<String, Value>,
    /// Without what is not the flow's to see.
    pub metadata: Map<String, Value>,
    /// Who else is told the answer; it may hold a secret.
    pub callback_url: Option<String>,
    /// All that it says but when: two of the same id that differ here are two messages.
    pub said: String,
}

impl Envelope {
    /// `at`: the address of the agent that it came to.
    pub fn read(body: Value, at: &str) -> Result<Envelope, Reason> {
        let wrong =
            |told: String| Reason::new("invalid_message", told, StatusCode::UNPROCESSABLE_ENTITY);
        let Value::Object(mut body) = body else {
            return Err(wrong("a message is a JSON object".to_owned()));
        };
        if body.contains_key("jsonrpc") {
            return Err(Reason::new(
                "invalid_message",
                format!(
                    "this is a call of JSON-RPC; here messages of the envelope are taken: POST it to {at}/a2a"
                ),
                StatusCode::BAD_REQUEST,
            ));
        }
        let named = body.get("type").and_then(Value::as_str).unwrap_or_default();
        let known = Type::ALL.into_iter().find(|(_, name, _)| *name == named);
        let Some((of, name, _)) = known else {
            let taken = Type::ALL.map(|(_, name, _)| name).join(", ");
            let shown: String = named.chars().take(64).collect();
            let told = format!("messages of type {shown:?} are not taken here; taken: {taken}");
            return Err(Reason::new(
                "unsupported_type",
                told,
                StatusCode::UNPROCESSABLE_ENTITY,
            ));
        };
        let faults = faults(name, &Value::Object(body.clone())).map_err(&wrong)?;
        if !faults.is_empty() {
            let mut reason = wrong(format!(
                "the message does not fit its schema: {}",
                faults.join("; ")
            ));
            reason.errors = faults;
            return Err(reason);
        }
        body.shift_remove("timestamp");
        let said = canonical(&Value::Object(body.clone()));
        let mut text = |key: &str| match body.remove(key) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let (id, sender, receiver) = (text("id"), text("sender"), text("receiver"));
        let mut map = |key: &str| match body.remove(key) {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let (payload, mut metadata) = (map("payload"), map("metadata"));
        let callback_url = match metadata.remove("callback_url") {
            Some(Value::String(url)) => Some(url),
            _ => None,
        };
        Ok(Envelope {
            of,
            id,
            sender,
            receiver,
            payload,
            metadata,
            callback_url,
            said,
        })
    }

    /// What is said in words: the query, or a line for each claim.
    pub fn query(&self) -> String {
        if let Some(query) = self.payload.get("query").and_then(Value::as_str) {
            return query.to_owned();
        }
        let claims = self.payload.get("claims").and_then(Value::as_array);
        let texts = claims.into_iter().flatten().filter_map(|claim| {
            let text = claim.get("text").unwrap_or(claim);
            text.as_str()
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub fn named(&self, key: &str) -> Option<String> {
        let named = self.metadata.get(key).and_then(Value::as_str);
        named.filter(|named| !named.is_empty()).map(str::to_owned)
    }

    pub fn dependencies(&self) -> Vec<String> {
        let ids = self.metadata.get("dependencies").and_then(Value::as_array);
        let ids = ids.into_iter().flatten().filter_map(Value::as_str);
        ids.map(str::to_owned).collect()
    }
}

/// What of a message does not fit the schema of its type.
fn faults(name: &str, message: &Value) -> Result<Vec<String>, String> {
    let whole: Value = serde_json::from_str(SCHEMA).map_err(|e| e.to_string())?;
    let one = json!({"$ref": format!("#/$defs/{name}"), "$defs": whole.get("$defs")});
    let schema = Schema::compile(one)?;
    Ok(schema.faults(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Value {
        json!({
            "type": "request:task", "version": "1.0", "id": "m-1", "timestamp": "2026-01-31T12:00:00Z", "sender": "me",
            "receiver": "desk", "payload": {"query": "hello", "task_type": "technical"},
            "metadata": {"priority": "high", "dependencies": ["m-0"]}
        })
    }

    #[test]
    fn a_message_is_read_by_the_schema_of_its_type() {
        let read = |message| Envelope::read(message, "/agents/desk");
        let first = read(message()).unwrap();
        assert_eq!((first.of, first.query().as_str()), (Type::Task, "hello"));
        assert_eq!(first.dependencies(), ["m-0"]);
        for (pointer, value, reason) in [
            ("/type", json!("request:dance"), "unsupported_type"),
            ("/type", json!("response:results"), "unsupported_type"),
            (
                "/type",
                json!("request:factcheck:verify"),
                "invalid_message",
            ),
            ("/version", json!("2.0"), "invalid_message"),
            ("/id", json!(""), "invalid_message"),
            ("/timestamp", json!("yesterday"), "invalid_message"),
            ("/payload/query", json!(1), "invalid_message"),
            ("/metadata/priority", json!("urgent"), "invalid_message"),
            ("/metadata/dependencies", json!("m-0"), "invalid_message"),
        ] {
            let mut wrong = message();
            *wrong.pointer_mut(pointer).unwrap() = value;
            assert_eq!(read(wrong).unwrap_err().reason, reason, "{pointer}");
        }
        let mut called = message();
        called["metadata"]["callback_url"] = json!("http://127.0.0.1/?token=t");
        let called = read(called).unwrap();
        assert_eq!(
            called.callback_url.as_deref(),
            Some("http://127.0.0.1/?token=t")
        );
        assert!(!called.metadata.contains_key("callback_url"));
    }
}
