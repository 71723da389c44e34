//! The calls that a run has made, as a decision on the next one knows them.

use super::leaf::{Leaf, leaves};
use super::program::Program;
use crate::store::Shared;
use crate::vocabulary::{Carries, Does};
use agentctl_base::foreign::split_foreign;
use agentctl_base::model::{ToolCall, ToolResult, ToolStatus};
use agentctl_base::strict_json;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A call of this run that has its result.
#[derive(Debug)]
pub struct PastCall {
    pub tool: String,
    pub role: String,
    pub status: ToolStatus,
    /// The rule that decided it.
    pub rule: String,
    /// Where it is said; else the worst that its rule may let pass.
    pub(super) does: Option<Does>,
    /// Keys of its arguments that are data.
    pub(super) keys: BTreeSet<String>,
    /// As they were journaled; None: an example of a rule, of which all is known.
    journaled: Option<(Shared<ToolCall>, Shared<ToolResult>)>,
    /// Both are made when somebody asks: for most calls nobody ever does.
    args: OnceLock<Value>,
    result: OnceLock<Value>,
    leaves: OnceLock<Vec<Leaf>>,
    pub(super) origin: OnceLock<String>,
}

impl PastCall {
    /// A call as it was journaled. `rule`: the one that decided it.
    pub fn of(call: Shared<ToolCall>, role: &str, rule: &str, result: Shared<ToolResult>) -> Self {
        PastCall {
            rule: rule.to_owned(),
            journaled: Some((Shared::clone(&call), Shared::clone(&result))),
            ..PastCall::empty(&call.name, role, result.status)
        }
    }

    fn empty(tool: &str, role: &str, status: ToolStatus) -> Self {
        PastCall {
            tool: tool.to_owned(),
            role: role.to_owned(),
            status,
            rule: String::new(),
            does: None,
            keys: BTreeSet::new(),
            journaled: None,
            args: OnceLock::new(),
            result: OnceLock::new(),
            leaves: OnceLock::new(),
            origin: OnceLock::new(),
        }
    }

    /// Its arguments; an empty object when they are none.
    pub fn args(&self) -> &Value {
        self.args.get_or_init(|| {
            let text = self.journaled.as_ref().map(|(call, _)| &call.arguments);
            let args = text.and_then(|text| strict_json::object(text).ok());
            Value::Object(args.unwrap_or_default())
        })
    }

    /// What it gave back; null unless it was ok.
    pub fn result(&self) -> &Value {
        match &self.journaled {
            _ if self.status != ToolStatus::Ok => &Value::Null,
            Some((_, result)) if split_foreign(&self.tool).is_none() => &result.content,
            Some((_, result)) => self.result.get_or_init(|| answer(&result.content)),
            None => self.result.get().unwrap_or(&Value::Null),
        }
    }

    /// With what was decided about it. None, of a call that reached another server's tool: it is not known what its schema
    /// named, so what lies below the arguments' own names is data.
    #[must_use]
    pub fn decided(mut self, carries: Option<Carries>) -> Self {
        match carries {
            Some(carries) => {
                self.does = Some(carries.effect);
                self.keys = carries.keys;
            }
            None if self.was_made() && split_foreign(&self.tool).is_some() => {
                let mut keys = BTreeSet::new();
                let below = self.args().as_object().into_iter().flat_map(Map::values);
                below.for_each(|value| keys_of(value, &mut keys));
                self.keys = keys;
            }
            None => {}
        }
        self
    }

    /// It reached the tool, whatever came of it.
    pub fn was_made(&self) -> bool {
        self.status != ToolStatus::Refused
    }

    /// What it did: as it was decided; else as its capability says, or at the worst as its rule may let pass.
    pub(super) fn did(&self, program: &Program) -> Does {
        let by_rule = || program.does.get(&self.rule).copied();
        let does = self.does.or_else(|| program.vocabulary.does(&self.tool));
        does.or_else(by_rule).unwrap_or_default()
    }

    pub(super) fn leaves(&self) -> &[Leaf] {
        self.leaves.get_or_init(|| leaves(self.result()))
    }
}

/// A call as a file or an example of a rule gives it.
pub(super) fn past_call(value: &Value) -> Result<PastCall, String> {
    const KEYS: [&str; 6] = ["tool", "role", "args", "status", "does", "result"];
    let Value::Object(map) = value else {
        return Err("a call must be a map".to_owned());
    };
    if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!(
            "a call has the unknown key {key:?}; it may have {}",
            KEYS.join(", ")
        ));
    }
    let text = |key: &str| match map.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(format!("`{key}` of a call must be text")),
    };
    let tool = text("tool")?.ok_or("a call needs its `tool`")?;
    let does = match text("does")? {
        None => None,
        Some(name) => Some(Does::from_name(name).ok_or("`does` is read, egress or change")?),
    };
    let status = text("status")?.unwrap_or("ok");
    let status = ToolStatus::from_name(status)
        .ok_or_else(|| format!("{status:?} is no status of a call"))?;
    let args = map.get("args").cloned().unwrap_or_else(|| json!({}));
    let result = map.get("result").cloned().unwrap_or_default();
    let role = text("role")?.unwrap_or_default();
    Ok(PastCall {
        does,
        args: args.into(),
        result: read_text(result).into(),
        ..PastCall::empty(tool, role, status)
    })
}

/// What another server answered: its value, or else its text.
fn answer(content: &Value) -> Value {
    match content.get("structured") {
        Some(value) => value.clone(),
        None => read_text(content.get("text").cloned().unwrap_or_default()),
    }
}

/// A text that is JSON as what it says, so that its fields can be told apart.
fn read_text(result: Value) -> Value {
    match &result {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            match serde_json::from_str::<Value>(text) {
                Ok(read @ (Value::Object(_) | Value::Array(_))) => read,
                _ => result,
            }
        }
        _ => result,
    }
}

/// Every key of a value, at any depth.
pub fn keys_of(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys_of(item, keys)),
        Value::Object(map) => {
            keys.extend(map.keys().cloned());
            map.values().for_each(|item| keys_of(item, keys));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
