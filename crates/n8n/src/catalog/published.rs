//! Reads the JSON of n8n's own descriptions, as it is published: a text, a list of texts, the objects of a list, display rules.

use serde_json::{Map, Value};

pub(super) fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    map.get(key).and_then(Value::as_str)
}

pub(super) fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(list)) => list
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        Some(Value::String(one)) if !one.starts_with('=') => vec![one.clone()],
        _ => Vec::new(),
    }
}

pub(super) fn objects<'a>(
    map: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    map.get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
}

pub(super) type Rules = Option<Map<String, Value>>;

pub(super) fn display(map: &Map<String, Value>) -> (Rules, Rules) {
    let options = map.get("displayOptions").and_then(Value::as_object);
    let part = |key: &str| {
        options
            .and_then(|o| o.get(key))
            .and_then(Value::as_object)
            .cloned()
    };
    (part("show"), part("hide"))
}
