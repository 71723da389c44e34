//! Plausible values: what a field of this name could hold. Always the same for the same name, and of nobody real.

use serde_json::{Map, Value, json};

/// What a reader of the field needs it to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Want {
    Any,
    Text,
    Number,
    Bool,
    List,
    Date,
    /// The value that lets a condition hold.
    Exactly(Value),
}

impl Want {
    /// What says more wins: a fixed value over a kind, a kind over nothing.
    fn weight(&self) -> u8 {
        match self {
            Want::Any => 0,
            Want::Exactly(_) => 2,
            _ => 1,
        }
    }
}

/// One step of a path into an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Key(String),
    /// Some element of a list.
    Element,
}

pub type Path = Vec<Step>;

/// The paths that are read, each with what it has to be.
pub type Fields = Vec<(Path, Want)>;

/// Keeps one want for each path.
pub fn note(fields: &mut Fields, path: Path, want: Want) {
    match fields.iter_mut().find(|(known, _)| *known == path) {
        Some((_, known)) if known.weight() < want.weight() => *known = want,
        Some(_) => {}
        None => fields.push((path, want)),
    }
}

/// An item that has every field.
pub fn item(fields: &Fields) -> Map<String, Value> {
    let mut root = Value::Object(Map::new());
    // Deeper paths first: what is an object for one reader stays one when another reads it whole.
    let mut sorted: Vec<&(Path, Want)> = fields.iter().collect();
    sorted.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    for (path, want) in sorted {
        put(&mut root, path, want, "value");
    }
    match root {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn put(at: &mut Value, path: &[Step], want: &Want, name: &str) {
    match path.split_first() {
        None if at.is_null() => *at = value(name, want),
        None => {}
        Some((Step::Key(key), rest)) => {
            if at.is_null() {
                *at = json!({});
            }
            if let Value::Object(map) = at {
                put(
                    map.entry(key.clone()).or_insert(Value::Null),
                    rest,
                    want,
                    key,
                );
            }
        }
        Some((Step::Element, rest)) => {
            if at.is_null() {
                *at = json!([null]);
            }
            if let Some(first) = at.as_array_mut().and_then(|list| list.first_mut()) {
                put(first, rest, want, name);
            }
        }
    }
}

/// A value for a field of this name.
pub fn value(name: &str, want: &Want) -> Value {
    match want {
        Want::Exactly(value) => return value.clone(),
        Want::Number => return json!(42),
        Want::Bool => return json!(true),
        Want::List => return json!([{"id": "1001", "name": "Sample"}]),
        Want::Date => return json!(DATE),
        Want::Any | Want::Text => {}
    }
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let guess = if has(&["email", "mail", "sender", "recipient"]) {
        json!("sample@example.com")
    } else if has(&["url", "link", "website", "href", "uri"]) {
        json!("https://example.com/sample")
    } else if has(&["phone", "mobile", "tel", "telephone"]) {
        json!("+15555550100")
    } else if has(&["id", "uuid", "sku", "code", "ref", "reference"]) {
        json!("1001")
    } else if has(&[
        "date",
        "time",
        "timestamp",
        "at",
        "day",
        "due",
        "deadline",
        "birthday",
    ]) {
        json!(DATE)
    } else if has(&[
        "amount", "price", "total", "count", "quantity", "qty", "age", "score", "number", "sum",
        "cost", "rating",
    ]) {
        json!(42)
    } else if has(&[
        "is",
        "has",
        "active",
        "enabled",
        "approved",
        "confirmed",
        "paid",
    ]) {
        json!(true)
    } else if has(&["items", "rows", "records", "entries", "list", "tags"]) && *want == Want::Any {
        json!([{"id": "1001", "name": "Sample"}])
    } else {
        json!(format!("Sample {}", words.join(" ")).trim_end().to_owned())
    };
    match (want, guess) {
        (Want::Text, Value::String(text)) => Value::String(text),
        (Want::Text, other) => Value::String(other.to_string()),
        (_, guess) => guess,
    }
}

const DATE: &str = "2026-01-15T09:00:00.000Z";

/// `orderTotal`, `order_total` and `Order total` are the same two words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
