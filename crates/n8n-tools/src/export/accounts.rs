//! Credentials that somebody named for an export: by type, as the nodes ask for them under their parameters. Ids and names only.

use super::{Export, NoExport};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::needs::needs;
use agentctl_n8n::workflow::Node;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A credential on the user's n8n.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub id: String,
    pub name: String,
}

/// One for each type that was named.
#[derive(Debug)]
pub struct Accounts {
    pub by_type: BTreeMap<String, Account>,
    pub catalog: &'static Catalog,
}

impl Accounts {
    /// # Errors
    /// When one was named that no node asks for.
    pub fn all_asked_for(&self, export: &Export) -> Result<(), NoExport> {
        let asked: BTreeSet<String> = (export.workflows.iter())
            .flat_map(|one| nodes(&one.workflow))
            .flat_map(|node| self.types(node))
            .collect();
        match self.by_type.keys().find(|named| !asked.contains(*named)) {
            None => Ok(()),
            Some(named) => Err(NoExport::NoSuchCredential {
                credential_type: named.clone(),
                known: asked.into_iter().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// Names them at the nodes, over what stood there.
    pub fn connect(&self, workflow: &mut Value) {
        let nodes = workflow.get_mut("nodes").and_then(Value::as_array_mut);
        for node in nodes.into_iter().flatten() {
            let types = self.types(node);
            let Some(node) = node.as_object_mut() else {
                continue;
            };
            for credential_type in types {
                let Some(account) = self.by_type.get(&credential_type) else {
                    continue;
                };
                let there = node.entry("credentials").or_insert_with(|| json!({}));
                if let Some(there) = there.as_object_mut() {
                    let named = json!({"id": account.id, "name": account.name});
                    there.insert(credential_type, named);
                }
            }
        }
    }

    fn types(&self, node: &Value) -> Vec<String> {
        let Value::Object(map) = node else {
            return Vec::new();
        };
        let needs = needs(&Node::from(map.clone()), self.catalog);
        needs.into_iter().map(|need| need.credential_type).collect()
    }
}

fn nodes(workflow: &Value) -> impl Iterator<Item = &Value> {
    let nodes = workflow.get("nodes").and_then(Value::as_array);
    nodes.into_iter().flatten()
}
