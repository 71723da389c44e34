//! The merge rules and the ownership of state fields: what a patch may do, and what the state is after it.
//! An agent only ever returns a patch; nothing but [`merge`] changes a state.

use super::model::{FieldKind, FieldSpec, Flow, StepKind};
use super::run_log::RunLog;
use super::scope::claim_scope;
use crate::condition::is_blank;
use serde_json::{Map, Value};

/// Why a field of a patch is refused, in words for the agent that sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchRefusal {
    pub field: String,
    /// `unknown-field`, `owner`, `kind`, `schema`.
    pub rule: String,
    pub message: String,
}

/// The part of the answer of the step at `path` that goes into the state: what its `maps` take out of it, else its keys that are
/// fields, whether the step may write them or not ([`check_patch`] refuses the ones that it may not).
pub fn patch_of(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    output: &Value,
) -> Result<Map<String, Value>, PatchRefusal> {
    let (flow, step) = match flow.at(path) {
        Some((flow, step)) => (flow, Some(&step.kind)),
        None => (flow, None),
    };
    let maps = match step {
        Some(StepKind::Agent(spec)) => Some(&spec.maps),
        // What it answers is the choice and nothing else.
        Some(StepKind::Route(_)) => return Ok(Map::new()),
        _ => None,
    };
    let patch = match maps.filter(|maps| !maps.is_empty()) {
        None => keys_of(flow, output),
        Some(maps) => maps
            .iter()
            .map(|(field, condition)| {
                let variables = claim_scope(flow, log, path, condition, output);
                match condition.value(&variables) {
                    Ok(value) => Ok((field.clone(), value)),
                    Err(error) => Err(PatchRefusal {
                        field: field.clone(),
                        rule: "maps".to_owned(),
                        message: format!("it cannot be taken out of the answer: {error}"),
                    }),
                }
            })
            .collect::<Result<_, _>>()?,
    };
    Ok(without_blanks(flow, patch))
}

/// The keys of an answer that are fields.
fn keys_of(flow: &Flow, output: &Value) -> Map<String, Value> {
    output.as_object().map_or_else(Map::new, |map| {
        map.iter()
            .filter(|(key, _)| flow.fields.contains_key(*key) || *key == "stage")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    })
}

/// The patch without what fields that skip it must not be given: blank keys of an object, blank items of a list, a blank value.
pub(super) fn without_blanks(flow: &Flow, patch: Map<String, Value>) -> Map<String, Value> {
    let skips = |name: &str| flow.fields.get(name).filter(|spec| spec.skip_empty);
    patch
        .into_iter()
        .filter_map(|(name, value)| {
            let Some(spec) = skips(&name) else {
                return Some((name, value));
            };
            let value = match (spec.kind, value) {
                (FieldKind::Object, Value::Object(map)) => {
                    Value::Object(map.into_iter().filter(|(_, v)| !is_blank(v)).collect())
                }
                (FieldKind::Append | FieldKind::Set, Value::Array(items)) => {
                    Value::Array(items.into_iter().filter(|item| !is_blank(item)).collect())
                }
                (_, value) if is_blank(&value) => return None,
                (_, value) => value,
            };
            Some((name, value))
        })
        .collect()
}

/// Every reason to refuse the patch; empty: it may be merged.
pub fn check_patch(
    flow: &Flow,
    agent: &str,
    state: &Map<String, Value>,
    patch: &Map<String, Value>,
) -> Vec<PatchRefusal> {
    let mut refusals = Vec::new();
    for (name, value) in patch {
        let mut refuse = |rule: &str, message: String| {
            refusals.push(PatchRefusal {
                field: name.clone(),
                rule: rule.to_owned(),
                message,
            });
        };
        let Some(spec) = flow.fields.get(name) else {
            let message = if name == "stage" {
                "the program moves the stage, no agent does; leave it out".to_owned()
            } else {
                format!("the state has no field {name:?}; leave it out")
            };
            refuse("unknown-field", message);
            continue;
        };
        if !spec.writers.iter().any(|w| w == agent) {
            refuse(
                "owner",
                format!(
                    "{agent} does not own {name:?} (it belongs to {}); leave it out",
                    spec.writers.join(", ")
                ),
            );
            continue;
        }
        refusals.extend(check_value(spec, name, state.get(name), value));
    }
    refusals
}

