//! The JSON Schemas that models see. Written by hand, short on purpose: every schema is sent with every request.

use serde_json::{Map, Value, json};

fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn workflow_id() -> Value {
    text("the id from list_workflows or create_workflow, or a file path in the project")
}

fn cursor() -> Value {
    text("`next_cursor` of the answer before, to read on")
}

fn limit() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": super::MAX_LIMIT})
}

fn expect_hash() -> Value {
    text(
        "the graph hash that the change was planned on; refused when the workflow has another one now",
    )
}

pub fn list_workflows() -> Value {
    object(
        json!({
            "query": text("words that the name or the node types must hold"),
            "wanted": {
                "type": "object",
                "description": "what a new workflow would need; each listed workflow then has a fit_score (0-100) with its parts, best first",
                "additionalProperties": false,
                "properties": {
                    "node_types": {"type": "array", "items": {"type": "string"}},
                    "trigger_types": {"type": "array", "items": {"type": "string"}},
                    "words": {"type": "array", "items": {"type": "string"}},
                    "values": {"type": "array", "items": {"type": "string"}},
                },
            },
            "cursor": cursor(),
        }),
        &[],
    )
}

pub fn get_workflow() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "view": {"type": "string", "enum": ["full", "summary"], "default": "full"},
            "cursor": cursor(),
        }),
        &["workflow_id"],
    )
}

fn node_settings() -> Map<String, Value> {
    let Value::Object(map) = json!({
        "disabled": {"type": "boolean"},
        "notes": {"type": "string"},
        "notesInFlow": {"type": "boolean"},
        "onError": {"type": "string", "enum": ["stopWorkflow", "continueRegularOutput", "continueErrorOutput"]},
        "retryOnFail": {"type": "boolean"},
        "maxTries": {"type": "integer"},
        "waitBetweenTries": {"type": "integer", "description": "milliseconds"},
        "executeOnce": {"type": "boolean"},
        "alwaysOutputData": {"type": "boolean"},
        "webhookId": {"type": "string"},
    }) else {
        return Map::new();
    };
    map
}

fn position() -> Value {
    json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2})
}

pub fn create_workflow() -> Value {
    let mut node = json!({
        "name": text("unique in the workflow"),
        "type": text("full type name, e.g. n8n-nodes-base.slack"),
        "typeVersion": {"type": "number"},
        "parameters": {"type": "object"},
        "id": {"type": "string"},
        "position": position(),
        "credentials": {"type": "object", "description": "leave out; the user attaches credentials"},
    });
    if let Value::Object(map) = &mut node {
        map.extend(node_settings());
    }
    object(
        json!({
            "name": {"type": "string", "minLength": 1},
            "nodes": {"type": "array", "items": object(node, &["name", "type", "parameters"])},
            "connections": {
                "type": "object",
                "description": "source node name → output type → list per output index of lists of {node, type, index}",
            },
            "settings": {"type": "object"},
            "ops": ops("instead of nodes: operations on an empty workflow"),
        }),
        &["name"],
    )
}

/// One schema for all operations: the fields are the union, the text says which belongs where.
fn ops(description: &str) -> Value {
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

pub fn update_workflow() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "ops": ops("applied in order, all or none"),
            "expect_hash": expect_hash(),
        }),
        &["workflow_id", "ops"],
    )
}

pub fn autofix_workflow() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "finding_ids": {"type": "array", "items": {"type": "string"}, "description": "only these; all with a certain fix when absent"},
            "expect_hash": expect_hash(),
        }),
        &["workflow_id"],
    )
}

pub fn delete_workflow() -> Value {
    object(
        json!({"workflow_id": workflow_id(), "expect_hash": expect_hash()}),
        &["workflow_id"],
    )
}

pub fn check_workflow() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "ops": ops("check the result of these; nothing is written"),
            "cursor": cursor(),
        }),
        &["workflow_id"],
    )
}

pub fn validate_workflow() -> Value {
    object(
        json!({"workflow_id": workflow_id(), "cursor": cursor()}),
        &["workflow_id"],
    )
}

pub fn rollback_workflow() -> Value {
    object(
        json!({"workflow_id": workflow_id(), "snapshot": text("a snapshot's file, as results of this run name it")}),
        &["workflow_id"],
    )
}

pub fn workflow_ref() -> Value {
    object(json!({"workflow_id": workflow_id()}), &["workflow_id"])
}

pub fn trigger_workflow() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "node": text("the trigger node's name; needed only where several can be called"),
            "payload": {"type": "object", "description": "what is sent: a webhook's body, a form's fields by label, a chat's chatInput"},
        }),
        &["workflow_id"],
    )
}

pub fn rehearse_workflow() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "start": text("the trigger to start from; without it the one from which most nodes are reached"),
            "payload": {"type": "object", "description": "the trigger's item, a webhook's as {body, query, headers}; without it one is made from the fields that the workflow reads"},
            "let_act": {"type": "array", "items": {"type": "string"}, "description": "names of nodes that shall act on the outside world although this is a test; the user is asked"},
        }),
        &["workflow_id"],
    )
}

pub fn list_executions() -> Value {
    object(
        json!({"workflow_id": workflow_id(), "status": text("only those that ended so: success, error, waiting, canceled, crashed"), "limit": limit()}),
        &[],
    )
}

pub fn get_execution() -> Value {
    object(
        json!({"execution_id": {"type": "string"}}),
        &["execution_id"],
    )
}

pub fn search_nodes() -> Value {
    object(
        json!({"query": text("a service, an action, or both, e.g. slack post message"), "limit": limit()}),
        &["query"],
    )
}

pub fn get_node() -> Value {
    object(
        json!({
            "node_type": text("full type name from search_nodes"),
            "version": {"type": "number", "description": "the newest when absent"},
            "resource": {"type": "string"},
            "operation": {"type": "string"},
        }),
        &["node_type"],
    )
}

pub fn search_templates() -> Value {
    object(
        json!({"query": {"type": "string"}, "limit": limit()}),
        &["query"],
    )
}

pub fn get_template() -> Value {
    object(json!({"template_id": {"type": "string"}}), &["template_id"])
}

pub fn load_skill() -> Value {
    object(
        json!({"name": text("the skill's name"), "cursor": cursor()}),
        &["name"],
    )
}

pub fn read_skill_file() -> Value {
    object(
        json!({"skill": text("the skill's name"), "path": text("as load_skill lists it"), "cursor": cursor()}),
        &["skill", "path"],
    )
}

pub fn search_learnings() -> Value {
    object(
        json!({"query": text("words, or code:CODE, node:TYPE, tag:NAME; empty gives the index"),
            "findings": {"type": "array", "items": object(json!({"code": text("e.g. n8n/parameter"), "message": text("as the check gave it")}), &["code"]),
                "description": "what was learned about these findings"},
            "limit": limit()}),
        &["query"],
    )
}

pub fn read_learning() -> Value {
    object(
        json!({"ids": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 20}}),
        &["ids"],
    )
}

pub fn write_learning() -> Value {
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    object(
        json!({
            "title": {"type": "string", "maxLength": 120},
            "problem": text("what one sees"),
            "cause": text("why"),
            "solution": text("what to do next time"),
            "evidence": text("where it was seen: run and event, finding id"),
            "workflow_id": workflow_id(),
            "node_types": texts(),
            "finding_codes": texts(),
            "tags": texts(),
            "fix": text("only if the fix is always the same: `checker` (the checker's likely fix), or a JSON array of update_workflow operations without `node`"),
        }),
        &["title", "problem", "cause", "solution", "evidence"],
    )
}
