//! The n8n port: one trait with typed operations, typed answers and typed errors. What stands behind it (files in the
//! project, an n8n through MCP) is not visible above this floor.
//! A backend decides nothing: who may do what, and whether an edit is safe, is settled before it is called.

mod address;
mod choice;
mod document;
mod embedded;
mod live;
mod slug;
mod types;

pub use agentctl_engine::toolset::{BackendError, BackendErrorKind, BackendResult, Forgotten};
pub use choice::{BackendName, Choice, ChoiceError, Offered, Target, choose, choose_rest, is_idle};
pub use embedded::EmbeddedBackend;
pub use live::{LiveBackend, RestTarget, release_at};
pub use slug::slug;
pub use types::{
    AbilityWord, BackendAbilities, BrokenFile, CredentialHead, ExecutionHead, ExecutionQuery,
    InstanceCheck, ListQuery, Listed, Listing, NodeTypesFile, ServerVerdict, Stored, TemplateHead,
    TriggerCall, Triggered, VersionHead,
};

use agentctl_base::BoxFuture;
use agentctl_n8n::todo_note::Item;
use agentctl_n8n::{Workflow, WorkflowId};
use serde_json::Value;

/// One n8n, or something that keeps workflows for one.
pub trait Backend: Send + Sync {
    /// For messages and reports, e.g. `embedded`.
    fn name(&self) -> &str;
    fn can(&self) -> BackendAbilities;
    /// The address of the n8n that it works on; None: the project's own files. A run belongs to one place.
    fn place(&self) -> Option<&str> {
        None
    }

    /// Removes what a killed process of ours left half written. For who holds the project's lock, so that nobody is writing.
    fn tidy(&self) -> BackendResult<()> {
        Ok(())
    }

    /// One page; `Listing::next` goes on. Archived workflows are not shown.
    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, BackendResult<Listing>>;
    /// The id of the workflow that the text means: an id, or (where the backend keeps files) a path inside the project.
    /// The workflow need not exist; a text that can never be one is `Rejected`.
    fn resolve<'a>(&'a self, reference: &'a str) -> BoxFuture<'a, BackendResult<WorkflowId>>;
    fn get<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<Stored>>;
    /// The id that a new workflow of this name will have. None: the backend chooses it while it creates.
    fn reserve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, BackendResult<Option<WorkflowId>>>;
    /// Creates; never overwrites. `id` is what `reserve` said.
    fn create<'a>(
        &'a self,
        id: Option<&'a WorkflowId>,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>>;
    /// Replaces the whole document. The state before is kept as a version where the backend can.
    fn replace<'a>(
        &'a self,
        id: &'a WorkflowId,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>>;
    fn delete<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<()>>;

    fn versions<'a>(&'a self, id: &'a WorkflowId)
    -> BoxFuture<'a, BackendResult<Vec<VersionHead>>>;
    /// Removes the versions of these graphs that are kept in the project; `really` false: only says what that would be. A backend
    /// that keeps none there has none to remove.
    fn forget_versions(
        &self,
        _id: &WorkflowId,
        _graph_hashes: &[String],
        _really: bool,
    ) -> BackendResult<Forgotten> {
        Ok(Forgotten::default())
    }
    fn version<'a>(
        &'a self,
        id: &'a WorkflowId,
        version: &'a str,
    ) -> BoxFuture<'a, BackendResult<Workflow>>;

    fn set_active<'a>(
        &'a self,
        id: &'a WorkflowId,
        active: bool,
    ) -> BoxFuture<'a, BackendResult<Stored>>;
    /// Replaces the workflow's tags; one that does not exist yet is made.
    fn set_tags<'a>(
        &'a self,
        id: &'a WorkflowId,
        tags: &'a [String],
    ) -> BoxFuture<'a, BackendResult<Stored>>;
    /// Takes a tag away that no workflow carries any more. A backend that keeps none has none to take away.
    fn forget_tag<'a>(&'a self, _name: &'a str) -> BoxFuture<'a, BackendResult<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
    /// Makes the note beside the workflow say just these; none of them: it has no note. `note_id` is for a new one. A backend that keeps
    /// files writes none.
    fn note_todo<'a>(
        &'a self,
        _id: &'a WorkflowId,
        _todo: &'a [Item],
        _note_id: &'a str,
    ) -> BoxFuture<'a, BackendResult<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
    /// Calls the trigger from outside, once, as a user of the workflow would. The backend makes the address of the call itself.
    /// The workflow must be active.
    fn trigger<'a>(
        &'a self,
        id: &'a WorkflowId,
        call: &'a TriggerCall,
    ) -> BoxFuture<'a, BackendResult<Triggered>>;
    /// Newest first.
    fn executions<'a>(
        &'a self,
        query: &'a ExecutionQuery,
    ) -> BoxFuture<'a, BackendResult<Vec<ExecutionHead>>>;
    /// One execution with its data.
    fn execution<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Value>>;

    fn search_templates<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, BackendResult<Vec<TemplateHead>>>;
    fn template<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Workflow>>;

    /// Names and types of the credentials that exist; never what is in them.
    fn credentials(&self) -> BoxFuture<'_, BackendResult<Vec<CredentialHead>>>;
    /// The workflows that are published, whole; None: it cannot be asked for them at once.
    fn active(&self) -> BoxFuture<'_, BackendResult<Option<Vec<Stored>>>> {
        Box::pin(std::future::ready(Ok(None)))
    }
    /// The node types that this n8n has, as n8n publishes them: what `catalog sync` reads.
    fn node_types(&self) -> BoxFuture<'_, BackendResult<NodeTypesFile>>;
    /// n8n's own release, e.g. `2.22.6`; None: no n8n stands behind it, or it does not tell.
    fn release(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(std::future::ready(None))
    }
    /// What the server behind it finds wrong with the workflow; None: it has no opinion. Beside our own check, never instead of it.
    fn server_verdict<'a>(
        &'a self,
        _id: &'a WorkflowId,
    ) -> BoxFuture<'a, BackendResult<Option<ServerVerdict>>> {
        Box::pin(std::future::ready(Ok(None)))
    }
    /// Whether it is there, which version it is, whether it takes our key: one line each, for `doctor`. Reads only.
    fn check(&self) -> BoxFuture<'_, Vec<InstanceCheck>>;
    /// Lets go of servers that were started. What comes after starts them again.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// All pages of a listing, up to a bound that no n8n in use comes near.
pub async fn list_all(backend: &dyn Backend, query: &ListQuery) -> BackendResult<Listing> {
    const MAX: usize = 20_000;
    let mut query = query.clone();
    let mut all = Listing::default();
    loop {
        let page = backend.list(&query).await?;
        all.workflows.extend(page.workflows);
        all.broken.extend(page.broken);
        match page.next {
            Some(next) if all.workflows.len() < MAX && query.cursor.as_ref() != Some(&next) => {
                query.cursor = Some(next);
            }
            Some(_) => {
                return Err(BackendError::rejected(format!(
                    "the list of workflows does not end within {MAX}"
                ))
                .with_hint("narrow it by name or tag"));
            }
            None => return Ok(all),
        }
    }
}

#[cfg(test)]
mod choice_tests;
#[cfg(test)]
mod embedded_tests;
