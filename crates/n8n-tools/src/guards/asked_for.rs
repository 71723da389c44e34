//! Losses and gates that the user asked for. "Only when the total is over 5000" puts a condition before most of a workflow, "use Teams
//! instead of Slack" takes a node out of a small one, and whoever wrote that need not be asked again whether it may be done.

use super::turn_scope::is_named;
use super::wipe::Loss;
use agentctl_engine::policy::Facts;
use agentctl_n8n::dead::{About, about};
use agentctl_n8n::{Node, Workflow};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The words that ask for it, by what they ask for.
struct Words {
    condition: Vec<Value>,
    answer: Vec<Value>,
    removal: Vec<Value>,
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
        removal: of("removal"),
    }
});

/// A change as the user's words are held against it.
pub struct Asked<'a> {
    pub before: &'a Workflow,
    pub after: &'a Workflow,
    /// What this change alone does, counted from `before`.
    pub loss: &'a Loss,
}

/// Whether all that the change takes out or puts behind gates is what the user's own words name. What is lost are the very nodes that
/// the words name, with a word that asks for something to go; every gate that newly stands before a node is named for a condition by
/// a word that asks for one, and each value that it compares with (where there is none, the field that it looks at), for a question
/// to a person by a word that asks for one. Whatever cannot be told is not asked for, nor is what is said altogether otherwise.
/// Another agent's session has no user's words.
pub fn is_asked_for(change: &Asked<'_>, said: &Facts) -> bool {
    let loss = change.loss;
    let something = !loss.lost.is_empty() || !loss.gates.is_empty();
    something
        && loss.replaced == 0
        && loss.stopped.is_none()
        && are_named(&loss.lost, change.before, said)
        && loss
            .gates
            .iter()
            .all(|gate| is_wanted(gate, change.after, said))
}

/// Whether the words ask for something to go, and the nodes that they name are these. Of two nodes of one name nobody can tell.
fn are_named(lost: &[String], before: &Workflow, said: &Facts) -> bool {
    if lost.is_empty() {
        return true;
    }
    let named = before.nodes.iter().filter(|node| is_named(node, said));
    let named: Vec<&str> = named.map(Node::name).collect();
    let each: BTreeSet<&str> = named.iter().copied().collect();
    let lost: BTreeSet<&str> = lost.iter().map(String::as_str).collect();
    said_any(&WORDS.removal, said) && each.len() == named.len() && each == lost
}

fn is_wanted(gate: &str, after: &Workflow, said: &Facts) -> bool {
    // A document may have two nodes of one name: it must hold for both.
    let nodes = after.nodes.iter().filter(|node| node.name() == gate);
    let mut nodes = nodes.peekable();
    nodes.peek().is_some()
        && nodes.all(|node| match about(node) {
            Some(About::Values(values)) => {
                said_any(&WORDS.condition, said) && values.iter().all(|value| names(said, value))
            }
            Some(About::Answer) => said_any(&WORDS.answer, said),
            None => false,
        })
}

fn said_any(words: &[Value], said: &Facts) -> bool {
    words.iter().any(|word| said.are_users(word))
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
            assert!(["condition", "answer", "removal"].contains(&kind), "{row}");
            assert_eq!(word, word.trim().to_lowercase(), "{row}");
            assert!(!word.is_empty() && !word.contains('\t'), "{row}");
        }
    }
}
