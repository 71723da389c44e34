//! `route`: the case that the first rule names that holds and whose case is offered.

use crate::skills::signs::Signs;
use crate::task::{KitError, Scene, Task};
use serde_json::{Value, json};

pub(super) fn route(task: Task<'_>) -> Result<Value, KitError> {
    let scene = Scene::new(task);
    let signs = Signs::of(&scene);
    let offered = offered(task.contract);
    let rules = task.entry()?.get("rules").and_then(Value::as_array);
    for rule in rules.into_iter().flatten().filter_map(Value::as_object) {
        let case = rule.get("case").and_then(Value::as_str).unwrap_or("");
        let is_offered = offered.is_empty() || offered.contains(&case);
        if is_offered && signs.hold(rule)? {
            let answer = json!({
                "case": case,
                "reasoning": format!("offline: {}", reason(rule.get("when"))),
                "language": scene.talk.language,
            });
            return Ok(task.answered(answer.as_object().cloned().unwrap_or_default()));
        }
    }
    Err(task.lacks("none of its rules holds; let the last one have nothing but its case"))
}

fn reason(when: Option<&Value>) -> String {
    match when {
        Some(Value::Array(signs)) => {
            let signs: Vec<&str> = signs.iter().filter_map(Value::as_str).collect();
            format!("it has the signs {}", signs.join(", "))
        }
        Some(Value::String(sign)) => format!("it has the sign {sign}"),
        _ => "nothing else holds".to_owned(),
    }
}

/// The cases that the contract allows.
fn offered(contract: &Value) -> Vec<&str> {
    let cases = contract
        .pointer("/properties/case/enum")
        .and_then(Value::as_array);
    cases
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
