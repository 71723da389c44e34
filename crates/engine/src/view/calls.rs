//! Calls of models and tools, each with its one answer or result.

use super::Point;
use crate::{
    store::{
        Event, Shared,
        event::{Change, StepPath},
    },
    toolset::is_unreachable,
};
use agentctl_base::{
    canonical::{canonical, sha256_hex},
    model::{ModelAnswer, ToolCall, ToolResult, Usage},
};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One attempt to have a model answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub step: StepPath,
    pub turn: u32,
    /// As it was asked; empty when no record says which.
    pub model: String,
    /// The stage in which it was answered; None: the flow's first.
    pub stage: Option<String>,
    pub asked: Option<Point>,
    /// None: it failed, or was cut off.
    pub answered: Option<Point>,
    pub usage: Option<Usage>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub step: StepPath,
    pub role: String,
    /// Among the calls of its step.
    pub id: String,
    pub tool: String,
    /// The stage in which its result came; None: the flow's first.
    pub stage: Option<String>,
    /// None: it was refused before anything was meant to be done.
    pub intent: Option<Intent>,
    /// None: it was cut off, and not settled yet.
    pub result: Option<Returned>,
}

/// What was about to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    pub at: Point,
    /// As the model wrote it.
    pub call: Shared<ToolCall>,
    pub mutates: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Returned {
    pub at: Point,
    pub result: Shared<ToolResult>,
    pub change: Option<Box<Change>>,
}

impl Call {
    /// Its arguments; null when there are none, or when they are no JSON.
    pub fn arguments(&self) -> Value {
        let text = self.intent.as_ref().map(|intent| &intent.call.arguments);
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    pub fn mutates(&self) -> bool {
        self.intent.as_ref().is_some_and(|intent| intent.mutates)
    }
}

/// What already happened in a step that is not finished.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// Answers by turn.
    pub answers: BTreeMap<u32, Shared<ModelAnswer>>,
    /// The calls that were begun, by their ids.
    pub begun: IndexMap<String, Begun>,
    /// Results by call id, in the order they came.
    pub results: IndexMap<String, Shared<ToolResult>>,
    /// By turn: the calls whose results were shortened before it.
    pub shortened: BTreeMap<u32, Vec<String>>,
    /// The tools that the step does not offer, once that was settled.
    pub left_out: Option<Vec<String>>,
    /// The step's patch, when it was taken but the step not yet finished: it must not be applied twice.
    pub patched: Option<Map<String, Value>>,
}

/// A call that was begun: by the last of its intents.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    pub mutates: bool,
    /// The `ToolIntent` event; None: it is known what became of the call.
    pub intent: Option<Box<Event>>,
}

impl Trace {
    /// Changes that were begun and have no result, or only one which says that what they left could not be read.
    pub fn unsettled(&self) -> impl Iterator<Item = &Event> {
        let unknown = |id: &str| self.results.get(id).is_none_or(|of| is_unreachable(of));
        let begun = self.begun.iter();
        let begun = begun.filter(move |(id, begun)| begun.mutates && unknown(id));
        begun.filter_map(|(_, begun)| begun.intent.as_deref())
    }

    /// Takes a result in, and gives back the call that it is of, if that was begun and had none yet.
    pub(super) fn take(&mut self, result: &Shared<ToolResult>) -> Option<Shared<ToolCall>> {
        self.results
            .insert(result.call_id.clone(), Shared::clone(result));
        let begun = self.begun.get_mut(&result.call_id)?;
        let Some(Event::ToolIntent { call, .. }) = begun.intent.as_deref() else {
            return None;
        };
        let call = Shared::clone(call);
        if !is_unreachable(result) {
            begun.intent = None;
        }
        Some(call)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    pub tool: String,
    pub times: u64,
}

/// How often the same call came back with the same result, in the whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Repeats {
    /// By a hash of tool, arguments and result.
    times: BTreeMap<String, u64>,
}

impl Repeats {
    /// Counts one more. Gives how often it came so far.
    pub fn count(&mut self, tool: &str, arguments: &str, content: &Value) -> u64 {
        let arguments = serde_json::from_str::<Value>(arguments)
            .map_or_else(|_| arguments.to_owned(), |value| canonical(&value));
        let key = [tool, &arguments, &canonical(content)].join("\n");
        let times = self.times.entry(sha256_hex(key.as_bytes())).or_default();
        *times += 1;
        *times
    }
}
