//! Values by n8n's paths (`a.b[0].c`) and JSON pointers to them.

use crate::catalog::View;
use serde_json::Value;

/// The value at the path; a key spelled like the whole path wins. Two dots in a row name an empty key, as in n8n.
pub(super) fn get<'a>(root: View<'a>, path: &str) -> Option<&'a Value> {
    if let Some(value) = root.get(path) {
        return Some(value);
    }
    if !path.contains(['.', '[']) {
        return None;
    }
    let mut tokens = tokens(path);
    let mut value = root.get(tokens.next()?)?;
    for token in tokens {
        value = match value {
            Value::Object(map) => map.get(token)?,
            Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

fn tokens(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').flat_map(|part| {
        let mut pieces = part.split('[');
        let first = pieces.next().unwrap_or("");
        std::iter::once(first).chain(pieces.map(|piece| piece.trim_end_matches(']')))
    })
}

/// The pointer below the node for a path below its parameters.
pub(super) fn pointer(path: &str, name: &str) -> String {
    let mut pointer = "/parameters".to_owned();
    if !path.is_empty() {
        for token in tokens(path) {
            push(&mut pointer, token);
        }
    }
    push(&mut pointer, name);
    pointer
}

/// Appends one escaped token.
pub(super) fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    if token.contains(['~', '/']) {
        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(token);
    }
}

pub(super) fn joined(pointer: &str, token: &str) -> String {
    let mut joined = pointer.to_owned();
    push(&mut joined, token);
    joined
}

/// The pointer as operations take it, without the leading `/parameters`.
pub(super) fn below_parameters(pointer: &str) -> String {
    pointer
        .strip_prefix("/parameters")
        .unwrap_or(pointer)
        .to_owned()
}
