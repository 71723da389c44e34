//! The tools of n8n: read, check, change, test and take back workflows. One file a tool: its arguments with their schema, what a
//! role must be granted for it, and what it does. What a change has to pass stands in `guards`.

mod accounts;
mod activate_workflow;
mod add_nodes;
mod autofix_workflow;
mod base;
mod check_nodes;
mod check_workflow;
mod connect_nodes;
mod content;
mod create_workflow;
mod created;
mod deactivate_workflow;
mod delete_workflow;
mod draft_workflow;
mod edit;
mod edit_structure;
mod findings;
mod get_execution;
mod get_node;
mod get_node_parameter;
mod get_template;
mod get_workflow;
mod glance;
mod list_executions;
mod list_versions;
mod list_workflows;
mod memory;
mod n8n;
mod named;
mod new_workflow;
mod note_todo;
mod perform;
mod push;
mod qa_workflows;
mod rehearsal;
mod rehearse_workflow;
mod remove_connection;
mod remove_node;
mod replace;
mod restore_workflow;
mod rollback_workflow;
mod scope;
mod search_nodes;
mod search_templates;
mod settle;
mod show_workflow;
mod shown;
mod superseded;
mod trigger_workflow;
mod uncovered;
mod update_node_parameters;
mod update_workflow;
mod validate_half;
mod validate_workflow;

pub use activate_workflow::Published;
pub use glance::glance_at;
pub use memory::{
    ACCOUNTS, ASKED_ANSWER, ASKED_CASES, CASES, LET_ACT, N8nMemory, REQUIREMENTS, TEST_HOSTS,
    Validation, WORKFLOW, memory,
};
pub use n8n::N8n;
pub use named::names;
pub use push::Push;
pub use rehearse_workflow::Tried;
pub use settle::{Settlement, judge};
pub(crate) use uncovered::{NO_CASE, NO_CASE_OF, OPEN_BECAUSE};

use crate::guards;
use crate::noted::REHEARSAL_SIGN;
use crate::tool::{Table, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::guards::Memory;
use agentctl_engine::store::Event;
use agentctl_engine::store::event::Change as Changed;
use agentctl_engine::toolset::{Cx, Fault, Head, Leftover, Parsed, Resources, Settling, Toolset};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Every tool, sorted by name. What is not in this list is no tool.
fn table() -> Vec<Tool<N8n>> {
    vec![
        activate_workflow::tool(),
        add_nodes::tool(),
        autofix_workflow::tool(),
        check_nodes::tool(),
        check_workflow::tool(),
        connect_nodes::tool(),
        create_workflow::tool(),
        deactivate_workflow::tool(),
        delete_workflow::tool(),
        draft_workflow::tool(),
        edit_structure::tool(),
        get_execution::tool(),
        get_node::tool(),
        get_node_parameter::tool(),
        get_template::tool(),
        get_workflow::tool(),
        list_executions::tool(),
        list_versions::tool(),
        list_workflows::tool(),
        new_workflow::tool(),
        qa_workflows::tool(),
        rehearse_workflow::tool(),
        remove_connection::tool(),
        remove_node::tool(),
        restore_workflow::tool(),
        note_todo::tool(),
        rollback_workflow::tool(),
        search_nodes::tool(),
        search_templates::tool(),
        show_workflow::tool(),
        trigger_workflow::tool(),
        update_node_parameters::tool(),
        update_workflow::tool(),
        validate_half::configuration(),
        validate_half::structure(),
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
    fn serves(&self, tool: &str) -> bool {
        let can = self.n8n.backend.can();
        match tool {
            "rehearse_workflow" => can.execute && can.activate,
            "trigger_workflow" | "list_executions" | "get_execution" => can.execute,
            "activate_workflow" | "deactivate_workflow" => can.activate,
            "search_templates" | "get_template" => can.templates,
            _ => true,
        }
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
            during: "a test",
            named: format!("a test of {:?}", left.copy),
            left: "what it put on the n8n",
            left_named: format!("its copy {:?}", left.copy),
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

#[cfg(test)]
mod tools_tests;
