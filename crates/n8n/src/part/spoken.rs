//! Which nodes of a workflow a text speaks of: by their names, by values that they hold, by their types, or by single words of
//! their names. It errs on the side of more.

use crate::catalog::{meant_types, type_words};
use crate::workflow::{Node, Workflow, short_type};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// A number says which nodes are meant only where few hold it.
const FEW_HOLD: usize = 20;
/// Bytes: what is shorter stands in too many texts.
const LEAST: usize = 3;

pub(super) struct Spoken {
    /// Their names stand in the text, or a value of theirs does.
    pub named: BTreeSet<usize>,
    /// The text names their type.
    pub of_kind: BTreeSet<usize>,
    /// Words of their names stand in the text: those with most of them first.
    pub hinted: Vec<usize>,
}

impl Spoken {
    pub fn of(workflow: &Workflow, about: &str) -> Spoken {
        let text = about.to_lowercase();
        let mut named = by_name(workflow, &text);
        by_value(workflow, &text, &mut named);
        let words: Vec<String> = words(&text);
        Spoken {
            of_kind: by_type(workflow, &words),
            hinted: by_words(workflow, &words),
            named,
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Whole names. One that stands there only as a piece of a longer name does not count.
fn by_name(workflow: &Workflow, text: &str) -> BTreeSet<usize> {
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for (i, node) in workflow.nodes.iter().enumerate() {
        let mut add = |name: &str| {
            if name.len() >= LEAST {
                found.extend(whole(text, name).map(|at| (at, at + name.len(), i)));
            }
        };
        add(&node.name().to_lowercase());
        add(&node.id_text().to_lowercase());
    }
    // By their beginning, the longest first: a piece of a longer one comes behind it.
    found.sort_by_key(|(from, to, i)| (*from, std::cmp::Reverse(*to), *i));
    let mut longest: Option<(usize, usize)> = None;
    let mut named = BTreeSet::new();
    for (from, to, i) in found {
        let inside = longest.is_some_and(|(a, b)| a <= from && to <= b && (a, b) != (from, to));
        if !inside {
            named.insert(i);
        }
        if longest.is_none_or(|(_, b)| to > b) {
            longest = Some((from, to));
        }
    }
    named
}

/// Where a text stands in another one with no letter or digit right before or behind it.
fn whole<'t>(text: &'t str, wanted: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(wanted)
        .map(|(at, _)| at)
        .filter(move |at| {
            let before = text.get(..*at).and_then(|t| t.chars().next_back());
            let behind = text.get(at + wanted.len()..).and_then(|t| t.chars().next());
            let joins = |a: Option<char>, b: Option<char>| {
                a.is_some_and(char::is_alphanumeric) && b.is_some_and(char::is_alphanumeric)
            };
            !joins(before, wanted.chars().next()) && !joins(wanted.chars().next_back(), behind)
        })
}

/// What the text quotes, and words of it that are no plain words: addresses, channels, expressions; numbers.
fn by_value(workflow: &Workflow, text: &str, named: &mut BTreeSet<usize>) {
    let mut texts: BTreeSet<&str> = quoted(text).collect();
    let mut numbers: BTreeSet<&str> = BTreeSet::new();
    for word in text.split_whitespace() {
        let word = word.trim_matches(|c: char| ".,;:!?()[]\"'`“”„«»‚‘’%€".contains(c));
        if word.parse::<f64>().is_ok() {
            numbers.insert(word);
        } else if word.contains(|c: char| c.is_ascii_digit() || "#@/._=${}\\".contains(c)) {
            texts.insert(word);
        }
    }
    texts.retain(|t| t.len() >= LEAST);
    if texts.is_empty() && numbers.is_empty() {
        return;
    }
    let mut holding: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, node) in workflow.nodes.iter().enumerate() {
        let Some(parameters) = node.parameters() else {
            continue;
        };
        for value in parameters.values() {
            visit(value, &mut |leaf| match leaf {
                Value::String(held) => {
                    let held = held.to_lowercase();
                    if texts.iter().any(|wanted| held.contains(wanted)) {
                        named.insert(i);
                    }
                    if let Some(number) = numbers.get(held.trim()) {
                        holding.entry(number).or_default().push(i);
                    }
                }
                Value::Number(held) if !numbers.is_empty() => {
                    if let Some(number) = numbers.get(held.to_string().as_str()) {
                        holding.entry(number).or_default().push(i);
                    }
                }
                _ => {}
            });
        }
    }
    for nodes in holding.into_values().filter(|n| n.len() <= FEW_HOLD) {
        named.extend(nodes);
    }
}

fn visit<'v>(value: &'v Value, each: &mut dyn FnMut(&'v Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| visit(item, each)),
        Value::Object(map) => map.values().for_each(|item| visit(item, each)),
        leaf => each(leaf),
    }
}

