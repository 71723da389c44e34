//! What a decision may know of a run besides the call itself: the user's words, the calls so far with their results, and what
//! the run was granted. Values only: they are folded from the journal elsewhere, and the same facts give the same decision.

use super::decide::Program;
use super::grants::Grants;
use super::literal::Text;
use super::tools::capability_of;
use crate::condition::Origins;
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

/// Where a value came from.
pub const USER: &str = "user";
pub const PROGRAM: &str = "program";
pub const MODEL: &str = "model";
/// Of a value that holds nothing that could have come from anywhere: an empty list, null.
pub const NONE: &str = "none";
const TOOL: &str = "tool:";

/// A leaf of a tool's result, with the keys that lead to it.
#[derive(Debug, Clone, PartialEq)]
struct Leaf {
    path: String,
    text: Text,
}

/// A call of this run that has its result.
#[derive(Debug, Default)]
pub struct PastCall {
    pub tool: String,
    pub role: String,
    pub args: Value,
    /// ok, refused, failed, cancelled or unknown.
    pub status: String,
    /// The rule that decided it.
    pub rule: String,
    /// Where it is said; else by the rule.
    does: Option<Does>,
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
        status: &str,
        rule: &str,
        result: Value,
    ) -> Self {
        PastCall {
            tool: tool.to_owned(),
            role: role.to_owned(),
            args,
            status: status.to_owned(),
            rule: rule.to_owned(),
            result: if status == "ok" { result } else { Value::Null },
            ..PastCall::default()
        }
    }

    /// It reached the tool, whatever came of it.
    pub fn was_made(&self) -> bool {
        self.status != "refused"
    }

    fn leaves(&self) -> &[Leaf] {
        self.leaves.get_or_init(|| {
            let mut leaves = Vec::new();
            collect(&self.result, String::new(), &mut leaves);
            leaves
        })
    }
}

fn collect(value: &Value, path: String, leaves: &mut Vec<Leaf>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(n) => leaves.push(Leaf {
            path,
            text: Text::new(&n.to_string()),
        }),
        Value::String(s) => leaves.push(Leaf {
            path,
            text: Text::new(s),
        }),
        Value::Array(items) => {
            for item in items {
                collect(item, path.clone(), leaves);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                // A key that is no name is a value too: addresses are keys of who a file is shared with.
                if !is_name(key) {
                    leaves.push(Leaf {
                        path: path.clone(),
                        text: Text::new(key),
                    });
                }
                let path = match path.as_str() {
                    "" => key.clone(),
                    above => format!("{above}.{key}"),
                };
                collect(item, path, leaves);
            }
        }
    }
}

