//! The steps in the order in which they work, and those that a text counts ("the third step").

use super::words;
use crate::chart::chart;
use crate::spot::Kind;
use agentctl_n8n::{Node, Workflow};
use std::ops::Range;

/// The classes of words that count steps, from the first on; and the last one.
const NTH: [&str; 5] = ["nth1", "nth2", "nth3", "nth4", "nth5"];
const LAST: &str = "nth-last";

/// The node of "step 3", and where the text says so.
pub(super) fn numbered(
    workflow: &Workflow,
    text: &str,
    language: &str,
) -> Option<(String, Range<usize>)> {
    let steps = words::places(text, language, "step");
    let items = chart(text, language).items;
    let number = items.iter().find(|item| {
        let step = |step: &Range<usize>| {
            let between = text.get(step.end..item.from);
            between.is_some_and(|between| between.trim_matches([' ', '#']).is_empty())
        };
        item.shape() == Some(Kind::Number) && steps.iter().any(step)
    })?;
    let nth: usize = number.text.parse().ok()?;
    let order = in_order(workflow);
    let name = order.get(nth.checked_sub(1)?)?;
    Some(((*name).to_owned(), number.from..number.to))
}

/// The nodes that a text counts.
pub(crate) fn counted(workflow: &Workflow, text: &str, language: &str) -> Vec<String> {
    if let Some((name, _)) = numbered(workflow, text, language) {
        return vec![name];
    }
    let order = in_order(workflow);
    let nth = NTH.iter().zip(&order);
    let nth = nth.filter(|(class, _)| words::has(text, language, class));
    let last = order.last().filter(|_| words::has(text, language, LAST));
    let names = nth.map(|(_, name)| *name).chain(last.copied());
    names.map(str::to_owned).collect()
}

/// The classes of words that count steps.
pub(super) fn classes() -> impl Iterator<Item = &'static str> {
    NTH.into_iter().chain([LAST])
}

/// The nodes of the main connections: from each that nothing leads to along its outputs, a branch after the other.
fn in_order(workflow: &Workflow) -> Vec<&str> {
    let main = || workflow.edges().filter(|(_, kind, _, _)| *kind == "main");
    let serves = |name: &str| {
        let mut edges = workflow.edges();
        edges.any(|(from, kind, _, _)| from == name && kind != "main")
    };
    let nodes = workflow.nodes.iter().filter(|node| !node.is_sticky());
    let names: Vec<&str> = nodes.map(Node::name).filter(|name| !serves(name)).collect();
    let led_to = |name: &str| main().any(|(_, _, _, link)| link.node == name);
    let (inner, starts): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| led_to(name));
    let mut order: Vec<&str> = Vec::new();
    // What is left of a circle begins where the document names it first.
    let mut waiting: Vec<&str> = starts.into_iter().chain(inner).rev().collect();
    while let Some(name) = waiting.pop() {
        if order.contains(&name) {
            continue;
        }
        order.push(name);
        let next: Vec<&str> = main()
            .filter(|(from, _, _, _)| *from == name)
            .filter_map(|(_, _, _, link)| names.iter().find(|n| **n == link.node).copied())
            .collect();
        waiting.extend(next.into_iter().rev());
    }
    order
}
