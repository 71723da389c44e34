//! JSON pointers (RFC 6901) below a node's parameters: setting creates missing objects, null removes.
//! In arrays an index up to the length is allowed, `-` appends, and removing shifts the rest.

use super::refusal::Refusal;
use serde_json::{Map, Value};

/// Sets, or with null removes, the value at `pointer`. Nothing is created on the way to a removal.
pub(super) fn set(
    root: &mut Map<String, Value>,
    pointer: &str,
    value: &Value,
) -> Result<(), Refusal> {
    let tokens = tokens(pointer)?;
    let Some((first, rest)) = tokens.split_first() else {
        return Err(
            "the pointer is empty; use replace_parameters to replace everything".to_owned(),
        );
    };
    let mut whole = Value::Object(std::mem::take(root));
    let result = if value.is_null() {
        remove_below(&mut whole, first, rest, "")
    } else {
        set_below(&mut whole, first, rest, "", value)
    };
    if let Value::Object(map) = whole {
        *root = map;
    }
    result
}

/// The unescaped tokens of a pointer.
fn tokens(pointer: &str) -> Result<Vec<String>, Refusal> {
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let Some(path) = pointer.strip_prefix('/') else {
        return Err(format!(
            "{pointer:?} is no JSON pointer; it starts with '/' and is relative to the parameters, like \"/options/timeout\""
        ));
    };
    Ok(path
        .split('/')
        .map(|t| t.replace("~1", "/").replace("~0", "~"))
        .collect())
}

fn set_below(
    place: &mut Value,
    token: &str,
    rest: &[String],
    path: &str,
    value: &Value,
) -> Result<(), Refusal> {
    let here = format!("{path}/{token}");
    let slot = match place {
        Value::Object(map) => map.entry(token).or_insert(Value::Null),
        Value::Array(items) => {
            let at = index(token, items.len(), path)?;
            if at == items.len() {
                items.push(Value::Null);
            }
            items.get_mut(at).ok_or_else(|| no_index(token, at, path))?
        }
        other => return Err(blocked(other, path)),
    };
    match rest.split_first() {
        None => *slot = value.clone(),
        Some((next, rest)) => {
            if slot.is_null() {
                // A first array element is the only index that can be meant where nothing is yet.
                *slot = if next == "0" || next == "-" {
                    Value::Array(Vec::new())
                } else {
                    Value::Object(Map::new())
                };
            }
            set_below(slot, next, rest, &here, value)?;
        }
    }
    Ok(())
}

fn remove_below(
    place: &mut Value,
    token: &str,
    rest: &[String],
    path: &str,
) -> Result<(), Refusal> {
    let next = match (&mut *place, rest.split_first()) {
        (Value::Object(map), None) => {
            map.shift_remove(token);
            return Ok(());
        }
        (Value::Array(items), None) => {
            let at = index(token, items.len(), path)?;
            if at == items.len() {
                return Err(no_index(token, items.len(), path));
            }
            items.remove(at);
            return Ok(());
        }
        (Value::Object(map), Some(_)) => map.get_mut(token),
        (Value::Array(items), Some(_)) => {
            let at = index(token, items.len(), path)?;
            items.get_mut(at)
        }
        (other, _) => return Err(blocked(other, path)),
    };
    match (next, rest.split_first()) {
        (Some(next), Some((token_below, rest))) => {
            remove_below(next, token_below, rest, &format!("{path}/{token}"))
        }
        _ => Ok(()), // nothing there: it is removed already
    }
}

fn index(token: &str, len: usize, path: &str) -> Result<usize, Refusal> {
    if token == "-" {
        return Ok(len);
    }
    let canonical = token == "0" || !token.starts_with('0');
    match token.parse::<usize>() {
        Ok(at) if canonical && at <= len => Ok(at),
        _ => Err(no_index(token, len, path)),
    }
}

fn no_index(token: &str, len: usize, path: &str) -> Refusal {
    let range = match len {
        0 => "it is empty".to_owned(),
        1 => "its only index is 0".to_owned(),
        _ => format!("its indexes are 0 to {}", len - 1),
    };
    format!("{path:?} is an array and has no place {token:?}; {range}, and '-' appends")
}

fn blocked(value: &Value, path: &str) -> Refusal {
    format!(
        "{path:?} holds {}, so nothing can be set below it; set {path:?} itself",
        kind_of(value)
    )
}

pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
