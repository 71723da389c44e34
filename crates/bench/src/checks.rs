//! Whether a workflow meets one expectation. Each check gives its verdict and a few words for whoever reads the table.

use crate::expect::{Condition, Design, Edge, LoopOver, Schedule, Selector, Split};
use crate::fires;
use crate::graph::{Graph, Names, Node};
use crate::parameters::{fits, shown, text};
use crate::pattern::Pattern;
use serde_json::Value;
use std::collections::BTreeMap;

/// Verdict and what was looked for.
pub type Verdict = (bool, String);

const LOOP: &str = "n8n-nodes-base.splitInBatches";
/// What divides or holds back items, though it may have one output.
const GATES: [&str; 8] = [
    "n8n-nodes-base.if",
    "n8n-nodes-base.switch",
    "n8n-nodes-base.filter",
    "n8n-nodes-base.code",
    "n8n-nodes-base.compareDatasets",
    "@n8n/n8n-nodes-langchain.textClassifier",
    "@n8n/n8n-nodes-langchain.sentimentAnalysis",
    "@n8n/n8n-nodes-langchain.guardrails",
];
/// So many types of a selector are named.
const NAMED: usize = 4;
/// So many characters of what a selector asks for are shown.
const SHOWN: usize = 90;

pub fn selected<'w>(graph: &Graph<'w>, by: &Selector) -> Vec<Node<'w>> {
    selected_with(graph, by, &[], &[])
}

fn selected_with<'w>(
    graph: &Graph<'w>,
    by: &Selector,
    must: &[Pattern],
    must_not: &[Pattern],
) -> Vec<Node<'w>> {
    let fits_all = |node: &Node<'w>| {
        if !by.any_of.iter().any(|t| t == node.node_type) {
            return false;
        }
        let text = text(*node);
        let mut must = by.contains.iter().chain(&by.must_contain).chain(must);
        let mut must_not = by.must_not_contain.iter().chain(must_not);
        must.all(|p| p.is_in(&text))
            && !must_not.any(|p| p.is_in(&text))
            && by.params.iter().all(|param| fits(*node, param))
    };
    graph.enabled().filter(fits_all).collect()
}

fn names<'w>(graph: &Graph<'w>, by: &Selector) -> Names<'w> {
    selected(graph, by).iter().map(|n| n.name).collect()
}

pub fn short(types: &[String]) -> String {
    let mut named: Vec<&str> = types
        .iter()
        .take(NAMED)
        .map(|t| t.rsplit('.').next().unwrap_or(t))
        .collect();
    let more = format!("+{}", types.len().saturating_sub(NAMED));
    if types.len() > NAMED {
        named.push(&more);
    }
    named.join("/")
}

pub fn described(by: &Selector) -> String {
    let params = by.params.iter().map(|param| {
        let some = |all: &Vec<Value>| all.iter().map(shown).collect::<Vec<_>>().join("|");
        let wanted = param
            .equals
            .as_ref()
            .map(shown)
            .or_else(|| param.any_of.as_ref().map(some))
            .or_else(|| Some(param.matches.as_ref()?.0.as_str().to_owned()))
            .unwrap_or_else(|| "…".to_owned());
        format!("{}={wanted}", param.path)
    });
    let contained = by.contains.iter().map(Pattern::to_string);
    let asked: Vec<String> = params.chain(contained).collect();
    match asked.is_empty() {
        true => short(&by.any_of),
        false => {
            let asked: String = asked.join("; ").chars().take(SHOWN).collect();
            format!("{} [{asked}]", short(&by.any_of))
        }
    }
}

fn all_described(all: &[Selector]) -> String {
    all.iter().map(described).collect::<Vec<_>>().join(" | ")
}

pub fn trigger(graph: &Graph, by: &Selector) -> Verdict {
    let found = selected(graph, by);
    let count = found.iter().filter(|n| graph.has_output(n.name)).count();
    (
        count >= by.count_min.unwrap_or(1),
        format!("{count} connected trigger(s) of {}", described(by)),
    )
}

pub fn node(graph: &Graph, by: &Selector) -> Verdict {
    let count = selected(graph, by).len();
    (
        count >= by.count_min.unwrap_or(1),
        format!("{count} of {}", described(by)),
    )
}

pub fn edge(graph: &Graph, edge: &Edge) -> Verdict {
    let (from, to) = (names(graph, &edge.from), names(graph, &edge.to));
    let joined = if !edge.via.all.is_empty() {
        let mut attached = graph.attached.iter();
        attached.any(|(sub, parent, kind)| {
            from.contains(sub) && to.contains(parent) && edge.via.all.iter().any(|via| via == kind)
        })
    } else if edge.direct {
        let mut outs = from.iter().flat_map(|name| graph.main_of(name));
        outs.any(|(_, target)| to.contains(target))
    } else {
        from.iter().any(|source| {
            let after = graph.after(source);
            to.iter()
                .any(|target| target != source && after.contains(target))
        })
    };
    let way = match edge.via.all.join("/") {
        via if via.is_empty() => "->".to_owned(),
        via => format!("-{via}->"),
    };
    (
        joined != edge.negate,
        format!("{} {way} {}", described(&edge.from), described(&edge.to)),
    )
}

