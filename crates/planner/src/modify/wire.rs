//! Connections of nodes that are there: joined, parted, one put behind or before another, several said in their order. Nodes are meant
//! by their whole names only; parameters stay as they are.

use super::words::{self, words};
use crate::compile::existing::Patch;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Node, Workflow};

const MAIN: &str = "main";
/// So many names said in a row are an order of their own.
const CHAIN: usize = 3;
/// At most so many words stand between two of them.
const NEAR: usize = 2;

/// A node that a text names, and where.
struct Said {
    from: usize,
    to: usize,
    node: String,
}

/// The nodes that a text names by their whole names, in its order. Of names within one another the longest counts.
fn said(workflow: &Workflow, text: &str) -> Vec<Said> {
    let written = text;
    let text = words(text);
    let mut found: Vec<Said> = Vec::new();
    let mut names: Vec<_> = workflow.nodes.iter().filter(|n| !n.is_sticky()).collect();
    names.sort_by_key(|node| std::cmp::Reverse(words(node.name()).len()));
    for node in names {
        let name = words(node.name());
        if name.is_empty() {
            continue;
        }
        for places in text.windows(name.len()) {
            let same = places.iter().zip(&name).all(|((_, a), (_, b))| a == b);
            let (Some((first, _)), Some((last, _))) = (places.first(), places.last()) else {
                continue;
            };
            let free = found
                .iter()
                .all(|s| first.start >= s.to || last.end <= s.from);
            if same && free && !is_said_as_verb(written, first, node.name()) {
                found.push(Said {
                    from: first.start,
                    to: last.end,
                    node: node.name().to_owned(),
                });
            }
        }
    }
    found.sort_by_key(|said| said.from);
    found
}

/// "After Post it wait 5 minutes": a name of one word, which is said as the verb that it is too: how long stands right behind it, and it
/// is written small, or nothing stands before it.
fn is_said_as_verb(text: &str, place: &std::ops::Range<usize>, name: &str) -> bool {
    let said = text.get(place.clone()).unwrap_or_default();
    let begins = text
        .get(..place.start)
        .is_some_and(|head| words(head).is_empty());
    if said == name && !begins || words(name).len() > 1 {
        return false;
    }
    let language = super::said::spoken(text);
    let chart = crate::chart::chart(text, language);
    let verb = |item: &crate::chart::Item| item.from == place.start && item.verb().is_some();
    let lasts = |span: &crate::time::TimeSpan| {
        let between = text.get(place.end..span.from);
        let near = between.is_some_and(|t| !t.contains([':', ',']) && words(t).len() < NEAR);
        near && matches!(span.means, crate::time::TimeMeaning::Duration { .. })
    };
    let spans = crate::time::spans(text, language);
    chart.items.iter().any(verb) && spans.iter().any(lasts)
}

/// The nodes that a text names by their whole names, in its order.
pub(super) fn all_named(workflow: &Workflow, text: &str) -> Vec<String> {
    said(workflow, text).into_iter().map(|s| s.node).collect()
}

/// The same text with blanks where it names nodes by their whole names, written as they are.
pub(super) fn without_names(workflow: &Workflow, text: &str) -> String {
    let mut plain = text.to_owned();
    for said in said(workflow, text) {
        let written = text.get(said.from..said.to).unwrap_or_default();
        if !said.node.contains(written) {
            continue;
        }
        plain.replace_range(said.from..said.to, &" ".repeat(said.to - said.from));
    }
    plain
}

/// Where a text has a name word for word.
pub(super) fn places(text: &str, name: &str) -> Vec<std::ops::Range<usize>> {
    let (text, name) = (words(text), words(name));
    let found = text.windows(name.len().max(1)).filter(|places| {
        !name.is_empty() && places.iter().zip(&name).all(|((_, a), (_, b))| a == b)
    });
    let ends = found.filter_map(|places| Some(places.first()?.0.start..places.last()?.0.end));
    ends.collect()
}

/// Whether a text names this node by its whole name.
pub(super) fn names(workflow: &Workflow, text: &str, node: &str) -> bool {
    said(workflow, text).iter().any(|said| said.node == node)
}

/// Whether a sentence says several nodes in their order ("A, then B, then C"): it is one change.
pub(super) fn is_order(workflow: &Workflow, sentence: &str, language: &str) -> bool {
    order(workflow, sentence, language).is_some()
}

