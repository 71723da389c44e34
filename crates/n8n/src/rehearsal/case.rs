//! Acceptance cases: what is given to a workflow, what the services beside it answer, and what must come of it. Who writes them (a
//! person, a model) says what was asked for; whether it came about says the program alone.

use super::{Item, Rehearsal, Trace};
use crate::Workflow;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A text of a run is told up to so many bytes of JSON.
const TOLD: usize = 300;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The trigger to start from; None: the one from which most nodes are reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The trigger's item; a webhook's as {body, query, headers}. Empty: made from what the workflow reads.
    #[serde(default, skip_serializing_if = "Item::is_empty")]
    pub input: Item,
    /// The items that nodes hand on in this test in the place of what their services would answer, by the node's name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub mocks: IndexMap<String, Vec<Item>>,
    pub expect: Expect,
}

/// What must come out. An object that is expected may have more fields than it says; a list has as many elements as it says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The HTTP status of the webhook's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The body of the webhook's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub nodes: IndexMap<String, AtNode>,
}

/// What must be seen at one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtNode {
    /// Whether the run comes to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<bool>,
    /// How many items it hands on, over all of its outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The items that it hands on, over all of its outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<Value>>,
    /// The parameters of each call that it makes, with what their expressions came to: what a simulated node would have sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Vec<Value>>,
}

impl Expect {
    fn is_empty(&self) -> bool {
        let nothing = |node: &AtNode| *node == AtNode::default();
        self.status.is_none() && self.answer.is_none() && self.nodes.values().all(nothing)
    }
}

impl Case {
    /// What keeps it from being a test of this workflow, in words; empty: nothing.
    pub fn wrong(&self, workflow: &Workflow) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.expect.is_empty() {
            wrong.push("it expects nothing, so it could not fail".to_owned());
        }
        let names = self.mocks.keys().chain(self.expect.nodes.keys());
        for name in names.chain(&self.start) {
            if workflow.node_by_name(name).is_none() {
                wrong.push(format!("the workflow has no node named {name:?}"));
            }
        }
        wrong
    }
}

/// From the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseOutcome {
    Passed,
    /// The run did not come to what was expected.
    NotReached,
    Failed,
}

