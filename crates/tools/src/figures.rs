//! What came of a tool's calls, folded out of journals. A call that succeeds shows only that the tool answers; it helped where the answer
//! of the step that made it and what the tool said have something in common that the call had not said. However often a step calls a
//! tool, it counts once: a tool gains nothing by always succeeding, by being called again and again, or by repeating what it was asked.

use crate::registry::{Calls, Steps};
use agentctl_base::model::ToolStatus;
use agentctl_engine::store::{Event, Record};
use serde_json::Value;
use std::collections::BTreeMap;

/// Values of one result that are looked for, at most.
const MAX_VALUES: usize = 1_000;
/// A text without a digit says something of its own from so many characters on; one with a digit (an id, a date, an amount) from three.
const TELLING: usize = 12;
const TELLING_WITH_DIGIT: usize = 3;

/// The figures of tools, run by run.
#[derive(Debug, Default)]
pub struct Figures {
    tools: BTreeMap<String, (Calls, Vec<u64>)>,
    /// How many steps called a tool, and how many of them it helped, by tool and by the step of the flow.
    steps: BTreeMap<(String, String), (u64, u64)>,
}

/// When a call was made, in milliseconds, and the values that it said.
type Begun = (Option<i64>, Vec<String>);

/// Of one step, and one tool or call.
type Key<'r> = (&'r str, &'r str);

impl Figures {
    /// Adds a run. `names`: the tools that count; mock answers do not.
    pub fn add(&mut self, records: &[Record], names: &[&str]) {
        let mut answers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for record in records {
            if let Event::StepFinished { step, output } = &record.event {
                let mut said = Vec::new();
                values(output, &mut said);
                answers.insert(step.as_str(), said);
            }
        }
        let mut begun: BTreeMap<Key<'_>, Begun> = BTreeMap::new();
        // Whether something of what a tool said in a step stands in the step's answer.
        let mut helped: BTreeMap<Key<'_>, bool> = BTreeMap::new();
        for record in records {
            match &record.event {
                Event::ToolIntent { step, call, .. } => {
                    let mut told = Vec::new();
                    // Arguments that are no JSON are told as they are.
                    let arguments = serde_json::from_str(&call.arguments);
                    let arguments = arguments.unwrap_or_else(|_| call.arguments.as_str().into());
                    values(&arguments, &mut told);
                    begun.insert((step.as_str(), call.id.as_str()), (at(record), told));
                }
                Event::ToolFinished { step, result, .. }
                    if names.contains(&result.name.as_str()) =>
                {
                    // Only what succeeded can be mock data: no failure is hidden by calling itself so.
                    let is_mock = result.content.get("mock") == Some(&Value::Bool(true));
                    if is_mock && result.status == ToolStatus::Ok {
                        continue;
                    }
                    let (of, times) = self.tools.entry(result.name.clone()).or_default();
                    of.made += 1;
                    of.refused += u64::from(result.status == ToolStatus::Refused);
                    let key = (step.as_str(), result.name.as_str());
                    let helped = helped.entry(key).or_default();
                    if result.status != ToolStatus::Ok {
                        continue;
                    }
                    of.ok += 1;
                    let intent = begun.get(&(step.as_str(), result.call_id.as_str()));
                    if let Some((Some(from), _)) = intent
                        && let Some(at) = at(record)
                    {
                        times.push(u64::try_from(at - from).unwrap_or_default());
                    }
                    let told = intent.map_or(&[][..], |(_, told)| told.as_slice());
                    let answer = answers.get(step.as_str());
                    let served = !is_not_served(&result.content);
                    *helped |= served
                        && answer.is_some_and(|answer| is_used(&result.content, told, answer));
                }
                _ => {}
            }
        }
        for ((step, tool), helped) in helped {
            let (of, _) = self.tools.entry(tool.to_owned()).or_default();
            of.steps += 1;
            of.useful += u64::from(helped);
            let key = (tool.to_owned(), of_flow(step));
            let (steps, useful) = self.steps.entry(key).or_default();
            *steps += 1;
            *useful += u64::from(helped);
        }
    }

    /// By tool. `task_of`: the task of a step, given its path in the flow.
    pub fn told(mut self, task_of: impl Fn(&str) -> String) -> BTreeMap<String, Calls> {
        for ((tool, step), (made, useful)) in std::mem::take(&mut self.steps) {
            let (of, _) = self.tools.entry(tool).or_default();
            let of: &mut Steps = of.tasks.entry(task_of(&step)).or_default();
            of.made += made;
            of.useful += useful;
        }
        let middle = |(mut calls, mut times): (Calls, Vec<u64>)| {
            times.sort_unstable();
            calls.p50_ms = times.get(times.len() / 2).copied().unwrap_or_default();
            calls
        };
        let tools = self.tools.into_iter();
        tools.map(|(tool, of)| (tool, middle(of))).collect()
    }
}

/// An agent that is a tool answered that it could not do it.
fn is_not_served(result: &Value) -> bool {
    let error = result.get("data").and_then(|data| data.get("error"));
    error.is_some_and(|error| !error.is_null())
}

/// A step's path in the flow, without the rounds in which it was.
fn of_flow(step: &str) -> String {
    let segments = step.split('/');
    let plain = segments.map(|segment| segment.split('[').next().unwrap_or_default());
    plain.collect::<Vec<_>>().join("/")
}

fn at(record: &Record) -> Option<i64> {
    let at = record.at.parse::<jiff::Timestamp>();
    at.ok().map(jiff::Timestamp::as_millisecond)
}

/// Whether a value that says something, and that the call had not said itself, stands in both: one of the result in the answer (an id, an
/// amount), or one of the answer in the result (a sentence of a document).
fn is_used(result: &Value, told: &[String], answer: &[String]) -> bool {
    let mut said = Vec::new();
    values(result, &mut said);
    let stands = |value: &String, texts: &[String]| texts.iter().any(|text| holds(text, value));
    let common = |of: &[String], within: &[String]| {
        let mut telling = of.iter().filter(|value| is_telling(value));
        telling.any(|value| stands(value, within) && !stands(value, told))
    };
    common(&said, answer) || common(answer, &said)
}

fn is_telling(value: &str) -> bool {
    let least = match value.bytes().any(|b| b.is_ascii_digit()) {
        true => TELLING_WITH_DIGIT,
        false => TELLING,
    };
    value.chars().count() >= least
}

/// As whole words.
fn holds(text: &str, value: &str) -> bool {
    text.match_indices(value).any(|(start, found)| {
        let before = text.get(..start).and_then(|t| t.chars().next_back());
        let behind = text.get(start + found.len()..);
        let behind = behind.and_then(|t| t.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !behind.is_some_and(char::is_alphanumeric)
    })
}

/// The texts and numbers in a value, in lower case.
fn values(of: &Value, into: &mut Vec<String>) {
    if into.len() >= MAX_VALUES {
        return;
    }
    match of {
        Value::String(text) if !text.trim().is_empty() => into.push(text.trim().to_lowercase()),
        Value::Number(number) => into.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| values(item, into)),
        Value::Object(map) => map.values().for_each(|item| values(item, into)),
        _ => {}
    }
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod figures_tests;
