//! What reading a flow file takes: what is known besides it, the mistakes so far, and the checks that every part of the file shares.
//! What the parts mean is read in `load`, `load_steps` and `meaning`.

use super::data;
use super::model::{Flow, PROGRAM};
use super::schema::Schema;
use crate::condition::{Condition, Function};
use crate::nearest::nearest;
use crate::vocabulary::Vocabulary;
use agentctl_base::yaml::{Entry, Node, Place, Problems};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What the flow may refer to besides itself. None: not known here, so not checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    pub agents: Option<&'a [String]>,
    /// The tools there are, and what conditions may call besides CEL's own.
    pub vocabulary: Option<&'a Vocabulary>,
    /// The pack's data files by name, as `pack.<name>` gives them.
    pub data: Option<&'a Arc<Map<String, Value>>>,
}

/// The flows that may be called, by name; None: one whose own mistakes are told, so that calls of it are not.
pub(super) type Callees = IndexMap<String, Option<Arc<Flow>>>;

/// What only one field may say, with the field that said it.
pub(super) type Said = IndexMap<String, (String, Place)>;

pub(super) struct Reader<'a> {
    pub problems: Problems,
    pub known: Known<'a>,
    pub said: Said,
    pub callees: &'a Callees,
}

impl Reader<'_> {
    /// Reports an agent that the pack does not have.
    pub fn agent(&mut self, place: Place, name: &str, program_too: bool) {
        if program_too && name == PROGRAM {
            return;
        }
        if let Some(agents) = self.known.agents
            && !agents.iter().any(|a| a == name)
        {
            let hint = nearest(name, agents.iter().map(String::as_str));
            self.problems
                .add(place, format!("the pack has no agent {name:?}{hint}"));
        }
    }

    pub fn keys(&mut self, node: &Node, what: &str, allowed: &[&str]) {
        for entry in self.map(node, what).unwrap_or_default() {
            if !allowed.contains(&entry.key.as_str()) {
                let hint = nearest(&entry.key, allowed.iter().copied());
                let hint = if hint.is_empty() {
                    format!("; it may have {}", allowed.join(", "))
                } else {
                    hint
                };
                self.problems.add(
                    entry.key_place,
                    format!("{what} has the unknown key {:?}{hint}", entry.key),
                );
            }
        }
    }

    pub fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Entry]> {
        let map = node.as_map();
        if map.is_none() {
            self.problems.add(
                node.place,
                format!("{what} must be a map, not {}", node.kind_name()),
            );
        }
        map
    }

    pub fn required<'n>(&mut self, node: &'n Node, key: &str, what: &str) -> Option<&'n Node> {
        let found = node.get(key);
        if found.is_none() && node.as_map().is_some() {
            self.problems
                .add(node.place, format!("{what} has no {key:?}"));
        }
        found
    }

    pub fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        let text = node.as_text().filter(|s| !s.trim().is_empty());
        if text.is_none() {
            self.problems.add(
                node.place,
                format!("{what} must be text, not {}", node.kind_name()),
            );
        }
        text.map(str::to_owned)
    }

    /// A name that may stand in a journal path and in an expression.
    pub fn name(&mut self, node: &Node, what: &str) -> Option<String> {
        let text = self.text(node, what)?;
        let mut chars = text.chars();
        let good = chars.next().is_some_and(|c| c.is_ascii_lowercase())
            && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-');
        if !good {
            self.problems.add(
                node.place,
                format!("{text:?} is no name for {what}: use a-z, 0-9, _ and -, a letter first"),
            );
            return None;
        }
        Some(text)
    }

    /// A list of names, or one name alone.
    pub fn names(&mut self, node: &Node, what: &str) -> Vec<(Place, String)> {
        let one = std::slice::from_ref(node);
        let items = match node.as_list() {
            Some(items) => items,
            None if node.as_text().is_some() => one,
            None => {
                self.problems
                    .add(node.place, format!("`{what}` must be a list of names"));
                &[]
            }
        };
        items
            .iter()
            .filter_map(|item| Some((item.place, self.text(item, what)?)))
            .collect()
    }

    /// `true` or `false`; `otherwise` where the key is not there.
    pub fn flag(&mut self, of: &Node, key: &str, otherwise: bool) -> bool {
        let Some(node) = of.get(key) else {
            return otherwise;
        };
        node.as_bool().unwrap_or_else(|| {
            self.problems
                .add(node.place, format!("`{key}` must be true or false"));
            otherwise
        })
    }

    pub fn count(&mut self, node: &Node, what: &str) -> Option<u32> {
        let n = node
            .as_u64()
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| (1..=1000).contains(n));
        if n.is_none() {
            self.problems.add(
                node.place,
                format!("`{what}` must be a whole number from 1 to 1000"),
            );
        }
        n
    }

    pub fn schema(&mut self, node: &Node) -> Option<Schema> {
        let value = node.to_json();
        if !matches!(value, Value::Object(_) | Value::Bool(_)) {
            self.problems.add(node.place, "a schema must be a map");
            return None;
        }
        let value = data::written_out(value, self.known.data.map(|data| &**data));
        match value.and_then(Schema::compile) {
            Ok(schema) => Some(schema),
            Err(reason) => {
                self.problems.add(node.place, reason);
                None
            }
        }
    }

    /// An expression. `true`, `false` and numbers count as the expressions that they spell.
    pub fn condition(&mut self, node: &Node, variables: &[&str]) -> Option<Condition> {
        let source = match node.to_json() {
            Value::String(s) if !s.trim().is_empty() => s,
            other @ (Value::Bool(_) | Value::Number(_)) => other.to_string(),
            _ => {
                self.problems.add(
                    node.place,
                    format!("here must stand an expression, not {}", node.kind_name()),
                );
                return None;
            }
        };
        let vocabulary = self.known.vocabulary;
        let functions: &[Function] = vocabulary.map_or(&[], Vocabulary::functions);
        match Condition::compile_with(source.trim(), variables, &[], functions) {
            Ok(condition) => Some(condition),
            Err(error) => {
                self.problems.add(node.place, error.to_string());
                None
            }
        }
    }
}
