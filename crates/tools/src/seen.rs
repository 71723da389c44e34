//! What a run must remember of lists of tools: which ids a call listed, with the schema of each, and in which flow. A call of what was
//! not listed there is refused before anything is sent.

use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::guards::{Memory, ResourceLog};
use agentctl_engine::store::Event;
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
}

impl Seen {
    pub fn of(tools: impl IntoIterator<Item = String>) -> Seen {
        Seen {
            of: tools.into_iter().collect(),
            listed: BTreeMap::new(),
        }
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
        if result.status != ToolStatus::Ok || !self.of.contains(&result.name) {
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