/// Why the value cannot be merged into the field: its kind, or the schema of what would come out.
pub(super) fn check_value(
    spec: &FieldSpec,
    name: &str,
    old: Option<&Value>,
    value: &Value,
) -> Vec<PatchRefusal> {
    let mut refusals = Vec::new();
    check_kind(spec, name, value, &mut refusals);
    if let Some(schema) = spec.schema.as_ref().filter(|_| refusals.is_empty()) {
        let merged = merged(spec, old, value);
        refusals.extend(
            schema
                .faults(&merged)
                .into_iter()
                .map(|fault| PatchRefusal {
                    field: name.to_owned(),
                    rule: "schema".to_owned(),
                    message: format!("{name:?} does not fit its schema at {fault}"),
                }),
        );
    }
    refusals
}

fn check_kind(spec: &FieldSpec, place: &str, value: &Value, refusals: &mut Vec<PatchRefusal>) {
    let expected = match spec.kind {
        FieldKind::Object if value.is_object() => None,
        FieldKind::Append | FieldKind::Replace | FieldKind::Set if value.is_array() => None,
        FieldKind::Value => None,
        FieldKind::Scalar if !value.is_object() && !value.is_array() => None,
        FieldKind::Object => Some("an object with the keys to set"),
        FieldKind::Append => Some("an array of the items to append"),
        FieldKind::Replace => Some("the whole new array"),
        FieldKind::Set => Some("an array of the items to add"),
        FieldKind::Scalar => Some("one plain value"),
    };
    if let Some(expected) = expected {
        refusals.push(PatchRefusal {
            field: place.to_owned(),
            rule: "kind".to_owned(),
            message: format!("{place:?} takes {expected}"),
        });
        return;
    }
    if let Value::Object(map) = value {
        for (key, value) in map {
            if let Some(child) = spec.child(key) {
                check_kind(child, &format!("{place}.{key}"), value, refusals);
            }
        }
    }
}

/// Merges a patch that [`check_patch`] let pass. A field that the flow does not have, or a value of the wrong kind, changes nothing.
pub fn merge(flow: &Flow, state: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (name, value) in patch {
        if let Some(spec) = flow.fields.get(name) {
            let new = merged(spec, state.get(name), value);
            state.insert(name.clone(), new);
        }
    }
}

fn merged(spec: &FieldSpec, old: Option<&Value>, patch: &Value) -> Value {
    match (spec.kind, patch) {
        (FieldKind::Object, Value::Object(patch)) => {
            let mut map = old.and_then(Value::as_object).cloned().unwrap_or_default();
            for (key, value) in patch {
                let new = match spec.child(key) {
                    Some(child) => merged(child, map.get(key), value),
                    None => value.clone(),
                };
                map.insert(key.clone(), new);
            }
            Value::Object(map)
        }
        (FieldKind::Append, Value::Array(items)) => {
            let mut all = old.and_then(Value::as_array).cloned().unwrap_or_default();
            all.extend(items.iter().cloned());
            Value::Array(all)
        }
        (FieldKind::Replace, Value::Array(_)) | (FieldKind::Value, _) => patch.clone(),
        (FieldKind::Set, Value::Array(items)) => {
            let mut all = old.and_then(Value::as_array).cloned().unwrap_or_default();
            for item in items {
                if !all.contains(item) {
                    all.push(item.clone());
                }
            }
            Value::Array(all)
        }
        (FieldKind::Scalar, value) if !value.is_object() && !value.is_array() => value.clone(),
        // Kept as it was: a patch of the wrong kind is refused before it comes here, and must not destroy anything if it does.
        _ => old.cloned().unwrap_or_else(|| empty(spec.kind)),
    }
}

/// What a condition sees in a field that nobody has written yet.
pub(super) fn empty(kind: FieldKind) -> Value {
    match kind {
        FieldKind::Object => Value::Object(Map::new()),
        FieldKind::Append | FieldKind::Replace | FieldKind::Set => Value::Array(Vec::new()),
        FieldKind::Scalar | FieldKind::Value => Value::Null,
    }
}
