//! What a condition sees: `state`, `input`, `run`, `answers`, `steps`, `changes`, `changed`. Only what it names is built.

use super::FlowError;
use super::merge::empty;
use super::model::{FieldSpec, Flow, LoopSpec, StepKind};
use super::run_log::{Call, Frame, RunLog, StepRecord, StepStatus};
use crate::condition::Condition;
use crate::store::event::v1::seen_by_flows;
use agentctl_base::model::ToolStatus;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The variables of every condition of a flow.
pub(super) const VARIABLES: &[&str] = &[
    "state", "input", "run", "answers", "steps", "changes", "changed", "pack", "session",
];
/// And those that a claim sees besides.
pub(super) const CLAIM_VARIABLES: &[&str] = &[
    "state", "input", "run", "answers", "steps", "changes", "changed", "pack", "session", "output",
    "tools", "calls",
];

/// And before there is an answer.
pub(super) const CALL_VARIABLES: &[&str] = &[
    "state", "input", "run", "answers", "steps", "changes", "changed", "pack", "session", "tools",
    "calls",
];

/// What a condition about the answer of the agent step at `path` sees.
pub(super) fn claim_scope(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    condition: &Condition,
    output: &Value,
) -> Map<String, Value> {
    let mut variables = call_scope(flow, log, path, condition);
    variables.insert("output".to_owned(), output.clone());
    variables
}

/// What a condition about the calls of the agent step at `path` sees.
pub(super) fn call_scope(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    condition: &Condition,
) -> Map<String, Value> {
    let record = log.step_record(path);
    let mut variables = scope(flow, log, path, condition);
    let tools = record.map_or_else(|| json!({}), tools_view);
    variables.insert("tools".to_owned(), tools);
    let calls = record.map_or_else(|| json!([]), calls_view);
    variables.insert("calls".to_owned(), calls);
    variables
}

pub(super) fn scope(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    condition: &Condition,
) -> Map<String, Value> {
    let frame = log.frame(path);
    let mut variables = Map::new();
    for used in condition.paths() {
        let Some(root) = used.first() else { continue };
        let part = used.get(1);
        match (root.as_str(), part) {
            ("steps", Some(id)) => add(&mut variables, "steps", id, || step_view(log, path, id)),
            ("steps", None) => {
                for step in flow.all_steps() {
                    add(&mut variables, "steps", &step.id, || {
                        step_view(log, path, &step.id)
                    });
                }
            }
            ("state", Some(field)) => {
                if let Some(spec) = flow.fields.get(field) {
                    add(&mut variables, "state", field, || {
                        field_view(frame, field, spec)
                    });
                }
            }
            ("state", None) => {
                for (field, spec) in &flow.fields {
                    add(&mut variables, "state", field, || {
                        field_view(frame, field, spec)
                    });
                }
            }
            ("pack", Some(name)) => {
                if let Some(data) = flow.data.get(name) {
                    add(&mut variables, "pack", name, || data.clone());
                }
            }
            (name, _) if !variables.contains_key(name) => {
                if let Some(value) = root_variable(flow, log, path, name) {
                    variables.insert(name.to_owned(), value);
                }
            }
            _ => {}
        }
    }
    variables
}

/// Puts one part of a variable in, once.
fn add(variables: &mut Map<String, Value>, name: &str, part: &str, view: impl FnOnce() -> Value) {
    let whole = variables.entry(name).or_insert_with(|| json!({}));
    if let Value::Object(parts) = whole
        && !parts.contains_key(part)
    {
        parts.insert(part.to_owned(), view());
    }
}

/// A field that nobody has written yet is empty, so that a condition needs no test for it.
fn field_view(frame: &Frame, name: &str, spec: &FieldSpec) -> Value {
    frame
        .state
        .get(name)
        .cloned()
        .unwrap_or_else(|| empty(spec.kind))
}

fn root_variable(flow: &Flow, log: &RunLog, path: &str, name: &str) -> Option<Value> {
    Some(match name {
        "input" => Value::Object(log.frame(path).input.clone()),
        "run" => run_view(flow, log, path),
        "answers" => answers_view(log, path),
        "changes" => log
            .changes_at(path)
            .into_iter()
            .map(seen_by_flows)
            .collect(),
        "session" => session_view(log),
        "pack" => Value::Object((*flow.data).clone()),
        "changed" => {
            let last = log.changes_at(path).pop();
            last.map(seen_by_flows).unwrap_or_default()
        }
        bound => log.bound(path, bound)?.clone(),
    })
}

/// Answers by the question's id and by its topic; an id wins. A called flow sees those to its own questions.
pub(super) fn answers_view(log: &RunLog, path: &str) -> Value {
    let caller = log.caller(path);
    let own = |id: &str| {
        caller.is_empty()
            || log
                .asked_by(id)
                .is_some_and(|step| log.caller(step) == caller)
    };
    let answers = || log.answers.iter().filter(|(id, _)| own(id));
    let mut map = Map::new();
    for (_, answer) in answers() {
        if let Some(topic) = &answer.topic {
            map.insert(topic.clone(), answer.value.clone());
        }
    }
    for (id, answer) in answers() {
        map.insert(id.clone(), answer.value.clone());
    }
    Value::Object(map)
}

