//! The edit engine: a typed list of operations, applied as a whole or not at all, to our copy of a workflow.
//! Nodes are addressed by id; a name is accepted and resolved once, at the start of the operation that uses it.
//! It keeps documents well formed (unique names and ids, edges between nodes that exist); whether the result makes sense
//! is the validator's question. It never invents an id: the caller's `ids` gives them.

mod address;
mod connections;
mod nodes;
mod pointer;
pub mod references;
mod refusal;

pub use address::meant;
pub use connections::CONNECTION_KINDS;
pub use nodes::check_name;

use refusal::Refusal;

use super::{
    layout,
    workflow::{NodeId, Workflow},
};
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

impl EditOp {
    /// The operation's name as it stands in JSON.
    pub fn op_name(&self) -> &'static str {
        match self {
            EditOp::AddNode { .. } => "add_node",
            EditOp::RemoveNode { .. } => "remove_node",
            EditOp::SetParameter { .. } => "set_parameter",
            EditOp::ReplaceParameters { .. } => "replace_parameters",
            EditOp::ReplaceText { .. } => "replace_text",
            EditOp::RenameNode { .. } => "rename_node",
            EditOp::MoveNode { .. } => "move_node",
            EditOp::EnableNode { .. } => "enable_node",
            EditOp::DisableNode { .. } => "disable_node",
            EditOp::SetNodeSettings { .. } => "set_node_settings",
            EditOp::SetCredential { .. } => "set_credential",
            EditOp::SetTypeVersion { .. } => "set_type_version",
            EditOp::Connect { .. } => "connect",
            EditOp::Disconnect { .. } => "disconnect",
            EditOp::Rewire { .. } => "rewire",
            EditOp::SetSettings { .. } => "set_settings",
            EditOp::SetName { .. } => "set_name",
        }
    }
}

/// Applies all operations to a copy, or none. `ids` gives the id of an added node that brings none.
/// Added nodes without a position are placed near their neighbours once all edges are known. Of the existing ones only those move to
/// which the operations lead a main connection that would run backwards; one that an operation moves stays where that puts it.
pub fn apply(
    workflow: &Workflow,
    ops: &[EditOp],
    ids: &mut dyn FnMut() -> String,
) -> Result<Workflow, EditError> {
    let mut edited = workflow.clone();
    let mut unplaced: Vec<NodeId> = Vec::new();
    for (index, op) in ops.iter().enumerate() {
        apply_one(&mut edited, op, ids, &mut unplaced).map_err(|message| EditError {
            index,
            op: op.op_name().to_owned(),
            message,
        })?;
    }
    unplaced.retain(|id| edited.node(id).is_some_and(|n| n.position().is_none()));
    layout::place_new(&mut edited, &unplaced);
    let moved = ops.iter().filter_map(|op| match op {
        EditOp::MoveNode { node, .. } => Some(node.as_str()),
        _ => None,
    });
    let moved = moved.filter_map(|named| address::resolve(&edited, named).ok());
    let fixed = moved
        .filter_map(|at| Some(edited.nodes.get(at)?.id()))
        .collect();
    layout::turn(workflow, &mut edited, &fixed);
    Ok(edited)
}

fn apply_one(
    workflow: &mut Workflow,
    op: &EditOp,
    ids: &mut dyn FnMut() -> String,
    unplaced: &mut Vec<NodeId>,
) -> Result<(), Refusal> {
    match op {
        EditOp::AddNode { node } => nodes::add(workflow, node, ids, unplaced),
        EditOp::RemoveNode { node } => nodes::remove(workflow, node),
        EditOp::SetParameter {
            node,
            pointer,
            value,
        } => nodes::set_parameter(workflow, node, pointer, value),
        EditOp::ReplaceParameters { node, parameters } => {
            let at = address::resolve(workflow, node)?;
            address::node_at(workflow, at)?.set("parameters", Value::Object(parameters.clone()));
            Ok(())
        }
        EditOp::ReplaceText {
            node,
            pointer,
            find,
            replace,
        } => nodes::replace_text(workflow, node, pointer, find, replace),
        EditOp::RenameNode { node, name } => nodes::rename(workflow, node, name),
        EditOp::MoveNode { node, position } => nodes::move_to(workflow, node, *position),
        EditOp::EnableNode { node } => nodes::set_disabled(workflow, node, false),
        EditOp::DisableNode { node } => nodes::set_disabled(workflow, node, true),
        EditOp::SetNodeSettings { node, settings } => nodes::set_settings(workflow, node, settings),
        EditOp::SetCredential {
            node,
            credential_type,
            id,
            name,
        } => nodes::set_credential(workflow, node, credential_type, id, name),
        EditOp::SetTypeVersion { node, type_version } => {
            nodes::set_type_version(workflow, node, *type_version)
        }
        EditOp::Connect {
            from,
            to,
            kind,
            output,
            input,
        } => connections::connect(workflow, from, to, (kind, *output, *input)),
        EditOp::Disconnect {
            from,
            to,
            kind,
            output,
            input,
        } => connections::disconnect(workflow, from, to, (kind, *output, *input)),
        EditOp::Rewire {
            from,
            to,
            new_to,
            kind,
            output,
            input,
        } => connections::rewire(workflow, from, to, new_to, (kind, *output, *input)),
        EditOp::SetSettings { settings } => {
            set_workflow_settings(workflow, settings);
            Ok(())
        }
        EditOp::SetName { name } => {
            if name.trim().is_empty() {
                return Err("the workflow's name is empty; give it a name".to_owned());
            }
            workflow.set_name(name);
            Ok(())
        }
    }
}

fn set_workflow_settings(workflow: &mut Workflow, changes: &Map<String, Value>) {
    let mut settings = match workflow.head.get("settings") {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    merge(&mut settings, changes);
    // Nothing to take away: empty settings where none were would be another document that means the same.
    if settings.is_empty() && !workflow.head.get("settings").is_some_and(Value::is_object) {
        return;
    }
    workflow
        .head
        .insert("settings".to_owned(), Value::Object(settings));
}

/// Shallow merge; null removes the key. The order of the keys that stay does not change.
fn merge(into: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (key, value) in changes {
        if value.is_null() {
            into.shift_remove(key);
        } else {
            into.insert(key.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod apply_tests;
#[cfg(test)]
mod rename_tests;
