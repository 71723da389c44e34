//! What a step works on, computed from the state when it starts.

use super::FlowError;
use super::model::{AskSpec, Flow, Step, StepKind};
use super::questions::{from_list, from_specs};
use super::run_log::{Prepared, RunLog};
use super::scope::{answers_view, run_view, value};
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
            let mut input = Map::new();
            for name in &spec.reads {
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
