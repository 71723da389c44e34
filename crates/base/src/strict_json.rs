//! Reads JSON from outside (a model's arguments, a server's message) without mercy: no key twice, no deep nesting, no number
//! that would be rounded. Parsers differ on what such a text means, so it is refused before anybody reads it. Pure.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

pub const MAX_BYTES: usize = 2 * 1024 * 1024;
const MAX_DEPTH: u32 = 64;

/// The arguments as an object; an empty text means none. The error says what is wrong and where.
pub fn object(text: &str) -> Result<Map<String, Value>, String> {
    if text.len() > MAX_BYTES {
        return Err(format!(
            "the arguments have {} bytes, more than the {MAX_BYTES} allowed",
            text.len()
        ));
    }
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match value(text, MAX_DEPTH) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err("the arguments must be one JSON object".to_owned()),
        Err(why) => Err(format!("the arguments are not acceptable JSON: {why}")),
    }
}

/// Nothing at all: null, or a text, a list or an object without anything in it.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// One JSON value, nested at most `max_depth` levels deep (at most 128). The caller has bounded the text's length.
pub fn value(text: &str, max_depth: u32) -> Result<Value, String> {
    if let Some(number) = rounded_integer(text) {
        let shown: String = number.chars().take(24).collect();
        return Err(format!(
            "the number {shown} has more digits than can be kept"
        ));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let strict = Strict {
        depth: 0,
        max: max_depth,
    };
    strict
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|e| e.to_string())
}

/// The first integer that neither 64-bit type holds: it would silently become the nearest float.
fn rounded_integer(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut in_text = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            b'-' | b'0'..=b'9' if !in_text => {
                let rest = text.get(at..)?;
                let end = rest
                    .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
                    .unwrap_or(rest.len());
                let number = rest.get(..end)?;
                let whole = !number.contains(['.', 'e', 'E']);
                if whole
                    && number.len() > 18
                    && number.parse::<i64>().is_err()
                    && number.parse::<u64>().is_err()
                {
                    return Some(number);
                }
                at += end.max(1) - 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

struct Strict {
    depth: u32,
    max: u32,
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Strict {
    fn below<E: Error>(&self) -> Result<Strict, E> {
        if self.depth >= self.max {
            return Err(E::custom(format!(
                "it is nested more than {} levels deep",
                self.max
            )));
        }
        Ok(Strict {
            depth: self.depth + 1,
            max: self.max,
        })
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_f64<E: Error>(self, v: f64) -> Result<Value, E> {
        Number::from_f64(v)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is out of range"))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self.below()?)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} stands twice")));
            }
            let value = entries.next_value_seed(self.below()?)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_one_object() {
        assert_eq!(object(" ").map(Value::Object), Ok(json!({})));
        assert_eq!(
            object(r#"{"a": [1, -2, 1.5, null, true, {"b": "c"}]}"#).map(Value::Object),
            Ok(json!({"a": [1, -2, 1.5, null, true, {"b": "c"}]}))
        );
    }

    #[test]
    fn refuses_what_two_parsers_could_read_differently() {
        for text in [
            r#"{"action":"list","action":"delete"}"#,
            r#"{"a":{"b":1,"b":2}}"#,
            r#"{"a":1}{"a":2}"#,
            r#"[1]"#,
            r#""text""#,
            r#"{"a":NaN}"#,
            r#"{"a":1e400}"#,
            r#"{"a":-1e400}"#,
            r#"{"a":Infinity}"#,
            r#"{"a":18446744073709551617}"#,
            r#"{"a":[-9223372036854775809]}"#,
            "{'a':1}",
            "{\"a\":1,}",
        ] {
            assert!(object(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_that_can_be_kept_are_kept() {
        let text = r#"[18446744073709551615,-9223372036854775808,-0,1.5e3,"18446744073709551617"]"#;
        let read = value(text, 2).unwrap();
        assert_eq!(read[0], json!(u64::MAX));
        assert_eq!(read[1], json!(i64::MIN));
        assert_eq!(read[3], json!(1500.0));
        assert_eq!(read[4], json!("18446744073709551617"));
        assert_eq!(read[2].as_f64(), Some(0.0));
        assert_eq!(value(r#"{"a\\":1}"#, 2), Ok(json!({"a\\": 1})));
    }

    #[test]
    fn refuses_depth_and_size() {
        let nested = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(object(&nested(60)).is_ok());
        assert!(object(&nested(70)).is_err());
        assert!(object(&nested(100_000)).is_err());
        assert!(object(&format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_BYTES))).is_err());
    }
}
