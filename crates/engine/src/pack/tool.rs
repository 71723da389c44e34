//! A tool that a pack's file declares, as the program knows it.

use crate::condition::Condition;
use crate::vocabulary::{DeclaredName, Does};
use agentctl_base::yaml::Place;
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;

/// The kind of a tool that is a flow.
pub(super) const FLOW: &str = "flow";

/// A tool that a pack's file declares.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredTool {
    /// The name of its folder; what models, policies and flows call it.
    pub id: &'static str,
    pub name: String,
    pub description: String,
    pub category: String,
    pub keywords: Vec<String>,
    /// What a call does, as verbs, for the guard of replies; none: its name and description say it.
    pub acts: Vec<String>,
    /// JSON Schema of what a model says with a call.
    pub parameters: Arc<Value>,
    pub output_schema: Option<Value>,
    pub examples: Vec<Value>,
    pub kind: ToolKind,
    /// What the program fills in of each call, out of the flow that the caller works in. No model sees or sets these.
    pub bind: IndexMap<String, Condition>,
    /// False: a call changes nothing, so it may be made again. What the file does not say changes something.
    pub changes: bool,
    /// Over `args`: a call that changes nothing all the same.
    pub reads_when: Option<Condition>,
    pub requires: Option<Requires>,
    pub limits: ToolLimits,
    /// How long the answer to a call that changes nothing is kept, for the same arguments and the same bound values.
    pub cache_s: Option<u64>,
    /// What it answers where the real one is not used.
    pub mock: Option<Value>,
    /// What people are told of it, from `README.md` beside it. No model sees it.
    pub readme: Option<String>,
    /// Calls with what must come of each, from `tests.yaml` beside it: `{name, args, bind, after, expect}`. A run reads none of them.
    pub tests: Vec<Value>,
    /// How messages call its file.
    pub file: String,
    pub place: Place,
}

/// What must have happened before a call: a successful call of another tool in the same flow, with the same bound values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requires {
    pub tool: String,
    /// The argument that must be an id among what that call listed.
    pub id: Option<String>,
    /// The argument that must fit the schema that was listed with the id.
    pub parameters: Option<String>,
}

/// What one call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolLimits {
    pub timeout_s: u64,
    /// Of an answer.
    pub max_bytes: u64,
    /// Of a call that changes nothing.
    pub retries: u64,
    /// Calls in a minute; None: as many as the run's limits allow.
    pub per_minute: Option<u64>,
}

impl Default for ToolLimits {
    fn default() -> Self {
        ToolLimits {
            timeout_s: 30,
            max_bytes: 1024 * 1024,
            retries: 2,
            per_minute: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum ToolKind {
    /// A flow of the pack: an agent that calls it has others work.
    Flow { flow: String },
    /// A kind that a toolset brings, with what the file says of it.
    Other { name: &'static str, section: Value },
}

impl ToolKind {
    pub fn name(&self) -> &'static str {
        match self {
            ToolKind::Flow { .. } => FLOW,
            ToolKind::Other { name, .. } => name,
        }
    }
}

impl DeclaredTool {
    /// What a model is told of it: the description and, on a line of their own, the keywords.
    pub fn told(&self) -> String {
        let description = self.description.trim();
        match self.keywords.as_slice() {
            [] => description.to_owned(),
            keywords => format!("{description}\nKeywords: {}", keywords.join(", ")),
        }
    }

    /// How far the harm of a call goes; that of a flow is that of its own calls.
    fn does(&self) -> Does {
        match (&self.kind, self.changes) {
            (ToolKind::Flow { .. }, _) => Does::Read,
            (_, true) => Does::Change,
            (_, false) => Does::Egress,
        }
    }

    pub(super) fn declared(&self) -> DeclaredName {
        let properties = self.parameters.get("properties").and_then(Value::as_object);
        DeclaredName {
            name: self.id,
            does: self.does(),
            is_flow: matches!(self.kind, ToolKind::Flow { .. }),
            takes: properties
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
                .collect(),
            bound: self.bind.keys().cloned().collect(),
        }
    }
}