/// Everything that decisions of one run may know.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub(super) words: Vec<Arc<Text>>,
    pub(super) calls: Vec<Arc<PastCall>>,
    pub(super) grants: Vec<Arc<Grants>>,
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

    /// Facts as a file or a rule's example gives them: `request`, `answers`, `calls`, `grants`, `addressed`.
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
                ("grants", grants) => facts.grant(Grants::parse(grants)?),
                ("addressed", Value::Bool(addressed)) => facts.addressed = *addressed,
                ("request", _) => return Err("`request` must be text".to_owned()),
                ("answers" | "calls", _) => return Err(format!("`{key}` must be a list")),
                ("addressed", _) => return Err("`addressed` must be true or false".to_owned()),
                _ => {
                    return Err(format!(
                        "unknown key {key:?}; facts may have request, answers, calls, grants, addressed"
                    ));
                }
            }
        }
        Ok(facts)
    }

    pub(super) fn known(&self, program: &Arc<Vec<Text>>) -> Known {
        Known {
            words: self.words.clone(),
            program: Arc::clone(program),
            calls: self.calls.clone(),
        }
    }

    /// The calls as a condition sees them.
    pub(super) fn calls_json(&self, program: &Program) -> Value {
        let all = self.known(&program.texts);
        let told = self.calls.iter().enumerate().map(|(i, call)| {
            let origin = call.origin.get_or_init(|| {
                let before = Known {
                    calls: self.calls.get(..i).unwrap_or_default().to_vec(),
                    ..all.clone()
                };
                before.origin(&call.args)
            });
            let does = match (call.does, capability_of(&call.tool)) {
                (Some(said), _) => said,
                (None, Some(capability)) => capability.does(),
                (None, None) => program.does.get(&call.rule).copied().unwrap_or_default(),
            };
            json!({
                "tool": call.tool, "role": call.role, "args": call.args, "status": call.status,
                "effect": does.name(), "origin": origin, "result": call.result,
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
    let text = |key: &str| map.get(key).and_then(Value::as_str);
    let tool = text("tool").ok_or("a call needs its `tool`")?;
    let does = match text("does") {
        None => None,
        Some(name) => Some(Does::from_name(name).ok_or("`does` is read, egress or change")?),
    };
    let status = text("status").unwrap_or("ok");
    if !["ok", "refused", "failed", "cancelled", "unknown"].contains(&status) {
        return Err(format!("{status:?} is no status of a call"));
    }
    let args = map.get("args").cloned().unwrap_or_else(|| json!({}));
    let result = map.get("result").cloned().unwrap_or_default();
    let role = text("role").unwrap_or_default();
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

/// The texts that values are looked up in.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    words: Vec<Arc<Text>>,
    program: Arc<Vec<Text>>,
    calls: Vec<Arc<PastCall>>,
}

/// A key as a schema has it.
fn is_name(key: &str) -> bool {
    key.chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Every scalar of a value that could carry something; `None` stands for one that came from nowhere (true, an empty text).
fn scalars(value: &Value) -> Vec<Option<&Value>> {
    match value {
        Value::Null => Vec::new(),
        Value::Bool(_) => vec![None],
        Value::String(text) if text.trim().is_empty() => vec![None],
        Value::Number(_) | Value::String(_) => vec![Some(value)],
        Value::Array(items) => items.iter().flat_map(scalars).collect(),
        // Keys are the tool's schema's; one that is no name carries something, and nothing says where it came from.
        Value::Object(map) => {
            let carries = map.keys().any(|key| !is_name(key)).then_some(None);
            let values = map.values().flat_map(scalars);
            carries.into_iter().chain(values).collect()
        }
    }
}

/// A leaf to look for.
enum Sought<'a> {
    Text(Text),
    Number(&'a serde_json::Number),
}

impl<'a> Sought<'a> {
    fn of(leaf: &'a Value) -> Sought<'a> {
        match leaf {
            Value::Number(number) => Sought::Number(number),
            other => Sought::Text(Text::new(other.as_str().unwrap_or_default())),
        }
    }
    fn stands_in(&self, text: &Text) -> bool {
        match self {
            Sought::Text(value) => text.holds(value),
            Sought::Number(number) => text.holds_number(number),
        }
    }
}

impl Known {
    fn by_user(&self, leaf: &Sought<'_>) -> bool {
        self.words.iter().any(|text| leaf.stands_in(text))
    }
    fn by_program(&self, leaf: &Sought<'_>) -> bool {
        self.program.iter().any(|text| leaf.stands_in(text))
    }
    /// The calls whose results have it, in their order. `path`: only below keys that end so.
    fn calls<'s>(
        &'s self,
        leaf: &'s Sought<'_>,
        tool: Option<&'s str>,
        path: Option<&'s str>,
    ) -> impl Iterator<Item = &'s PastCall> {
        let fits = move |at: &str| match path {
            None => true,
            Some(path) => at
                .strip_suffix(path)
                .is_some_and(|above| above.is_empty() || above.ends_with('.')),
        };
        self.calls
            .iter()
            .map(Arc::as_ref)
            .filter(move |call| tool.is_none_or(|tool| call.tool == tool))
            .filter(move |call| {
                call.leaves()
                    .iter()
                    .any(|at| fits(&at.path) && leaf.stands_in(&at.text))
            })
    }

    fn leaf_origin(&self, leaf: &Value) -> String {
        let leaf = Sought::of(leaf);
        if self.by_user(&leaf) {
            USER.to_owned()
        } else if self.by_program(&leaf) {
            PROGRAM.to_owned()
        } else {
            let first = self.calls(&leaf, None, None).next();
            first.map_or_else(|| MODEL.to_owned(), |call| format!("{TOOL}{}", call.tool))
        }
    }

    fn leaf_from(&self, leaf: &Value, place: &str) -> bool {
        let leaf = Sought::of(leaf);
        match place {
            "any" => true,
            USER => self.by_user(&leaf),
            PROGRAM => self.by_program(&leaf),
            _ => place.strip_prefix(TOOL).is_some_and(|named| {
                let (name, path) = match named.split_once('#') {
                    Some((name, path)) => (name, Some(path)),
                    None => (named, None),
                };
                self.calls(&leaf, Some(name), path).next().is_some()
            }),
        }
    }
}

impl Origins for Known {
    fn origin(&self, value: &Value) -> String {
        let mut worst = NONE.to_owned();
        for leaf in scalars(value) {
            let origin = leaf.map_or_else(|| MODEL.to_owned(), |leaf| self.leaf_origin(leaf));
            let rank = |origin: &str| match origin {
                NONE => 0,
                USER => 1,
                PROGRAM => 2,
                MODEL => 4,
                _ => 3,
            };
            if rank(&origin) == 3 && rank(&worst) == 3 && origin != worst {
                return MODEL.to_owned();
            }
            if rank(&origin) > rank(&worst) {
                worst = origin;
            }
        }
        worst
    }

    fn origins(&self, value: &Value) -> Vec<String> {
        let mut found = BTreeSet::new();
        for leaf in scalars(value) {
            let mut any = false;
            if let Some(leaf) = leaf {
                let leaf = Sought::of(leaf);
                for (here, name) in [
                    (self.by_user(&leaf), USER),
                    (self.by_program(&leaf), PROGRAM),
                ] {
                    if here {
                        any = true;
                        found.insert(name.to_owned());
                    }
                }
                for call in self.calls(&leaf, None, None) {
                    any = true;
                    found.insert(format!("{TOOL}{}", call.tool));
                }
            }
            if !any {
                found.insert(MODEL.to_owned());
            }
        }
        found.into_iter().collect()
    }

    fn from(&self, value: &Value, places: &[String]) -> bool {
        scalars(value).into_iter().all(|leaf| {
            leaf.is_some_and(|leaf| places.iter().any(|place| self.leaf_from(leaf, place)))
                || places.iter().any(|place| place == "any")
        })
    }

    fn weight(&self) -> usize {
        let words: usize = self.words.iter().map(|text| text.len()).sum();
        let program: usize = self.program.iter().map(Text::len).sum();
        let results = self.calls.iter().flat_map(|call| call.leaves());
        let results: usize = results.map(|leaf| leaf.text.len() + 16).sum();
        words + program + results
    }
}

/// The texts of the policy's own facts.
pub(super) fn program_texts(facts: &Map<String, Value>) -> Vec<Text> {
    fn walk(value: &Value, texts: &mut Vec<Text>) {
        match value {
            Value::String(text) => texts.push(Text::new(text)),
            Value::Number(n) => texts.push(Text::new(&n.to_string())),
            Value::Array(items) => items.iter().for_each(|item| walk(item, texts)),
            Value::Object(map) => map.values().for_each(|item| walk(item, texts)),
            Value::Null | Value::Bool(_) => {}
        }
    }
    let mut texts = Vec::new();
    facts.values().for_each(|value| walk(value, &mut texts));
    texts
}
