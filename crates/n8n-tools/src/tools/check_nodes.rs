//! `check_nodes`: whether node types that somebody found are there, in these versions, and whether the parameters that they name
//! change a node's connections.

use super::n8n::N8n;
use crate::arguments::{arguments, object, text};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_n8n::catalog::{Lookup, NodeDescription};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};
use std::collections::BTreeSet;

/// At most so many types at once, and so many values of a parameter are tried.
const MOST: usize = 40;

arguments! {
    CheckNodes {
        required nodes_found: Vec<Found> = json!({"type": "array", "maxItems": MOST, "items": found()});
    }
}

/// A node type that somebody means to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Found {
    node_name: String,
    version: Option<Number>,
    reasoning: String,
    connection_changing_parameters: Vec<Parameter>,
}

/// A parameter that is said to change which connections the node has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Parameter {
    name: String,
    possible_values: Vec<Value>,
}

fn found() -> Value {
    let parameter = object(
        json!({"name": {"type": "string"}, "possibleValues": {"type": "array", "maxItems": MOST}}),
        &["name", "possibleValues"],
    );
    object(
        json!({
            "nodeName": text("full type name from search_nodes"),
            "version": {"type": ["number", "null"], "description": "null: the newest"},
            "reasoning": {"type": "string"},
            "connectionChangingParameters": {"type": "array", "maxItems": MOST, "items": parameter},
        }),
        &[
            "nodeName",
            "version",
            "reasoning",
            "connectionChangingParameters",
        ],
    )
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<CheckNodes>(Head::new(
        "check_nodes",
        can::CHECK_NODES,
        "Check what you found against the catalog before you answer: each type and version is there, and each named parameter changes which connections the node has. Gives nodes_found back.",
        CheckNodes::schema,
    ))
}

impl Read for On<N8n, CheckNodes> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Ok(self
            .on
            .check_nodes(&self.args.nodes_found))))
    }
}

impl N8n {
    fn check_nodes(&self, found: &[Found]) -> Outcome {
        let faults: Vec<String> = found.iter().flat_map(|one| self.faults(one)).collect();
        match faults.is_empty() {
            true => Outcome::Ok(json!({"nodes_found": found})),
            false => Outcome::failed(
                faults.join("; "),
                "catalog.found",
                "search_nodes finds types, get_node shows versions and parameters; leave out what does not change connections",
            ),
        }
    }

    fn faults(&self, found: &Found) -> Vec<String> {
        let name = &found.node_name;
        let version = found.version.as_ref().and_then(Number::as_f64);
        let known = match self.catalog.lookup(name, version) {
            Lookup::Known(known) => known,
            Lookup::UnknownType => return vec![format!("there is no node type {name:?}")],
            Lookup::UnknownVersion { known, default } => {
                let version = version.unwrap_or(default);
                return vec![format!("{name} has no version {version}, it has {known:?}")];
            }
        };
        let changing = changing(&known, &found.connection_changing_parameters);
        let named = found.connection_changing_parameters.iter();
        let others = named.filter(|parameter| !changing.contains(first(&parameter.name)));
        let faults = others.map(|parameter| {
            let which = match changing.is_empty() {
                true => "none of its parameters does".to_owned(),
                false => format!(
                    "these do: {}",
                    changing.iter().cloned().collect::<Vec<_>>().join(", ")
                ),
            };
            format!(
                "{name}: {:?} changes none of its connections; {which}",
                parameter.name
            )
        });
        faults.collect()
    }
}

/// The parameters that can change a node's connections: as it is without any, and with each of the values that are named.
fn changing(known: &NodeDescription, named: &[Parameter]) -> BTreeSet<String> {
    let set = named.iter().flat_map(|parameter| {
        let values = parameter.possible_values.iter().take(MOST);
        values.map(|value| Map::from_iter([(parameter.name.clone(), value.clone())]))
    });
    let all = [Map::new()].into_iter().chain(set);
    all.flat_map(|parameters| known.possible_port_parameters(&parameters))
        .collect()
}

/// The parameter that a path is in.
fn first(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
