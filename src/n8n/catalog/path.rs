//! Reads a value at a path such as `options.response.values[0].name`. Pure.

use serde_json::{Map, Value};

/// The value at the path, or None. A key that is spelled like the whole path wins, as in n8n.
pub fn lookup<'a>(root: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    if let Some(value) = root.get(path) {
        return Some(value);
    }
    let mut parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
    let mut value = root.get(parts.next()?)?;
    for part in parts {
        value = match value {
            Value::Object(map) => map.get(part)?,
            Value::Array(list) => list.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}
