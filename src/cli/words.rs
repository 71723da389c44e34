//! The engine's answers in n8n's words: it speaks of resources and revisions, programs that read the command line of workflows and
//! graph hashes.

use super::plain::plain;
use agentctl_n8n_tools::noted::Counted;
use serde::Serialize;
use serde_json::{Value, json};

/// The answer with these keys of its own renamed; order and values stay.
pub fn in_words(answer: impl Serialize, words: &[(&str, &str)]) -> Value {
    let Value::Object(map) = json!(answer) else {
        return json!(answer);
    };
    let renamed = map.into_iter().map(|(key, value)| {
        let word = words.iter().find(|(engines, _)| *engines == key);
        (word.map_or(key, |(_, ours)| (*ours).to_owned()), value)
    });
    Value::Object(renamed.collect())
}

/// Of an answer that lists workflows.
pub const LISTED: &[(&str, &str)] = &[("resources", "workflows")];
/// Of a state of a workflow.
pub const STATE: &[(&str, &str)] = &[("revision", "graph_hash")];

/// "3 of 32 nodes, counted from 2026-11-20, when you accepted it".
pub fn lost(counted: &Counted) -> String {
    format!(
        "{} of {} nodes, {}",
        counted.lost,
        counted.total,
        plain(&counted.from_when())
    )
}