/// The names that are said in a row with "then" between them.
fn order(workflow: &Workflow, sentence: &str, language: &str) -> Option<Vec<String>> {
    let said = said(workflow, sentence);
    let mut row: Vec<String> = Vec::new();
    for pair in said.windows(2) {
        let [before, one] = pair else { continue };
        let between = sentence.get(before.to..one.from).unwrap_or_default();
        let follows = words::has(between, language, "then") && words(between).len() <= NEAR;
        match follows {
            true if row.is_empty() => row.extend([before.node.clone(), one.node.clone()]),
            true => row.push(one.node.clone()),
            false if row.len() >= CHAIN => break,
            false => row.clear(),
        }
    }
    let again = |(at, name): (usize, &String)| row.iter().take(at).any(|n| n == name);
    (row.len() >= CHAIN && !row.iter().enumerate().any(again)).then_some(row)
}

/// Reads a clause about connections, and makes them so. False: it is about something else, or nothing came of it.
pub(super) fn wired(
    patch: &mut Patch<'_>,
    clause: &str,
    language: &str,
    catalog: &Catalog,
) -> bool {
    let before = patch.workflow().clone();
    if let Some(row) = order(&before, clause, language) {
        in_order(patch.workflow_mut(), &row);
        return *patch.workflow() != before;
    }
    let named = said(&before, clause);
    let has = |class: &str| words::has(clause, language, class);
    match named.as_slice() {
        [] if has("unlink") => {
            // "the memory", "the memory from the agent": by what they are
            let meant = super::mention::all(&before, clause);
            let serves = |name: &&String| gives(&before, name, catalog) != MAIN;
            if let [one] = meant.iter().filter(serves).collect::<Vec<_>>().as_slice() {
                free(patch.workflow_mut(), one);
            }
        }
        [one] if has("unlink") => free(patch.workflow_mut(), &one.node),
        [a, b] if has("unlink") => part(patch.workflow_mut(), &a.node, &b.node),
        [a, b] => {
            let between = clause.get(a.to..b.from).unwrap_or_default();
            let ahead = words::has(between, language, "ahead");
            let behind = words::has(between, language, "behind");
            let (first, second) = match behind {
                true => (&b.node, &a.node),
                false => (&a.node, &b.node),
            };
            if has("link") {
                let output = u32::from(words::has(clause, language, "no"));
                join(patch.workflow_mut(), first, second, output, catalog);
                return true;
            } else if has("put") && (ahead || behind) {
                moved(patch.workflow_mut(), &a.node, &b.node, behind);
            }
        }
        _ => {}
    }
    *patch.workflow() != before
}

/// "Before … NODE, work": the node, the work, and whether it comes behind the node.
pub(super) fn beside(
    workflow: &Workflow,
    clause: &str,
    language: &str,
) -> Option<(String, String, bool)> {
    let begin = |class: &str| {
        let first = words(clause).first().map(|(range, _)| range.start);
        let places = words::places(clause, language, class);
        places.iter().any(|place| Some(place.start) == first)
    };
    let behind = begin("behind");
    let ahead = begin("ahead") || begin("before") && !behind;
    if !behind && !ahead {
        return None;
    }
    let (anchor, work) = said(workflow, clause).into_iter().find_map(|said| {
        let rest = clause
            .get(said.to..)?
            .trim_start_matches(['?', '!', '.', '\'', '"']);
        let rest = rest.trim_start();
        let right_there = words(clause.get(..said.from)?).len() <= NEAR;
        let goes_on = rest.contains(", ") || words::begins(rest, language, "auxiliary");
        let work = match rest.strip_prefix(',') {
            Some(work) => work,
            None if right_there && !goes_on && !rest.is_empty() => rest,
            None => return None,
        };
        Some((said.node, work.trim().to_owned()))
    })?;
    Some((anchor, work, behind))
}

fn cut(workflow: &mut Workflow, goes: impl Fn(&str, &str, &str) -> bool) {
    for (from, kinds) in &mut workflow.connections {
        for (kind, buckets) in kinds.iter_mut() {
            for links in buckets.iter_mut().flatten() {
                links.retain(|link| !goes(from, kind, &link.node));
            }
        }
    }
}

/// Nothing leads to a node any more and it leads nowhere.
fn free(workflow: &mut Workflow, node: &str) {
    cut(workflow, |from, _, to| from == node || to == node);
}

fn part(workflow: &mut Workflow, a: &str, b: &str) {
    cut(workflow, |from, _, to| {
        (from == a && to == b) || (from == b && to == a)
    });
}

