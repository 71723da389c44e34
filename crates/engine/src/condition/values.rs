//! Values between JSON and CEL.

use cel::Value as CelValue;
use cel::objects::{Key, Map as CelMap};
use serde_json::{Number, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Whole numbers become CEL `int`, so that `run.cycle + 1` works.
pub(super) fn to_cel(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(b) => CelValue::Bool(*b),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), _, _) => CelValue::Int(i),
            (None, Some(u), _) => CelValue::UInt(u),
            (None, None, f) => CelValue::Float(f.unwrap_or(f64::NAN)),
        },
        Value::String(s) => CelValue::String(Arc::new(s.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(map) => CelValue::Map(CelMap {
            map: Arc::new(
                map.iter()
                    .map(|(k, v)| (Key::String(Arc::new(k.clone())), to_cel(v)))
                    .collect::<HashMap<_, _>>(),
            ),
        }),
    }
}

/// Keys come out sorted: a CEL map has no order, a journal must have one.
pub(super) fn to_json(value: &CelValue) -> Result<Value, String> {
    Ok(match value {
        CelValue::Null => Value::Null,
        CelValue::Bool(b) => Value::Bool(*b),
        CelValue::Int(i) => Value::Number((*i).into()),
        CelValue::UInt(u) => Value::Number((*u).into()),
        CelValue::Float(f) => {
            Value::Number(Number::from_f64(*f).ok_or_else(|| "a number is not finite".to_owned())?)
        }
        CelValue::String(s) => Value::String(s.as_ref().clone()),
        CelValue::List(items) => Value::Array(items.iter().map(to_json).collect::<Result<_, _>>()?),
        CelValue::Map(map) => {
            let mut entries = map
                .map
                .iter()
                .map(|(k, v)| Ok((key_text(k), to_json(v)?)))
                .collect::<Result<Vec<_>, String>>()?;
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        other => return Err(format!("{other:?} has no JSON form")),
    })
}

fn key_text(key: &Key) -> String {
    match key {
        Key::Int(i) => i.to_string(),
        Key::Uint(u) => u.to_string(),
        Key::Bool(b) => b.to_string(),
        Key::String(s) => s.as_ref().clone(),
    }
}
