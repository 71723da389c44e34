//! Plan → workflow. Pure and deterministic: the same plan and catalog give the same document, ids included.
//! Chooses node types and operations from the catalog, wires them and carries data between them with expressions.
//! Never invents a node type or a parameter; what it cannot know it leaves as a placeholder and says so (`Todo`).

pub(crate) mod agenda;
pub(crate) mod ai;
mod approve;
mod branch;
mod choose;
mod code;
mod collect;
mod cond;
mod crm;
mod data;
mod database;
mod devices;
mod doomed;
mod draft;
mod excel;
pub(crate) mod existing;
mod expr;
mod facts;
mod fields;
mod files;
mod fill;
mod finish;
mod graph;
mod hosts;
mod http;
mod ids;
mod ingest;
mod instant;
mod message;
mod named;
mod notion;
mod paging;
pub(crate) mod place;
mod records;
mod report;
mod required;
pub(crate) mod rewire;
mod roles;
pub(crate) mod schedule;
mod service;
mod sheet;
mod sifted;
mod signal;
mod signals;
mod steps;
mod stores;
mod tools;
mod trigger;
mod verbs;
pub(crate) mod words;

#[cfg(test)]
mod compile_tests;

use serde::Serialize;
use serde_json::{Value, json};

use super::plan::{Plan, Todo};
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;

pub(crate) use choose::is_called;
use draft::Draft;
pub(crate) use finish::reaches_out;
pub(crate) use ids::bare_names;
#[cfg(test)]
pub(crate) use instant::INSTANTS;
#[cfg(test)]
pub(crate) use service::SAID_IN;
#[cfg(test)]
pub(crate) use signals::SIGNALS;

/// A compiled plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    pub workflow: Workflow,
    /// What the user must still fill in: credentials, ids, values.
    pub todo: Vec<Todo>,
    /// Decisions worth knowing.
    pub notes: Vec<String>,
    /// What of the request could not be told when it was compiled: the workflow is a draft where there is any.
    pub gaps: Vec<String>,
    /// What was made of each part of the request that a step is of.
    pub made: Vec<Made>,
}

/// A part of a request, as it stands there, and the names of the nodes that were made of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Made {
    pub said: String,
    pub nodes: Vec<String>,
}

/// Compiles a plan.
pub fn compile(plan: &Plan, catalog: &Catalog) -> Compiled {
    let name = if plan.name.trim().is_empty() {
        "New workflow"
    } else {
        plan.name.trim()
    };
    let mut draft = Draft::new(plan, catalog, name);
    let start = draft.triggers();
    let end = draft.steps(&plan.steps, start);
    draft.finish(end);
    for more in &plan.also {
        draft.plan = more;
        let start = draft.triggers();
        let end = draft.steps(&more.steps, start);
        draft.finish(end);
    }
    if let Some(zone) = &plan.timezone
        && let Some(settings) = draft
            .workflow
            .head
            .get_mut("settings")
            .and_then(Value::as_object_mut)
    {
        settings.insert("timezone".into(), json!(zone));
    }
    Compiled {
        workflow: draft.workflow,
        todo: draft.todo,
        notes: draft.notes,
        gaps: draft.gaps.into_inner(),
        made: draft.made,
    }
}
