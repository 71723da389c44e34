//! `update_node_parameters`: other values of nodes that are there, and nothing else.

use super::edit::{Edits, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, expect_hash, object, text, workflow_id};
use crate::capability as can;
use crate::tool::Tool;
use agentctl_engine::toolset::Head;
use agentctl_n8n::workflow::RUN_SETTINGS;
use agentctl_n8n::{EditOp, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

arguments! {
    UpdateNodeParameters {
        required workflow_id: String = workflow_id();
        required nodes: Vec<Values> = json!({"type": "array", "minItems": 1, "items": values()});
        optional expect_hash: Option<String> = expect_hash();
    }
}

/// The new values of one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    node: String,
    #[serde(default)]
    parameters: Map<String, Value>,
    #[serde(default)]
    settings: Map<String, Value>,
}

fn values() -> Value {
    object(
        json!({
            "node": text("its id or name"),
            "parameters": {"type": "object", "description": "name of a parameter, or a JSON pointer below the parameters (/options/timeout) → its value; null removes it; all others stay"},
            "settings": {"type": "object", "description": "onError, retryOnFail, maxTries, …; null removes"},
        }),
        &["node"],
    )
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<UpdateNodeParameters>(Head {
        idempotent: false,
        ..Head::new(
            "update_node_parameters",
            can::EDIT_PARAMETERS,
            "Set values of nodes, all or none: only those that are named here change. Only nodes that the user's message is about, or that are new.",
            UpdateNodeParameters::schema,
        )
    })
}

impl Edits for UpdateNodeParameters {
    const PART: Part = Part::Values;

    fn workflow_id(&self) -> &str {
        &self.workflow_id
    }

    fn expect_hash(&self) -> Option<&str> {
        self.expect_hash.as_deref()
    }

    fn operations(&self, _: &Workflow, _: &N8n) -> Result<Vec<EditOp>, String> {
        operations(&self.nodes)
    }
}

fn operations(nodes: &[Values]) -> Result<Vec<EditOp>, String> {
    let mut ops = Vec::new();
    for values in nodes {
        for (name, value) in &values.parameters {
            let pointer = match name.starts_with('/') {
                true => name.clone(),
                false => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
            };
            ops.push(EditOp::SetParameter {
                node: values.node.clone(),
                pointer,
                value: value.clone(),
            });
        }
        if let Some(other) = values
            .settings
            .keys()
            .find(|k| !RUN_SETTINGS.contains(&k.as_str()))
        {
            return Err(format!(
                "{other:?} is no setting of how a node runs; there are {}",
                RUN_SETTINGS.join(", ")
            ));
        }
        if !values.settings.is_empty() {
            ops.push(EditOp::SetNodeSettings {
                node: values.node.clone(),
                settings: values.settings.clone(),
            });
        }
    }
    match ops.is_empty() {
        true => Err("no value is named".to_owned()),
        false => Ok(ops),
    }
}
