//! What a decision may know of a run besides the call itself: the user's words, the calls so far with their results, and what
//! the run was granted. Values only: they are folded from the journal elsewhere, and the same facts give the same decision.

use super::decide::Program;
use super::grants::Grants;
use super::literal::Text;
use super::origin::{Known, Leaf, leaves};
use super::tools::capability_of;
use crate::condition::Origins;
use agentctl_base::model::ToolStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// What a call does, as far as harm goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    /// It changes nothing, and carries nothing to a place that its arguments choose.
    Read,
    /// It changes nothing, but its arguments may carry data out: a GET does.
    Egress,
    #[default]
    Change,
}

impl Does {
    pub fn name(self) -> &'static str {
        match self {
            Does::Read => "read",
            Does::Egress => "egress",
            Does::Change => "change",
        }
    }
    pub fn from_name(name: &str) -> Option<Does> {
        [Does::Read, Does::Egress, Does::Change]
            .into_iter()
            .find(|does| does.name() == name)
    }
}

/// What was decided about a call of another server's tool besides whether it may be made: kept with the call, because neither
/// the rule nor the approved schema need be the same later.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Carries {
    pub effect: Does,
    /// Keys in the arguments that the approved schema does not name: whoever made the call chose them, as he chose the values.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub keys: BTreeSet<String>,
}

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
    does: Option<Does>,
    /// Keys of its arguments that are data.
    keys: BTreeSet<String>,
    /// What it gave back; null unless it was ok.
    pub result: Value,
    leaves: OnceLock<Vec<Leaf>>,
    origin: OnceLock<String>,
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
            None if self.was_made() && capability_of(&self.tool).is_none() => {
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
        match (self.does, capability_of(&self.tool)) {
            (Some(said), _) => said,
            (None, Some(capability)) => capability.does(),
            (None, None) => program.does.get(&self.rule).copied().unwrap_or_default(),
        }
    }

    pub(super) fn leaves(&self) -> &[Leaf] {
        self.leaves.get_or_init(|| leaves(&self.result))
    }
}

/// Everything that decisions of one run may know.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub(super) words: Vec<Arc<Text>>,
    pub(super) calls: Vec<Arc<PastCall>>,
    pub(super) grants: Vec<Arc<Grants>>,
    /// Keys in the arguments of the call in question that its tool's schema does not name: they are data.
    pub keys: BTreeSet<String>,
    /// An argument of the tool in question names a place to go to: a read of it is egress unless its rule says otherwise.
    pub addressed: bool,
}

impl Facts {
    /// Something that the user wrote.
    pub fn add_words(&mut self, text: &str) {
        self.words.push(Arc::new(Text::new(text)));
    }
    /// The run has nobody's words: another agent opened it.
    pub fn forget_words(&mut self) {
        self.words.clear();
    }
    /// Whether the value, a text or a number, stands in the user's words.
    pub fn are_users(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                let text = Text::new(text);
                self.words.iter().any(|words| words.holds(&text))
            }
            Value::Number(number) => self.words.iter().any(|words| words.holds_number(number)),
            _ => false,
        }
    }
    pub fn add_call(&mut self, call: PastCall) {
        self.calls.push(Arc::new(call));
    }
    /// From here on the run may use no more than this; what was granted before still binds.
    pub fn grant(&mut self, grants: Grants) {
        self.grants.push(Arc::new(grants));
    }
    pub fn calls(&self) -> &[Arc<PastCall>] {
        &self.calls
    }
    pub fn grants(&self) -> impl Iterator<Item = &Grants> {
        self.grants.iter().map(Arc::as_ref)
    }

    /// Facts as a file or a rule's example gives them: `request`, `answers`, `calls`, `grants`, `addressed`, `keys`.
    pub fn from_json(value: &Value) -> Result<Facts, String> {
        let Value::Object(map) = value else {
            return Err("facts must be a JSON object".to_owned());
        };
        let mut facts = Facts::default();
        for (key, value) in map {
            match (key.as_str(), value) {
                ("request", Value::String(text)) => facts.add_words(text),
                ("answers", Value::Array(texts)) => {
                    for text in texts {
                        facts.add_words(text.as_str().ok_or("`answers` must be a list of texts")?);
                    }
                }
                ("calls", Value::Array(calls)) => {
                    for call in calls {
                        facts.add_call(past_call(call)?);
                    }
                }
                ("keys", Value::Array(keys)) => {
                    for key in keys {
                        let key = key.as_str().ok_or("`keys` must be a list of texts")?;
                        facts.keys.insert(key.to_owned());
                    }
                }
                ("grants", grants) => facts.grant(Grants::parse(grants)?),
                ("addressed", Value::Bool(addressed)) => facts.addressed = *addressed,
                ("request", _) => return Err("`request` must be text".to_owned()),
                ("answers" | "calls" | "keys", _) => return Err(format!("`{key}` must be a list")),
                ("addressed", _) => return Err("`addressed` must be true or false".to_owned()),
                _ => {
                    return Err(format!(
                        "unknown key {key:?}; facts may have request, answers, calls, grants, addressed, keys"
                    ));
                }
            }
        }
        Ok(facts)
    }

    pub(super) fn known(&self, program: &Arc<Vec<Text>>) -> Known {
        let past = self.calls.iter().flat_map(|call| &call.keys);
        Known {
            words: self.words.clone(),
            program: Arc::clone(program),
            calls: self.calls.clone(),
            keys: Arc::new(self.keys.iter().chain(past).cloned().collect()),
        }
    }

    /// The calls as a condition sees them.
    pub(super) fn calls_json(&self, program: &Program) -> Value {
        let told = self.calls.iter().enumerate().map(|(i, call)| {
            let origin = call.origin.get_or_init(|| {
                let before = Known {
                    calls: self.calls.get(..i).unwrap_or_default().to_vec(),
                    keys: Arc::new(call.keys.clone()),
                    words: self.words.clone(),
                    program: Arc::clone(&program.texts),
                };
                before.origin(&call.args)
            });
            json!({
                "tool": call.tool, "role": call.role, "args": call.args, "status": call.status.name(),
                "effect": call.did(program).name(), "origin": origin, "result": call.result,
            })
        });
        Value::Array(told.collect())
    }
}

fn past_call(value: &Value) -> Result<PastCall, String> {
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
