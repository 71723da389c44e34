//! Parts of an instruction, and parts of a result: ids, files, names.

use super::fill::{TICKET, behind_colon, by_pattern};
use super::lexicon::Lexicon;
use super::render::plain;
use serde_json::{Map, Value};

/// Of an entry the id that a parameter asks for: `page_id` is `pageId`, else `id`.
pub(super) fn id_of(item: &Map<String, Value>, parameter: &str) -> Option<Value> {
    let wanted = parameter.replace('_', "").to_lowercase();
    if !parameter.ends_with("_id") {
        return None;
    }
    let same = item
        .iter()
        .find(|(key, _)| key.replace('_', "").to_lowercase() == wanted);
    let id = same.map(|(_, value)| value).or_else(|| item.get("id"))?;
    id.as_str().map(Value::from)
}

/// A file that a result points to.
pub(super) fn file_of(result: &Value) -> Option<String> {
    let url = result.get("url")?.as_str()?;
    let name = url.rsplit('/').next().unwrap_or_default();
    let (stem, ending) = name.rsplit_once('.')?;
    let good = !stem.is_empty()
        && (2..=5).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric());
    good.then(|| url.to_owned())
}

/// `{name}`: what it is called; `{ref}`: its id and where it stands; else a value of the result or of the call.
pub(super) fn place_of(place: &str, given: &Value, result: &Value) -> String {
    let of = |keys: &[&str]| {
        keys.iter()
            .find_map(|k| result.get(*k).or_else(|| given.get(*k)))
            .map(plain)
    };
    match place {
        "name" => of(&[
            "title",
            "summary",
            "name",
            "issue_key",
            "card",
            "project",
            "key",
            "page_id",
        ])
        .unwrap_or_default(),
        "ref" => {
            let id = ["key", "pageId", "id"]
                .iter()
                .find_map(|k| result.get(*k))
                .map(plain);
            let url = result.get("url").map(plain);
            let parts: Vec<String> = id.into_iter().chain(url).collect();
            match parts.is_empty() {
                true => String::new(),
                false => format!(" ({})", parts.join(", ")),
            }
        }
        place => of(&[place]).unwrap_or_default(),
    }
}

/// A task without what stands behind it for the program: the thing that it is about, alone on the last line, and what the user answered to
/// questions, each a line `name: value` of one of these parameters; a value may go on over lines.
pub(super) fn apart<'t>(
    task: &'t str,
    names: &[&str],
) -> (&'t str, Option<&'t str>, Map<String, Value>) {
    let begun = |line: &'t str| {
        let (name, value) = line.split_once(": ")?;
        names.contains(&name).then_some((name, value))
    };
    let mut answers: Map<String, Value> = Map::new();
    let (mut at, mut end) = (0, task.len());
    let mut open: Option<(&str, String)> = None;
    for (nth, line) in task.split_inclusive('\n').enumerate() {
        if let Some((name, value)) = begun(line.trim_end()).filter(|_| nth > 0) {
            end = end.min(at);
            if let Some((name, value)) = open.replace((name, value.to_owned())) {
                answers.insert(name.to_owned(), value.trim().into());
            }
        } else if let Some((_, value)) = &mut open {
            *value += &format!("\n{}", line.trim_end());
        }
        at += line.len();
    }
    if let Some((name, value)) = open {
        answers.insert(name.to_owned(), value.trim().into());
    }
    let task = task.get(..end).unwrap_or_default().trim_end();
    let last = task.rsplit_once('\n');
    match last.filter(|(_, last)| by_pattern(TICKET, last).as_deref() == Some(last.trim())) {
        Some((task, subject)) => (task.trim_end(), Some(subject.trim()), answers),
        None => (task, None, answers),
    }
}

/// The parts of an instruction that each want something done; what stands behind a colon stays with the part before it.
pub(super) fn clauses(instruction: &str, lexicon: &Lexicon, acts: &[&str]) -> Vec<String> {
    let (head, tail) = match behind_colon(instruction) {
        Some((head, _)) => (head, instruction.get(head.len()..).unwrap_or_default()),
        None => (instruction, ""),
    };
    let has_act = |text: &str| {
        lexicon
            .hits(&super::fill::unquoted(text))
            .iter()
            .any(|hit| acts.contains(&hit.concept.as_str()))
    };
    let mut parts: Vec<String> = vec![head.to_owned()];
    for join in [" and ", " und ", " et ", " y ", ", then ", ", dann ", "; "] {
        parts = parts
            .into_iter()
            .flat_map(|part| match part.split_once(join) {
                Some((a, b)) if has_act(a) && has_act(b) => vec![a.to_owned(), b.to_owned()],
                _ => vec![part],
            })
            .collect();
    }
    if let Some(last) = parts.last_mut() {
        last.push_str(tail);
    }
    parts
}
