//! `act`: what the answer to a review wants: confirm, modify, abandon or clarify. It confirms only where every word agrees.

use crate::extract::Found;
use crate::phrases::covered;
use crate::reading::{Reading, What};
use crate::skills::elicit::finds;
use crate::task::{KitError, Scene, Task};
use crate::wishes::question;
use serde_json::{Value, json};

/// What agrees, with what may stand beside it.
const AGREES: [&str; 7] = [
    "submit", "yes", "yes.more", "filler", "thanks", "greet", "and",
];

pub(super) fn act(task: Task<'_>) -> Result<Value, KitError> {
    let scene = Scene::new(task);
    let reading = scene.reading();
    let found = finds(&scene, &reading);
    let (action, because) = wants(&reading, &found);
    let changes = action == "modify" && !found.is_empty();
    let said = match action {
        "modify" if changes => "changed",
        "modify" => "what_to_change",
        "abandon" => "gone",
        "clarify" => "clarify",
        _ => "confirmed",
    };
    let team = scene.task.reads("team").and_then(|t| t.get("name"));
    let text = task.says(said, scene.talk.language)?;
    let text = crate::texts::filled(text, |name| match name {
        "team" => team.and_then(Value::as_str).map(str::to_owned),
        _ => None,
    });
    let answer = json!({
        "action_type": action,
        "reasoning": format!("offline: {because}"),
        "response_to_user": text,
        "changes": changes,
        "language": scene.talk.language,
    });
    Ok(task.answered(answer.as_object().cloned().unwrap_or_default()))
}

fn wants(reading: &Reading<'_>, found: &[Found]) -> (&'static str, &'static str) {
    if reading.orders {
        return ("clarify", "it gives orders to the program");
    }
    if reading.has(&What::GivesUp) {
        return ("abandon", "it gives the request up");
    }
    if !found.is_empty() {
        return ("modify", "it names another value");
    }
    let mut sentences = reading.sentences.iter();
    let asks = sentences.any(|s| question(&reading.text, s, reading.cx.languages));
    if asks || reading.text.text.contains('?') {
        return ("clarify", "it asks something");
    }
    if agrees(reading) {
        return ("confirm", "every word of it agrees");
    }
    if reading.says("wait") {
        return ("clarify", "it wants to wait");
    }
    let all = 0..reading.words().len();
    let (open, used) = covered(
        &reading.text,
        all,
        &["no", "filler", "thanks"],
        reading.cx.languages,
    );
    if reading.says("change") || open == 0 && used.contains(&"no") {
        return ("modify", "it wants a change");
    }
    ("clarify", "it is no clear answer")
}

/// Whether a message agrees with every word of it.
pub(super) fn agrees(reading: &Reading<'_>) -> bool {
    let all = 0..reading.words().len();
    let (open, used) = covered(&reading.text, all, &AGREES, reading.cx.languages);
    open == 0 && (used.contains(&"yes") || used.contains(&"submit"))
}
