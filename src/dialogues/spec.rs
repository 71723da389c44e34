//! What a value must be, as a file of dialogues says it.

use agentctl_base::yaml::{Kind, Node, Problems};
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

/// The words of a map that says what a value must be. A map with other keys says it of the value's own keys.
const WORDS: [&str; 5] = ["matches", "not_matches", "contains", "any_of", "present"];

#[derive(Debug, Clone)]
pub enum Spec {
    /// Null, or nothing at all.
    Absent,
    Present,
    /// The same text, case and the point at its end aside; or the same value.
    Same(Value),
    /// These, in any order, and nothing else.
    All(Vec<Spec>),
    AnyOf(Vec<Spec>),
    /// These are among them.
    Contains(Vec<Spec>),
    Matches(Regex),
    NotMatches(Regex),
    Both(Vec<Spec>),
    /// Of a key of the value.
    Key(String, Box<Spec>),
}

impl Spec {
    pub fn read(node: &Node, problems: &mut Problems) -> Spec {
        match &node.kind {
            Kind::List(items) => Spec::All(Spec::list(items, problems)),
            Kind::Map(entries) => {
                let parts = entries.iter().map(|entry| {
                    let (key, node) = (entry.key.as_str(), &entry.value);
                    match key {
                        _ if WORDS.contains(&key) => Spec::word(key, node, problems),
                        _ => Spec::Key(key.to_owned(), Box::new(Spec::read(node, problems))),
                    }
                });
                Spec::Both(parts.collect())
            }
            _ => match node.to_json() {
                Value::Null => Spec::Absent,
                value => Spec::Same(value),
            },
        }
    }

    /// A list of what it may be; one alone stands for itself.
    pub fn one_of(node: &Node, problems: &mut Problems) -> Spec {
        match node.as_list() {
            Some(items) => Spec::AnyOf(Spec::list(items, problems)),
            None => Spec::read(node, problems),
        }
    }

    /// Of a text: a text alone must stand in it.
    pub fn of_text(node: &Node, problems: &mut Problems) -> Spec {
        match (node.as_text(), node.get("any_of").and_then(Node::as_list)) {
            (Some(text), _) => Spec::pattern(&regex::escape(text), node, problems)
                .map_or(Spec::Absent, Spec::Matches),
            (None, Some(items)) => {
                let any = items.iter().map(|item| Spec::of_text(item, problems));
                Spec::AnyOf(any.collect())
            }
            (None, None) => Spec::read(node, problems),
        }
    }

    fn list(items: &[Node], problems: &mut Problems) -> Vec<Spec> {
        let each = items.iter().map(|item| Spec::read(item, problems));
        each.collect()
    }

    fn word(word: &str, node: &Node, problems: &mut Problems) -> Spec {
        let several = |problems: &mut Problems| match node.as_list() {
            Some(items) => Spec::list(items, problems),
            None => vec![Spec::read(node, problems)],
        };
        match word {
            "contains" => Spec::Contains(several(problems)),
            "any_of" => Spec::AnyOf(several(problems)),
            "present" => match node.as_bool() {
                Some(false) => Spec::Absent,
                _ => Spec::Present,
            },
            _ => {
                let Some(text) = node.as_text() else {
                    problems.add(node.place, format!("`{word}` must be a pattern"));
                    return Spec::Present;
                };
                let pattern = Spec::pattern(text, node, problems);
                match pattern {
                    None => Spec::Present,
                    Some(pattern) if word == "matches" => Spec::Matches(pattern),
                    Some(pattern) => Spec::NotMatches(pattern),
                }
            }
        }
    }

    fn pattern(text: &str, node: &Node, problems: &mut Problems) -> Option<Regex> {
        let pattern = RegexBuilder::new(text).case_insensitive(true).build();
        pattern
            .map_err(|e| problems.add(node.place, format!("this is no pattern: {e}")))
            .ok()
    }

    pub fn holds(&self, value: &Value) -> bool {
        match self {
            Spec::Absent => value.is_null(),
            Spec::Present => !value.is_null(),
            Spec::Same(wanted) => is_same(wanted, value),
            Spec::All(wanted) => {
                let has = items(value);
                has.len() == wanted.len() && wanted.iter().all(|w| has.iter().any(|h| w.holds(h)))
            }
            Spec::AnyOf(wanted) => wanted.iter().any(|w| w.holds(value)),
            Spec::Contains(wanted) => {
                let has = items(value);
                wanted.iter().all(|w| has.iter().any(|h| w.holds(h)))
            }
            Spec::Matches(pattern) => pattern.is_match(&as_text(value)),
            Spec::NotMatches(pattern) => !pattern.is_match(&as_text(value)),
            Spec::Both(all) => all.iter().all(|spec| spec.holds(value)),
            Spec::Key(key, spec) => spec.holds(value.get(key).unwrap_or(&Value::Null)),
        }
    }

    /// Where in a text it first holds from a place on: the end of what fits.
    pub fn found_after(&self, text: &str, from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        match self {
            Spec::Matches(pattern) => pattern.find(rest).map(|found| from + found.end()),
            Spec::AnyOf(any) => any.iter().filter_map(|s| s.found_after(text, from)).min(),
            Spec::Both(all) => all.iter().filter_map(|s| s.found_after(text, from)).max(),
            _ => None,
        }
    }
}

fn items(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.clone(),
        one => vec![one.clone()],
    }
}

fn is_same(wanted: &Value, value: &Value) -> bool {
    let bare = |value: &Value| {
        let text = value.as_str()?;
        Some(text.trim_end_matches(['.', '!']).trim().to_lowercase())
    };
    wanted == value || bare(wanted).is_some() && bare(wanted) == bare(value)
}

/// A text as it is, a list of texts in one line, anything else as JSON.
pub fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(as_text).collect::<Vec<_>>().join(", "),
        other => json!(other).to_string(),
    }
}
