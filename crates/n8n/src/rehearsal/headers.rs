//! Items as they are told: without the headers of a request, wherever they were put. Found by the headers' names.

use serde_json::{Map, Value};

/// A request's headers by their names alone, of which every request has some of these.
const OF_REQUESTS: [&str; 5] = [
    "host",
    "user-agent",
    "accept",
    "accept-encoding",
    "connection",
];
/// Headers that say who called, or let one in.
const SECRET: [&str; 8] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "x-api-key",
    "x-auth-token",
    "x-csrf-token",
    "x-forwarded-for",
];

/// An item without the headers of a request, wherever they stand in it: who called is nobody's result.
pub fn without_headers(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let is_request = ["headers", "params", "query", "body"];
            let is_request = is_request.iter().all(|part| map.contains_key(*part));
            let pairs = map.iter().map(|(key, value)| {
                let told = match value {
                    Value::Object(headers)
                        if (is_request && key == "headers") || are_headers(headers) =>
                    {
                        Value::String(format!("({} headers)", headers.len()))
                    }
                    _ if SECRET.contains(&key.to_lowercase().as_str()) => {
                        Value::String("(a header)".to_owned())
                    }
                    value => without_headers(value),
                };
                (key.clone(), told)
            });
            Value::Object(pairs.collect())
        }
        Value::Array(list) => list.iter().map(without_headers).collect(),
        other => other.clone(),
    }
}

fn are_headers(map: &Map<String, Value>) -> bool {
    let names = map.keys().map(|key| key.to_lowercase());
    names
        .filter(|name| OF_REQUESTS.contains(&name.as_str()))
        .count()
        > 1
}
