//! How long a value is as JSON, found without writing it.

use serde_json::{Map, Value};

/// Bytes of the value's JSON without spaces.
pub fn written_length(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => quoted_length(text),
        Value::Array(items) => {
            2 + items
                .iter()
                .map(|item| written_length(item) + 1)
                .sum::<usize>()
                - usize::from(!items.is_empty())
        }
        Value::Object(map) => written_length_of_map(map),
    }
}

/// The same of an object.
pub fn written_length_of_map(map: &Map<String, Value>) -> usize {
    let entries = map.iter();
    let written = entries.map(|(key, item)| quoted_length(key) + written_length(item) + 2);
    2 + written.sum::<usize>() - usize::from(!map.is_empty())
}

/// The most bytes that it can have, found without a look into its texts: most values are far from any limit.
pub fn longest_length(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 32,
        Value::String(text) => longest_quoted(text),
        Value::Array(items) => 4 + items.iter().map(longest_length).sum::<usize>(),
        Value::Object(map) => longest_length_of_map(map),
    }
}

/// The same of an object.
pub fn longest_length_of_map(map: &Map<String, Value>) -> usize {
    let entries = map.iter();
    4 + entries
        .map(|(key, item)| longest_quoted(key) + longest_length(item))
        .sum::<usize>()
}

/// Each character as \u0000, quotes, colon, comma.
fn longest_quoted(text: &str) -> usize {
    6 * text.len() + 4
}

/// With its quotes and what is escaped in it.
fn quoted_length(text: &str) -> usize {
    let more = |b: u8| match b {
        b'"' | b'\\' | 8 | b'\t' | b'\n' | 12 | b'\r' => 1,
        0..0x20 => 5, // \u0000
        _ => 0,
    };
    text.len() + 2 + text.bytes().map(more).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            let map = prop::collection::hash_map(any::<String>(), inner.clone(), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(Value::Array),
                map.prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_length_is_that_of_the_text(map in any_value(), text: String, n: f64, i: i64) {
            let value = json!({"map": map, "list": [text.clone(), n, i, true, false, null], (text): [], "o": {}});
            prop_assert_eq!(written_length(&value), value.to_string().len());
            prop_assert!(longest_length(&value) >= value.to_string().len());
        }
    }
}
