//! Harm in a request: which rules over the classes of its words it meets.

use super::super::Reading;
use super::words::Hit;
use crate::lex::Table;
use agentctl_base::secrets::{MARK, spoken};
use std::sync::LazyLock;

pub(super) const RISKS: Table = Table {
    file: "gate/risks.tsv",
    text: include_str!("../../../knowledge/gate/risks.tsv"),
    columns: 3,
};

/// A rule: each of `needs` found, none of `unless`.
#[derive(Debug)]
struct Rule {
    topic: &'static str,
    needs: Vec<&'static str>,
    near: bool,
    unless: Vec<&'static str>,
}

fn rules() -> &'static [Rule] {
    static ALL: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let classes = |cell: &'static str| cell.split(' ').filter(|w| !w.is_empty()).collect();
        let read = |cells: crate::lex::Cells<'static>| {
            let [topic, needs, within, others @ ..] = cells.as_slice() else {
                return None;
            };
            Some(Rule {
                topic,
                needs: classes(needs),
                near: *within == "sentence",
                unless: others.first().map_or_else(Vec::new, |c| classes(c)),
            })
        };
        RISKS.rows().filter_map(read).collect()
    });
    &ALL
}

/// What the request would do that is not built, by topic; empty where nothing is wrong with it.
pub(super) fn topics(reading: &Reading<'_>, hits: &[Hit]) -> Vec<String> {
    let mut topics: Vec<String> = Vec::new();
    // A secret that was hidden before the request came here was one in the request.
    if !spoken(reading.text).is_empty() || reading.text.contains(MARK) {
        topics.push("secret".to_owned());
    }
    for rule in rules() {
        if !topics.iter().any(|t| t == rule.topic) && meets(rule, hits) {
            topics.push(rule.topic.to_owned());
        }
    }
    topics
}

fn meets(rule: &Rule, hits: &[Hit]) -> bool {
    let found = |need: &str, within: Option<usize>| {
        hits.iter().any(|hit| {
            need.split('|').any(|n| n == hit.class) && within.is_none_or(|w| w == hit.sentence)
        })
    };
    let holds = |within: Option<usize>| {
        rule.needs.iter().all(|n| found(n, within)) && !rule.unless.iter().any(|n| found(n, within))
    };
    if !rule.near {
        return holds(None);
    }
    let last = hits.iter().map(|h| h.sentence).max().unwrap_or(0);
    (0..=last).any(|s| holds(Some(s)))
}
