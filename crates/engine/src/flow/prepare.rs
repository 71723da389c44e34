//! What a step works on, computed from the state when it starts.

use super::FlowError;
use super::load_branches::INDEX;
use super::model::{AskSpec, By, ConversationSpec, Flow, ForEachSpec, RouteSpec, Step, StepKind};
use super::questions::{from_list, from_specs};
use super::run_log::{Brief, Conversation, Fork, Prepared, RunLog, Spoken};
use super::scope::{answers_view, holds, run_view, value};
use crate::condition::Condition;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// Computes what a step works on. Called before the start is journaled, and again when the start is folded: the same state gives the same.
pub(super) fn prepare(
    flow: &Flow,
    log: &RunLog,
    step: &Step,
    path: &str,
) -> Result<Prepared, FlowError> {
    let computed = |conditions: &IndexMap<String, Condition>| {
        conditions
            .iter()
            .map(|(name, condition)| Ok((name.clone(), value(flow, log, path, condition)?)))
            .collect::<Result<Map<_, _>, FlowError>>()
    };
    Ok(match &step.kind {
        StepKind::Agent(spec) => {
            let mut input = read(flow, log, path, &spec.reads);
            input.extend(computed(&spec.with)?);
            let conversation = conversation(flow, log, path, spec.conversation.as_ref())?;
            Prepared::Agent(Brief {
                input,
                conversation,
            })
        }
        StepKind::Route(route) => match &route.by {
            Some(By::Agent(spec)) => {
                let mut input = read(flow, log, path, &spec.reads);
                input.extend(computed(&spec.with)?);
                let conversation = conversation(flow, log, path, spec.conversation.as_ref())?;
                let brief = Brief {
                    input,
                    conversation,
                };
                Prepared::Choice(brief, possible(flow, log, path, route)?)
            }
            _ => Prepared::Nothing,
        },
        StepKind::Parallel(spec) => {
            let mut forks = Vec::new();
            for branch in &spec.branches {
                let begins = match &branch.when {
                    Some(when) => holds(flow, log, path, when)?,
                    None => true,
                };
                if begins {
                    forks.push(Fork {
                        name: branch.id.clone(),
                        path: format!("{path}/{}", branch.id),
                        bound: Map::new(),
                    });
                }
            }
            Prepared::Branches(forks)
        }
        StepKind::ForEach(spec) => Prepared::Branches(items(flow, log, path, spec)?),
        StepKind::Call(spec) => {
            let mut input = match spec.as_tool {
                true => log.said_with_call(path),
                false => Map::new(),
            };
            input.extend(computed(&spec.with)?);
            Prepared::Input(input)
        }
        StepKind::Tool(spec) => Prepared::Input(computed(&spec.args)?),
        StepKind::Ask(AskSpec::From(list)) => {
            Prepared::Questions(from_list(flow, log, path, list)?)
        }
        StepKind::Ask(AskSpec::Questions(specs)) => {
            Prepared::Questions(from_specs(flow, log, path, specs)?)
        }
        _ => Prepared::Nothing,
    })
}

/// What an agent's step reads, as it is now; what nobody has written yet is left out.
fn read(flow: &Flow, log: &RunLog, path: &str, names: &[String]) -> Map<String, Value> {
    let mut input = Map::new();
    for name in names {
        let read = match name.as_str() {
            "input" => Some(Value::Object(log.frame(path).input.clone())),
            "answers" => Some(answers_view(log, path)),
            "run" => Some(run_view(flow, log, path)),
            field => log.state_at(path).get(field).cloned(),
        };
        if let Some(read) = read {
            input.insert(name.clone(), read);
        }
    }
    input
}

/// What was said, from the expressions that say where it stands.
fn conversation(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    spec: Option<&ConversationSpec>,
) -> Result<Conversation, FlowError> {
    let Some(spec) = spec else {
        return Ok(Conversation::default());
    };
    let given = |condition: &Option<Condition>| match condition {
        Some(condition) => value(flow, log, path, condition),
        None => Ok(Value::Null),
    };
    let wrong = |what: &str, got: &Value| FlowError::Step {
        step: path.to_owned(),
        message: format!("{what}, not {got}"),
    };
    let mut said = match given(&spec.history)? {
        Value::Null => Vec::new(),
        Value::Array(items) => items
            .iter()
            .map(|item| {
                spoken(item).ok_or_else(|| {
                    wrong(
                        "a message is a text, or {role: user or assistant, text}",
                        item,
                    )
                })
            })
            .collect::<Result<_, _>>()?,
        other => return Err(wrong("a history is a list of messages", &other)),
    };
    match given(&spec.message)? {
        Value::Null => {}
        Value::String(text) => said.push(Spoken {
            by_user: true,
            text,
        }),
        other => return Err(wrong("a message is a text", &other)),
    }
    said.retain(|spoken| !spoken.text.trim().is_empty());
    Ok(Conversation {
        said,
        latest: spec.latest,
    })
}

fn spoken(item: &Value) -> Option<Spoken> {
    let (by_user, text) = match item {
        Value::String(text) => (true, text.as_str()),
        said => {
            let by_user = match said.get("role")?.as_str()? {
                "user" => true,
                "assistant" => false,
                _ => return None,
            };
            (by_user, said.get("text")?.as_str()?)
        }
    };
    Some(Spoken {
        by_user,
        text: text.to_owned(),
    })
}

/// One fork for each item.
fn items(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    spec: &ForEachSpec,
) -> Result<Vec<Fork>, FlowError> {
    let wrong = |message: String| FlowError::Step {
        step: path.to_owned(),
        message,
    };
    let items = match value(flow, log, path, &spec.of)? {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        other => return Err(wrong(format!("`of` must give a list, not {other}"))),
    };
    if items.len() > spec.max {
        let n = items.len();
        return Err(wrong(format!(
            "the list has {n} items, at most {} are allowed",
            spec.max
        )));
    }
    let forks = items.into_iter().zip(1..).map(|(item, n)| Fork {
        name: n.to_string(),
        path: format!("{path}[{n}]"),
        bound: Map::from_iter([(spec.item.clone(), item), (INDEX.to_owned(), n.into())]),
    });
    Ok(forks.collect())
}

/// The names of the cases that can be now.
pub(super) fn possible(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    route: &RouteSpec,
) -> Result<Vec<String>, FlowError> {
    let mut names = Vec::new();
    for case in &route.cases {
        let can_be = match &case.when {
            Some(when) => holds(flow, log, path, when)?,
            None => true,
        };
        if can_be {
            names.push(case.name.clone());
        }
    }
    Ok(names)
}
