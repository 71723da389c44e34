//! Which nodes a clause means: by their names, their services and what they work on.

use super::words::words;
use crate::chart::Chart;
use crate::compile::words::fold;
use crate::lex::Table;
use crate::lexicon::services;
use agentctl_n8n::{Node, Workflow};
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
/// works on three, its service four, its whole name ten; `least` is needed.
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
    let said = words(clause);
    let own = words(node.name());
    score
        + own
            .iter()
            .filter(|(_, own)| said.iter().any(|(_, said)| alike(own, said)))
            .count()
}

fn alike(a: &str, b: &str) -> bool {
    let head = |word: &str| word.chars().take(ALIKE).collect::<String>();
    a.chars().count() >= SHORTEST && (a == b || (b.chars().count() >= ALIKE && head(a) == head(b)))
}
