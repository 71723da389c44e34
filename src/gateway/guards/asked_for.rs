//! Gates that the user asked for. "Only when the total is over 5000" puts a condition before most of a workflow, and whoever
//! wrote that need not be asked again whether it may stand there.

use super::wipe::Loss;
use agentctl_engine::policy::Facts;
use agentctl_n8n::Workflow;
use agentctl_n8n::dead::{About, about};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The words that ask for a gate, by what they ask for.
struct Words {
    condition: Vec<Value>,
    answer: Vec<Value>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let of = |kind: &str| {
        let rows = include_str!("asked_for.tsv").lines();
        let rows = rows.filter_map(|row| row.split_once('\t'));
        rows.filter(|(of, _)| *of == kind)
            .map(|(_, word)| Value::from(word))
            .collect()
    };
    Words {
        condition: of("condition"),
        answer: of("answer"),
    }
});

/// Whether nothing is lost or replaced, and every gate that newly stands before most of the workflow is one that the user's own
/// words name: for a condition a word that asks for one, and each value that it compares with (where there is none, the field that
/// it looks at); for a question to a person a word that asks for one. Whatever cannot be told is not asked for. Another agent's
/// session has no user's words.
pub fn is_asked_for(loss: &Loss, after: &Workflow, said: &Facts) -> bool {
    let any = |words: &[Value]| words.iter().any(|word| said.are_users(word));
    loss.is_only_gated()
        && loss.gates.iter().all(|name| {
            // A document may have two nodes of one name: it must hold for both.
            let nodes = after.nodes.iter().filter(|node| node.name() == name);
            let mut nodes = nodes.peekable();
            nodes.peek().is_some()
                && nodes.all(|node| match about(node) {
                    Some(About::Values(values)) => {
                        any(&WORDS.condition) && values.iter().all(|value| names(said, value))
                    }
                    Some(About::Answer) => any(&WORDS.answer),
                    None => false,
                })
        })
}

/// Whether the user's words hold the value, a number also as thousands or millions of it: 5k.
fn names(said: &Facts, value: &Value) -> bool {
    let short = |unit: i64, letter: char| {
        let whole = value.as_i64().filter(|n| *n != 0 && n % unit == 0);
        whole.is_some_and(|n| said.are_users(&json!(format!("{}{letter}", n / unit))))
    };
    said.are_users(value) || short(1_000, 'k') || short(1_000_000, 'm')
}

#[cfg(test)]
mod tests {

    #[test]
    fn every_row_is_a_kind_and_a_word() {
        for row in include_str!("asked_for.tsv").lines() {
            let (kind, word) = row.split_once('\t').expect(row);
            assert!(["condition", "answer"].contains(&kind), "{row}");
            assert_eq!(word, word.trim().to_lowercase(), "{row}");
            assert!(!word.is_empty() && !word.contains('\t'), "{row}");
        }
    }
}
