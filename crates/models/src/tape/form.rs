//! How texts stand on a tape, so that a diff of two tapes can be read: several lines as a list of lines, JSON as JSON. Pure.

use agentctl_base::line_diff;
use agentctl_base::model::{Finish, ModelAnswer, ToolCall, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A model's answer. JSON that can be written again as it was stands as JSON, everything else as the text that it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Said {
    #[serde(default, skip_serializing_if = "Value::is_null")]
    text: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Called>,
    usage: Usage,
    #[serde(default, skip_serializing_if = "Finish::is_done")]
    finish: Finish,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Called {
    id: String,
    tool: String,
    arguments: Value,
}

impl Said {
    /// `change` is done to every text first.
    pub fn of(answer: &ModelAnswer, change: &mut dyn FnMut(&str) -> String) -> Self {
        Said {
            text: match answer.text.as_str() {
                "" => Value::Null,
                text => whole(&change(text)),
            },
            calls: answer
                .tool_calls
                .iter()
                .map(|call| Called {
                    id: change(&call.id),
                    tool: change(&call.name),
                    arguments: whole(&change(&call.arguments)),
                })
                .collect(),
            usage: answer.usage,
            finish: answer.finish,
        }
    }

    pub fn answer(&self, change: &mut dyn FnMut(&str) -> String) -> ModelAnswer {
        ModelAnswer {
            text: change(&text_of(&self.text)),
            tool_calls: self
                .calls
                .iter()
                .map(|call| ToolCall {
                    id: change(&call.id),
                    name: change(&call.tool),
                    arguments: change(&text_of(&call.arguments)),
                })
                .collect(),
            usage: self.usage,
            finish: self.finish,
        }
    }
}

/// An object that is written again as it was, but for spaces; else the text.
fn whole(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => {
            let again = value.to_string();
            if again == without_spaces(text) {
                value
            } else {
                Value::String(text.to_owned())
            }
        }
        _ => Value::String(text.to_owned()),
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// JSON without the spaces between its parts.
fn without_spaces(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut inside, mut escaped) = (false, false);
    for c in json.chars() {
        if inside || !c.is_ascii_whitespace() {
            out.push(c);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            _ => {}
        }
    }
    out
}

/// A value for reading: each text of several lines as its lines, and a line that is JSON as JSON.
pub(super) fn spread(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains('\n') => text.lines().map(line).collect(),
        Value::Array(items) => items.into_iter().map(spread).collect(),
        Value::Object(map) => map.into_iter().map(|(k, v)| (k, spread(v))).collect(),
        other => other,
    }
}

fn line(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => spread(value),
        _ => text.into(),
    }
}

/// Lines of a difference that are told.
pub(super) const MAX_DIFF: usize = 40;

/// Two values line by line, before and after.
pub(super) fn difference(before: &impl Serialize, after: &impl Serialize) -> String {
    let before = serde_json::to_string_pretty(before).unwrap_or_default();
    let after = serde_json::to_string_pretty(after).unwrap_or_default();
    let told = line_diff::unified(&before, &after, 1, None);
    let mut short: Vec<&str> = told.lines().take(MAX_DIFF).collect();
    if told.lines().count() > MAX_DIFF {
        short.push("…");
    }
    short.join("\n")
}

/// The value with every text changed.
pub(super) fn map_texts(value: Value, change: &mut dyn FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(items) => items.into_iter().map(|v| map_texts(v, change)).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, item)| (key, map_texts(item, change)))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_stand_apart_and_json_stands_as_json() {
        let text = json!({"a": "one\n{\"b\":[1]}\nthree", "c": "plain {\"b\":1}"});
        let spread = spread(text);
        assert_eq!(
            spread,
            json!({"a": ["one", {"b": [1]}, "three"], "c": "plain {\"b\":1}"})
        );
    }

    #[test]
    fn what_would_be_written_otherwise_stays_a_text() {
        for text in [
            r#"{"a": 1, "a": 2}"#,
            r#"{"a": 1e2}"#,
            r#"{"a": "é"}"#,
            "{broken",
            "[1]",
        ] {
            let kept = whole(&text.replace('é', "\\u00e9"));
            assert!(kept.is_string(), "{kept}");
        }
        let plain = whole("{ \"a\": \"b \\\" c\",\n \"d\": 1.0 }");
        assert_eq!(plain.to_string(), r#"{"a":"b \" c","d":1.0}"#);
    }
}
