//! Losses and gates that the user asked for. "Only when the total is over 5000" puts a condition before most of a workflow, "use Teams
//! instead of Slack" takes a node out of a small one, and whoever wrote that need not be asked again whether it may be done.

use super::turn_scope::{is_named, names, texts, words};
use super::wipe::Loss;
use agentctl_engine::policy::Facts;
use agentctl_n8n::dead::{About, about};
use agentctl_n8n::{Node, Workflow};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

/// How many words may stand between a word that asks for something to go and the node's name.
const BETWEEN: usize = 2;
/// So many words before or behind them may say that it is not meant.
const DENIED: usize = 4;

/// The words that ask for it, by what they ask for.
struct Words {
    condition: Vec<Value>,
    answer: Vec<Value>,
    /// Before the name of what is to go, and behind it, word by word.
    removal: Vec<Vec<String>>,
    gone: Vec<Vec<String>>,
    /// Before one of them: then nothing is to go.
    negation: Vec<Vec<String>>,
    /// Ordinary words that nodes are called by.
    plain: Vec<Vec<String>>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let rows = |kind: &'static str| {
        let rows = include_str!("asked_for.tsv").lines();
        let rows = rows.filter_map(|row| row.split_once('\t'));
        rows.filter(move |(of, _)| *of == kind)
            .map(|(_, word)| word)
    };
    let texts = |kind: &'static str| rows(kind).map(Value::from).collect();
    let split = |kind: &'static str| rows(kind).map(words).collect();
    Words {
        condition: texts("condition"),
        answer: texts("answer"),
        removal: split("removal"),
        gone: split("gone"),
        negation: split("negation"),
        plain: split("plain"),
    }
});

/// A change as the user's words are held against it.
pub struct Asked<'a> {
    /// As the run found it.
    pub before: &'a Workflow,
    pub after: &'a Workflow,
    /// What the run does with this change, counted from `before`.
    pub loss: &'a Loss,
}

/// Whether all that the change takes out or puts behind gates is what the user's own words name. What is lost are the very nodes that
/// the words name, each beside a word that asks for it to go; every gate that newly stands before a node is named for a condition by
/// a word that asks for one, and each value that it compares with (where there is none, the field that it looks at), for a question
/// to a person by a word that asks for one. Whatever cannot be told is not asked for, nor is what is said altogether otherwise.
/// Another agent's session has no user's words.
pub fn is_asked_for(change: &Asked<'_>, said: &Facts) -> bool {
    let loss = change.loss;
    let something = !loss.lost.is_empty() || !loss.gates.is_empty();
    something
        && loss.replaced == 0
        && loss.stopped.is_none()
        && are_to_go(&loss.lost, change.before, said)
        && (loss.gates.iter()).all(|gate| is_wanted(gate, change.after, said))
}

/// Whether the nodes that the words name are these, and each of them is to go. Of two nodes of one name nobody can tell.
fn are_to_go(lost: &[String], before: &Workflow, said: &Facts) -> bool {
    if lost.is_empty() {
        return true;
    }
    let named = before.nodes.iter();
    let named = named.filter(|node| is_named(node, said) || is_in_words(node, said));
    let named: Vec<&Node> = named.collect();
    let each: BTreeSet<&str> = named.iter().map(|node| node.name()).collect();
    let lost: BTreeSet<&str> = lost.iter().map(String::as_str).collect();
    each.len() == named.len()
        && each == lost
        && named.iter().all(|node| is_to_go(node, &named, said))
}

/// "d'Airtable" names it, too.
fn is_in_words(node: &Node, said: &Facts) -> bool {
    names(node).iter().any(|name| {
        let own = words(name);
        let mut texts = texts(said, name).into_iter();
        !own.is_empty() && texts.any(|text| Text(words(&text)).places(&own).next().is_some())
    })
}

