//! Which nodes a clause means: by their names, their services and what they work on.

use super::words::{self, words};
use super::{mention, order, wire};
use crate::chart::{Chart, Item, What, chart};
use crate::compile::words::fold;
use crate::lex::{Class, Table};
use crate::lexicon::services;
use agentctl_n8n::{Node, Workflow};
use std::ops::Range;
use std::sync::LazyLock;

/// A word of a name that is shorter says too little.
const SHORTEST: usize = 4;
/// So many letters at the beginning of two words must be the same.
const ALIKE: usize = 5;

pub(super) const KINDS: Table = Table {
    file: "kinds.tsv",
    text: include_str!("../../knowledge/kinds.tsv"),
    columns: 2,
};

/// Concepts of nouns with the tags of the services that they mean.
fn kinds() -> &'static [(&'static str, Vec<&'static str>)] {
    static ALL: LazyLock<Vec<(&'static str, Vec<&'static str>)>> = LazyLock::new(|| {
        let kinds = KINDS.rows().filter_map(|cells| match cells.as_slice() {
            [concept, tags, ..] => Some((*concept, tags.split('|').collect())),
            _ => None,
        });
        kinds.collect()
    });
    &ALL
}

/// Of these nodes those that the clause means best; none when it names none of them. A word of a name counts one, what the node
/// works on three, its service four, a value that it holds six, its whole name ten; `least` is needed.
pub(super) fn best(
    workflow: &Workflow,
    clause: &str,
    chart: &Chart,
    among: &[String],
    least: usize,
) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for name in among {
        let score = workflow
            .node_by_name(name)
            .map_or(0, |node| score(node, clause, chart));
        if score >= least {
            found.push((score, name.clone()));
        }
    }
    let most = found.iter().map(|(score, _)| *score).max();
    let best = found.into_iter().filter(|(score, _)| Some(*score) == most);
    best.map(|(_, name)| name).collect()
}

fn score(node: &Node, clause: &str, chart: &Chart) -> usize {
    let mut score = 0;
    let name = fold(node.name());
    if name.len() >= SHORTEST && fold(clause).contains(&name) {
        score += 10;
    }
    let is_of = |types: &[String]| types.iter().any(|t| t == node.node_type());
    let named = chart.items.iter().filter_map(|item| item.service());
    if named
        .into_iter()
        .any(|s| is_of(&s.actions) || is_of(&s.triggers))
    {
        score += 4;
    }
    let own = services().iter().filter(|s| is_of(&s.actions));
    let tags: Vec<&str> = own
        .flat_map(|s| s.tags.iter().map(String::as_str))
        .collect();
    let concepts = chart.items.iter().filter_map(|item| item.noun());
    let kinds = concepts.filter_map(|noun| kinds().iter().find(|(c, _)| *c == noun.concept));
    if kinds
        .into_iter()
        .any(|(_, of)| of.iter().any(|tag| tags.contains(tag)))
    {
        score += 3;
    }
    // A value that it holds: "the message to #sales".
    let held = node
        .parameters()
        .map(|p| serde_json::Value::Object(p.clone()).to_string());
    let holds = |item: &&Item| {
        let said = clause.get(item.from..item.to).unwrap_or_default();
        item.literal()
            && held
                .as_ref()
                .is_some_and(|held| held.contains(unquoted(said)))
    };
    if chart.items.iter().any(|item| holds(&item)) {
        score += 6;
    }
    let said = words(clause);
    let own = words(node.name());
    score
        + own
            .iter()
            .filter(|(_, own)| said.iter().any(|(_, said)| alike(own, said)))
            .count()
}

/// The nodes that a phrase means: those of whole names, the one that it counts ("the third step"), else the best by its words; `least`
/// is needed, where the phrase says no "step" or "one".
pub(super) fn meant(
    workflow: &Workflow,
    phrase: &str,
    language: &str,
    least: usize,
) -> Vec<String> {
    let mut whole = wire::all_named(workflow, phrase);
    if !whole.is_empty() {
        whole.dedup();
        return whole;
    }
    let chart = chart(phrase, language);
    let nodes = workflow.nodes.iter().filter(|node| !node.is_sticky());
    let all: Vec<String> = nodes.map(|node| node.name().to_owned()).collect();
    let counted = order::counted(workflow, phrase, language);
    if let [one] = counted.as_slice()
        && best(workflow, phrase, &chart, &all, 1).is_empty()
    {
        return vec![one.clone()];
    }
    let least = match words::has(phrase, language, "step") {
        true => 1,
        false => least,
    };
    let best = best(workflow, phrase, &chart, &all, least);
    match best.as_slice() {
        [_] => best,
        several => {
            let by_kind = mention::all(workflow, phrase);
            let both: Vec<String> = by_kind
                .iter()
                .filter(|name| several.is_empty() || several.contains(name))
                .cloned()
                .collect();
            if both.is_empty() { best } else { both }
        }
    }
}

