//! A backend that can be held in the middle of a call.

use agentctl_base::BoxFuture;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::{
    Backend, BackendAbilities, BackendResult, CredentialHead, EmbeddedBackend, ExecutionHead,
    ExecutionQuery, InstanceCheck, ListQuery, Listing, NodeTypesFile, Stored, TemplateHead,
    TriggerCall, Triggered, VersionHead,
};
use serde_json::Value;
use tokio::sync::Notify;

/// A backend that stops in the middle of listing and of creating until it is let go.
pub struct Gated {
    pub inner: EmbeddedBackend,
    pub reached: Notify,
    pub go: Notify,
}

impl Gated {
    async fn gate(&self) {
        self.reached.notify_one();
        self.go.notified().await;
    }
}

impl Backend for Gated {
    fn name(&self) -> &str {
        "gated"
    }
    fn can(&self) -> BackendAbilities {
        self.inner.can()
    }
    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, BackendResult<Listing>> {
        Box::pin(async move {
            self.gate().await;
            self.inner.list(query).await
        })
    }
    fn resolve<'a>(&'a self, reference: &'a str) -> BoxFuture<'a, BackendResult<WorkflowId>> {
        self.inner.resolve(reference)
    }
    fn get<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<Stored>> {
        self.inner.get(id)
    }
    fn reserve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, BackendResult<Option<WorkflowId>>> {
        self.inner.reserve(name)
    }
    fn create<'a>(
        &'a self,
        id: Option<&'a WorkflowId>,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        Box::pin(async move {
            self.gate().await;
            self.inner.create(id, workflow).await
        })
    }
    fn replace<'a>(
        &'a self,
        id: &'a WorkflowId,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        self.inner.replace(id, workflow)
    }
    fn delete<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<()>> {
        self.inner.delete(id)
    }
    fn versions<'a>(
        &'a self,
        id: &'a WorkflowId,
    ) -> BoxFuture<'a, BackendResult<Vec<VersionHead>>> {
        self.inner.versions(id)
    }
    fn version<'a>(
        &'a self,
        id: &'a WorkflowId,
        version: &'a str,
    ) -> BoxFuture<'a, BackendResult<Workflow>> {
        self.inner.version(id, version)
    }
    fn set_active<'a>(
        &'a self,
        id: &'a WorkflowId,
        active: bool,
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        self.inner.set_active(id, active)
    }
    fn set_tags<'a>(
        &'a self,
        id: &'a WorkflowId,
        tags: &'a [String],
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        self.inner.set_tags(id, tags)
    }
    fn trigger<'a>(
        &'a self,
        id: &'a WorkflowId,
        call: &'a TriggerCall,
    ) -> BoxFuture<'a, BackendResult<Triggered>> {
        self.inner.trigger(id, call)
    }
    fn executions<'a>(
        &'a self,
        query: &'a ExecutionQuery,
    ) -> BoxFuture<'a, BackendResult<Vec<ExecutionHead>>> {
        self.inner.executions(query)
    }
    fn execution<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Value>> {
        self.inner.execution(id)
    }
    fn search_templates<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, BackendResult<Vec<TemplateHead>>> {
        self.inner.search_templates(query, limit)
    }
    fn template<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Workflow>> {
        self.inner.template(id)
    }
    fn credentials(&self) -> BoxFuture<'_, BackendResult<Vec<CredentialHead>>> {
        self.inner.credentials()
    }
    fn node_types(&self) -> BoxFuture<'_, BackendResult<NodeTypesFile>> {
        self.inner.node_types()
    }
    fn check(&self) -> BoxFuture<'_, Vec<InstanceCheck>> {
        self.inner.check()
    }
}