/// What kind of connection a node gives: a sub-node's own, else the main one.
fn gives(workflow: &Workflow, node: &str, catalog: &Catalog) -> String {
    let Some(node) = workflow.node_by_name(node) else {
        return MAIN.to_owned();
    };
    let described = catalog
        .lookup(node.node_type(), node.type_version())
        .known();
    let none = serde_json::Map::new();
    let parameters = node.parameters().unwrap_or(&none);
    let own = described.and_then(|d| {
        let ports = d.outputs_for(parameters, node.map());
        ports.first().map(|port| port.kind.clone())
    });
    own.unwrap_or_else(|| MAIN.to_owned())
}

/// One node leads to another; a sub-node is joined to the node that it serves, whichever was said first.
fn join(workflow: &mut Workflow, from: &str, to: &str, output: u32, catalog: &Catalog) {
    let (mut from, mut to) = (from, to);
    let mut kind = gives(workflow, from, catalog);
    if kind == MAIN {
        let other = gives(workflow, to, catalog);
        if other != MAIN {
            (from, to, kind) = (to, from, other);
        }
    }
    let output = if kind == MAIN { output } else { 0 };
    workflow.connect(from, &kind, output, to, 0);
}

/// Takes a node out of the main flow: what led to it leads to what followed it.
fn lift(workflow: &mut Workflow, node: &str) {
    let edges: Vec<(String, u32, String, u32)> = main_edges(workflow);
    cut(workflow, |from, kind, to| {
        kind == MAIN && (from == node || to == node)
    });
    for (source, output, _, _) in edges.iter().filter(|(_, _, to, _)| to == node) {
        for (_, _, target, input) in edges
            .iter()
            .filter(|(from, out, _, _)| from == node && *out == 0)
        {
            workflow.connect(source, MAIN, *output, target, *input);
        }
    }
}

fn main_edges(workflow: &Workflow) -> Vec<(String, u32, String, u32)> {
    let main = workflow.edges().filter(|(_, kind, _, _)| *kind == MAIN);
    main.map(|(from, _, output, link)| (from.to_owned(), output, link.node.clone(), link.index))
        .collect()
}

/// A node is put behind (or before) another one, between it and its neighbours.
pub(super) fn moved(workflow: &mut Workflow, node: &str, by: &str, behind: bool) {
    lift(workflow, node);
    let edges = main_edges(workflow);
    if behind {
        let after = edges
            .iter()
            .filter(|(from, output, _, _)| from == by && *output == 0);
        let after: Vec<_> = after.cloned().collect();
        cut(workflow, |from, kind, to| {
            kind == MAIN && from == by && after.iter().any(|(_, _, t, _)| t == to)
        });
        workflow.connect(by, MAIN, 0, node, 0);
        for (_, _, to, input) in &after {
            workflow.connect(node, MAIN, 0, to, *input);
        }
        return;
    }
    let ahead: Vec<_> = edges.into_iter().filter(|(_, _, to, _)| to == by).collect();
    cut(workflow, |_, kind, to| kind == MAIN && to == by);
    for (from, output, _, _) in &ahead {
        workflow.connect(from, MAIN, *output, node, 0);
    }
    workflow.connect(node, MAIN, 0, by, 0);
}

/// The nodes follow one another as they are said, and no other way among themselves.
fn in_order(workflow: &mut Workflow, row: &[String]) {
    let place = |name: &str| row.iter().position(|n| n == name);
    let edges = main_edges(workflow);
    cut(workflow, |from, kind, to| {
        kind == MAIN && place(from).zip(place(to)).is_some_and(|(a, b)| b != a + 1)
    });
    for pair in row.windows(2) {
        let [from, to] = pair else { continue };
        let there = |(f, _, t, _): &(String, u32, String, u32)| f == from && t == to;
        if !edges.iter().any(there) {
            workflow.connect(from, MAIN, 0, to, 0);
        }
    }
}

/// The nodes that nothing leads to, though something did before.
pub(super) fn loose(before: &Workflow, after: &Workflow) -> Vec<String> {
    let fed =
        |workflow: &Workflow, name: &str| workflow.edges().any(|(_, _, _, link)| link.node == name);
    let feeds = |workflow: &Workflow, node: &Node| {
        workflow.edges().any(|(from, _, _, _)| from == node.name())
    };
    let loose = after.nodes.iter().filter(|node| {
        let was = fed(before, node.name());
        let served = before
            .edges()
            .any(|(from, kind, _, _)| from == node.name() && kind != MAIN);
        (was && !fed(after, node.name())) || (served && !feeds(after, node))
    });
    loose.map(|node| node.name().to_owned()).collect()
}
