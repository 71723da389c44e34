//! Acceptance cases in words: what goes in, what must come out, and what was seen, each short enough for a line.

use super::Item;
use super::case::{AtNode, Case, says_nothing};
use super::headers::without_headers;
use serde_json::{Value, json};

/// A text of a run is told up to so many bytes of JSON.
pub(super) const TOLD: usize = 300;

impl Case {
    /// What goes in, and what must come out, on one line.
    pub fn in_words(&self) -> String {
        let given = match parts(&self.input).as_slice() {
            [] => "whatever it reads".to_owned(),
            [(_, only)] => told(only),
            several => told(&several.iter().cloned().collect::<Item>().into()),
        };
        let mocks = self.mocks.iter();
        let answers = mocks.map(|(node, items)| format!("{node} answers {}", told(&json!(items))));
        let given: Vec<String> = std::iter::once(given).chain(answers).collect();
        let expect = &self.expect;
        let status = expect
            .status
            .iter()
            .map(|status| format!("status {status}"));
        let answer = expect.answer.iter();
        let answer = answer.map(|answer| format!("answer {}", told(answer)));
        let has = (!expect.answer_has.is_empty())
            .then(|| format!("an answer with {}", expect.answer_has.join(", ")));
        let not = expect.answer_not.iter();
        let answer = answer
            .chain(has)
            .chain(not.map(|not| format!("not the answer {}", told(not))));
        let nodes = expect.nodes.iter().flat_map(|(node, at)| at.in_words(node));
        let out: Vec<String> = status.chain(answer).chain(nodes).collect();
        format!("{} → {}", given.join(", "), out.join(", "))
    }
}

impl AtNode {
    fn in_words(&self, node: &str) -> Vec<String> {
        let list = |verb: &str, items: &Option<Vec<Value>>| {
            let items = items.as_ref()?;
            Some(format!("{node} {verb} {}", told(&json!(items))))
        };
        let reached = self.reached.map(|reached| match reached {
            true => format!("{node} is reached"),
            false => format!("{node} is not reached"),
        });
        let count = self.count.map(|count| {
            let items = if count == 1 { "item" } else { "items" };
            format!("{node} hands on {count} {items}")
        });
        let lists = [list("hands on", &self.items), list("sends", &self.sent)];
        [reached, count]
            .into_iter()
            .chain(lists)
            .flatten()
            .collect()
    }
}

/// What of an item says anything: a webhook's is given with its empty parts.
fn parts(input: &Item) -> Vec<(String, Value)> {
    let parts = input.iter().filter(|(_, value)| !says_nothing(value));
    parts
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

pub(super) fn told(value: &Value) -> String {
    let text = without_headers(value).to_string();
    match text.char_indices().nth(TOLD) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}
