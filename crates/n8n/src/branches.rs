//! The main outputs of a node: how many there are, and what n8n calls each.

use super::catalog::Catalog;
use super::workflow::{Node, short_type};
use serde_json::Map;

/// The names of a node's main outputs; one output needs none.
#[derive(Debug, Default)]
pub struct Branches {
    names: Vec<Option<String>>,
    count: usize,
}

impl Branches {
    /// `used`: the highest output that something hangs on. Without a catalog only the common nodes have names.
    pub fn of(node: &Node, used: Option<u32>, catalog: Option<&Catalog>) -> Self {
        let description = catalog.and_then(|catalog| {
            catalog
                .lookup(node.node_type(), node.type_version())
                .known()
        });
        let empty = Map::new();
        let names: Vec<Option<String>> = match description {
            Some(description) => description
                .outputs_for(node.parameters().unwrap_or(&empty), node.map())
                .iter()
                .filter(|port| port.kind == "main")
                .map(|port| port.label.clone())
                .collect(),
            None => match short_type(node.node_type()) {
                "if" => vec![Some("true".into()), Some("false".into())],
                "splitInBatches" => vec![Some("done".into()), Some("loop".into())],
                _ => Vec::new(),
            },
        };
        Branches {
            count: names.len().max(used.map_or(0, |most| most as usize + 1)),
            names,
        }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// None: there is only one output, which needs no name.
    pub fn name(&self, output: u32) -> Option<String> {
        if self.count < 2 {
            return None;
        }
        let named = self.names.get(output as usize).cloned().flatten();
        let name = named.filter(|name| !name.is_empty());
        Some(name.unwrap_or_else(|| format!("output {output}")))
    }
}