/// Whether a phrase says more than which of these nodes is meant and what stands in the known places.
pub(super) fn says_more(
    workflow: &Workflow,
    nodes: &[String],
    phrase: &str,
    language: &str,
    mut known: Vec<Range<usize>>,
) -> bool {
    let nodes: Vec<&Node> = nodes
        .iter()
        .filter_map(|name| workflow.node_by_name(name))
        .collect();
    let classes = ["filler", "meanwhile", "step", "article", "pronoun"];
    let classes = classes.into_iter().chain(order::classes());
    known.extend(classes.flat_map(|class| words::places(phrase, language, class)));
    for node in &nodes {
        known.extend(wire::places(phrase, node.name()));
    }
    let told = |item: &Item| {
        let said = phrase.get(item.from..item.to).unwrap_or_default();
        let known = |from: usize, to: usize| known.iter().any(|k| k.start <= from && to <= k.end);
        let parts = words(said);
        let part = |(place, _): &(Range<usize>, String)| {
            known(item.from + place.start, item.from + place.end)
        };
        let inside = known(item.from, item.to) || !parts.is_empty() && parts.iter().all(part);
        let small = item.stops()
            || matches!(&item.what, What::Word(sense) if sense.class == Class::Function);
        inside || small || nodes.iter().any(|node| tells(node, item, said))
    };
    !chart(phrase, language).items.iter().all(told)
}

/// Whether a word of a phrase is about a node: its service, its kind, a word of its name, a value that it holds.
fn tells(node: &Node, item: &Item, said: &str) -> bool {
    let is_of = |types: &[String]| types.iter().any(|t| t == node.node_type());
    let service = item
        .service()
        .is_some_and(|s| is_of(&s.actions) || is_of(&s.triggers));
    let own = words(node.name());
    let part = |(_, word): &(_, String)| own.iter().any(|(_, own)| alike(own, word) || own == word);
    let parts = words(said);
    service
        || (!parts.is_empty() && parts.iter().all(part))
        || is_kind(node, item)
        || mention::is_kind(node, said)
        || node.parameters().is_some_and(|p| {
            let held = serde_json::Value::Object(p.clone()).to_string();
            item.literal() && held.contains(unquoted(said))
        })
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['\'', '"', '`', '“', '”', '„', '«', '»', ' '])
}

/// Whether a noun says what a node works on.
fn is_kind(node: &Node, item: &Item) -> bool {
    let Some(noun) = item.noun() else {
        return false;
    };
    let mut own = services()
        .iter()
        .filter(|s| s.actions.iter().any(|t| t == node.node_type()));
    let of = kinds().iter().find(|(c, _)| *c == noun.concept);
    of.is_some_and(|(_, tags)| own.any(|s| s.tags.iter().any(|tag| tags.contains(&tag.as_str()))))
}

/// Whether a word is one of a name: the same, of the same beginning, or one that it misses by a letter.
pub(super) fn alike(a: &str, b: &str) -> bool {
    let head = |word: &str| word.chars().take(ALIKE).collect::<String>();
    let long = |word: &str| word.chars().count() >= ALIKE;
    a.chars().count() >= SHORTEST
        && (a == b
            || (long(b) && head(a) == head(b))
            || (long(a) && strsim::osa_distance(a, b) <= 1)
            || same_verb(a, b))
}

/// "fail", "failed", "failing": the same but for the endings of a verb.
fn same_verb(a: &str, b: &str) -> bool {
    const ENDINGS: [&str; 5] = ["", "e", "ed", "ing", "er"];
    let both = a.chars().zip(b.chars());
    let same: usize = both
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let ends = |word: &str| word.get(same..).is_some_and(|end| ENDINGS.contains(&end));
    same >= SHORTEST && ends(a) && ends(b)
}
