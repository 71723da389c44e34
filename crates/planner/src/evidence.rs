//! A repair out of what failed: the errors of the last failed execution, as the flow gives them, and the changes that they point
//! at. Only a request to repair is read so; the execution is data, and only its findings' own operations are taken from it.

use super::lexicon::has;
use super::modify::Modification;
use agentctl_base::question::Question;
use agentctl_n8n::EditOp;
use serde_json::{Map, Value};

/// Asks for a repair, and not for a particular change.
const REPAIR: &str = r"^\W*(?:please\s+|bitte\s+|por favor\s+)?(?:fix|repair|mend|debug|repariere?n?|behebe?n?|korrigiere?n?|arregla\w*|repara\w*|corrige\w*|répare\w*)\b";

fn findings(input: &Map<String, Value>) -> Vec<&Value> {
    let request = input.get("request").and_then(Value::as_str).unwrap_or("");
    let evidence = input.get("evidence").and_then(|e| e.get("findings"));
    let all = evidence.and_then(Value::as_array).into_iter().flatten();
    let list: Vec<&Value> = all.filter(|f| f["severity"] == "error").collect();
    if has(REPAIR, request) {
        list
    } else {
        Vec::new()
    }
}

fn operations(finding: &Value) -> Option<Vec<EditOp>> {
    let ops = finding.pointer("/fix/ops")?;
    serde_json::from_value(ops.clone()).ok()
}

/// The changes that the failed execution points at; None: it is not asked for, or nothing is known.
pub fn repair(input: &Map<String, Value>) -> Option<Modification> {
    let mut ops = Vec::new();
    let mut notes = Vec::new();
    for finding in findings(input) {
        let Some(of) = operations(finding) else {
            continue;
        };
        let text = |pointer: &str| {
            finding
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or("")
        };
        notes.push(format!(
            "{}: {}, because it {}",
            text("/node"),
            text("/fix/title"),
            text("/message")
        ));
        ops.extend(of);
    }
    (!ops.is_empty()).then(|| Modification {
        ops,
        notes,
        ..Modification::default()
    })
}

/// Whoever is asked what to change about a workflow that is to be repaired is told what failed.
pub fn tell(input: &Map<String, Value>, questions: &mut [Question]) {
    let Some(failed) = unmended(input) else {
        return;
    };
    let what_to_change = questions.iter_mut().filter(|q| q.topic == "change");
    for question in what_to_change {
        question.text.clone_from(&failed);
    }
}

/// What failed, where it is asked to be repaired and no change is known.
pub fn unmended(input: &Map<String, Value>) -> Option<String> {
    let first = *findings(input).first()?;
    let text = |key: &str| first.get(key).and_then(Value::as_str).unwrap_or("");
    let execution = input.get("evidence").and_then(|e| e.get("execution"));
    Some(format!(
        "in the last failed execution {} the node {:?} {}; the offline model knows no change that clears it: say what to change, or use a model",
        execution.and_then(Value::as_str).unwrap_or(""),
        text("node"),
        text("message")
    ))
}
