//! Questions to the user: made from the state or from the flow's own words, each with a schema for its answer.

use super::FlowError;
use super::model::{AskSpec, Flow, QuestionSpec, StepKind};
use super::run_log::RunLog;
use super::schema::Schema;
use super::scope::{text, value};
use crate::condition::Condition;
use agentctl_base::question::{Question, QuestionOption};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Questions that an agent wrote into the state: `{id, topic, text, options?, recommended?, required?, schema?}`.
pub(super) fn from_list(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    list: &Condition,
) -> Result<Vec<Question>, FlowError> {
    let wrong = |message: String| FlowError::Step {
        step: path.to_owned(),
        message,
    };
    let items = match value(flow, log, path, list)? {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        other => return Err(wrong(format!("the questions must be a list, not {other}"))),
    };
    let mut questions = Vec::new();
    let mut ids = BTreeSet::new();
    for (i, item) in items.iter().enumerate() {
        let string = |key: &str| {
            item.get(key)
                .and_then(Value::as_str)
                .map(str::trim)
                .filter(|s| !s.is_empty())
        };
        let Some(words) = string("text") else {
            return Err(wrong(format!("question {} has no text", i + 1)));
        };
        let options = options_of(item.get("options"));
        let topic = string("topic")
            .or_else(|| string("id"))
            .unwrap_or("question");
        let base = string("id").map_or_else(|| format!("q{}", i + 1), str::to_owned);
        // The flow's own questions are answered under their ids: no question of an agent may pass for one.
        let base = if reserved(flow, &base) {
            format!("{path}/{base}")
        } else {
            base
        };
        let id = free_id(log, path, base, &mut ids);
        let recommended = item.get("recommended").filter(|v| !v.is_null()).cloned();
        let schema = match item
            .get("schema")
            .filter(|v| v.is_object() || v.is_boolean())
        {
            // A schema from a model may be none: then the plain one stands, as if it had sent none.
            Some(schema) if Schema::compile(schema.clone()).is_ok() => schema.clone(),
            _ => open_schema(&options, recommended.as_ref()),
        };
        questions.push(Question {
            id,
            topic: topic.to_owned(),
            text: words.to_owned(),
            schema,
            options,
            recommended,
            required: item
                .get("required")
                .and_then(Value::as_bool)
                .unwrap_or(true),
            approves: None,
            proposal: None,
            asked_by: None,
            asks_secret: false,
        });
    }
    Ok(questions)
}

/// Questions of the flow itself, e.g. a decision among options with scores.
pub(super) fn from_specs(
    flow: &Flow,
    log: &RunLog,
    path: &str,
    specs: &[QuestionSpec],
) -> Result<Vec<Question>, FlowError> {
    let mut ids = BTreeSet::new();
    specs
        .iter()
        .map(|spec| {
            let evaluated =
                |c: &Option<Condition>| c.as_ref().map(|c| value(flow, log, path, c)).transpose();
            let options = options_of(evaluated(&spec.options)?.as_ref());
            let recommended = evaluated(&spec.recommended)?.filter(|v| !v.is_null());
            let schema = spec
                .schema
                .clone()
                .unwrap_or_else(|| closed_schema(&options));
            Ok(Question {
                id: free_id(log, path, spec.id.clone(), &mut ids),
                topic: spec.topic.clone(),
                text: text(flow, log, path, &spec.text)?,
                options,
                recommended,
                required: spec.required,
                schema,
                approves: None,
                proposal: None,
                asked_by: None,
                asks_secret: false,
            })
        })
        .collect()
}

fn reserved(flow: &Flow, id: &str) -> bool {
    flow.all_steps().into_iter().any(|step| match &step.kind {
        StepKind::Ask(AskSpec::Questions(specs)) => specs.iter().any(|spec| spec.id == id),
        _ => false,
    })
}

/// An id is the run's own: when another step has used it, the step's path goes before it.
fn free_id(log: &RunLog, path: &str, base: String, used: &mut BTreeSet<String>) -> String {
    let mut id = match log.asked_by(&base) {
        Some(step) if step != path => format!("{path}/{base}"),
        _ => base.clone(),
    };
    let mut n = 2;
    while !used.insert(id.clone()) {
        id = format!("{base}-{n}");
        n += 1;
    }
    id
}

fn options_of(list: Option<&Value>) -> Vec<QuestionOption> {
    let plain = |value: &Value| match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    list.and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .map(|item| match item.get("value") {
            Some(value) => QuestionOption {
                label: item
                    .get("label")
                    .and_then(Value::as_str)
                    .map_or_else(|| plain(value), str::to_owned),
                detail: item
                    .get("detail")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
                fit_score: item
                    .get("fit_score")
                    .and_then(Value::as_u64)
                    .and_then(|n| u8::try_from(n.min(100)).ok()),
                value: value.clone(),
            },
            None => QuestionOption::new(item.clone(), plain(item)),
        })
        .collect()
}

/// Options are offers: any other text is an answer too.
fn open_schema(options: &[QuestionOption], recommended: Option<&Value>) -> Value {
    let any_text = json!({"type": "string", "minLength": 1});
    let mut values: Vec<&Value> = options.iter().map(|o| &o.value).collect();
    values.extend(recommended);
    if values.iter().all(|v| v.is_string()) {
        return any_text;
    }
    json!({"anyOf": [{"enum": values}, any_text, {"type": "number"}, {"type": "boolean"}]})
}

fn closed_schema(options: &[QuestionOption]) -> Value {
    if options.is_empty() {
        return json!({"type": "string", "minLength": 1});
    }
    json!({"enum": options.iter().map(|o| &o.value).collect::<Vec<_>>()})
}

/// Says what is wrong with an answer, in words for the user.
pub fn check_answer(question: &Question, answer: &Value) -> Result<(), String> {
    let schema = Schema::compile(question.schema.clone())?;
    match schema.faults(answer).into_iter().next() {
        None => Ok(()),
        Some(_) if !question.options.is_empty() && question.schema.get("enum").is_some() => {
            let values: Vec<String> = question
                .options
                .iter()
                .map(|o| o.value.to_string())
                .collect();
            Err(format!(
                "the answer to {} must be one of {}",
                question.id,
                values.join(", ")
            ))
        }
        Some(fault) => Err(format!(
            "the answer to {} does not fit: {fault}",
            question.id
        )),
    }
}
