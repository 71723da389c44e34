//! What an agent that chooses a case is told, and the contract of its answer. Only the cases that can be now stand in either.

use super::model::{ChooserSpec, RouteSpec};
use serde_json::{Value, json};

pub(super) fn instructions(chooser: &ChooserSpec, route: &RouteSpec, cases: &[String]) -> String {
    let mut text = match &chooser.instructions {
        Some(own) => format!("{}\n\n", own.trim()),
        None => String::new(),
    };
    text.push_str(
        "Choose the one case that fits. Say first, in one sentence, what speaks for it. The cases:\n",
    );
    for case in route.cases.iter().filter(|case| cases.contains(&case.name)) {
        let means = case.means.as_deref().unwrap_or_default();
        let words: Vec<&str> = means.split_whitespace().collect();
        text.push_str(&format!("- {}: {}\n", case.name, words.join(" ")));
    }
    text
}

pub(super) fn contract(cases: &[String]) -> Value {
    json!({
        "type": "object",
        "required": ["reasoning", "case"],
        "additionalProperties": false,
        "properties": {"reasoning": {"type": "string"}, "case": {"enum": cases}},
    })
}
