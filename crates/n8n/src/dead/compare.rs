//! Conditions of an If, a Filter or a Switch whose outcome is the same for every item although an expression stands in them, or
//! that no item can meet together.

use serde_json::Value;
use std::collections::BTreeMap;

/// What an expression may give anew each time that it is read.
const NEW_EACH_TIME: [&str; 6] = ["now", "Now", "Date", "random", "uuid", "Execution"];

/// The outcome beyond what is known of fixed values: `plain` is the condition with its literals put as such.
pub(super) fn holds(condition: &Value, plain: &Value) -> Option<bool> {
    let operation = condition.pointer("/operator/operation")?.as_str()?;
    let (left, right) = (condition.get("leftValue"), condition.get("rightValue"));
    // The same expression on both sides.
    if let (Some(Value::String(left)), Some(Value::String(right))) = (left, right)
        && left.starts_with("={{")
        && left.trim() == right.trim()
        && !NEW_EACH_TIME.iter().any(|part| left.contains(part))
    {
        match operation {
            "notEquals" | "gt" | "lt" | "after" | "before" | "lengthNotEquals" | "lengthGt"
            | "lengthLt" => return Some(false),
            _ => {}
        }
    }
    let known = plain.get("leftValue")?;
    if known.as_str().is_some_and(|text| text.starts_with('=')) {
        return None;
    }
    let empty = match known {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    match operation {
        "exists" => Some(!known.is_null()),
        "notExists" => Some(known.is_null()),
        "empty" => Some(empty),
        "notEmpty" => Some(!empty),
        _ => None,
    }
}

/// What conditions ask of one value.
struct Asked {
    equals: Option<Value>,
    least: f64,
    most: f64,
}

/// Whether two of them, which must hold together, ask of the same expression what no value is: two texts or numbers at once, or
/// more than one number and less than a smaller one.
pub(super) fn exclude_each_other(list: &[Value]) -> bool {
    let mut asked: BTreeMap<&str, Asked> = BTreeMap::new();
    for condition in list {
        let text = |at: &str| condition.pointer(at).and_then(Value::as_str);
        let (Some(left), Some(kind)) = (text("/leftValue"), text("/operator/type")) else {
            continue;
        };
        let Some(right) = condition.get("rightValue").and_then(super::literal) else {
            continue;
        };
        if !left.starts_with('=') || NEW_EACH_TIME.iter().any(|part| left.contains(part)) {
            continue;
        }
        let asked = asked.entry(left.trim()).or_insert(Asked {
            equals: None,
            least: f64::NEG_INFINITY,
            most: f64::INFINITY,
        });
        let number = super::number(&right);
        match (kind, text("/operator/operation"), number) {
            ("string", Some("equals"), _) => {
                // Upper and lower case may be the same to it.
                let right = Value::from(right.as_str().unwrap_or_default().to_lowercase());
                if asked.equals.as_ref().is_some_and(|other| *other != right) {
                    return true;
                }
                asked.equals = Some(right);
            }
            ("number", Some("equals"), Some(n)) => {
                asked.least = asked.least.max(n);
                asked.most = asked.most.min(n);
            }
            ("number", Some("gt" | "gte"), Some(n)) => asked.least = asked.least.max(n),
            ("number", Some("lt" | "lte"), Some(n)) => asked.most = asked.most.min(n),
            _ => {}
        }
        if asked.least > asked.most {
            return true;
        }
    }
    false
}
