//! The tools of n8n: read, check, change, test and take back workflows. One file a tool: its arguments with their schema, what a
//! role must be granted for it, and what it does. What a change has to pass stands in `guards`.

mod accounts;
mod activate_workflow;
mod autofix_workflow;
mod base;
mod check_workflow;
mod content;
mod create_workflow;
mod created;
mod deactivate_workflow;
mod delete_workflow;
mod findings;
mod get_execution;
mod get_node;
mod get_template;
mod get_workflow;
mod list_executions;
mod list_versions;
mod list_workflows;
mod memory;
mod perform;
mod push;
mod rehearsal;
mod rehearse_workflow;
mod replace;
mod rollback_workflow;
mod scope;
mod search_nodes;
mod search_templates;
mod settle;
mod shown;
mod trigger_workflow;
mod update_workflow;
mod validate_workflow;

pub use memory::{ACCOUNTS, LET_ACT, N8nMemory, TEST_HOSTS, Validation, WORKFLOW, memory};
pub use push::Push;
pub use settle::{Settlement, judge};

use crate::accepted::Accepted;
use crate::backend::{Backend, BackendError, BackendErrorKind, Stored};
use crate::guards;
use crate::noted::REHEARSAL_SIGN;
use crate::tool::{Table, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_engine::guards::Memory;
use agentctl_engine::store::Event;
use agentctl_engine::store::event::Change as Changed;
use agentctl_engine::toolset::{
    Cx, Fault, Head, Leftover, Outcome, Parsed, Reserved, ResourceId, ResourceMark, Resources,
    Settling, Toolset, backend_failure,
};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::rehearsal::Hosts;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What the tools work on.
pub struct N8n {
    backend: Arc<dyn Backend>,
    catalog: &'static Catalog,
    accepted: Option<Arc<dyn Accepted>>,
    test_hosts: Hosts,
}

impl N8n {
    pub fn new(backend: Arc<dyn Backend>, catalog: &'static Catalog) -> Self {
        N8n {
            backend,
            catalog,
            accepted: None,
            test_hosts: Hosts::default(),
        }
    }

    /// Hosts that a test may read by itself: the user's own list, never a project's.
    #[must_use]
    pub fn with_test_hosts(mut self, hosts: Hosts) -> Self {
        self.test_hosts = hosts;
        self
    }

    /// Counts losses from the state that a person accepted last. Without it each run counts from how it found a workflow.
    #[must_use]
    pub fn with_accepted(mut self, accepted: Arc<dyn Accepted>) -> Self {
        self.accepted = Some(accepted);
        self
    }

    pub fn backend(&self) -> &dyn Backend {
        self.backend.as_ref()
    }
    pub fn accepted(&self) -> Option<&dyn Accepted> {
        self.accepted.as_deref()
    }

    fn unavailable(&self, error: BackendError) -> Fault {
        Fault::Backend {
            backend: self.backend.name().to_owned(),
            error,
        }
    }

    /// The workflow that a text of the model names.
    async fn stored(&self, reference: &str) -> Result<Stored, BackendError> {
        let id = self.backend.resolve(reference).await?;
        self.backend.get(&id).await
    }

    /// The same for a change. An inner Err is the call's result.
    async fn current(&self, reference: &str) -> Result<Result<Stored, Outcome>, Fault> {
        match self.stored(reference).await {
            Ok(stored) => Ok(Ok(stored)),
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                Err(self.unavailable(error))
            }
            Err(error) => Ok(Err(Outcome::Failed(backend_failure(&error)))),
        }
    }

    /// Said before anybody is asked for permission: there is nothing to permit.
    fn unable(&self, what: &str) -> Outcome {
        let error = BackendError::unsupported(format!(
            "the {} backend cannot {what}: not executed",
            self.backend.name()
        ))
        .with_hint(
            "report it as not executed; import the file into n8n, or connect one, to run it",
        );
        Outcome::Failed(backend_failure(&error))
    }
}

