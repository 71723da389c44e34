//! A JSON Schema with its compiled validator.

use serde_json::Value;
use std::fmt;
use std::sync::Arc;

#[derive(Clone)]
pub struct Schema {
    value: Value,
    validator: Arc<jsonschema::Validator>,
}

impl Schema {
    pub fn compile(value: Value) -> Result<Schema, String> {
        match jsonschema::validator_for(&value) {
            Ok(validator) => Ok(Schema {
                value,
                validator: Arc::new(validator),
            }),
            Err(error) => Err(match outside(&value) {
                Some(place) => format!(
                    "the schema refers to {place:?}, which is not in it; nothing outside is fetched"
                ),
                None => format!("not a JSON Schema: {error}"),
            }),
        }
    }

    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Every fault as `place: what`, at most eight.
    pub fn faults(&self, instance: &Value) -> Vec<String> {
        let places = self.places(instance).into_iter();
        places
            .map(|(place, what)| match place.as_str() {
                "" => format!("/: {what}"),
                place => format!("{place}: {what}"),
            })
            .collect()
    }

    /// Every fault with the JSON pointer of its place, at most eight.
    pub fn places(&self, instance: &Value) -> Vec<(String, String)> {
        self.validator
            .iter_errors(instance)
            .take(8)
            .map(|error| {
                let mut what = error.to_string();
                if what.chars().count() > 240 {
                    what = what.chars().take(240).collect::<String>() + "…";
                }
                (error.instance_path().to_string(), what)
            })
            .collect()
    }
}

/// The first reference to something that is not in the schema itself.
fn outside(value: &Value) -> Option<&str> {
    match value {
        Value::Array(items) => items.iter().find_map(outside),
        Value::Object(map) => {
            let own = map.get("$ref").and_then(Value::as_str);
            let own = own.filter(|place| !place.starts_with('#'));
            own.or_else(|| map.values().find_map(outside))
        }
        _ => None,
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({})", self.value)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}
