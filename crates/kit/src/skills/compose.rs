//! `compose`: a reply put together from texts of the pack: of each part the first text whose rule holds, places filled.

use crate::fields::{Field, Kind};
use crate::skills::signs::Signs;
use crate::task::{KitError, Scene, Task};
use crate::texts::filled;
use serde_json::{Map, Value};

pub(super) fn compose(task: Task<'_>) -> Result<Value, KitError> {
    let scene = Scene::new(task);
    let signs = Signs::of(&scene);
    let entry = task.entry()?;
    let into = entry.get("into").and_then(Value::as_str).unwrap_or("reply");
    let parts = entry.get("parts").and_then(Value::as_array);
    let mut said: Vec<String> = Vec::new();
    for part in parts.into_iter().flatten() {
        let rules = part.as_array().into_iter().flatten();
        for rule in rules.filter_map(Value::as_object) {
            if signs.hold(rule)? {
                said.push(text(&scene, rule)?);
                break;
            }
        }
    }
    said.retain(|text| !text.is_empty());
    if said.is_empty() {
        return Err(task.lacks(
            "none of its texts fits; let the last rule of a part have nothing but its text",
        ));
    }
    let mut answer = Map::new();
    answer.insert(into.to_owned(), Value::from(said.join(" ")));
    answer.insert("language".to_owned(), Value::from(scene.talk.language));
    Ok(task.answered(answer))
}

/// The text of a rule with its places filled: `{summary}` is what was collected, `{NAME}` what the step reads.
fn text(scene: &Scene<'_>, rule: &Map<String, Value>) -> Result<String, KitError> {
    let Some(name) = rule.get("text").and_then(Value::as_str) else {
        return Ok(String::new());
    };
    let text = scene.task.text_in(name, scene.talk.language)?;
    Ok(filled(text, |place| match place {
        "summary" => Some(summary(scene)),
        place => match scene.task.input.get(place)? {
            Value::String(text) => Some(text.clone()),
            Value::Object(map) => map.get("name")?.as_str().map(str::to_owned),
            _ => None,
        },
    }))
}

/// What was collected, in the words of the data: texts that describe, one after the other.
fn summary(scene: &Scene<'_>) -> String {
    let line = |field: &Field| {
        let value = scene.collected.get(&field.name)?;
        let said = match value {
            Value::String(text) => text.clone(),
            Value::Array(list) => {
                let words: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                words.join(", ")
            }
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return None,
        };
        let shown = field.ask || field.kind != Kind::Text;
        shown.then(|| format!("- **{}:** {said}", field.label(scene.talk.language)))
    };
    let lines: Vec<String> = scene.fields.iter().filter_map(line).collect();
    lines.join("\n")
}
