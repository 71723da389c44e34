//! What reading a policy file takes: the mistakes and notes so far, and the checks that every part of the file shares. What the
//! parts mean is read in `load`, `load_limits` and `examples`.

use super::program::Program;
use crate::vocabulary::Vocabulary;
use agentctl_base::yaml::{Node, Place, Problems};

pub(super) struct Reader {
    pub problems: Problems,
    pub program: Program,
    pub file: String,
    pub notes: Vec<String>,
}

impl Reader {
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.program.vocabulary
    }

    pub fn keys(&mut self, node: &Node, what: &str, allowed: &[&str]) {
        match node.as_map() {
            None => self.problems.add(
                node.place,
                format!("{what} must be a map, not {}", node.kind_name()),
            ),
            Some(entries) => {
                for entry in entries
                    .iter()
                    .filter(|e| !allowed.contains(&e.key.as_str()))
                {
                    let message = format!(
                        "{what} has the unknown key {:?}; it may have {}",
                        entry.key,
                        allowed.join(", ")
                    );
                    self.problems.add(entry.key_place, message);
                }
            }
        }
    }

    pub fn text(&mut self, node: &Node, key: &str, what: &str) -> Option<String> {
        let found = node.get(key);
        let text = found
            .and_then(Node::as_text)
            .filter(|s| !s.trim().is_empty());
        if text.is_none() {
            self.problems.add(
                found.map_or(node.place, |n| n.place),
                format!("{what} needs the text {key:?}"),
            );
        }
        text.map(str::to_owned)
    }

    pub fn texts(&mut self, node: &Node, what: &str) -> Vec<(Place, String)> {
        let one = std::slice::from_ref(node);
        let items = node.as_list().unwrap_or(one);
        let mut texts = Vec::new();
        for item in items {
            match item.as_text() {
                Some(text) => texts.push((item.place, text.to_owned())),
                None => self
                    .problems
                    .add(item.place, format!("{what} must be text")),
            }
        }
        texts
    }
}
