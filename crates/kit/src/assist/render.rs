//! What a tool's result says, in words: how many there are and which, or what one thing holds. Texts from outside stand in quotation
//! marks; numbers and ids are those of the result.

use crate::words::{Text, fold};
use serde_json::{Map, Value};

/// Entries of a list that are told, at most.
const MAX_LINES: usize = 30;
/// Characters of one text, at most.
const MAX_TEXT: usize = 400;

/// The list that a result is about, and how many there are by its own word.
pub(crate) fn list(result: &Value) -> Option<(Vec<&Map<String, Value>>, u64)> {
    let of = |items: &'_ Value| -> Option<usize> {
        items
            .as_array()
            .filter(|a| a.iter().all(Value::is_object))
            .map(Vec::len)
    };
    let items = match result {
        Value::Array(_) => result,
        Value::Object(map) => {
            // A thing of its own with a list in it is told as a thing.
            let plain = map
                .iter()
                .filter(|(k, v)| !v.is_array() && !v.is_object() && k.as_str() != "total")
                .count();
            let mut lists = map.values().filter(|v| of(v).is_some());
            let first = lists.next()?;
            if plain > 1 {
                return None;
            }
            first
        }
        _ => return None,
    };
    let maps: Vec<&Map<String, Value>> = items
        .as_array()?
        .iter()
        .filter_map(Value::as_object)
        .collect();
    let total = result.get("total").and_then(Value::as_u64);
    let count = u64::try_from(maps.len()).unwrap_or_default();
    Some((maps, total.unwrap_or(count)))
}

/// One line for each entry.
pub(crate) fn lines(items: &[&Map<String, Value>], language: &str) -> Vec<String> {
    items
        .iter()
        .take(MAX_LINES)
        .map(|item| format!("- {}", one(item, language)))
        .collect()
}

/// A text in the quotation marks of a language.
pub(crate) fn in_marks(text: &str, language: &str) -> String {
    match language {
        "de" => format!("„{text}“"),
        "fr" => format!("« {text} »"),
        "es" => format!("«{text}»"),
        _ => format!("“{text}”"),
    }
}

fn one(item: &Map<String, Value>, language: &str) -> String {
    let ids = ["key", "id", "iid", "pageId"];
    let titles = ["title", "summary", "name", "text"];
    let id = ids.iter().find_map(|k| item.get(*k)).map(plain);
    let titled = titles.iter().find(|k| item.contains_key(**k)).copied();
    let title = titled.and_then(|k| item.get(k)).map(plain);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(id);
    parts.extend(title.map(|t| in_marks(&cut(&unmarked(&t)), language)));
    let told = |k: &str| ids.contains(&k) || titled == Some(k);
    let more: Vec<String> = item
        .iter()
        .filter(|(k, v)| !told(k) && !v.is_null() && !v.is_object() && !nested(v))
        .map(|(k, v)| (k, plain(v)))
        .filter(|(_, text)| !text.is_empty())
        .map(|(k, text)| match text.contains(' ') {
            true => format!("{k}: {}", in_marks(&cut(&unmarked(&text)), language)),
            false => format!("{k}: {text}"),
        })
        .collect();
    if !more.is_empty() {
        parts.push(format!("({})", more.join(", ")));
    }
    parts.join(" ")
}

fn nested(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|items| items.iter().any(|i| i.is_object() || i.is_array()))
}

/// The parts of one thing: `name: value`, texts in quotation marks; of a long text what fits the question best.
pub(crate) fn thing(result: &Value, asked: &str, language: &str) -> Vec<String> {
    let Some(map) = result.as_object() else {
        return vec![plain(result)];
    };
    let mut lines = Vec::new();
    for (key, value) in map {
        match value {
            Value::Null => {}
            Value::Object(inner) => {
                let parts: Vec<String> = inner
                    .iter()
                    .map(|(k, v)| format!("{k} {}", plain(v)))
                    .collect();
                lines.push(format!("- {key}: {}", parts.join(", ")));
            }
            Value::Array(items) if nested(value) => {
                let maps: Vec<&Map<String, Value>> =
                    items.iter().filter_map(Value::as_object).collect();
                lines.push(format!("- {key}: {}", items.len()));
                lines.extend(self::lines(&maps, language));
            }
            Value::String(text) if text.chars().count() > MAX_TEXT => {
                let part = best_part(text, asked);
                lines.push(format!("- {key}: {}", in_marks(&part, language)));
            }
            Value::String(text) if text.contains(char::is_whitespace) => {
                lines.push(format!("- {key}: {}", in_marks(&unmarked(text), language)))
            }
            other => {
                let text = plain(other);
                if !text.is_empty() {
                    lines.push(format!("- {key}: {text}"));
                }
            }
        }
    }
    lines
}

/// All of a result, for another agent to work with: a title, then its parts.
pub(crate) fn whole(result: &Value) -> String {
    let of = |keys: &[&str]| {
        keys.iter()
            .find_map(|k| result.get(*k)?.as_str())
            .map(str::to_owned)
    };
    let title = of(&["title", "name", "summary"]);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(title);
    match (list(result), result) {
        (Some((items, total)), _) => {
            lines.push(format!("{total}"));
            lines.extend(self::lines(&items, "en"));
        }
        (None, Value::Object(map)) => {
            for (key, value) in map {
                match value {
                    Value::Null => {}
                    Value::Array(items) if nested(value) => {
                        let maps: Vec<&Map<String, Value>> =
                            items.iter().filter_map(Value::as_object).collect();
                        lines.push(format!("{key}: {}", items.len()));
                        lines.extend(self::lines(&maps, "en"));
                    }
                    other => lines.push(format!("{key}: {}", plain(other))),
                }
            }
        }
        (None, other) => lines.push(plain(other)),
    }
    lines.join("\n")
}

/// The sentences of a text that have most of the words that were asked for.
fn best_part(text: &str, asked: &str) -> String {
    let wanted: Vec<String> = Text::new(asked)
        .words
        .into_iter()
        .map(|w| w.fold)
        .filter(|w| w.len() > 3)
        .collect();
    let score = |sentence: &str| {
        let said = fold(sentence);
        wanted
            .iter()
            .filter(|w| said.contains(w.get(..w.len().min(6)).unwrap_or(w.as_str())))
            .count()
    };
    let sentences: Vec<&str> = text.split_inclusive(['.', '\n', '!', '?']).collect();
    let best = sentences
        .iter()
        .enumerate()
        .max_by_key(|(at, s)| (score(s), std::cmp::Reverse(*at)));
    let at = best.map_or(0, |(at, _)| at);
    let part = sentences
        .get(at..(at + 3).min(sentences.len()))
        .unwrap_or_default()
        .concat();
    unmarked(&cut(&part))
}

pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(map) => map
            .iter()
            .map(|(k, v)| format!("{k}: {}", plain(v)))
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}

fn cut(text: &str) -> String {
    match text.chars().count() {
        0..=MAX_TEXT => text.trim().to_owned(),
        _ => format!(
            "{}…",
            text.chars().take(MAX_TEXT).collect::<String>().trim()
        ),
    }
}

/// Without quotation marks of its own, and in one line.
fn unmarked(text: &str) -> String {
    let one_line: Vec<&str> = text.split_whitespace().collect();
    one_line
        .join(" ")
        .replace(['"', '“', '”', '„', '«', '»'], "'")
}
