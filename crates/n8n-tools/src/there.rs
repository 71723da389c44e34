//! What the connected n8n has that a workflow depends on, asked for once for each check.

use crate::backend::{Backend, BackendResult, CredentialHead, Stored};
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::validate::There;
use std::collections::BTreeSet;

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
        let what = "which addresses other workflows hold";
        let active = unless_told(backend.active().await, what, &mut not_told)?;
        for Stored { id, workflow, .. } in active.iter().flatten().flatten() {
            there.hold(&id.0, workflow, catalog);
        }
    }
    if accounts && backend.place().is_some() {
        there.credentials = credential_ids(backend, &mut not_told).await?;
    }
    Ok((there, not_told))
}

/// Type and id of what the n8n has; None: it does not tell, and `notes` say so.
pub(crate) async fn credential_ids(
    backend: &dyn Backend,
    notes: &mut Vec<String>,
) -> BackendResult<Option<BTreeSet<(String, String)>>> {
    let what = "which credentials there are";
    let heads = unless_told(backend.credentials().await, what, notes)?;
    let ids = |heads: Vec<CredentialHead>| {
        let heads = heads.into_iter();
        heads.map(|head| (head.credential_type, head.id)).collect()
    };
    Ok(heads.map(ids))
}

/// None: the n8n does not tell this alone, and `notes` say so. `what`: of what it was asked, in words.
fn unless_told<T>(
    asked: BackendResult<T>,
    what: &str,
    notes: &mut Vec<String>,
) -> BackendResult<Option<T>> {
    match asked {
        Ok(told) => Ok(Some(told)),
        Err(e) if e.is_of_this_alone() => {
            notes.push(format!("{what} is not known: {e}"));
            Ok(None)
        }
        Err(e) => Err(e),
    }
}
