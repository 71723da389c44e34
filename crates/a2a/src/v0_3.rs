//! A2A 0.3 over JSON-RPC, brought to the words of 1.0 and back: names of methods, `kind` of parts and events, states in kebab case.
//! Pure, from JSON to JSON; what does not fit stays as it is and is refused where 1.0 is read. Receivers of push notifications, which
//! would be told in other words, are refused.

use crate::fault::{Fault, Kind};
use serde_json::{Map, Value, json};

/// What a request that names no version speaks.
pub const VERSION: &str = "0.3";
/// As cards of 0.3 name it.
const CARD_VERSION: &str = "0.3.0";

/// Method of 0.3, method of 1.0.
const METHODS: [(&str, &str); 6] = [
    ("message/send", "SendMessage"),
    ("message/stream", "SendStreamingMessage"),
    ("tasks/get", "GetTask"),
    ("tasks/cancel", "CancelTask"),
    ("tasks/resubscribe", "SubscribeToTask"),
    ("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"),
];
const PUSH: &str = "tasks/pushNotificationConfig/";

/// A call in the words of 1.0.
///
/// # Errors
/// There is no such method, or it names a receiver of push notifications.
pub fn call(
    method: &str,
    mut params: Map<String, Value>,
) -> Result<(&str, Map<String, Value>), Fault> {
    let no_push = || {
        let why = "push notifications are sent in the words of A2A 1.0 only: subscribe to the task, or speak 1.0";
        Fault::new(Kind::PushNotificationNotSupported, why)
    };
    if method.starts_with(PUSH) {
        return Err(no_push());
    }
    let known = METHODS.iter().find(|(old, _)| *old == method);
    // What 0.3 has no word for is refused by the one that knows them all.
    let Some((_, new)) = known else {
        return Ok((method, params));
    };
    if let Some(message) = params.get_mut("message") {
        *message = message_to_new(message.take());
    }
    if let Some(Value::Object(configuration)) = params.get_mut("configuration") {
        if configuration
            .remove("pushNotificationConfig")
            .is_some_and(|config| !config.is_null())
        {
            return Err(no_push());
        }
        if let Some(blocking) = configuration.remove("blocking") {
            configuration.insert("returnImmediately".into(), json!(blocking == false));
        }
    }
    Ok((new, params))
}

/// An answer to a method of 1.0.
pub fn result(method: &str, mut result: Value) -> Value {
    match method {
        "SendMessage" => event(result),
        "GetTask" | "CancelTask" => task(result),
        "GetExtendedAgentCard" => {
            card(&mut result);
            result
        }
        _ => result,
    }
}

/// What a stream tells.
pub fn event(event: Value) -> Value {
    let Value::Object(mut event) = event else {
        return event;
    };
    let Some((name, told)) = event.iter_mut().next().map(|(k, v)| (k.clone(), v.take())) else {
        return Value::Object(event);
    };
    match name.as_str() {
        "task" => task(told),
        "message" => message(told),
        "statusUpdate" => status_update(told),
        "artifactUpdate" => {
            let mut told = of_kind(told, "artifact-update");
            if let Some(given) = told.get_mut("artifact") {
                *given = artifact(given.take());
            }
            told
        }
        _ => told,
    }
}

