//! Marks for what differs from run to run: ids, times, hashes. Numbered as they come up, so that two runs that do the same
//! get the same marks. Pure.

use indexmap::IndexMap;
use regex::{Captures, Regex};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::LazyLock;

/// Run ids, UUIDs, times, hashes (whole, or the parts of them that findings and snapshots are named by). One group each, named by what is written for it.
static CHANGING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?P<run>\b\d{8}-\d{6}-[0-9a-f]{6}\b)
      | (?P<id>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)
      | (?P<time>\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)\b)
      | (?P<hash>\b(?:[0-9a-f]{64}|[0-9a-f]{12}|[0-9a-f]{8})\b)",
    )
    .ok()
});

const KINDS: [&str; 4] = ["run", "id", "time", "hash"];

#[derive(Debug, Default)]
pub(super) struct Marks {
    /// What was seen → its mark.
    seen: IndexMap<String, String>,
    /// A mark of another tape → what stands in its place now.
    bound: IndexMap<String, String>,
}

impl Marks {
    /// The text with marks; what is new gets the next one.
    pub fn learn(&mut self, text: &str) -> String {
        replaced(text, |found, kind| {
            let next = || {
                let head = format!("⟨{kind}-");
                let n = self.seen.values().filter(|m| m.starts_with(&head)).count() + 1;
                format!("{head}{n}⟩")
            };
            let mark = match self.seen.get(found) {
                Some(mark) => mark.clone(),
                None => next(),
            };
            self.seen.insert(found.to_owned(), mark.clone());
            mark
        })
    }

    /// The text with marks for what was seen; what is new stays: the model made it up, and does so in a replay too.
    pub fn put(&self, text: &str) -> String {
        replaced(text, |found, _| {
            let mark = self.seen.get(found);
            mark.map_or_else(|| found.to_owned(), Clone::clone)
        })
    }

    /// The text with what stands behind the marks now.
    pub fn take(&self, text: &str) -> String {
        if !text.contains('⟨') {
            return text.to_owned();
        }
        let mut out = text.to_owned();
        for (mark, actual) in &self.bound {
            out = out.replace(mark.as_str(), actual);
        }
        for (actual, mark) in &self.seen {
            out = out.replace(mark.as_str(), actual);
        }
        out
    }
}

impl Marks {
    /// Learns what the marks of an old tape stand for now: by the key under which a text stands and by the rest of it, so that
    /// something new before it does no harm.
    pub fn bind(&mut self, old: &Value, now: &Value) {
        let (Some(mark), Some(changing)) = (MARK.as_ref(), CHANGING.as_ref()) else {
            return;
        };
        let mut here: IndexMap<(String, String), VecDeque<Vec<String>>> = IndexMap::new();
        texts(now, "", &mut |key, text| {
            let (rest, found) = without(text, changing);
            if !found.is_empty() {
                let alike = here.entry((key.to_owned(), rest)).or_default();
                alike.push_back(found);
            }
        });
        texts(old, "", &mut |key, text| {
            let (rest, marks) = without(text, mark);
            let alike = here.get_mut(&(key.to_owned(), rest));
            let found = alike.and_then(VecDeque::pop_front).unwrap_or_default();
            for (mark, actual) in marks.into_iter().zip(found) {
                self.bound.entry(mark).or_insert(actual);
            }
        });
    }
}

/// The text with a hole for each thing of that kind, and what stood there.
fn without(text: &str, kind: &Regex) -> (String, Vec<String>) {
    let found = kind
        .find_iter(text)
        .map(|m| m.as_str().to_owned())
        .collect();
    (kind.replace_all(text, "⟨⟩").into_owned(), found)
}

/// Every text in the value, with the key of the object that it stands in.
fn texts(value: &Value, key: &str, told: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => told(key, text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, key, told)),
        Value::Object(map) => map.iter().for_each(|(key, item)| texts(item, key, told)),
        _ => {}
    }
}

/// The texts of a value in which marks stand, by the key of the object that each stands in: what [`Marks::bind`] needs of it.
pub(super) fn marked_texts(value: &Value) -> IndexMap<String, Vec<String>> {
    let mut found: IndexMap<String, Vec<String>> = IndexMap::new();
    texts(value, "", &mut |key, text| {
        if MARK.as_ref().is_some_and(|mark| mark.is_match(text)) {
            found
                .entry(key.to_owned())
                .or_default()
                .push(text.to_owned());
        }
    });
    found
}

static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"⟨[a-z]+-\d+⟩").ok());

fn replaced(text: &str, mut with: impl FnMut(&str, &str) -> String) -> String {
    let Some(changing) = CHANGING.as_ref() else {
        return text.to_owned();
    };
    changing
        .replace_all(text, |found: &Captures<'_>| {
            let kind = KINDS.into_iter().find_map(|k| Some((k, found.name(k)?)));
            kind.map_or_else(String::new, |(kind, part)| with(part.as_str(), kind))
        })
        .into_owned()
}