pub(super) fn run_view(flow: &Flow, log: &RunLog, path: &str) -> Value {
    let (cycle, max_cycles) = cycle_of(flow, log, path);
    json!({
        "id": log.run_id(),
        "stage": log.stage(),
        "cycle": cycle,
        "max_cycles": max_cycles,
        "yes": log.input().get("yes").and_then(Value::as_bool).unwrap_or(false),
    })
}

/// Iteration and limit of the flow's innermost loop around a path; outside of loops the last iteration that one began.
fn cycle_of(flow: &Flow, log: &RunLog, path: &str) -> (u32, u32) {
    let within = path.get(log.caller(path).len()..).unwrap_or_default();
    for segment in within.rsplit('/') {
        let Some((id, rest)) = segment.split_once('[') else {
            continue;
        };
        let cycle = rest.trim_end_matches(']').parse().unwrap_or(0);
        if let Some(StepKind::Loop(LoopSpec { max, .. })) = flow.step(id).map(|s| &s.kind) {
            return (cycle, *max);
        }
    }
    (log.frame(path).last_cycle, flow.limits.max_cycles)
}

/// A run that is no turn of a kept conversation is one by itself.
fn session_view(log: &RunLog) -> Value {
    match log.session() {
        Some(of) => json!({"id": of.id, "version": of.version, "messages": of.messages}),
        None => json!({"id": log.run_id(), "version": 0, "messages": []}),
    }
}

/// `{status, error, output, tools, away, unsure, previous}` of the last time that the step ran; an empty output when it did not.
fn step_view(log: &RunLog, path: &str, id: &str) -> Value {
    let [last, before] = log.last_two(path, id);
    json!({
        "status": last.map_or("pending", |r| r.status.name()),
        "error": last.and_then(|r| r.error.as_deref()),
        "output": output_view(last),
        "tools": last.map_or_else(|| json!({}), tools_view),
        "away": last.map_or_else(|| json!({}), away_view),
        "unsure": last.map_or_else(|| json!([]), unsure_view),
        "previous": {"output": output_view(before), "tools": before.map_or_else(|| json!({}), tools_view)},
    })
}

fn output_view(record: Option<&StepRecord>) -> Value {
    record
        .filter(|r| r.status == StepStatus::Done && !r.output.is_null())
        .map_or_else(|| json!({}), |r| r.output.clone())
}

/// Tool name → content of its last successful call in the step.
fn tools_view(record: &StepRecord) -> Value {
    let calls = record.calls.iter();
    let of_tools: IndexMap<&str, &Value> = calls
        .filter(|c| c.status() == Some(ToolStatus::Ok))
        .map(|c| (c.tool(), c.content()))
        .collect();
    let of_tools = of_tools.into_iter();
    Value::Object(
        of_tools
            .map(|(tool, content)| (tool.to_owned(), content.clone()))
            .collect(),
    )
}

/// Tool name → content of its last call in the step, of the tools of which no call succeeded.
fn away_view(record: &StepRecord) -> Value {
    let is_ok = |call: &&Call| call.status() == Some(ToolStatus::Ok);
    let gave: BTreeSet<&str> = record.calls.iter().filter(is_ok).map(Call::tool).collect();
    let ended = record.calls.iter().filter(|call| call.status().is_some());
    let away = ended.filter(|call| !gave.contains(call.tool()));
    Value::Object(
        away.map(|call| (call.tool().to_owned(), call.content().clone()))
            .collect(),
    )
}

/// The tools whose calls may have changed something, and of which nobody knows what became of it.
fn unsure_view(record: &StepRecord) -> Value {
    let calls = record.calls.iter();
    let unknown = calls.filter(|call| call.status() == Some(ToolStatus::Unknown));
    Value::Array(unknown.map(|call| call.tool().into()).collect())
}

fn calls_view(record: &StepRecord) -> Value {
    Value::Array(
        record
            .calls
            .iter()
            .map(|c| json!({"tool": c.tool(), "args": c.args(), "status": c.status(), "content": c.content()}))
            .collect(),
    )
}

pub(super) fn holds(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    condition: &Condition,
) -> Result<bool, FlowError> {
    condition
        .holds(&scope(flow, log, path, condition))
        .map_err(|source| failed(path, source))
}

pub(super) fn value(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    condition: &Condition,
) -> Result<Value, FlowError> {
    condition
        .value(&scope(flow, log, path, condition))
        .map_err(|source| failed(path, source))
}

/// The values of some expressions, as the flow of the step at `path` sees them; `flow`: the run's own.
///
/// # Errors
/// When one of them cannot be evaluated.
pub fn evaluated(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    expressions: &IndexMap<String, Condition>,
) -> Result<Map<String, Value>, FlowError> {
    let of = flow.flow_at(path);
    let values = expressions.iter();
    let values = values.map(|(name, one)| Ok((name.clone(), value(of, log, path, one)?)));
    values.collect()
}

pub(super) fn text(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    condition: &Condition,
) -> Result<String, FlowError> {
    condition
        .text(&scope(flow, log, path, condition))
        .map_err(|source| failed(path, source))
}

fn failed(path: &str, source: crate::condition::ConditionError) -> FlowError {
    FlowError::Condition {
        step: path.to_owned(),
        source,
    }
}
