//! What a decision may know of a run besides the call itself: the user's words, the calls so far with their results, and what
//! the run was granted. Values only: they are folded from the journal elsewhere, and the same facts give the same decision.

use super::grants::Grants;
use super::literal::Text;
use super::origin::Known;
use super::past::{PastCall, past_call};
use super::program::Program;
use crate::condition::Origins;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Everything that decisions of one run may know.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub(super) words: Vec<Arc<Text>>,
    pub(super) calls: Vec<Arc<PastCall>>,
    pub(super) grants: Vec<Arc<Grants>>,
    /// Keys in the arguments of the call in question that its tool's schema does not name: they are data.
    pub keys: BTreeSet<String>,
    /// What the program fills in of the call in question.
    pub bound: Map<String, Value>,
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
    /// What the user wrote, each text by itself, its white space as one blank.
    pub fn said(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|text| text.exact())
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
    /// The same for a call of which the program fills in these.
    #[must_use]
    pub fn with_bound(&self, bound: &Map<String, Value>) -> Facts {
        Facts {
            bound: bound.clone(),
            ..self.clone()
        }
    }
    pub fn calls(&self) -> &[Arc<PastCall>] {
        &self.calls
    }
    pub fn grants(&self) -> impl Iterator<Item = &Grants> {
        self.grants.iter().map(Arc::as_ref)
    }

    /// Facts as a file or a rule's example gives them: `request`, `answers`, `calls`, `grants`, `addressed`, `keys`, `bound`.
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
                ("bound", Value::Object(bound)) => facts.bound = bound.clone(),
                ("addressed", Value::Bool(addressed)) => facts.addressed = *addressed,
                ("request", _) => return Err("`request` must be text".to_owned()),
                ("answers" | "calls" | "keys", _) => return Err(format!("`{key}` must be a list")),
                ("bound", _) => return Err("`bound` must be a map".to_owned()),
                ("addressed", _) => return Err("`addressed` must be true or false".to_owned()),
                _ => {
                    return Err(format!(
                        "unknown key {key:?}; facts may have request, answers, calls, grants, addressed, keys, bound"
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
                before.origin(call.args())
            });
            json!({
                "tool": call.tool, "role": call.role, "args": call.args(), "status": call.status.name(),
                "effect": call.did(program).name(), "origin": origin, "result": call.result(),
            })
        });
        Value::Array(told.collect())
    }
}
