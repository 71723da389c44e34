//! `extract`: the values of the last message, each with the words that say it, and what to say next.
//! At the first message of a request what was told before counts too.

use crate::extract::{Found, Wanted, bounded, described, extract};
use crate::fields::{Field, Kind, free};
use crate::reading::{Reading, What};
use crate::talk::has_others;
use crate::task::{KitError, Scene, Task};
use agentctl_base::own_words::own_words;
use serde_json::{Map, Value, json};

pub(super) fn elicit(task: Task<'_>) -> Result<Value, KitError> {
    let scene = Scene::new(task);
    let reading = scene.reading();
    let gives_up = !reading.orders && reading.has(&What::GivesUp);
    let mut found = if gives_up {
        Vec::new()
    } else {
        finds(&scene, &reading)
    };
    let reply = if gives_up {
        task.says("gone", scene.talk.language)?.to_owned()
    } else {
        reply(&scene, &reading, &found)?
    };
    infer(&scene, &mut found);
    let (mut updates, mut quotes, mut unknown) = (Map::new(), Map::new(), Vec::new());
    for one in &found {
        let Some(field) = scene.fields.get(one.field) else {
            continue;
        };
        match &one.value {
            Some(value) => {
                updates.insert(field.name.clone(), value.clone());
            }
            None => unknown.push(Value::from(field.name.clone())),
        }
        if field.ask {
            quotes.insert(field.name.clone(), Value::from(one.quote.clone()));
        }
    }
    let reasoning = format!(
        "offline: {} values and {} unknown in the last message",
        updates.len(),
        unknown.len()
    );
    let answer = json!({
        "updates": updates,
        "marked_unknown": unknown,
        "reasoning": reasoning,
        "followup_response": reply,
        "user_wants_to_abandon": gives_up,
        "quotes": quotes,
        "language": scene.talk.language,
    });
    Ok(task.answered(answer.as_object().cloned().unwrap_or_default()))
}

/// What the message itself says.
pub(super) fn says_itself(scene: &Scene<'_>, reading: &Reading<'_>) -> Vec<Found> {
    let wanted = Wanted {
        asked_before: &scene.asked_before,
        unknown: &scene.unknown,
        anew: says_anew(scene),
    };
    extract(reading, wanted)
}

/// What the message says; at the beginning also what was described before it.
pub(super) fn finds(scene: &Scene<'_>, reading: &Reading<'_>) -> Vec<Found> {
    let mut found = says_itself(scene, reading);
    let begins = scene.collected.is_empty() && scene.unknown.is_empty();
    let at = free(&scene.fields);
    if let Some(at) = at.filter(|at| begins && !found.iter().any(|f| f.field == *at))
        && !reading.orders
    {
        for earlier in told_before(scene, at) {
            if !found.iter().any(|f| f.field == earlier.field) {
                found.push(earlier);
            }
        }
    }
    found
}

/// Everything is known and no team took it: free words say the request in another way.
fn says_anew(scene: &Scene<'_>) -> bool {
    let mut required = scene.fields.iter().filter(|f| f.required);
    scene.task.reads("team").is_none() && required.all(|f| scene.is_answered(f))
}

/// The latest description among the user's earlier messages, and what else its message says.
fn told_before(scene: &Scene<'_>, field: usize) -> Vec<Found> {
    let told = scene.talk.earlier().find_map(|message| {
        let own = own_words(message);
        let reading = scene.reading_of(&own, &[]);
        if reading.orders || reading.has(&What::GivesUp) {
            return None;
        }
        let mut found = extract(&reading, Wanted::default());
        if !found.iter().any(|f| f.field == field) {
            found.push(described(&reading, field, &reading.plain())?);
        }
        Some(found)
    });
    told.unwrap_or_default()
}

/// Texts that nobody is asked for: the beginning of the description, as long as nobody gave another one.
fn infer(scene: &Scene<'_>, found: &mut Vec<Found>) {
    let Some(at) = free(&scene.fields) else {
        return;
    };
    let name = scene.fields.get(at).map_or("", |f| &f.name);
    let before = scene.collected.get(name).and_then(Value::as_str);
    let now = found.iter().find(|f| f.field == at);
    let now = now.and_then(|f| f.value.as_ref()).and_then(Value::as_str);
    let Some(describes) = now.or(before).map(str::to_owned) else {
        return;
    };
    for (at, field) in scene.fields.iter().enumerate() {
        if field.ask || field.kind != Kind::Text || found.iter().any(|f| f.field == at) {
            continue;
        }
        let has = scene.collected.get(&field.name).and_then(Value::as_str);
        let own = has.filter(|has| Some((*has).to_owned()) != before.map(|b| heading(b, field)));
        if own.is_none() {
            let title = heading(&describes, field);
            found.push(Found {
                field: at,
                quote: title.clone(),
                value: Some(Value::from(title)),
            });
        }
    }
}

/// The beginning of a text as a heading: its first sentence, cut between words.
fn heading(text: &str, field: &Field) -> String {
    const LONG: usize = 72;
    let line = text.lines().next().unwrap_or(text);
    let ends = [". ", "! ", "? ", "; "];
    let sentence = ends.iter().filter_map(|end| line.split_once(end));
    let first = sentence.map(|(first, _)| first).min_by_key(|f| f.len());
    let first = first.unwrap_or(line).trim();
    let short = bounded(first, LONG.min(field.max)).unwrap_or_default();
    let mut bare = bare_end(&short);
    // Cut off in the middle, it does not end with "of a".
    while bare.len() < bare_end(first).len()
        && let Some((before, last)) = bare.rsplit_once(' ')
        && crate::language::is_small(&crate::words::fold(last))
    {
        bare = bare_end(before);
    }
    let mut letters = bare.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn bare_end(text: &str) -> &str {
    text.trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')')
}

/// What is said: the next question, and before it what the message needs.
fn reply(scene: &Scene<'_>, reading: &Reading<'_>, found: &[Found]) -> Result<String, KitError> {
    let language = scene.talk.language;
    let task = scene.task;
    let answered =
        |field: &Field, at: usize| scene.is_answered(field) || found.iter().any(|f| f.field == at);
    let mut open = scene
        .fields
        .iter()
        .enumerate()
        .filter(|(at, f)| f.required && f.ask && !answered(f, *at));
    let next = open.next().map(|(_, field)| field);
    let says = !found.is_empty();
    let message = scene.task.said.iter().rev().find(|s| s.by_user);
    let others = message.is_some_and(|m| has_others(&m.text));
    let before = if reading.orders {
        Some("orders")
    } else if others && !says {
        Some("quoted")
    } else if says || scene.asked.is_empty() {
        None
    } else if reading.has(&What::Question) {
        Some("explain")
    } else {
        Some("again")
    };
    let mut parts = Vec::new();
    if let Some(before) = before {
        parts.push(task.says(before, language)?.to_owned());
    }
    match next {
        Some(field) => parts.push(field.question(language)),
        None if says => parts.push(task.says("complete", language)?.to_owned()),
        None => parts.push(task.says("which", language)?.to_owned()),
    }
    Ok(parts.join(" "))
}
