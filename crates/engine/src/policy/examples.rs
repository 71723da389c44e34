//! The examples of a rule: calls that it must match and calls that it must not, checked whenever the file is read. An example
//! can say what was said and called before, so that a rule about origins is tried too.

use super::decide::{Asked, Rule};
use super::facts::Facts;
use super::reader::Reader;
use crate::vocabulary::Does;
use agentctl_base::yaml::Node;
use serde_json::{Map, Value};

const KEYS: &[&str] = &[
    "role",
    "tool",
    "args",
    "request",
    "answers",
    "calls",
    "addressed",
    "keys",
    "bound",
    "does",
];
/// Those that are facts of a run.
const FACTS: &[&str] = &["request", "answers", "calls", "addressed", "keys", "bound"];

impl Reader {
    /// A rule must do what its examples say; one with a condition must have an example of each kind.
    pub(super) fn examples(&mut self, node: &Node, rule: &Rule, key: &str, expected: bool) {
        let list = node.get(key);
        let items = list.and_then(Node::as_list).unwrap_or_default();
        if items.is_empty() && (expected || rule.when.is_some()) {
            let place = list.map_or(node.place, |n| n.place);
            self.problems.add(
                place,
                format!(
                    "the rule {:?} needs at least one example under {key:?}",
                    rule.id
                ),
            );
        }
        for item in items {
            self.keys(item, "an example", KEYS);
            let role = item.get("role").and_then(Node::as_text).unwrap_or_default();
            let tool = item
                .get("tool")
                .and_then(Node::as_text)
                .or_else(|| rule.tools.first().map(String::as_str))
                .unwrap_or_default();
            let args = match item.get("args").map(Node::to_json) {
                Some(Value::Object(map)) => map,
                None => Map::new(),
                Some(_) => {
                    self.problems
                        .add(item.place, "`args` of an example must be a map");
                    continue;
                }
            };
            let Some(facts) = self.example_facts(item) else {
                continue;
            };
            let Some(does) = self.example_does(item) else {
                continue;
            };
            let call = Asked::new((role, tool, &args), does, &facts, &self.program);
            if rule.matches(&call) != expected {
                let word = if expected {
                    "does not match"
                } else {
                    "matches"
                };
                let message = format!(
                    "the rule {:?} {word} this example, which stands under {key:?}",
                    rule.id
                );
                self.problems.add(item.place, message);
            }
        }
    }

    /// What the call of an example does. None: it is none of the words there are, and that was told.
    fn example_does(&mut self, item: &Node) -> Option<Does> {
        let Some(node) = item.get("does") else {
            return Some(Does::default());
        };
        let does = node.as_text().and_then(Does::from_name);
        if does.is_none() {
            let message = format!(
                "`does` of an example is read, egress or change, not {}",
                node.to_json()
            );
            self.problems.add(node.place, message);
        }
        does
    }

    /// None: they are wrong, and that was told.
    fn example_facts(&mut self, item: &Node) -> Option<Facts> {
        let given = FACTS.iter().filter_map(|key| {
            let node = item.get(key)?;
            Some(((*key).to_owned(), node.to_json()))
        });
        match Facts::from_json(&Value::Object(given.collect())) {
            Ok(facts) => Some(facts),
            Err(why) => {
                self.problems.add(item.place, why);
                None
            }
        }
    }
}
