//! Whether a value can be read as one of n8n's checked types. Expressions are never judged: their value comes with the run.

use super::{javascript, js, js_date};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// What is wrong with the value, as the end of a sentence about the field; None when it can be read.
pub(super) fn problem(value: &Value, kind: &str, choices: &[Value]) -> Option<String> {
    if value.is_null() || js::starts_an_expression(value) {
        return None;
    }
    let expected = match kind.to_lowercase().as_str() {
        "string-alphanumeric" if !is_alphanumeric(value) => {
            "letters, digits and underscores, not starting with a digit"
        }
        "number" if js::number(value).is_none() => "a number",
        "boolean" if !is_boolean(value) => "true or false",
        "datetime" if !js_date::is_date(&js::text(value)) => "a date",
        "time" if !fits(&TIME, value) => "a time like 13:30",
        "binary" if !is_binary(value) => "binary data with a mimeType",
        "object" if !is_object(value) => "an object",
        "array" if !is_array(value) => "an array",
        "url" if !is_url(value) => "a URL",
        "jwt" if !fits(&JWT, value) => "a JSON web token",
        "options" if !is_choice(value, choices) => "one of the choices",
        "form-fields" if !are_form_fields(value) => "a JSON array of form fields",
        _ => return None,
    };
    Some(format!("expects {expected}, not {}", shown(value)))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

fn is_boolean(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::String(text) if js::trim(text).is_empty() => false,
        Value::String(text) if ["true", "false"].contains(&text.to_lowercase().as_str()) => true,
        other => js::number(other).is_some_and(|n| n == 0.0 || n == 1.0),
    }
}

fn is_alphanumeric(value: &Value) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let text = match value {
        Value::Array(_) | Value::Object(_) => return false,
        value => js::text(value),
    };
    text.chars().all(part) && text.chars().next().is_some_and(|c| !c.is_ascii_digit())
}

static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^[0-9]{2}:[0-9]{2}(:[0-9]{2})?([-+][0-9]{4})?([-+][0-9]{1,2}(:[0-9]{2})?)?$").ok()
});
static JWT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[A-Za-z0-9\-_]+\.[A-Za-z0-9\-_]+\.[A-Za-z0-9\-_.+/=]*$").ok());

fn fits(pattern: &LazyLock<Option<Regex>>, value: &Value) -> bool {
    let text = js::text(value);
    pattern.as_ref().is_none_or(|regex| regex.is_match(&text))
}

fn is_object(value: &Value) -> bool {
    if value.is_object() {
        return true;
    }
    let text = js::text(value);
    match serde_json::from_str::<Value>(&text) {
        Ok(read) => read.is_object() || read.is_null(),
        Err(_) => javascript::is_object_literal(&text),
    }
}

fn is_array(value: &Value) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text);
    let text = js::text(value);
    value.is_array()
        || read(&text)
            .or_else(|_| read(&text.replace('\'', "\"")))
            .is_ok_and(|read| read.is_array())
}

fn is_url(value: &Value) -> bool {
    let mut whole = js::text(value);
    if value.is_string() && !whole.contains("://") {
        whole = format!("https://{whole}");
    }
    let allowed = ["http", "https", "ftp", "file"];
    url::Url::parse(&whole).is_ok_and(|url| allowed.contains(&url.scheme()))
}

fn is_binary(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    value.is_object() && has("mimeType") && (has("data") || has("id"))
}

// ---- form fields written as JSON --------------------------------------------------------------------------------------

const FORM_FIELD_KEYS: [&str; 18] = [
    "acceptFileTypes",
    "defaultValue",
    "elementName",
    "fieldLabel",
    "fieldName",
    "fieldOptions",
    "fieldType",
    "fieldValue",
    "formatDate",
    "html",
    "limitSelection",
    "maxSelections",
    "minSelections",
    "multipleFiles",
    "multiselect",
    "numberOfSelections",
    "placeholder",
    "requiredField",
];
const FORM_FIELD_TYPES: [&str; 12] = [
    "checkbox",
    "date",
    "dropdown",
    "email",
    "file",
    "hiddenField",
    "html",
    "number",
    "password",
    "radio",
    "text",
    "textarea",
];

fn are_form_fields(value: &Value) -> bool {
    serde_json::from_str::<Vec<Value>>(&js::text(value)).is_ok_and(|fields| {
        let is_field = |field: &Value| {
            field.as_object().is_some_and(|field| {
                field
                    .iter()
                    .all(|(key, value)| is_form_field_part(key, value))
            })
        };
        fields.iter().all(is_field)
    })
}

fn is_form_field_part(key: &str, value: &Value) -> bool {
    match key {
        "fieldType" => match value {
            // n8n takes anything but numbers and truth values for its text.
            Value::Number(_) | Value::Bool(_) => false,
            value => FORM_FIELD_TYPES.contains(&js::text(value).as_str()),
        },
        "fieldOptions" => {
            let list = match value {
                Value::Array(list) => Some(list),
                value => value.get("values").and_then(Value::as_array),
            };
            let is_option = |option: &Value| {
                option.as_object().is_some_and(|option| {
                    option.len() == 1 && option.get("option").is_some_and(Value::is_string)
                })
            };
            list.is_some_and(|list| list.iter().all(is_option))
        }
        key => FORM_FIELD_KEYS.contains(&key),
    }
}

fn is_choice(value: &Value, choices: &[Value]) -> bool {
    let choices = choices.iter().filter_map(|choice| choice.get("value"));
    let same = |allowed: &Value| match (allowed, value) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(_) | Value::Object(_), _) => false,
        (allowed, value) => allowed == value,
    };
    choices.into_iter().any(same)
}

#[cfg(test)]
#[path = "field_type_tests.rs"]
mod field_type_tests;
