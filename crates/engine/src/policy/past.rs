//! The calls that a run has made, as a decision on the next one knows them.

use super::leaf::{Leaf, leaves};
use super::program::Program;
use crate::vocabulary::{Carries, Does};
use agentctl_base::foreign::split_foreign;
use agentctl_base::model::ToolStatus;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A call of this run that has its result.
#[derive(Debug)]
pub struct PastCall {
    pub tool: String,
    pub role: String,
    pub args: Value,
    pub status: ToolStatus,
    /// The rule that decided it.
    pub rule: String,
    /// Where it is said; else the worst that its rule may let pass.
    pub(super) does: Option<Does>,
    /// Keys of its arguments that are data.
    pub(super) keys: BTreeSet<String>,
    /// What it gave back; null unless it was ok.
    pub result: Value,
    leaves: OnceLock<Vec<Leaf>>,
    pub(super) origin: OnceLock<String>,
}

impl PastCall {
    pub fn new(
        tool: &str,
        role: &str,
        args: Value,
        status: ToolStatus,
        rule: &str,
        result: Value,
    ) -> Self {
        PastCall {
            tool: tool.to_owned(),
            role: role.to_owned(),
            args,
            status,
            rule: rule.to_owned(),
            does: None,
            keys: BTreeSet::new(),
            result: match status {
                ToolStatus::Ok => result,
                _ => Value::Null,
            },
            leaves: OnceLock::new(),
            origin: OnceLock::new(),
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
                let below = self.args.as_object().into_iter().flat_map(Map::values);
                below.for_each(|value| keys_of(value, &mut self.keys));
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
        self.leaves.get_or_init(|| leaves(&self.result))
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
        ..PastCall::new(tool, role, args, status, "", read_text(result))
    })
}

/// A text that is JSON as what it says, so that its fields can be told apart.
pub fn read_text(result: Value) -> Value {
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
