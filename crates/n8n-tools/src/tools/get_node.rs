//! `get_node`: what a node type takes for one resource and operation.

use super::n8n::N8n;
use crate::arguments::{arguments, text};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_n8n::catalog::Lookup;
use serde_json::{Map, Value, json};

arguments! {
    GetNode {
        required node_type: String = text("full type name from search_nodes");
        optional version: Option<f64> = json!({"type": "number", "description": "the newest when absent"});
        optional resource: Option<String> = json!({"type": "string"});
        optional operation: Option<String> = json!({"type": "string"});
        /// Only this one, with all choices and parts.
        optional parameter: Option<String> = text("one parameter in full: all its choices and parts, e.g. events or options.responseCode");
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<GetNode>(Head::new(
        "get_node",
        can::NODE_SCHEMA,
        "What a node type takes for one resource and operation, a line for each parameter: name (* required), type, choices, {parts}, = default, [if it is shown only then]. Without an operation also the list of resources and operations. `+3` means three more: ask for that `parameter`.",
        GetNode::schema,
    ))
}

impl Read for On<N8n, GetNode> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Ok(self.on.get_node(&self.args))))
    }
}

impl N8n {
    fn get_node(&self, of: &GetNode) -> Outcome {
        let description = match self.catalog.lookup(&of.node_type, of.version) {
            Lookup::Known(description) => description,
            Lookup::UnknownVersion { known, default } => {
                return Outcome::failed(
                    format!(
                        "{} has no version {}",
                        of.node_type,
                        of.version.unwrap_or(default)
                    ),
                    "catalog.version",
                    &format!("versions: {known:?}; the default is {default}"),
                );
            }
            Lookup::UnknownType => {
                let near: Vec<String> = self
                    .catalog
                    .search(of.node_type.rsplit('.').next().unwrap_or(""), 5)
                    .into_iter()
                    .map(|hit| hit.node_type)
                    .collect();
                return Outcome::failed(
                    format!("there is no node type {:?}", of.node_type),
                    "catalog.type",
                    &format!("search_nodes finds types; near: {}", near.join(", ")),
                );
            }
        };
        let mut content = Map::new();
        content.insert("node_type".into(), json!(description.node_type));
        content.insert("version".into(), json!(description.version));
        let (resource, operation) = (of.resource.as_deref(), of.operation.as_deref());
        if let Some(parameter) = &of.parameter {
            return match description.parameter_in_full(parameter, resource, operation) {
                Some(text) => {
                    content.insert("parameter".into(), json!(text));
                    Outcome::Ok(Value::Object(content))
                }
                None => Outcome::failed(
                    format!("{} has no parameter {parameter:?}", of.node_type),
                    "catalog.parameter",
                    "name it as the recipe does, parts with dots: options.timeout",
                ),
            };
        }
        let recipe = description.recipe(resource, operation).to_string();
        content.insert("recipe".into(), json!(recipe));
        if of.operation.is_none() {
            let operations: Vec<Value> = description
                .operations()
                .into_iter()
                .map(|(resource, list)| {
                    let names: Vec<String> = list.into_iter().map(|(value, _)| value).collect();
                    json!({"resource": resource, "operations": names})
                })
                .collect();
            if !operations.is_empty() {
                content.insert("operations".into(), json!(operations));
            }
        }
        Outcome::Ok(Value::Object(content))
    }
}