/// Every tool, sorted by name. What is not in this list is no tool.
fn table() -> Vec<Tool<N8n>> {
    vec![
        activate_workflow::tool(),
        autofix_workflow::tool(),
        check_workflow::tool(),
        create_workflow::tool(),
        deactivate_workflow::tool(),
        delete_workflow::tool(),
        get_execution::tool(),
        get_node::tool(),
        get_template::tool(),
        get_workflow::tool(),
        list_executions::tool(),
        list_versions::tool(),
        list_workflows::tool(),
        rehearse_workflow::tool(),
        rollback_workflow::tool(),
        search_nodes::tool(),
        search_templates::tool(),
        trigger_workflow::tool(),
        update_workflow::tool(),
        validate_workflow::tool(),
    ]
}

/// The tools of n8n, on one n8n (or on files).
pub struct N8nTools {
    n8n: Arc<N8n>,
    table: Table<N8n>,
}

impl N8nTools {
    pub fn new(n8n: N8n) -> Self {
        N8nTools {
            n8n: Arc::new(n8n),
            table: Table::new(table()),
        }
    }

    pub fn n8n(&self) -> &Arc<N8n> {
        &self.n8n
    }
}

/// What policies, packs and clients are told of the tools, without an n8n.
pub fn heads() -> Vec<Head> {
    Table::new(table()).heads
}

impl Toolset for N8nTools {
    fn backend(&self) -> &str {
        self.n8n.backend.name()
    }
    fn tools(&self) -> &[Head] {
        &self.table.heads
    }
    fn parse(&self, tool: &str, args: Map<String, Value>) -> Result<Parsed, String> {
        self.table.parse(&self.n8n, tool, args)
    }
    fn memory(&self) -> Option<Box<dyn Memory>> {
        Some(Box::new(N8nMemory::default()))
    }
    fn resources(&self) -> Option<&dyn Resources> {
        Some(self.n8n.as_ref())
    }
    fn hint(&self, rule: &str) -> Option<&'static str> {
        guards::hint(rule)
    }
    fn settle<'a>(
        &'a self,
        cx: &'a mut Cx<'_>,
        intent: &'a Event,
    ) -> BoxFuture<'a, Result<Settling, Fault>> {
        Box::pin(self.n8n.settle(cx, intent))
    }
    fn settled<'a>(
        &'a self,
        intent: &'a Event,
        change: &'a Changed,
        now: jiff::Timestamp,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(self.n8n.settled(intent, change, now))
    }
    fn leaves(&self, intent: &Event) -> Option<Leftover> {
        let (_, left) = settle::left(intent).filter(|_| self.n8n.backend.can().execute)?;
        Some(Leftover {
            during: format!("a test of {:?}", left.copy),
            what: "what it put on the n8n".to_owned(),
        })
    }
    fn leaves_sign(&self) -> Option<&'static str> {
        Some(REHEARSAL_SIGN)
    }
    fn clear<'a>(&'a self, intent: &'a Event) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            match settle::left(intent) {
                Some((id, left)) => self.n8n.clear_rehearsal(&id, &left).await,
                None => Ok(()),
            }
        })
    }
}

/// A workflow, as the engine names it.
fn resource(id: &agentctl_n8n::WorkflowId) -> ResourceId {
    ResourceId::new(guards::KIND, id.0.as_str())
}

/// A workflow in the state in which it was read.
fn mark(at: &Stored) -> ResourceMark {
    ResourceMark {
        resource: resource(&at.id),
        revision: at.graph_hash.clone(),
        size: at.workflow.nodes.len(),
    }
}

/// An approval's subject: the exact call on the workflow as it is now.
fn bound(exact: &Value, at: &Stored) -> Value {
    json!({"call": exact, "workflow": at.id, "graph": at.graph_hash})
}

fn reserve(decision: Decision, before: &Stored, verb: &str, exact: &Value) -> Reserved {
    Reserved::new(decision, || {
        let what = format!("{verb} the workflow {:?}", before.workflow.name());
        (what, bound(exact, before))
    })
}

#[cfg(test)]
mod tools_tests;
