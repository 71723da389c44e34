//! "Discord instead of Telegram", "replace Postgres by MySQL": where a clause names two services and one of them alone is in the
//! workflow, the other comes in its place. What else the clause says of the new one others read.

use super::insert;
use super::words;
use crate::chart::{Chart, Item, What, chart};
use crate::compile::existing::Patch;
use crate::lexicon::ServiceEntry;
use crate::spot::Kind;
use std::ops::Range;

/// The classes of words that put one thing in the place of another.
const SIGNS: [&str; 3] = ["of", "instead", "exchange"];

pub(super) fn exchanged(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    if !SIGNS.iter().any(|sign| words::has(clause, language, sign)) {
        return false;
    }
    let chart = chart(clause, language);
    let known: Vec<Range<usize>> = SIGNS
        .iter()
        .chain(&["rest", "filler"])
        .flat_map(|class| words::places(clause, language, class))
        .collect();
    let says_more = |item: &&Item| match item.what {
        What::Shape(kind) => !matches!(kind, Kind::Mark | Kind::End),
        What::Unknown => true,
        What::Service(_) => false,
        What::Word(_) => item.noun().is_some(),
    };
    let is_known = |item: &&Item| {
        known
            .iter()
            .any(|k| k.start <= item.from && item.to <= k.end)
    };
    let items = chart.items.iter().filter(|item| !is_known(item));
    if { items }.any(|item| says_more(&item)) {
        return false;
    }
    let Some((old, new)) = pair(patch, &chart, clause, language) else {
        return false;
    };
    let nodes = used(patch, old);
    nodes
        .iter()
        .all(|node| insert::swap(patch, node, &new.label))
}

/// The service that goes and the one that comes.
fn pair(
    patch: &Patch<'_>,
    chart: &Chart,
    clause: &str,
    language: &str,
) -> Option<(&'static ServiceEntry, &'static ServiceEntry)> {
    let mut named: Vec<(usize, &'static ServiceEntry)> = Vec::new();
    for item in &chart.items {
        if let Some(service) = item.service()
            && !named.iter().any(|(_, known)| known.key == service.key)
        {
            named.push((item.from, service));
        }
    }
    let [(first, a), (second, b)] = *named.as_slice() else {
        return None;
    };
    let is_used = |service| !used(patch, service).is_empty();
    match (is_used(a), is_used(b)) {
        (true, false) => Some((a, b)),
        (false, true) => Some((b, a)),
        (true, true) => {
            let of = words::places(clause, language, "of").into_iter().next()?;
            match (first >= of.end, second >= of.end) {
                (true, _) => Some((a, b)),
                (false, true) => Some((b, a)),
                (false, false) => None,
            }
        }
        (false, false) => None,
    }
}

/// The nodes that do something with a service.
fn used(patch: &Patch<'_>, service: &ServiceEntry) -> Vec<String> {
    let nodes = patch.workflow().nodes.iter();
    let of = nodes.filter(|n| service.actions.iter().any(|t| t == n.node_type()));
    of.map(|n| n.name().to_owned()).collect()
}
