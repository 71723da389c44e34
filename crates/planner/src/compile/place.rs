//! A value in the shape that a parameter's kind wants: text, number, choice, resource locator. Owns locator modes.

use serde_json::{Map, Value, json};

use super::words::{alike, fold, words};
use agentctl_n8n::catalog::{Property, PropertyKind};

pub(crate) fn is_expression(value: &Value) -> bool {
    value.as_str().is_some_and(|s| s.starts_with('='))
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A locator that names what the user named. What only the service can look up stays in `list` with its name shown.
pub(crate) fn locator(property: &Property, value: &Value) -> Value {
    let text = as_text(value);
    let modes: Vec<&str> = property.modes.iter().map(|m| m.name.as_str()).collect();
    let has = |m: &str| modes.contains(&m);
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    if is_url && has("url") {
        return json!({"__rl": true, "mode": "url", "value": text});
    }
    if is_expression(value) {
        let mode = if has("id") {
            "id"
        } else if has("name") {
            "name"
        } else if has("url") {
            "url"
        } else {
            "list"
        };
        return json!({"__rl": true, "mode": mode, "value": text});
    }
    // a placeholder fits no pattern: it is shown as a choice still to make
    if text.starts_with('<') && has("list") {
        return json!({"__rl": true, "mode": "list", "value": text, "cachedResultName": text});
    }
    // Without a list, as an expression, which no pattern is held against before it is filled in.
    let refused = |m: &&agentctl_n8n::catalog::LocatorMode| !m.accepts(&text);
    if text.starts_with('<')
        && let Some(mode) = property.modes.first().filter(refused)
    {
        return json!({"__rl": true, "mode": mode.name, "value": format!("={text}")});
    }
    let looks_like_id = text.len() >= 5
        && !text.contains(' ')
        && text.chars().any(|c| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let channel = property.name.to_lowercase().contains("channel");
    if has("name") && !(looks_like_id && has("id") && text.len() >= 15) {
        let value = if channel && !text.starts_with('#') && !text.starts_with('@') {
            format!("#{text}")
        } else {
            text
        };
        return json!({"__rl": true, "mode": "name", "value": value});
    }
    if has("username") {
        let value = if text.starts_with('@') {
            text
        } else {
            format!("@{text}")
        };
        return json!({"__rl": true, "mode": "username", "value": value});
    }
    if has("id") && (looks_like_id || !has("list")) {
        return json!({"__rl": true, "mode": "id", "value": text});
    }
    if has("key") {
        return json!({"__rl": true, "mode": "key", "value": text});
    }
    if has("list") {
        return json!({"__rl": true, "mode": "list", "value": text, "cachedResultName": text});
    }
    let mode = modes.first().copied().unwrap_or("id");
    json!({"__rl": true, "mode": mode, "value": text})
}

/// The choice that a said value means.
pub(crate) fn choice(property: &Property, value: &Value) -> Option<Value> {
    if is_expression(value) {
        return Some(value.clone());
    }
    let text = as_text(value);
    let folded = fold(&text);
    for option in &property.options {
        if option.value == *value
            || fold(&as_text(&option.value)) == folded
            || fold(&option.label) == folded
        {
            return Some(option.value.clone());
        }
    }
    let said = words(&text);
    let best = property
        .options
        .iter()
        .map(|o| {
            let score =
                alike(&said, &words(&o.label)).max(alike(&said, &words(&as_text(&o.value))));
            (o, score)
        })
        .fold(
            None,
            |best: Option<(&agentctl_n8n::catalog::PropertyOption, f64)>, (o, s)| {
                if s >= 0.7 && s > best.map_or(0.0, |b| b.1) {
                    Some((o, s))
                } else {
                    best
                }
            },
        );
    if let Some((option, _)) = best {
        return Some(option.value.clone());
    }
    if property.has_dynamic_options() || property.allow_arbitrary_values {
        return Some(Value::String(text));
    }
    None
}

/// The value as this parameter stores it; none when it cannot.
pub(crate) fn shape(property: &Property, value: &Value) -> Option<Value> {
    let multiple = property.type_options.multiple_values == Some(true);
    let one = match &property.kind {
        PropertyKind::String | PropertyKind::DateTime | PropertyKind::Color => {
            Some(Value::String(as_text(value)))
        }
        PropertyKind::Json => Some(match value {
            Value::String(s) => Value::String(s.clone()),
            other => Value::String(other.to_string()),
        }),
        PropertyKind::Number => match value {
            Value::Number(_) => Some(value.clone()),
            Value::String(s) if s.starts_with('=') => Some(value.clone()),
            Value::String(s) => s
                .trim()
                .parse::<f64>()
                .ok()
                .map(agentctl_n8n::workflow::number),
            _ => None,
        },
        PropertyKind::Boolean => match value {
            Value::Bool(_) => Some(value.clone()),
            Value::String(s) if s.starts_with('=') => Some(value.clone()),
            Value::String(s) if matches!(s.as_str(), "true" | "yes" | "on") => {
                Some(Value::Bool(true))
            }
            Value::String(s) if matches!(s.as_str(), "false" | "no" | "off") => {
                Some(Value::Bool(false))
            }
            _ => None,
        },
        PropertyKind::Options => choice(property, value),
        PropertyKind::MultiOptions => {
            let list = match value {
                Value::Array(list) => list.clone(),
                Value::String(s) if s.starts_with('=') => return Some(value.clone()),
                Value::String(s) => s
                    .split(',')
                    .map(|p| Value::String(p.trim().to_owned()))
                    .collect(),
                other => vec![other.clone()],
            };
            let shaped: Vec<Value> = list.iter().filter_map(|v| choice(property, v)).collect();
            return if shaped.is_empty() {
                None
            } else {
                Some(Value::Array(shaped))
            };
        }
        PropertyKind::ResourceLocator => Some(locator(property, value)),
        PropertyKind::WorkflowSelector => {
            let text = as_text(value);
            Some(json!({"__rl": true, "mode": "id", "value": text}))
        }
        _ => None,
    }?;
    let listable = matches!(
        property.kind,
        PropertyKind::String | PropertyKind::Number | PropertyKind::DateTime
    );
    Some(if multiple && listable {
        Value::Array(vec![one])
    } else {
        one
    })
}

/// An object from pairs.
pub(crate) fn object(pairs: &[(&str, Value)]) -> Map<String, Value> {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), v.clone()))
        .collect()
}
