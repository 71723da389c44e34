//! What a run must remember of its calls' results: which ids a list of tools had, with the schema of each, and in which flow (a call of
//! what was not listed there is refused before anything is sent); and what the web gave, which claims may name.

use crate::web;
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::guards::{Memory, ResourceLog};
use agentctl_engine::store::Event;
use agentctl_evidence::Document;
use serde_json::Value;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

/// The flow that a step stands in, by the path of the step that called it.
fn flow_of(step: &str) -> &str {
    step.rsplit_once('/').map_or("", |(flow, _)| flow)
}

/// The ids that a list of tools holds, with the schema of each.
pub(crate) fn ids(content: &Value) -> BTreeMap<String, Value> {
    let tools = content.get("tools").and_then(Value::as_array);
    let ids = tools.into_iter().flatten().filter_map(|tool| {
        let id = tool.get("id")?.as_str()?;
        let parameters = tool.get("parameters").cloned().unwrap_or_default();
        Some((id.to_owned(), parameters))
    });
    ids.collect()
}

#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The tools whose results are asked for later.
    of: BTreeSet<String>,
    /// By flow and tool: id → schema.
    listed: BTreeMap<(String, String), BTreeMap<String, Value>>,
    /// What the web gave, by name.
    found: BTreeMap<String, Document>,
}

impl Seen {
    pub fn of(tools: impl IntoIterator<Item = String>) -> Seen {
        Seen {
            of: tools.into_iter().collect(),
            ..Seen::default()
        }
    }

    /// What the web gave in this run.
    pub fn found(&self) -> Vec<Document> {
        self.found.values().cloned().collect()
    }

    /// What the last successful call of the tool in the flow of this step listed; None: there was none.
    pub fn listed(&self, step: &str, tool: &str) -> Option<&BTreeMap<String, Value>> {
        self.listed
            .get(&(flow_of(step).to_owned(), tool.to_owned()))
    }
}

impl Memory for Seen {
    fn observe(&mut self, event: &Event, _: &ResourceLog) {
        let Event::ToolFinished { step, result, .. } = event else {
            return;
        };
        if result.status != ToolStatus::Ok {
            return;
        }
        for document in web::documents_of(&result.content) {
            self.found.insert(document.doc.clone(), document);
        }
        if !self.of.contains(&result.name) {
            return;
        }
        let key = (flow_of(step).to_owned(), result.name.clone());
        self.listed.insert(key, ids(&result.content));
    }
    fn seen(&self, _: &ToolResult) -> Option<(String, String)> {
        None
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
