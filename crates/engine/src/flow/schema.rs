//! A JSON Schema with its compiled validator.

use crate::condition::Condition;
use jsonschema::{Keyword, ValidationError};
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

    /// Of a pack's data: `"expression": [NAMES]` says that a text is an expression over these names.
    pub fn of_data(value: Value) -> Result<Schema, String> {
        let options = jsonschema::options().with_keyword("expression", |_, names, _| {
            let names = names.as_array().into_iter().flatten();
            let names = names.filter_map(Value::as_str).map(str::to_owned);
            Ok(Box::new(Expression(names.collect())))
        });
        match options.build(&value) {
            Ok(validator) => Ok(Schema {
                value,
                validator: Arc::new(validator),
            }),
            Err(error) => Err(format!("not a JSON Schema: {error}")),
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

/// A text that is an expression over these names.
struct Expression(Vec<String>);

impl Expression {
    fn fault(&self, instance: &Value) -> Option<String> {
        let names: Vec<&str> = self.0.iter().map(String::as_str).collect();
        let compiled = Condition::compile(instance.as_str()?.trim(), &names);
        compiled.err().map(|e| e.to_string())
    }
}

impl<'i> Keyword<'i> for Expression {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match self.fault(instance) {
            Some(why) => Err(ValidationError::custom(why)),
            None => Ok(()),
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        self.fault(instance).is_none()
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
