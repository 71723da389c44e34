//! Reads a model's arguments without mercy: one JSON object, no key twice, no deep nesting, no endless text.
//! Parsers differ on what a duplicate key means, so a call that has one is refused before anybody reads it.

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
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 0 }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|e| format!("the arguments are not acceptable JSON: {e}"))?;
    match value {
        Value::Object(map) => Ok(map),
        _ => Err("the arguments must be one JSON object".to_owned()),
    }
}

struct Strict {
    depth: u32,
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Strict {
    fn below<E: Error>(&self) -> Result<Strict, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format!(
                "it is nested more than {MAX_DEPTH} levels deep"
            )));
        }
        Ok(Strict {
            depth: self.depth + 1,
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
            "{'a':1}",
            "{\"a\":1,}",
        ] {
            assert!(object(text).is_err(), "{text}");
        }
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
