//! Places in what a tool file says: `${NAME}` a variable of the environment, `{name}` a value of the call. A value is put where it
//! belongs as data; it never becomes a part of an address, a key, or the shape of a body.

use agentctl_base::yaml::{Node, Place};
use agentctl_engine::vocabulary::Faults;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
    Value(&'a str),
}

/// The pieces of a text; None: a bracket stands open.
pub(crate) fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        let (before, variable) = match before.strip_suffix('$') {
            Some(before) => (before, true),
            None => (before, false),
        };
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        let (name, behind) = from.strip_prefix('{')?.split_once('}')?;
        pieces.push(match variable {
            true => Piece::Variable(name),
            false => Piece::Value(name),
        });
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Some(pieces)
}

/// What a value is as a text; a list or an object is its JSON. None: it is not there.
pub(crate) fn as_text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// A text with its values; None: one of them is not there.
pub(crate) fn filled(text: &str, values: &Map<String, Value>) -> Option<String> {
    filled_with(text, values, |_| None)
}

/// The same of a text that may hold variables too.
pub(crate) fn filled_with(
    text: &str,
    values: &Map<String, Value>,
    variable: fn(&str) -> Option<String>,
) -> Option<String> {
    let mut out = String::new();
    for piece in pieces(text)? {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Value(name) => out.push_str(&as_text(values.get(name))?),
            Piece::Variable(name) => out.push_str(&variable(name)?),
        }
    }
    Some(out)
}

/// A body with its values. A text that is one place alone becomes the value as it is; what is not there is left out.
pub(crate) fn body(shape: &Value, values: &Map<String, Value>) -> Option<Value> {
    Some(match shape {
        Value::String(text) => match pieces(text)?.as_slice() {
            [Piece::Value(name)] => values.get(*name).filter(|v| !v.is_null())?.clone(),
            _ => Value::String(filled(text, values)?),
        },
        Value::Array(items) => items.iter().filter_map(|item| body(item, values)).collect(),
        Value::Object(map) => {
            let filled = map
                .iter()
                .filter_map(|(key, item)| Some((key.clone(), body(item, values)?)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    })
}

/// Only these keys stand in a part of a tool file.
pub(crate) fn only(node: &Node, keys: &[&str], faults: &mut Faults) {
    for entry in node.as_map().unwrap_or_default() {
        if !keys.contains(&entry.key.as_str()) {
            let message = format!(
                "there is no {:?} here; there are {}",
                entry.key,
                keys.join(", ")
            );
            faults.push((entry.key_place, message));
        }
    }
}

/// A text with places for values, each of which a call has.
pub(crate) fn check_text(node: &Node, values: &[String], faults: &mut Faults) {
    let pieces = node.as_text().and_then(pieces).unwrap_or_default();
    if pieces.iter().any(|p| matches!(p, Piece::Variable(_))) {
        let form = "a variable of the environment can stand in url, query and auth only";
        faults.push((node.place, form.to_owned()));
    }
    check_query(node, values, faults);
}

/// The same of a text that may hold variables too.
pub(crate) fn check_query(node: &Node, values: &[String], faults: &mut Faults) {
    match node.as_text().map(pieces) {
        Some(Some(pieces)) => known(&pieces, node.place, values, faults),
        Some(None) => faults.push((node.place, "a bracket stands open".to_owned())),
        None => faults.push((node.place, "a text must stand here".to_owned())),
    }
}

/// The same of every text in a shape.
pub(crate) fn check_shape(node: &Node, values: &[String], faults: &mut Faults) {
    if let Some(entries) = node.as_map() {
        for entry in entries {
            check_shape(&entry.value, values, faults);
        }
    } else if let Some(items) = node.as_list() {
        for item in items {
            check_shape(item, values, faults);
        }
    } else if node.as_text().is_some() {
        check_text(node, values, faults);
    }
}

pub(crate) fn known(pieces: &[Piece<'_>], place: Place, values: &[String], faults: &mut Faults) {
    for piece in pieces {
        if let Piece::Value(name) = piece
            && !values.iter().any(|value| value == name)
        {
            faults.push((
                place,
                format!("{name:?} is neither a parameter of the tool nor bound"),
            ));
        }
    }
}
