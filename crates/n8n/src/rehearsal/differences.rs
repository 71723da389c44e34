//! Where what a run showed is other than a case expects.

use super::case_words::told;
use serde_json::Value;

/// Which of the keys the answer holds no value under, in words; None: it holds one under each.
pub(super) fn lacks(keys: &[String], answer: &Value) -> Option<String> {
    let read = answer.as_str().and_then(document);
    let answer = read.as_ref().unwrap_or(answer);
    let is_missing = |key: &&String| answer.get(key.as_str()).is_none_or(Value::is_null);
    let missing: Vec<&str> = keys.iter().filter(is_missing).map(String::as_str).collect();
    (!missing.is_empty()).then(|| format!("{} has no {}", told(answer), missing.join(", ")))
}

/// Where what was seen is not what was expected, in words; None: it is.
pub(super) fn differs(expected: &Value, seen: &Value) -> Option<String> {
    let (place, expected, seen) = difference(expected, seen, &mut String::new())?;
    let at = if place.is_empty() {
        String::new()
    } else {
        format!("at {place}: ")
    };
    let seen = seen.map_or_else(|| "nothing".to_owned(), |seen| told(&seen));
    Some(format!("{at}{seen}, not {}", told(&expected)))
}

type Difference = (String, Value, Option<Value>);

fn difference(expected: &Value, seen: &Value, place: &mut String) -> Option<Difference> {
    let here = |place: &str| Some((place.to_owned(), expected.clone(), Some(seen.clone())));
    match (expected, seen) {
        (Value::Object(wanted), Value::Object(found)) => wanted.iter().find_map(|(key, value)| {
            let length = place.len();
            place.push_str(&format!("/{key}"));
            let difference = match found.get(key) {
                Some(found) => difference(value, found, place),
                None => Some((place.clone(), value.clone(), None)),
            };
            place.truncate(length);
            difference
        }),
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => wanted
            .iter()
            .zip(found)
            .enumerate()
            .find_map(|(at, (value, found))| {
                let length = place.len();
                place.push_str(&format!("/{at}"));
                let difference = difference(value, found, place);
                place.truncate(length);
                difference
            }),
        (Value::Number(wanted), Value::Number(found)) => match wanted.as_f64() == found.as_f64() {
            true => None,
            false => here(place),
        },
        // What an expression came to is told as a text.
        (wanted, Value::String(text)) if !wanted.is_string() => {
            match serde_json::from_str::<Value>(text) {
                Ok(found) if !found.is_string() => difference(wanted, &found, place),
                _ => here(place),
            }
        }
        _ if expected == seen => None,
        // A body as a text: how it is spaced is nobody's matter.
        (Value::String(wanted), Value::String(found)) => {
            match (document(wanted), document(found)) {
                (Some(wanted), Some(found)) => difference(&wanted, &found, place),
                _ => here(place),
            }
        }
        _ => here(place),
    }
}

/// A text that is an object or a list as JSON.
fn document(text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).ok()?;
    matches!(value, Value::Object(_) | Value::Array(_)).then_some(value)
}
