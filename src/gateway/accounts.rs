//! Which of the n8n's credentials a new node gets: the only one of the type that it needs, or none. Names and types are all that
//! is ever read; where several fit, or none does, the node stays without and the answer says so.

use super::{Gateway, GatewayError};
use crate::backend::{BackendErrorKind, CredentialHead};
use crate::n8n::catalog::Catalog;
use crate::n8n::needs::needs;
use crate::n8n::{NodeId, Workflow};
use serde_json::{Map, Value, json};

impl Gateway {
    /// Connects the nodes that `before` does not have. Gives what was taken, what could be chosen from, and what is missing.
    pub(super) async fn attach(
        &self,
        before: Option<&Workflow>,
        after: &mut Workflow,
    ) -> Result<Vec<Value>, GatewayError> {
        let is_new = |id: &NodeId| before.is_none_or(|w| w.node(id).is_none());
        let open = after.nodes.iter().any(|node| {
            is_new(&node.id())
                && needs(node, self.catalog)
                    .iter()
                    .any(|need| need.id.is_none())
        });
        if !open || !self.backend.can().credentials {
            return Ok(Vec::new());
        }
        match self.backend.credentials().await {
            Ok(list) => Ok(attached(&list, &is_new, after, self.catalog)),
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                Err(self.unavailable(error))
            }
            // For example a key that may not list them: then the user connects them, as without a list.
            Err(_) => Ok(Vec::new()),
        }
    }
}

fn attached(
    list: &[CredentialHead],
    is_new: &dyn Fn(&NodeId) -> bool,
    workflow: &mut Workflow,
    catalog: &Catalog,
) -> Vec<Value> {
    let mut told = Vec::new();
    for node in workflow.nodes.iter_mut() {
        if node.disabled() || !is_new(&node.id()) {
            continue;
        }
        for need in needs(node, catalog).into_iter().filter(|n| n.id.is_none()) {
            let fitting: Vec<&CredentialHead> = list
                .iter()
                .filter(|c| c.credential_type == need.credential_type)
                .collect();
            let name = |c: &CredentialHead| json!({"id": c.id, "name": c.name});
            let label = catalog.credential_label(&need.credential_type);
            let mut entry = Map::new();
            entry.insert("node".into(), json!(need.node));
            entry.insert("type".into(), json!(need.credential_type));
            entry.insert(
                "label".into(),
                json!(label.unwrap_or(&need.credential_type)),
            );
            match fitting.as_slice() {
                [one] => {
                    let mut all = node.credentials().cloned().unwrap_or_default();
                    all.insert(need.credential_type, name(one));
                    node.set("credentials", Value::Object(all));
                    entry.insert("taken".into(), name(one));
                }
                [] => {
                    entry.insert("missing".into(), Value::Bool(true));
                }
                several => {
                    let choice: Vec<Value> = several.iter().map(|c| name(c)).collect();
                    entry.insert("candidates".into(), Value::Array(choice));
                }
            }
            told.push(Value::Object(entry));
        }
    }
    told
}
