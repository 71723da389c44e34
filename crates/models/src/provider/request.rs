//! A request as genai takes it. The prefix is the same in every turn and every step of an agent (tools sorted, then the
//! system prompt), so that a provider's cache can hold it; where a provider wants marks for that, they are set here.

use super::Kind;
use agentctl_base::{
    canonical::{canonical, sha256_hex},
    model::{Message, ModelRequest, ToolCall, ToolSpec},
};
use genai::{
    adapter::AdapterKind,
    chat::{
        CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ContentPart,
        JsonSpec, MessageContent, Tool, ToolCall as WireCall, ToolResponse,
    },
};
use serde_json::{Value, json};

/// How a server is told the form of its answer. In settings: `false`, `true`, `"json_object"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaForm {
    Untold,
    /// As the wire has it, beside tools too.
    Schema,
    /// As `response_format: {"type": "json_object", "schema": …}`, which llama-cpp-python wants; beside tools too.
    JsonObject,
}

pub(super) struct Asked {
    pub chat: ChatRequest,
    pub options: ChatOptions,
}

pub(super) fn build(request: &ModelRequest, kind: Kind, form: Option<SchemaForm>) -> Asked {
    let marks = kind.speaks_anthropic();
    let once = shows_schema(request, kind, form).then(|| written(&request.output_schema));
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    messages.push(marked(ChatMessage::system(request.system.as_str()), marks));
    let numbered = request.messages.iter().enumerate();
    messages.extend(numbered.map(|(at, said)| match (said, &once) {
        (Message::User { text }, Some(schema)) if at == request.task_at => {
            let short = text.trim_end().strip_suffix(schema.as_str());
            ChatMessage::user(short.unwrap_or(text))
        }
        _ => message(said),
    }));
    if let Some(last) = messages.pop() {
        messages.push(marked(last, marks));
    }
    let mut chat = ChatRequest::new(messages);
    if !request.tools.is_empty() {
        chat = chat.with_tools(request.tools.iter().map(tool).collect::<Vec<_>>());
    }
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_content(true)
        .with_capture_tool_calls(true);
    if kind.takes_cache_key() {
        options = options.with_prompt_cache_key(prefix_key(request));
    }
    Asked {
        chat,
        options: answering(options, request, kind, form),
    }
}

fn marked(message: ChatMessage, mark: bool) -> ChatMessage {
    if mark {
        message.with_options(CacheControl::Ephemeral)
    } else {
        message
    }
}

/// The same for all requests that begin alike.
fn prefix_key(request: &ModelRequest) -> String {
    let prefix = json!({"system": request.system, "tools": request.tools});
    let hash = sha256_hex(canonical(&prefix).as_bytes());
    format!("agentctl-{}", hash.get(..16).unwrap_or_default())
}

fn tool(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name.as_str())
        .with_description(spec.description.as_str())
        .with_schema(spec.parameters.clone())
}

fn message(message: &Message) -> ChatMessage {
    match message {
        Message::User { text } => ChatMessage::user(text.as_str()),
        Message::Assistant { text, tool_calls } => {
            let mut parts: Vec<ContentPart> = Vec::with_capacity(tool_calls.len() + 1);
            if !text.trim().is_empty() {
                parts.push(ContentPart::from_text(text.as_str()));
            } else if tool_calls.is_empty() {
                // No wire takes a message with nothing in it.
                parts.push(ContentPart::from_text("(nothing)"));
            }
            parts.extend(
                tool_calls
                    .iter()
                    .map(|call| ContentPart::ToolCall(wire_call(call))),
            );
            ChatMessage::assistant(MessageContent::from_parts(parts))
        }
        Message::Tool { results } => {
            let responses = results
                .iter()
                .map(|result| {
                    ToolResponse::new(result.call_id.as_str(), result.content.to_string())
                        .with_fn_name(result.name.as_str())
                })
                .collect();
            ChatMessage::tool(MessageContent::from_tool_responses(responses))
        }
    }
}

fn wire_call(call: &ToolCall) -> WireCall {
    let arguments = match serde_json::from_str::<Value>(&call.arguments) {
        Ok(Value::Object(map)) => Value::Object(map),
        // What the model wrote was no object; the wires take nothing else back.
        _ => json!({"unreadable": call.arguments}),
    };
    WireCall {
        call_id: call.id.clone(),
        fn_name: call.name.clone(),
        fn_arguments: arguments,
        thought_signatures: None,
    }
}

