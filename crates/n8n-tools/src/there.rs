//! What the connected n8n has that a workflow depends on, asked for once for each check.

use crate::backend::{Backend, BackendErrorKind, BackendResult, Stored};
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::validate::There;

const WEBHOOK: &str = "n8n-nodes-base.webhook";

/// What these workflows depend on. An n8n that lists no credentials, or no published workflows, says nothing of them.
///
/// # Errors
/// When the n8n does not answer.
pub async fn there(
    backend: &dyn Backend,
    workflows: &[&Workflow],
    catalog: &Catalog,
) -> BackendResult<There> {
    let nodes = || workflows.iter().flat_map(|workflow| &workflow.nodes);
    let mut there = There::default();
    let hooks = nodes().any(|node| node.node_type() == WEBHOOK);
    let accounts = nodes().any(|node| node.credentials().is_some_and(|c| !c.is_empty()));
    if hooks && let Some(active) = backend.active().await? {
        for Stored { id, workflow, .. } in &active {
            there.hold(&id.0, workflow, catalog);
        }
    }
    if accounts && backend.place().is_some() {
        there.credentials = match backend.credentials().await {
            Ok(heads) => {
                let heads = heads.into_iter();
                Some(heads.map(|head| (head.credential_type, head.id)).collect())
            }
            Err(e) if e.kind == BackendErrorKind::Unavailable => return Err(e),
            Err(_) => None,
        };
    }
    Ok(there)
}