/// One thing that was expected, and what was seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Of what: `answer`, or a node with what of it.
    pub what: String,
    pub outcome: CaseOutcome,
    /// In words, where it is not passed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl Check {
    fn new(what: impl Into<String>, why: Option<String>) -> Check {
        Check {
            what: what.into(),
            outcome: match why {
                None => CaseOutcome::Passed,
                Some(_) => CaseOutcome::Failed,
            },
            why: why.unwrap_or_default(),
        }
    }

    fn not_reached(what: impl Into<String>) -> Check {
        Check {
            what: what.into(),
            outcome: CaseOutcome::NotReached,
            why: "the run did not come to it".to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseVerdict {
    pub outcome: CaseOutcome,
    pub checks: Vec<Check>,
}

/// What a run showed to who called it and at its nodes.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub trace: &'a Trace,
    pub status: Option<u16>,
    pub answer: Option<&'a Value>,
    /// What simulated nodes would have sent, call by call.
    pub sent: &'a IndexMap<String, Vec<Value>>,
    /// The run itself has failed at something.
    pub has_failed: bool,
}

/// Whether what was expected was seen.
pub fn judge_case(expect: &Expect, rehearsal: &Rehearsal, seen: Seen<'_>) -> CaseVerdict {
    let mut checks = Vec::new();
    if let Some(status) = expect.status {
        let why = (seen.status != Some(status)).then(|| match seen.status {
            Some(seen) => format!("{seen}, not {status}"),
            None => UNANSWERED.to_owned(),
        });
        checks.push(Check::new("status", why));
    }
    if let Some(answer) = &expect.answer {
        let why = match seen.answer {
            Some(seen) => differs(answer, seen),
            None => Some(UNANSWERED.to_owned()),
        };
        checks.push(Check::new("answer", why));
    }
    for (name, at) in &expect.nodes {
        at_node(name, at, rehearsal, seen, &mut checks);
    }
    let worst = checks.iter().map(|check| check.outcome).max();
    let outcome = match seen.has_failed {
        true => CaseOutcome::Failed,
        false => worst.unwrap_or(CaseOutcome::Failed),
    };
    CaseVerdict { outcome, checks }
}

const UNANSWERED: &str = "nothing was answered";

fn at_node(name: &str, at: &AtNode, rehearsal: &Rehearsal, seen: Seen<'_>, out: &mut Vec<Check>) {
    let ran = seen.trace.ran(name);
    match at.reached {
        Some(false) => {
            let why = ran.then(|| "the run came to it".to_owned());
            out.push(Check::new(format!("{name}: not reached"), why));
            return;
        }
        _ if !ran => {
            out.push(Check::not_reached(name));
            return;
        }
        Some(true) => out.push(Check::new(format!("{name}: reached"), None)),
        None => {}
    }
    let run = seen.trace.nodes.get(name);
    if let Some(count) = at.count {
        let found = run.map_or(0, |run| run.items.iter().sum());
        let why = (found != count).then(|| format!("{found} items, not {count}"));
        out.push(Check::new(format!("{name}: count"), why));
    }
    if let Some(items) = &at.items {
        let handed: Vec<&Value> = run
            .into_iter()
            .flat_map(|run| run.kept.iter().flatten())
            .collect();
        let why = differs(&json!(items), &json!(handed));
        out.push(Check::new(format!("{name}: items"), why));
    }
    if let Some(calls) = &at.sent {
        let is_simulated = rehearsal.simulated().any(|part| part.node == name);
        let why = match seen.sent.get(name) {
            Some(sent) => differs(&json!(calls), &json!(sent)),
            None if is_simulated => Some("what it would have sent was not worked out: its expressions are more than work on data".to_owned()),
            None => Some("it was not simulated, so nothing says what it sent; expect its items".to_owned()),
        };
        out.push(Check::new(format!("{name}: sent"), why));
    }
}

/// Where what was seen is not what was expected, in words; None: it is.
fn differs(expected: &Value, seen: &Value) -> Option<String> {
    let (place, expected, seen) = difference(expected, seen, &mut String::new())?;
    let at = if place.is_empty() {
        String::new()
    } else {
        format!("at {place}: ")
    };
    let seen = seen.map_or_else(|| "nothing".to_owned(), |seen| told(&seen));
    Some(format!("{at}{seen}, not {}", told(&expected)))
}

type Difference = (String, Value, Option<Value>);

fn difference(expected: &Value, seen: &Value, place: &mut String) -> Option<Difference> {
    let here = |place: &str| Some((place.to_owned(), expected.clone(), Some(seen.clone())));
    match (expected, seen) {
        (Value::Object(wanted), Value::Object(found)) => wanted.iter().find_map(|(key, value)| {
            let length = place.len();
            place.push_str(&format!("/{key}"));
            let difference = match found.get(key) {
                Some(found) => difference(value, found, place),
                None => Some((place.clone(), value.clone(), None)),
            };
            place.truncate(length);
            difference
        }),
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => wanted
            .iter()
            .zip(found)
            .enumerate()
            .find_map(|(at, (value, found))| {
                let length = place.len();
                place.push_str(&format!("/{at}"));
                let difference = difference(value, found, place);
                place.truncate(length);
                difference
            }),
        (Value::Number(wanted), Value::Number(found)) => match wanted.as_f64() == found.as_f64() {
            true => None,
            false => here(place),
        },
        // What an expression came to is told as a text.
        (wanted, Value::String(text)) if !wanted.is_string() => {
            match serde_json::from_str::<Value>(text) {
                Ok(found) if !found.is_string() => difference(wanted, &found, place),
                _ => here(place),
            }
        }
        _ if expected == seen => None,
        // A body as a text: how it is spaced is nobody's matter.
        (Value::String(wanted), Value::String(found)) => {
            match (document(wanted), document(found)) {
                (Some(wanted), Some(found)) => difference(&wanted, &found, place),
                _ => here(place),
            }
        }
        _ => here(place),
    }
}

/// A text that is an object or a list as JSON.
fn document(text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).ok()?;
    matches!(value, Value::Object(_) | Value::Array(_)).then_some(value)
}

fn told(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(TOLD) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
#[path = "case_tests.rs"]
mod case_tests;