pub fn condition(graph: &Graph, wanted: &Condition) -> Verdict {
    let (must, must_not) = (&wanted.must_contain, &wanted.must_not_contain);
    let found = selected_with(graph, &wanted.node, must, must_not);
    let listed = |all: &[Pattern]| {
        all.iter()
            .map(Pattern::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut detail = format!("{} must contain {}", described(&wanted.node), listed(must));
    if !must_not.is_empty() {
        detail.push_str(&format!(", not {}", listed(must_not)));
    }
    (found.len() >= wanted.count_min.unwrap_or(1), detail)
}

/// What each output of each branching node leads to.
fn branches<'w>(graph: &Graph<'w>) -> Vec<Names<'w>> {
    let mut all = Vec::new();
    for node in graph.enabled() {
        let mut outputs: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for (output, target) in graph.main_of(node.name) {
            outputs.entry(*output).or_default().push(target);
        }
        let divides = GATES.contains(&node.node_type)
            || node.text_at("onError") == Some("continueErrorOutput")
            || outputs.len() > 1;
        if divides && node.node_type != LOOP {
            let reached = outputs.into_values();
            all.extend(reached.map(|targets| graph.reach(targets, Some(node.name))));
        }
    }
    all
}

/// Each set of targets on a branch of its own.
fn apart(targets: &[Names], branches: &[Names], taken: &mut Vec<usize>) -> bool {
    let Some((first, rest)) = targets.split_first() else {
        return true;
    };
    for (at, branch) in branches.iter().enumerate() {
        if taken.contains(&at) || branch.is_disjoint(first) {
            continue;
        }
        taken.push(at);
        if apart(rest, branches, taken) {
            return true;
        }
        taken.pop();
    }
    false
}

pub fn split(graph: &Graph, wanted: &Split) -> Verdict {
    let targets: Vec<Names> = wanted.targets.iter().map(|by| names(graph, by)).collect();
    let whole = targets.iter().all(|t| !t.is_empty());
    (
        whole && apart(&targets, &branches(graph), &mut Vec::new()),
        format!("on separate branches: {}", all_described(&wanted.targets)),
    )
}

pub fn loop_over(graph: &Graph, wanted: &LoopOver) -> Verdict {
    let right = |node: &Node| {
        // Version 3 exchanged the outputs.
        let (body, done) = if node.version() < 3.0 { (0, 1) } else { (1, 0) };
        let from = |output: usize| {
            let outs = graph.main_of(node.name).iter();
            let targets = outs
                .filter(|(o, _)| *o == output)
                .map(|(_, target)| *target);
            graph.reach(targets.collect::<Vec<_>>(), Some(node.name))
        };
        let (body, done) = (from(body), from(done));
        let comes_back = body
            .iter()
            .flat_map(|name| graph.main_of(name))
            .any(|(_, target)| *target == node.name);
        let all_in = |all: &[Selector], place: &Names| {
            all.iter().all(|by| !names(graph, by).is_disjoint(place))
        };
        comes_back && all_in(&wanted.body, &body) && all_in(&wanted.after, &done)
    };
    let detail = format!(
        "{}: loop output -> {} -> back; done output -> {}",
        described(&wanted.node),
        all_described(&wanted.body),
        all_described(&wanted.after)
    );
    (selected(graph, &wanted.node).iter().any(right), detail)
}

/// All of one accepted design.
pub fn design(graph: &Graph, wanted: &Design) -> bool {
    let all_text = all_text(graph);
    wanted.nodes.iter().all(|e| node(graph, e).0)
        && wanted.edges.iter().all(|e| edge(graph, e).0)
        && wanted.conditions.iter().all(|e| condition(graph, e).0)
        && wanted.split.iter().all(|e| split(graph, e).0)
        && wanted.loops.iter().all(|e| loop_over(graph, e).0)
        && wanted.values.iter().all(|v| v.is_in(&all_text))
}

pub fn schedule(graph: &Graph, wanted: &Schedule) -> Verdict {
    (
        fires::fits(graph, wanted),
        "fires at the times that were asked for".to_owned(),
    )
}

/// The parameters of all nodes that run.
pub fn all_text(graph: &Graph) -> String {
    graph.enabled().map(text).collect::<Vec<_>>().join("\n")
}

/// With the workflow's name, the nodes' names and all notes.
pub fn text_anywhere(graph: &Graph) -> String {
    let name = graph.whole.get("name").and_then(Value::as_str);
    let mut parts = vec![name.unwrap_or_default().to_owned()];
    for node in graph.nodes() {
        parts.push(node.name.to_owned());
        parts.push(node.text_at("notes").unwrap_or_default().to_owned());
        parts.push(text(node));
    }
    parts.join("\n")
}