/// Whether a word that asks for something to go stands beside a name of the node that is no ordinary word, and is not denied. What is
/// quoted at length is a value.
fn is_to_go(node: &Node, among: &[&Node], said: &Facts) -> bool {
    let telling = |node: &Node| {
        let names = names(node).into_iter().map(|name| (words(&name), name));
        let telling = names.filter(|(own, _)| !own.is_empty() && !WORDS.plain.contains(own));
        telling.collect::<Vec<_>>()
    };
    let all: Vec<Vec<String>> = (among.iter())
        .flat_map(|node| telling(node).into_iter().map(|(own, _)| own))
        .collect();
    telling(node).iter().any(|(own, name)| {
        texts(said, name).iter().any(|text| {
            let text = Text(words(text));
            let removed = text.removed(&all);
            text.places(own).any(|from| {
                let to = from + own.len();
                removed.contains(&(from, to)) || text.is_gone(to)
            })
        })
    })
}

/// A text, word by word.
struct Text(Vec<String>);

impl Text {
    fn begins(&self, at: usize, words: &[String]) -> bool {
        self.0.get(at..).is_some_and(|rest| rest.starts_with(words))
    }

    fn places<'t>(&'t self, words: &'t [String]) -> impl Iterator<Item = usize> + 't {
        (0..self.0.len()).filter(|at| self.begins(*at, words))
    }

    /// Where names stand of which it says so: "remove Slack and Gmail" says it of both.
    fn removed(&self, names: &[Vec<String>]) -> BTreeSet<(usize, usize)> {
        let mut ends = BTreeSet::new();
        let mut found = BTreeSet::new();
        for from in 0..self.0.len() {
            for name in names.iter().filter(|name| self.begins(from, name)) {
                let to = from + name.len();
                let is_next = ends.contains(&from) || from > 0 && ends.contains(&(from - 1));
                if is_next || self.is_removed(from, to) {
                    ends.insert(to);
                    found.insert((from, to));
                }
            }
        }
        found
    }

    /// "remove the Slack node", and not "do not remove Slack", "lösche Slack nicht".
    fn is_removed(&self, from: usize, to: usize) -> bool {
        WORDS.removal.iter().any(|row| {
            let last = from.checked_sub(row.len());
            last.is_some_and(|last| {
                let mut near = last.saturating_sub(BETWEEN)..=last;
                near.any(|at| {
                    let behind = at + row.len()..to + DENIED;
                    self.begins(at, row) && !self.is_denied_before(at) && !self.denies(behind)
                })
            })
        })
    }

    /// "Slack is no longer needed".
    fn is_gone(&self, end: usize) -> bool {
        let mut near = end..=end + BETWEEN;
        near.any(|at| {
            WORDS.gone.iter().any(|row| self.begins(at, row)) && !self.is_denied_before(at)
        })
    }

    fn is_denied_before(&self, at: usize) -> bool {
        self.denies(at.saturating_sub(DENIED)..at)
    }

    fn denies(&self, mut places: Range<usize>) -> bool {
        places.any(|at| WORDS.negation.iter().any(|no| self.begins(at, no)))
    }
}

fn is_wanted(gate: &str, after: &Workflow, said: &Facts) -> bool {
    // A document may have two nodes of one name: it must hold for both.
    let nodes = after.nodes.iter().filter(|node| node.name() == gate);
    let mut nodes = nodes.peekable();
    nodes.peek().is_some()
        && nodes.all(|node| match about(node) {
            Some(About::Values(values)) => {
                said_any(&WORDS.condition, said) && values.iter().all(|value| is_users(said, value))
            }
            Some(About::Answer) => said_any(&WORDS.answer, said),
            None => false,
        })
}

fn said_any(words: &[Value], said: &Facts) -> bool {
    words.iter().any(|word| said.are_users(word))
}

/// Whether the user's words hold the value, a number also as thousands or millions of it: 5k.
fn is_users(said: &Facts, value: &Value) -> bool {
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
            assert!(
                [
                    "condition",
                    "answer",
                    "removal",
                    "gone",
                    "negation",
                    "plain"
                ]
                .contains(&kind),
                "{row}"
            );
            assert_eq!(word, word.trim().to_lowercase(), "{row}");
            assert!(!word.is_empty() && !word.contains('\t'), "{row}");
        }
    }
}