/// What stands between quotes. An apostrophe within a word is none.
pub fn quoted(text: &str) -> impl Iterator<Item = &str> {
    const PAIRS: [(char, char); 6] = [
        ('"', '"'),
        ('`', '`'),
        ('“', '”'),
        ('„', '“'),
        ('«', '»'),
        ('\'', '\''),
    ];
    PAIRS.iter().flat_map(move |(open, close)| {
        let mut rest = text;
        std::iter::from_fn(move || {
            loop {
                let at = rest.find(*open)?;
                let inside = rest.get(at + open.len_utf8()..)?;
                let word_before = rest.get(..at)?.chars().next_back();
                let end = inside.find(*close)?;
                if word_before.is_some_and(char::is_alphanumeric) {
                    rest = inside;
                    continue;
                }
                rest = inside.get(end + close.len_utf8()..)?;
                return inside.get(..end).map(str::trim);
            }
        })
    })
}

fn by_type(workflow: &Workflow, words: &[String]) -> BTreeSet<usize> {
    let meant = meant_types(words);
    let mut known: HashMap<&str, bool> = HashMap::new();
    let of_kind =
        |node: &Node| meant.contains(short_type(node.node_type())) || spelled(node, words);
    let mut found = BTreeSet::new();
    for (i, node) in workflow.nodes.iter().enumerate() {
        let is = *known
            .entry(node.node_type())
            .or_insert_with(|| of_kind(node));
        if is {
            found.insert(i);
        }
    }
    found
}

/// Each word of the type's name stands in the text, or all of them in one, or its one word in two.
fn spelled(node: &Node, words: &[String]) -> bool {
    const SAY_NOTHING: [&str; 8] = [
        "trigger",
        "tool",
        "hitl",
        "lm",
        "chat",
        "send",
        "google",
        "microsoft",
    ];
    let mut name = type_words(short_type(node.node_type()));
    name.retain(|w| !SAY_NOTHING.contains(&w.as_str()));
    let has = |wanted: &str| {
        let plural = |w: &str| w.strip_suffix('s') == Some(wanted);
        words.iter().any(|w| w == wanted || plural(w))
    };
    let whole = name.concat();
    let in_two = || words.windows(2).any(|two| two.concat() == whole);
    let long = name.iter().any(|w| w.len() >= LEAST);
    long && (name.iter().all(|w| has(w)) || has(&whole) || in_two())
}

fn by_words(workflow: &Workflow, words: &[String]) -> Vec<usize> {
    let words: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let mut hinted: Vec<(usize, usize)> = Vec::new();
    for (i, node) in workflow.nodes.iter().enumerate() {
        let of_name = self::words(node.name());
        let hits = of_name
            .iter()
            .filter(|w| w.len() >= LEAST && words.contains(w.as_str()));
        let percent = 100 * hits.count() / of_name.len().max(1);
        if percent > 0 {
            hinted.push((percent, i));
        }
    }
    hinted.sort_by_key(|(percent, i)| (std::cmp::Reverse(*percent), *i));
    hinted.into_iter().map(|(_, i)| i).collect()
}
