//! Whether a value can be read as one of n8n's checked types. Expressions are never judged: their value comes with the run.

use serde_json::Value;

/// What is wrong with the value, as the end of a sentence about the field; None when it can be read.
pub(super) fn problem(value: &Value, kind: &str, choices: Option<&[Value]>) -> Option<String> {
    if value.is_null() || value.as_str().is_some_and(|text| text.starts_with('=')) {
        return None;
    }
    let text = as_text(value);
    let expected = match kind.to_lowercase().as_str() {
        "string-alphanumeric" if !is_alphanumeric(&text) => {
            "letters, digits and underscores, not starting with a digit"
        }
        "number" if number(value).is_none() => "a number",
        "boolean" if !is_boolean(value) => "true or false",
        "datetime" if !text.chars().any(|c| c.is_ascii_digit()) => "a date",
        "time" if !is_time(&text) => "a time like 13:30",
        "object" if !is_object(value) => "an object",
        "array" if !is_array(value) => "an array",
        "url" if !is_url(&text) => "a URL",
        "jwt" if !is_jwt(&text) => "a JSON web token",
        "options" if !is_choice(value, choices) => "one of the choices",
        "form-fields" if !is_array(value) => "a JSON array of form fields",
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

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// JavaScript's `Number(…)`; None for NaN.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(0.0),
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text_number(text),
        Value::Array(items) => match items.as_slice() {
            [] => Some(0.0),
            [one] => number(one),
            _ => None,
        },
        Value::Object(_) => None,
    }
}

fn text_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(|n| n as f64);
    match text.get(..2).map(str::to_lowercase).as_deref() {
        Some("0x") => radix(text.get(2..)?, 16),
        Some("0o") => radix(text.get(2..)?, 8),
        Some("0b") => radix(text.get(2..)?, 2),
        _ if text.is_empty() => Some(0.0),
        _ if text.trim_start_matches(['+', '-']) == "Infinity" => Some(f64::INFINITY),
        // Rust reads more words than JavaScript: `inf`, `nan`.
        _ if text.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')) => None,
        _ => text.parse().ok(),
    }
}

fn is_boolean(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::String(text) if text.trim().is_empty() => false,
        Value::String(text) if ["true", "false"].contains(&text.to_lowercase().as_str()) => true,
        other => number(other).is_some_and(|n| n == 0.0 || n == 1.0),
    }
}

fn is_alphanumeric(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(part) && text.chars().next().is_some_and(|c| !c.is_ascii_digit())
}

fn is_time(text: &str) -> bool {
    let pattern = r"^\d{2}:\d{2}(:\d{2})?([-+]\d{4})?([-+]\d{1,2}(:\d{2})?)?$";
    regex::Regex::new(pattern).map_or(true, |regex| regex.is_match(text))
}

fn is_object(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        // n8n also reads JavaScript's object literals, which this does not parse: braces are enough.
        Value::String(text) => {
            let text = text.trim();
            text == "null" || (text.starts_with('{') && text.ends_with('}'))
        }
        _ => false,
    }
}

fn is_array(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::String(text) => {
            let parses = |text: &str| serde_json::from_str::<Vec<Value>>(text).is_ok();
            parses(text) || parses(&text.replace('\'', "\""))
        }
        _ => false,
    }
}

fn is_url(text: &str) -> bool {
    let whole = if text.contains("://") {
        text.trim().to_owned()
    } else {
        format!("https://{text}")
    };
    let Some((scheme, rest)) = whole.split_once(':') else {
        return false;
    };
    let scheme = scheme.to_lowercase();
    if !["http", "https", "ftp", "file"].contains(&scheme.as_str()) {
        return false;
    }
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit('@').next().unwrap_or("");
    let bad = |c: char| c.is_whitespace() || c.is_control() || "<>^|%".contains(c);
    scheme == "file" || (!host.is_empty() && !host.starts_with(':') && !host.contains(bad))
}

fn is_jwt(text: &str) -> bool {
    let pattern = r"^[A-Za-z0-9\-_]+\.[A-Za-z0-9\-_]+\.[A-Za-z0-9\-_.+/=]*$";
    regex::Regex::new(pattern).map_or(true, |regex| regex.is_match(text))
}

fn is_choice(value: &Value, choices: Option<&[Value]>) -> bool {
    let choices = choices.into_iter().flatten();
    choices
        .filter_map(|choice| choice.get("value"))
        .any(|allowed| crate::n8n::catalog::deep_equal(allowed, value))
}
