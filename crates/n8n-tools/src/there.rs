//! What the connected n8n has that a workflow depends on, asked for once for each check.

use crate::backend::{Backend, BackendResult, Stored};
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::validate::There;

const WEBHOOK: &str = "n8n-nodes-base.webhook";

/// What these workflows depend on, and what of it the n8n does not tell (a key that may not list its credentials): nothing is said of that.
///
/// # Errors
/// When the n8n does not answer.
pub async fn there(
    backend: &dyn Backend,
    workflows: &[&Workflow],
    catalog: &Catalog,
) -> BackendResult<(There, Vec<String>)> {
    let nodes = || workflows.iter().flat_map(|workflow| &workflow.nodes);
    let (mut there, mut not_told) = (There::default(), Vec::new());
    let hooks = nodes().any(|node| node.node_type() == WEBHOOK);
    let accounts = nodes().any(|node| node.credentials().is_some_and(|c| !c.is_empty()));
    if hooks {
        match backend.active().await {
            Ok(active) => {
                for Stored { id, workflow, .. } in active.iter().flatten() {
                    there.hold(&id.0, workflow, catalog);
                }
            }
            Err(e) if e.is_of_this_alone() => {
                not_told.push(format!(
                    "which addresses other workflows hold is not known: {e}"
                ));
            }
            Err(e) => return Err(e),
        }
    }
    if accounts && backend.place().is_some() {
        there.credentials = match backend.credentials().await {
            Ok(heads) => {
                let heads = heads.into_iter();
                Some(heads.map(|head| (head.credential_type, head.id)).collect())
            }
            Err(e) if e.is_of_this_alone() => {
                not_told.push(format!("which credentials there are is not known: {e}"));
                None
            }
            Err(e) => return Err(e),
        };
    }
    Ok((there, not_told))
}
