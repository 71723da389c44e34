//! Schemas made from a pack's data: an object whose keys are definitions of the data, a list of their names.

use crate::condition::name_of;
use serde_json::{Map, Value, json};

/// The schema with `{from: DATA}` and `{names_of: DATA}` written out. `data` None: not known here, so a schema that needs it fits anything.
pub(super) fn written_out(
    schema: Value,
    data: Option<&Map<String, Value>>,
) -> Result<Value, String> {
    match data {
        Some(data) => written(schema, data),
        None if needs_data(&schema) => Ok(Value::Bool(true)),
        None => Ok(schema),
    }
}

/// The one key that such a part of a schema has, and the data's name.
fn reference(schema: &Value) -> Option<(&str, &str)> {
    let map = schema.as_object().filter(|map| map.len() == 1)?;
    let (key, name) = map.iter().next()?;
    let known = matches!(key.as_str(), "from" | "names_of");
    Some((key.as_str(), name.as_str()?)).filter(|_| known)
}

fn needs_data(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => reference(schema).is_some() || map.values().any(needs_data),
        Value::Array(items) => items.iter().any(needs_data),
        _ => false,
    }
}

fn written(schema: Value, data: &Map<String, Value>) -> Result<Value, String> {
    if let Some((key, name)) = reference(&schema) {
        let definitions = data
            .get(name)
            .ok_or_else(|| format!("the pack has no data {name:?}"))?
            .as_array()
            .ok_or_else(|| format!("the data {name:?} is no list of definitions"))?;
        return match key {
            "from" => object_of(name, definitions),
            _ => names_of(name, definitions).map(Value::from),
        };
    }
    Ok(match schema {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, part)| Ok((key, written(part, data)?)))
                .collect::<Result<_, String>>()?,
        ),
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|part| written(part, data))
                .collect::<Result<_, String>>()?,
        ),
        other => other,
    })
}

fn names_of(data: &str, definitions: &[Value]) -> Result<Vec<String>, String> {
    let named = |(i, definition): (usize, &Value)| {
        let name = name_of(definition).map(str::to_owned);
        name.ok_or_else(|| format!("definition {} of the data {data:?} has no name", i + 1))
    };
    definitions.iter().enumerate().map(named).collect()
}

/// An object that has nothing but what is defined; nothing in it is required.
fn object_of(data: &str, definitions: &[Value]) -> Result<Value, String> {
    let mut properties = Map::new();
    for (name, definition) in names_of(data, definitions)?.into_iter().zip(definitions) {
        let schema = value_of(definition)
            .map_err(|why| format!("the definition {name:?} of the data {data:?} {why}"))?;
        properties.insert(name, schema);
    }
    Ok(json!({"type": "object", "additionalProperties": false, "properties": properties}))
}

/// What a definition's value may be, by its `type`: text, number, boolean, choice (one of `values`) or choices (some of them).
fn value_of(definition: &Value) -> Result<Value, String> {
    let kind = definition
        .get("type")
        .map_or(Some("text"), Value::as_str)
        .ok_or("has a `type` that is no text")?;
    Ok(match kind {
        "text" => match definition.get("max").filter(|max| !max.is_null()) {
            None => json!({"type": "string"}),
            Some(max) if max.is_u64() => json!({"type": "string", "maxLength": max}),
            Some(_) => return Err("has a `max` that is no whole number".to_owned()),
        },
        "number" | "boolean" => json!({"type": kind}),
        "choice" => json!({"enum": choices(definition)?}),
        "choices" => {
            json!({"type": "array", "uniqueItems": true, "items": {"enum": choices(definition)?}})
        }
        other => {
            return Err(format!(
                "has the type {other:?}; there is text, number, boolean, choice and choices"
            ));
        }
    })
}

fn choices(definition: &Value) -> Result<Vec<Value>, String> {
    let values = definition.get("values").and_then(Value::as_array);
    let values = values
        .filter(|values| !values.is_empty())
        .ok_or("is a choice without `values`")?;
    Ok(values
        .iter()
        .map(|value| value.get("value").unwrap_or(value).clone())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Map<String, Value> {
        let data = json!({
            "fields": [
                {"name": "title", "type": "text", "max": 10},
                {"name": "risk", "type": "choice", "values": ["one", {"value": "all", "also": ["everybody"]}]},
                {"name": "goals", "type": "choices", "values": ["growth"]},
            ],
            "teams": [{"id": "ops", "name": "Operations"}],
            "bad": [{"name": "x", "type": "colour"}],
        });
        data.as_object().unwrap().clone()
    }

    #[test]
    fn a_schema_is_made_from_definitions() {
        let made = written_out(json!({"from": "fields"}), Some(&data()));
        assert_eq!(
            made,
            Ok(
                json!({"type": "object", "additionalProperties": false, "properties": {
                    "title": {"type": "string", "maxLength": 10},
                    "risk": {"enum": ["one", "all"]},
                    "goals": {"type": "array", "uniqueItems": true, "items": {"enum": ["growth"]}},
                }})
            )
        );
        let made = written_out(
            json!({"items": {"enum": {"names_of": "fields"}}, "contains": {"enum": {"names_of": "teams"}}}),
            Some(&data()),
        );
        assert_eq!(
            made,
            Ok(
                json!({"items": {"enum": ["title", "risk", "goals"]}, "contains": {"enum": ["ops"]}})
            )
        );
    }

    #[test]
    fn what_cannot_be_made_is_said_and_what_is_not_known_is_not_checked() {
        for (schema, part) in [
            (json!({"from": "nothing"}), "no data \"nothing\""),
            (json!({"from": "bad"}), "\"colour\""),
        ] {
            let why = written_out(schema, Some(&data())).unwrap_err();
            assert!(why.contains(part), "{why}");
        }
        let unknown = written_out(json!({"items": {"from": "x"}}), None);
        assert_eq!(unknown, Ok(Value::Bool(true)));
        let plain = json!({"properties": {"from": {"type": "string"}}});
        assert_eq!(written_out(plain.clone(), None), Ok(plain.clone()));
        assert_eq!(written_out(plain.clone(), Some(&data())), Ok(plain));
    }
}