/// As the task's message ends with it.
fn written(schema: &Value) -> String {
    serde_json::to_string(schema).unwrap_or_default()
}

/// Whether the wire carries the schema of the answer, and the vendor behind it shows it to the model: then it need not stand in the
/// task a second time. A server that only holds the model's words against it leaves the model to guess what they should be.
fn shows_schema(request: &ModelRequest, kind: Kind, form: Option<SchemaForm>) -> bool {
    if !matches!(form, None | Some(SchemaForm::Schema)) {
        return false;
    }
    match kind {
        Kind::Azure | Kind::Genai(AdapterKind::OpenAIResp) => true,
        Kind::Genai(AdapterKind::Anthropic) => is_closed(&request.output_schema),
        Kind::Genai(AdapterKind::Gemini) => {
            is_closed(&request.output_schema) && request.tools.is_empty()
        }
        _ => false,
    }
}

/// The form of the answer, where the server can be told. Beside tools only where both are known to work together: some
/// servers then force the schema on every word, and no tool is ever called.
fn answering(
    options: ChatOptions,
    request: &ModelRequest,
    kind: Kind,
    form: Option<SchemaForm>,
) -> ChatOptions {
    let tools = !request.tools.is_empty();
    match form {
        Some(SchemaForm::Untold) => return options,
        Some(SchemaForm::JsonObject) => {
            return options.with_extra_body(json!({"response_format": {
                "type": "json_object", "schema": request.output_schema,
            }}));
        }
        Some(SchemaForm::Schema) | None => {}
    }
    if kind.speaks_openai_chat() {
        let both = matches!(kind, Kind::Azure) || form == Some(SchemaForm::Schema);
        if tools && !both {
            return options;
        }
        // genai asks for `strict`, which takes only closed schemas and makes every optional key required. The contracts
        // have open objects, so the schema goes along as it is, and our own check stays the judge.
        return options.with_extra_body(json!({"response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": request.output_schema, "strict": false},
        }}));
    }
    if kind == Kind::Genai(AdapterKind::OpenAIResp) {
        return options.with_extra_body(json!({"text": {"format": {
            "type": "json_schema", "name": "answer", "schema": request.output_schema, "strict": false,
        }}}));
    }
    let closed = is_closed(&request.output_schema);
    let schema =
        || ChatResponseFormat::JsonSpec(JsonSpec::new("answer", request.output_schema.clone()));
    match kind {
        Kind::Genai(AdapterKind::Anthropic) if closed => options.with_response_format(schema()),
        Kind::Genai(AdapterKind::Ollama | AdapterKind::Gemini) if closed && !tools => {
            options.with_response_format(schema())
        }
        Kind::Genai(AdapterKind::Ollama) if !tools => {
            options.with_response_format(ChatResponseFormat::JsonMode)
        }
        _ => options,
    }
}

/// True when the schema can be enforced word by word: every object names all its keys and allows no other.
fn is_closed(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let object = match map.get("type") {
                Some(Value::String(kind)) => kind == "object",
                // Several types, or none given: not what constrained decoding takes.
                _ => !map.contains_key("enum") && !map.contains_key("const"),
            };
            if object {
                let Some(Value::Object(properties)) = map.get("properties") else {
                    return false;
                };
                let required = map.get("required").and_then(Value::as_array);
                let all = properties.keys().all(|key| {
                    required.is_some_and(|list| list.iter().any(|r| r.as_str() == Some(key)))
                });
                return all
                    && map.get("additionalProperties") == Some(&Value::Bool(false))
                    && properties.values().all(is_closed);
            }
            match map.get("type").and_then(Value::as_str) {
                Some("array") => map.get("items").is_some_and(is_closed),
                _ => true,
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_closed_when_every_object_names_all_its_keys() {
        let closed = json!({"type": "object", "additionalProperties": false, "required": ["a", "b"],
            "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"enum": ["x"]}}}});
        assert!(is_closed(&closed));
        for (pointer, value) in [
            ("/additionalProperties", json!(true)),
            ("/required", json!(["a"])),
            ("/properties/a", json!({"type": "object"})),
            ("/properties/a", json!({"type": ["string", "null"]})),
            ("/properties/b/items", json!({})),
        ] {
            let mut open = closed.clone();
            *open.pointer_mut(pointer).unwrap() = value;
            assert!(!is_closed(&open), "{pointer}");
        }
    }
}
