//! "Discord instead of Telegram", "replace Postgres by MySQL": where a clause names two services and one of them alone is in the
//! workflow, the other comes in its place. What else the clause says of the new one others read.

use super::words;
use super::{insert, mention, named, slot};
use crate::chart::{Chart, Item, chart};
use crate::compile::existing::Patch;
use crate::compile::rewire::acts;
use crate::lexicon::{ServiceEntry, services};
use crate::spot::Kind;
use std::ops::Range;

/// The classes of words that put one thing in the place of another.
const SIGNS: [&str; 5] = ["of", "instead", "exchange", "lacks", "dislike"];
/// "Telegram is out, we take WhatsApp": said of one that is used and of one that is not, one of these and "out" do so too.
const ENTERS: [&str; 2] = ["use", "enters"];

pub(super) fn exchanged(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let chart = chart(clause, language);
    let says = |sign: &&str| words::has(clause, language, sign);
    let signed = SIGNS.iter().any(says) || (says(&"out") && ENTERS.iter().any(says));
    let (nodes, new) = match pair(patch, &chart, clause, language).filter(|_| signed) {
        Some((old, new)) => (used(patch, old), new),
        None => {
            let found = by_kind(patch, &chart, clause, language);
            match found.or_else(|| alone(patch, &chart, clause, language)) {
                Some((node, new)) => (vec![node], new),
                None => return false,
            }
        }
    };
    let mut known: Vec<Range<usize>> = SIGNS
        .iter()
        .chain(&[
            "rest", "bare", "better", "use", "be", "goes", "out", "enters", "now", "contrast",
        ])
        .flat_map(|class| words::places(clause, language, class))
        .collect();
    // What is done with it is done with the other one, and what is given word for word is the new one's.
    let mut given = new.label.clone();
    let mut before: Option<&Item> = None;
    for item in &chart.items {
        let own = item.service().is_some_and(|s| s.key == new.key);
        let carried = matches!(item.shape(), Some(Kind::Channel | Kind::Mail | Kind::Phone));
        if own || carried || item.verb().is_some() {
            known.push(item.from..item.to);
        }
        if carried {
            // "Channel #office"
            known.extend(before.filter(|b| b.noun().is_some()).map(|b| b.from..b.to));
            given.push(' ');
            given.push_str(clause.get(item.from..item.to).unwrap_or_default());
        }
        before = Some(item);
    }
    if named::says_more(patch.workflow(), &nodes, clause, language, known) {
        return false;
    }
    nodes.iter().all(|node| insert::swap(patch, node, &given))
}

/// "Telegram instead of the mail": one service that is not used yet, and what goes by its kind or name.
fn by_kind(
    patch: &Patch<'_>,
    chart: &Chart,
    clause: &str,
    language: &str,
) -> Option<(String, &'static ServiceEntry)> {
    let of = words::places(clause, language, "of").into_iter().next()?;
    let mut named = { chart.items.iter() }.filter_map(|item| Some((item, item.service()?)));
    let (item, new) = named.next()?;
    let is_free = named.next().is_none() && used(patch, new).is_empty();
    // "Statt der Mail Telegram": what goes stands between the sign and the other one.
    let until = match item.from > of.end {
        true => item.from,
        false => clause.len(),
    };
    let old = clause.get(of.end..until)?;
    let node = super::place::node(patch.workflow(), old, language)?;
    let acts = patch.workflow().node_by_name(&node).is_some_and(acts);
    (is_free && acts).then_some((node, new))
}

/// "Move it to Outlook": one service alone, that is not used yet, and the one node of such a service.
fn alone(
    patch: &Patch<'_>,
    chart: &Chart,
    clause: &str,
    language: &str,
) -> Option<(String, &'static ServiceEntry)> {
    const NOT: [&str; 6] = ["gone", "off", "on", "link", "unlink", "then"];
    let says = |class: &&str| words::has(clause, language, class);
    if NOT.iter().any(says) || slot::adds(clause, language) {
        return None;
    }
    let mut named = chart.items.iter().filter_map(Item::service);
    let new = named.next()?;
    if named.next().is_some() || !used(patch, new).is_empty() {
        return None;
    }
    let tags: Vec<&str> = new.tags.iter().map(String::as_str).collect();
    let alike = services().iter().filter(|service| service.is_any(&tags));
    let mut nodes: Vec<String> = alike.flat_map(|service| used(patch, service)).collect();
    nodes.sort();
    nodes.dedup();
    let [node] = <[String; 1]>::try_from(nodes).ok()?;
    // "Send the mail with Outlook": what is there is named with its article.
    let all: Vec<String> = patch
        .workflow()
        .nodes
        .iter()
        .map(|n| n.name().to_owned())
        .collect();
    let best = named::best(patch.workflow(), clause, chart, &all, 1);
    let by_kind = mention::all(patch.workflow(), clause);
    let meant = best == [node.clone()] || by_kind == [node.clone()];
    let there = meant && words::has(clause, language, "definite");
    // "Use WhatsApp": nothing says that it is one more.
    let uses = words::begins(clause, language, "use");
    (there || uses || ["exchange", "better"].iter().any(says)).then_some((node, new))
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
