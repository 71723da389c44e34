//! `evaluated(expression, values)`: an expression that stands in a pack's data, over the values that it is told. It was checked with the
//! data (`"expression"` in its JSON Schema); what goes wrong with the values at hand is what it gives, so the flow goes on.

use super::{Condition, ConditionError, cost};
use serde_json::{Map, Value, json};

const FORM: &str = "`evaluated` takes an expression, or a map of some, and a map of values";
/// An error is no longer, in characters.
const MAX_ERROR: usize = 240;

/// `{value}`, or `{error}` with why there is none. A map of expressions gives a map of values, or the first error.
pub(super) fn evaluated(given: &[Value]) -> Result<Value, String> {
    let [of, given] = given else {
        return Err(FORM.to_owned());
    };
    let Value::Object(values) = given else {
        return Err(FORM.to_owned());
    };
    let value = match of {
        Value::String(source) => value(source, values),
        Value::Object(map) => {
            let all = map.iter().map(|(key, of)| match of {
                Value::String(source) => Ok((key.clone(), value(source, values)?)),
                _ => Err(format!("{key} is no expression")),
            });
            all.collect::<Result<Map<_, _>, _>>().map(Value::Object)
        }
        _ => Err("it is no expression".to_owned()),
    };
    Ok(match value {
        Ok(value)
            if cost::Size::of(&value).is_within(cost::Size::of(of), cost::Size::of(given)) =>
        {
            json!({ "value": value })
        }
        Ok(_) => json!({"error": "the expression makes more than it is given"}),
        Err(why) => json!({"error": why.chars().take(MAX_ERROR).collect::<String>()}),
    })
}

fn value(source: &str, values: &Map<String, Value>) -> Result<Value, String> {
    let names: Vec<&str> = values.keys().map(String::as_str).collect();
    let compiled = Condition::compile(source, &names).map_err(|e| e.to_string())?;
    let value: Result<Value, ConditionError> = compiled.value_within(values, cost::STEPS_OF_DATA);
    value.map_err(|e| e.to_string())
}
