//! Room in a long conversation: old tool results give way to a line each, made from what they hold. No model is asked for
//! it. The whole results stay in the run's journal and in `memory/agent_results/`. Pure.

use agentctl_base::model::{Message, Room, ToolResult};
use serde_json::{Value, json};

/// The conversations of one agent are shortened so often in a run, and no more.
pub const MAX_COMPACTIONS: u32 = 2;

/// Results that are shorter than this stay: the line would save nothing.
const MIN_BYTES: usize = 500;
const MAX_LINE: usize = 200;
/// Texts up to this length stand in the line as they are.
const MAX_TEXT: usize = 40;
/// Items of a list whose names are told.
const MAX_NAMES: usize = 4;

/// The results that give way, by call id, when the conversation of `tokens` has not enough room: the oldest first, as many
/// as bring it down to half of the room. Only what the model has answered to is old. None where less than a tenth would be
/// saved: then the provider's cache is worth more.
pub(super) fn choose(messages: &[Message], tokens: u64, room: &Room) -> Vec<String> {
    let most = match room {
        Room::Endless => return Vec::new(),
        Room::Recorded(calls) => return calls.clone(),
        Room::Tokens(most) => *most,
    };
    if tokens <= most {
        return Vec::new();
    }
    let mut left = tokens;
    let mut chosen = Vec::new();
    for result in old(messages) {
        if left <= most / 2 {
            break;
        }
        let saved = bytes(&result.content).saturating_sub(bytes(&shortened(result).content));
        left = left.saturating_sub(saved as u64 / 4);
        chosen.push(result.call_id.clone());
    }
    match tokens.saturating_sub(left) < tokens / 10 {
        true => Vec::new(),
        false => chosen,
    }
}

/// Puts a line in the place of each of these results.
pub(super) fn shorten(messages: &mut [Message], calls: &[String]) {
    for message in messages {
        let Message::Tool { results } = message else {
            continue;
        };
        for result in results {
            if calls.contains(&result.call_id) {
                *result = shortened(result);
            }
        }
    }
}

/// Long results before the model's last answer.
fn old(messages: &[Message]) -> impl Iterator<Item = &ToolResult> {
    let said = |m: &Message| matches!(m, Message::Assistant { .. });
    let last = messages.iter().rposition(said).unwrap_or(0);
    messages
        .iter()
        .take(last)
        .filter_map(|message| match message {
            Message::Tool { results } => Some(results),
            _ => None,
        })
        .flatten()
        .filter(|result| bytes(&result.content) >= MIN_BYTES)
}

fn shortened(result: &ToolResult) -> ToolResult {
    ToolResult {
        content: json!({
            "summary": line(&result.content),
            "bytes": bytes(&result.content),
            "stored": "agent_results",
            "hint": "left out to save room; call the tool again if you need it whole",
        }),
        ..result.clone()
    }
}

fn bytes(content: &Value) -> usize {
    content.to_string().len()
}

/// What a result holds, in one line.
fn line(content: &Value) -> String {
    let line = match content {
        Value::Object(map) => {
            let parts = map
                .iter()
                .map(|(key, value)| format!("{key}: {}", word(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        other => word(other),
    };
    cut(&line, MAX_LINE)
}

fn word(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.chars().count() <= MAX_TEXT && !text.contains('\n') => {
            text.clone()
        }
        Value::String(text) => format!("{} characters", text.chars().count()),
        Value::Object(map) => format!("{} fields", map.len()),
        Value::Array(items) => {
            let names: Vec<String> = items.iter().filter_map(name).take(MAX_NAMES).collect();
            match names.is_empty() {
                true => format!("{} items", items.len()),
                false => format!("{} items ({})", items.len(), names.join(", ")),
            }
        }
    }
}

/// By what an item of a list is known: its first text.
fn name(item: &Value) -> Option<String> {
    let text = match item {
        Value::Object(map) => map.values().find_map(Value::as_str)?,
        other => other.as_str()?,
    };
    Some(cut(text.lines().next().unwrap_or_default(), MAX_TEXT))
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}