/// Says in a card of 1.0 what a reader of 0.3 looks for, too.
pub fn card(card: &mut Value) {
    let Some(card) = card.as_object_mut() else {
        return;
    };
    let first = card.get("supportedInterfaces").and_then(|all| all.get(0));
    let Some(url) = first.and_then(|first| first.get("url")).cloned() else {
        return;
    };
    if let Some(Value::Array(all)) = card.get_mut("supportedInterfaces") {
        all.push(json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": VERSION}));
    }
    let mut security = Vec::new();
    if let Some(Value::Object(schemes)) = card.get_mut("securitySchemes") {
        for (name, scheme) in schemes {
            security.push(json!({name: []}));
            let way = scheme.pointer("/httpAuthSecurityScheme/scheme").cloned();
            if let (Some(scheme), Some(way)) = (scheme.as_object_mut(), way) {
                scheme.insert("type".into(), "http".into());
                scheme.insert("scheme".into(), way);
            }
        }
    }
    for (key, value) in [
        ("protocolVersion", json!(CARD_VERSION)),
        ("url", url),
        ("preferredTransport", json!("JSONRPC")),
        ("supportsAuthenticatedExtendedCard", json!(true)),
        ("security", json!(security)),
    ] {
        card.insert(key.into(), value);
    }
}

fn message_to_new(message: Value) -> Value {
    let Value::Object(mut message) = message else {
        return message;
    };
    message.remove("kind");
    if let Some(role) = message.get_mut("role") {
        match role.as_str() {
            Some("user") => *role = "ROLE_USER".into(),
            Some("agent") => *role = "ROLE_AGENT".into(),
            _ => {}
        }
    }
    each(&mut message, "parts", part_to_new);
    Value::Object(message)
}

fn part_to_new(part: Value) -> Value {
    let Value::Object(mut part) = part else {
        return part;
    };
    part.remove("kind");
    if let Some(Value::Object(file)) = part.remove("file") {
        for (old, new) in [
            ("uri", "url"),
            ("bytes", "raw"),
            ("mimeType", "mediaType"),
            ("name", "filename"),
        ] {
            if let Some(value) = file.get(old) {
                part.insert(new.into(), value.clone());
            }
        }
    }
    Value::Object(part)
}

fn each(of: &mut Map<String, Value>, key: &str, change: fn(Value) -> Value) {
    if let Some(Value::Array(items)) = of.get_mut(key) {
        items
            .iter_mut()
            .for_each(|item| *item = change(item.take()));
    }
}

fn of_kind(value: Value, kind: &str) -> Value {
    let Value::Object(mut value) = value else {
        return value;
    };
    value.insert("kind".into(), kind.into());
    Value::Object(value)
}

fn task(told: Value) -> Value {
    let Value::Object(mut told) = of_kind(told, "task") else {
        return Value::Null;
    };
    if let Some(stands) = told.get_mut("status") {
        *stands = status(stands.take());
    }
    each(&mut told, "artifacts", artifact);
    each(&mut told, "history", message);
    Value::Object(told)
}

/// `TASK_STATE_INPUT_REQUIRED` is `input-required`.
fn status(stands: Value) -> Value {
    let Value::Object(mut stands) = stands else {
        return stands;
    };
    if let Some(Value::String(state)) = stands.get_mut("state") {
        let word = state.strip_prefix("TASK_STATE_").unwrap_or(state);
        *state = word.to_lowercase().replace('_', "-");
    }
    if let Some(said) = stands.get_mut("message") {
        *said = message(said.take());
    }
    Value::Object(stands)
}

fn status_update(told: Value) -> Value {
    let Value::Object(mut told) = of_kind(told, "status-update") else {
        return Value::Null;
    };
    let stands = told.remove("status").map(status).unwrap_or_default();
    let goes_on = matches!(
        stands.get("state").and_then(Value::as_str),
        Some("submitted" | "working")
    );
    told.insert("status".into(), stands);
    told.insert("final".into(), (!goes_on).into());
    Value::Object(told)
}

fn artifact(given: Value) -> Value {
    let Value::Object(mut given) = given else {
        return given;
    };
    each(&mut given, "parts", part);
    Value::Object(given)
}

fn message(said: Value) -> Value {
    let Value::Object(mut said) = of_kind(said, "message") else {
        return Value::Null;
    };
    if let Some(Value::String(role)) = said.get_mut("role") {
        *role = role.trim_start_matches("ROLE_").to_lowercase();
    }
    each(&mut said, "parts", part);
    Value::Object(said)
}

fn part(part: Value) -> Value {
    let Value::Object(mut part) = part else {
        return part;
    };
    let (kind, content) = if let Some(text) = part.remove("text") {
        ("text", text)
    } else if let Some(data) = part.remove("data") {
        // In 0.3 data is an object.
        let data = if data.is_object() {
            data
        } else {
            json!({"value": data})
        };
        ("data", data)
    } else {
        let mut file = Map::new();
        for (new, old) in [
            ("url", "uri"),
            ("raw", "bytes"),
            ("mediaType", "mimeType"),
            ("filename", "name"),
        ] {
            if let Some(value) = part.remove(new) {
                file.insert(old.into(), value);
            }
        }
        ("file", Value::Object(file))
    };
    part.remove("mediaType");
    part.remove("filename");
    part.insert("kind".into(), kind.into());
    part.insert(kind.into(), content);
    Value::Object(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_call_of_0_3_is_one_of_1_0() {
        let params = object(json!({
            "message": {
                "kind": "message", "messageId": "m", "role": "user", "taskId": "t",
                "parts": [
                    {"kind": "text", "text": "a", "metadata": {"n": 1}},
                    {"kind": "data", "data": {"kind": "text"}},
                    {"kind": "file", "file": {"uri": "https://a.example/f", "mimeType": "text/plain", "name": "f"}}
                ]
            },
            "configuration": {"blocking": false, "historyLength": 2}
        }));
        let (method, params) = call("message/send", params).unwrap();
        assert_eq!(method, "SendMessage");
        assert_eq!(
            Value::Object(params),
            json!({
                "message": {
                    "messageId": "m", "role": "ROLE_USER", "taskId": "t",
                    "parts": [
                        {"text": "a", "metadata": {"n": 1}},
                        {"data": {"kind": "text"}},
                        {"url": "https://a.example/f", "mediaType": "text/plain", "filename": "f"}
                    ]
                },
                "configuration": {"returnImmediately": true, "historyLength": 2}
            })
        );
        let push =
            json!({"configuration": {"pushNotificationConfig": {"url": "https://a.example"}}});
        for (method, params) in [
            ("message/send", push),
            ("tasks/pushNotificationConfig/set", json!({})),
        ] {
            let refused = call(method, object(params)).unwrap_err();
            assert_eq!(refused.kind, Kind::PushNotificationNotSupported);
        }
        assert_eq!(call("tasks/list", Map::new()).unwrap().0, "tasks/list");
    }

    #[test]
    fn what_1_0_tells_is_told_in_the_words_of_0_3() {
        let said = json!({"messageId": "s", "role": "ROLE_AGENT", "parts": [{"text": "Which?"}, {"data": [1], "mediaType": "application/json"}]});
        let task = json!({"task": {
            "id": "t", "contextId": "c", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": said, "timestamp": "now"},
            "artifacts": [{"artifactId": "a", "parts": [{"raw": "YQ==", "filename": "a.txt", "mediaType": "text/plain"}]}]
        }});
        let parts =
            json!([{"kind": "text", "text": "Which?"}, {"kind": "data", "data": {"value": [1]}}]);
        let message = json!({"kind": "message", "messageId": "s", "role": "agent", "parts": parts});
        assert_eq!(
            result("SendMessage", task),
            json!({
                "kind": "task", "id": "t", "contextId": "c",
                "status": {"state": "input-required", "message": message, "timestamp": "now"},
                "artifacts": [{"artifactId": "a", "parts": [{"kind": "file", "file": {"bytes": "YQ==", "name": "a.txt", "mimeType": "text/plain"}}]}]
            })
        );
        for (state, word, ends) in [
            ("TASK_STATE_WORKING", "working", false),
            ("TASK_STATE_AUTH_REQUIRED", "auth-required", true),
            ("TASK_STATE_CANCELED", "canceled", true),
        ] {
            let update = json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": state}}});
            assert_eq!(
                event(update),
                json!({"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": word}, "final": ends})
            );
        }
    }
}
