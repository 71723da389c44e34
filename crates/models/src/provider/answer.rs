//! The end of a stream as our answer: text, calls with their arguments as the model wrote them, tokens, and why it ended.

use crate::prices::Tokens;
use agentctl_base::model::{Finish, ModelAnswer, ToolCall, Usage};
use genai::chat::{ContentPart, StopReason, StreamEnd, Usage as WireUsage};
use serde_json::Value;

/// None: the stream ended without the provider's word that the answer is whole.
pub(super) fn of(end: StreamEnd) -> Option<(ModelAnswer, Option<Tokens>)> {
    let finish = match end.captured_stop_reason {
        Some(StopReason::MaxTokens(_)) => Finish::Length,
        Some(StopReason::ContentFilter(_)) => Finish::Refused,
        Some(_) => Finish::Done,
        None => return None,
    };
    let mut text = String::new();
    let mut tool_calls = Vec::new();
    for part in end.captured_content.into_iter().flatten() {
        match part {
            ContentPart::Text(said) => text.push_str(&said),
            ContentPart::ToolCall(call) => tool_calls.push(ToolCall {
                id: call.call_id,
                name: call.fn_name,
                arguments: arguments(call.fn_arguments),
            }),
            _ => {}
        }
    }
    let answer = ModelAnswer {
        text,
        tool_calls,
        usage: Usage::default(),
        finish,
    };
    Some((answer, end.captured_usage.and_then(tokens)))
}

/// genai gives back the text itself when it is not JSON.
fn arguments(value: Value) -> String {
    match value {
        Value::String(raw) if raw.trim().is_empty() => "{}".to_owned(),
        Value::String(raw) => raw,
        other => other.to_string(),
    }
}

fn tokens(usage: WireUsage) -> Option<Tokens> {
    let count = |n: Option<i32>| u64::try_from(n.unwrap_or(0)).unwrap_or(0);
    if usage.prompt_tokens.is_none() && usage.completion_tokens.is_none() {
        return None;
    }
    let details = usage.prompt_tokens_details.unwrap_or_default();
    Some(Tokens {
        input: count(usage.prompt_tokens),
        cached: count(details.cached_tokens),
        cache_write: count(details.cache_creation_tokens),
        output: count(usage.completion_tokens),
    })
}
