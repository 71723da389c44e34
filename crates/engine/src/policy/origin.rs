//! Where a value came from: whether it stands in the user's words, in the policy's own facts, or in a tool's result, key by key.

use super::leaf::is_name;
use super::literal::Text;
use super::past::PastCall;
use crate::condition::Origins;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where a value came from.
pub const USER: &str = "user";
pub const PROGRAM: &str = "program";
pub const MODEL: &str = "model";
/// Of a value that holds nothing that could have come from anywhere: an empty list, null.
pub const NONE: &str = "none";
/// What stands before the name of the tool that gave a value.
pub(super) const TOOL: &str = "tool:";

/// The texts that values are looked up in.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub words: Vec<Arc<Text>>,
    pub program: Arc<Vec<Text>>,
    pub calls: Vec<Arc<PastCall>>,
    /// Keys that are data though they look like a schema's.
    pub keys: Arc<BTreeSet<String>>,
}

/// A part of a value that could carry something.
enum Sought<'a> {
    Text(Text),
    Number(&'a serde_json::Number),
    /// It stands nowhere: true, an empty text, a key that is no name.
    Nowhere,
}

impl Sought<'_> {
    fn stands_in(&self, text: &Text) -> bool {
        match self {
            Sought::Text(value) => text.holds(value),
            Sought::Number(number) => text.holds_number(number),
            Sought::Nowhere => false,
        }
    }
}

impl Known {
    /// Every part of a value that could carry something.
    fn parts<'v>(&self, value: &'v Value) -> Vec<Sought<'v>> {
        match value {
            Value::Null => Vec::new(),
            Value::Bool(_) => vec![Sought::Nowhere],
            Value::String(text) if text.trim().is_empty() => vec![Sought::Nowhere],
            Value::Number(number) => vec![Sought::Number(number)],
            Value::String(text) => vec![Sought::Text(Text::new(text))],
            Value::Array(items) => items.iter().flat_map(|item| self.parts(item)).collect(),
            Value::Object(map) => {
                let keys = map.keys().filter_map(|key| self.key(key));
                let values = map.values().flat_map(|item| self.parts(item));
                keys.chain(values).collect()
            }
        }
    }

    /// A key as a part; None: it is the tool's own. One that is no name carries something, and nothing says where it came from.
    fn key<'v>(&self, key: &str) -> Option<Sought<'v>> {
        match (is_name(key), self.keys.contains(key)) {
            (false, _) => Some(Sought::Nowhere),
            (true, true) => Some(Sought::Text(Text::new(key))),
            (true, false) => None,
        }
    }

    /// Whether the name of an argument is the tool's own, or comes from one of the places.
    pub(super) fn name_from(&self, name: &str, places: &[String]) -> bool {
        self.key(name)
            .is_none_or(|name| places.iter().any(|place| self.part_from(&name, place)))
    }

    fn by_user(&self, part: &Sought<'_>) -> bool {
        self.words.iter().any(|text| part.stands_in(text))
    }
    fn by_program(&self, part: &Sought<'_>) -> bool {
        self.program.iter().any(|text| part.stands_in(text))
    }
    /// The calls whose results have it, in their order. `path`: only below keys that end so.
    fn calls<'s>(
        &'s self,
        part: &'s Sought<'_>,
        tool: Option<&'s str>,
        path: Option<&'s str>,
    ) -> impl Iterator<Item = &'s PastCall> {
        let fits = move |at: &str| match path {
            None => true,
            Some(path) => at
                .strip_suffix(path)
                .is_some_and(|above| above.is_empty() || above.ends_with('.')),
        };
        self.calls
            .iter()
            .map(Arc::as_ref)
            .filter(move |call| tool.is_none_or(|tool| call.tool == tool))
            .filter(move |call| {
                call.leaves()
                    .iter()
                    .any(|at| fits(&at.path) && part.stands_in(&at.text))
            })
    }

    fn part_origin(&self, part: &Sought<'_>) -> String {
        if self.by_user(part) {
            USER.to_owned()
        } else if self.by_program(part) {
            PROGRAM.to_owned()
        } else {
            let first = self.calls(part, None, None).next();
            first.map_or_else(|| MODEL.to_owned(), |call| format!("{TOOL}{}", call.tool))
        }
    }

    fn part_from(&self, part: &Sought<'_>, place: &str) -> bool {
        match place {
            "any" => true,
            USER => self.by_user(part),
            PROGRAM => self.by_program(part),
            _ => place.strip_prefix(TOOL).is_some_and(|named| {
                let (name, path) = match named.split_once('#') {
                    Some((name, path)) => (name, Some(path)),
                    None => (named, None),
                };
                self.calls(part, Some(name), path).next().is_some()
            }),
        }
    }
}

impl Origins for Known {
    fn origin(&self, value: &Value) -> String {
        let mut worst = NONE.to_owned();
        for part in self.parts(value) {
            let origin = self.part_origin(&part);
            let rank = |origin: &str| match origin {
                NONE => 0,
                USER => 1,
                PROGRAM => 2,
                MODEL => 4,
                _ => 3,
            };
            if rank(&origin) == 3 && rank(&worst) == 3 && origin != worst {
                return MODEL.to_owned();
            }
            if rank(&origin) > rank(&worst) {
                worst = origin;
            }
        }
        worst
    }

    fn origins(&self, value: &Value) -> Vec<String> {
        let mut found = BTreeSet::new();
        for part in self.parts(value) {
            let mut any = false;
            for (here, name) in [
                (self.by_user(&part), USER),
                (self.by_program(&part), PROGRAM),
            ] {
                if here {
                    any = true;
                    found.insert(name.to_owned());
                }
            }
            for call in self.calls(&part, None, None) {
                any = true;
                found.insert(format!("{TOOL}{}", call.tool));
            }
            if !any {
                found.insert(MODEL.to_owned());
            }
        }
        found.into_iter().collect()
    }

    fn from(&self, value: &Value, places: &[String]) -> bool {
        self.parts(value)
            .iter()
            .all(|part| places.iter().any(|place| self.part_from(part, place)))
    }

    fn weight(&self) -> usize {
        let words: usize = self.words.iter().map(|text| text.len()).sum();
        let program: usize = self.program.iter().map(Text::len).sum();
        let results = self.calls.iter().flat_map(|call| call.leaves());
        let results: usize = results.map(|leaf| leaf.text.len() + 16).sum();
        words + program + results
    }
}
