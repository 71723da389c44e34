//! The arguments of a tool, said once: the struct that they become, and the JSON Schema that a model sees. Short on purpose: every
//! schema is sent with every request.

use serde_json::{Value, json};

pub const DEFAULT_LIMIT: usize = 20;
pub const MAX_LIMIT: usize = 100;

/// `required` or `optional` before each field; behind it the schema of its value. An optional field that is no `Option` says its
/// default by `#[serde(default)]`.
macro_rules! arguments {
    (@need required) => { true };
    (@need optional) => { false };
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $need:ident $field:ident: $kind:ty = $schema:expr;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $kind,)*
        }
        impl $name {
            /// As a model sees them.
            pub(crate) fn schema() -> serde_json::Value {
                let fields = [$((stringify!($field), arguments!(@need $need), $schema)),*];
                $crate::arguments::closed(fields)
            }
        }
    };
}
pub(crate) use arguments;

/// An object of these fields (name, whether it is required, schema) and no others.
pub fn closed<const N: usize>(fields: [(&'static str, bool, Value); N]) -> Value {
    let required = fields.iter().filter(|(_, required, _)| *required);
    let required: Vec<&str> = required.map(|(name, ..)| *name).collect();
    let properties = fields
        .iter()
        .map(|(name, _, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    object(Value::Object(properties), &required)
}

pub fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

pub fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

pub fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

pub fn workflow_id() -> Value {
    text("the id from list_workflows or create_workflow, or a file path in the project")
}

pub fn cursor() -> Value {
    text("`next_cursor` of the answer before, to read on")
}

pub fn limit() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT})
}

pub fn expect_hash() -> Value {
    text(
        "the graph hash that the change was planned on; refused when the workflow has another one now",
    )
}

pub fn todo() -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": "what the user must still fill in or attach; may be empty"})
}

pub fn wanted(what: &str) -> Value {
    json!({
        "type": "object",
        "description": what,
        "additionalProperties": false,
        "properties": {
            "node_types": {"type": "array", "items": {"type": "string"}},
            "trigger_types": {"type": "array", "items": {"type": "string"}},
            "words": {"type": "array", "items": {"type": "string"}},
            "values": {"type": "array", "items": {"type": "string"}},
        },
    })
}

pub fn position() -> Value {
    json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2})
}

/// The operations of an edit. One schema for all of them: the fields are the union, the text says which belongs where.
pub fn ops(description: &str) -> Value {
    let new_node = object(
        json!({
            "name": {"type": "string"},
            "type": {"type": "string"},
            "typeVersion": {"type": "number"},
            "parameters": {"type": "object"},
            "id": {"type": "string"},
            "position": position(),
            "settings": {"type": "object", "description": "onError, retryOnFail, notes, disabled, …"},
        }),
        &["name", "type"],
    );
    let fields = json!({
        "op": {"type": "string", "enum": [
            "add_node", "remove_node", "set_parameter", "replace_parameters", "replace_text", "rename_node", "move_node",
            "enable_node", "disable_node", "set_node_settings", "set_credential", "set_type_version", "connect", "disconnect",
            "rewire", "set_settings", "set_name",
        ]},
        "node": {"description": "add_node: the new node; all other node operations: the node's id or name", "anyOf": [{"type": "string"}, new_node]},
        "pointer": text("set_parameter, replace_text: JSON pointer below parameters, e.g. /options/timeout"),
        "value": {"description": "set_parameter; null removes the key"},
        "parameters": {"type": "object", "description": "replace_parameters"},
        "find": text("replace_text"),
        "replace": text("replace_text"),
        "name": text("rename_node, set_name, set_credential"),
        "position": position(),
        "settings": {"type": "object", "description": "set_node_settings, set_settings; null removes a key"},
        "credential_type": text("set_credential"),
        "id": text("set_credential: only an id that the user named"),
        "type_version": {"type": "number"},
        "from": text("connect, disconnect, rewire: source node"),
        "to": text("connect, disconnect, rewire: target node"),
        "new_to": text("rewire: the new target"),
        "kind": text("connection type, default main; sub-nodes are the source (ai_languageModel, ai_tool, …)"),
        "output": {"type": "integer", "minimum": 0, "default": 0},
        "input": {"type": "integer", "minimum": 0, "default": 0},
    });
    json!({"type": "array", "description": description, "items": object(fields, &["op"])})
}

/// The operations a second and third time: their fields stand in one schema only.
pub fn as_in_update(description: &str) -> Value {
    json!({
        "type": "array",
        "description": format!("{description}; operations as update_workflow takes them"),
        "items": {"type": "object", "required": ["op"], "properties": {"op": {"type": "string"}}},
    })
}

/// How many are given: as many as were asked for, within bounds.
pub fn most(asked: Option<usize>) -> usize {
    asked.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
}
