//! The edit engine: a typed list of operations, applied as a whole or not at all, to our copy of a workflow.
//! Nodes are addressed by id; a name is accepted and resolved once, at the start of the operation that uses it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A node of an `add_node` operation. `id` is given by the program when absent; a position too (layout).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NewNode {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    #[serde(rename = "type")]
    pub node_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_version: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 2]>,
    #[serde(default)]
    pub parameters: Map<String, Value>,
    /// Other node-level keys: onError, retryOnFail, maxTries, waitBetweenTries, executeOnce, alwaysOutputData, notes, webhookId, disabled.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
}

fn main_kind() -> String {
    "main".to_owned()
}

/// One edit. `node`, `from`, `to` take a node id, or a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum EditOp {
    AddNode {
        node: NewNode,
    },
    /// Also drops the node's connections both ways.
    RemoveNode {
        node: String,
    },
    /// Sets the value at a JSON pointer below `parameters` (missing objects are created); `value: null` removes the key.
    SetParameter {
        node: String,
        pointer: String,
        value: Value,
    },
    /// Replaces all parameters.
    ReplaceParameters {
        node: String,
        parameters: Map<String, Value>,
    },
    /// Replaces text inside the string at a pointer below `parameters`; an error when `find` is not there.
    ReplaceText {
        node: String,
        pointer: String,
        find: String,
        replace: String,
    },
    /// Renames; connections and expressions (`$('Old')`, `$node["Old"]`) follow.
    RenameNode {
        node: String,
        name: String,
    },
    MoveNode {
        node: String,
        position: [f64; 2],
    },
    EnableNode {
        node: String,
    },
    DisableNode {
        node: String,
    },
    /// Node-level keys other than id, name, type, position, parameters, credentials, disabled; null removes the key.
    SetNodeSettings {
        node: String,
        settings: Map<String, Value>,
    },
    SetCredential {
        node: String,
        credential_type: String,
        id: String,
        name: String,
    },
    SetTypeVersion {
        node: String,
        type_version: f64,
    },
    Connect {
        from: String,
        to: String,
        #[serde(default = "main_kind")]
        kind: String,
        #[serde(default)]
        output: u32,
        #[serde(default)]
        input: u32,
    },
    Disconnect {
        from: String,
        to: String,
        #[serde(default = "main_kind")]
        kind: String,
        #[serde(default)]
        output: u32,
        #[serde(default)]
        input: u32,
    },
    /// Moves the edge `from`→`to` (same output) to `new_to`.
    Rewire {
        from: String,
        to: String,
        new_to: String,
        #[serde(default = "main_kind")]
        kind: String,
        #[serde(default)]
        output: u32,
        #[serde(default)]
        input: u32,
    },
    /// Workflow settings, shallow merge; null removes a key.
    SetSettings {
        settings: Map<String, Value>,
    },
    SetName {
        name: String,
    },
}

/// Why an edit was not applied. Nothing was changed: the list is atomic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("operation {index} ({op}): {message}")]
pub struct EditError {
    /// 0-based place in the list.
    pub index: usize,
    pub op: String,
    pub message: String,
}
