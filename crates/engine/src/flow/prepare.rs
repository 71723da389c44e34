//! What a step works on, computed from the state when it starts.

use super::FlowError;
use super::model::{AskSpec, By, Flow, RouteSpec, Step, StepKind};
use super::questions::{from_list, from_specs};
use super::run_log::{Prepared, RunLog};
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
            Prepared::Input(input)
        }
        StepKind::Route(route) => match &route.by {
            Some(By::Agent(spec)) => {
                let mut input = read(flow, log, path, &spec.reads);
                input.extend(computed(&spec.with)?);
                Prepared::Choice(input, possible(flow, log, path, route)?)
            }
            _ => Prepared::Nothing,
        },
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
            "input" => Some(Value::Object(log.input().clone())),
            "answers" => Some(answers_view(log)),
            "run" => Some(run_view(flow, log, path)),
            field => log.state().get(field).cloned(),
        };
        if let Some(read) = read {
            input.insert(name.clone(), read);
        }
    }
    input
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
