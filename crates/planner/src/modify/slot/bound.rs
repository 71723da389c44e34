//! What a condition compares with: another number ("above 250"), another text ("no, Austria").

use super::super::{named, value, words};
use super::{BARE, Clause, Read, edit, of_type};
use crate::chart::Item;
use crate::compile::existing::Patch;
use crate::spot::Kind;
use crate::time::spans;
use agentctl_n8n::Workflow;
use serde_json::{Value, json};
use std::ops::Range;

/// "above 250", "150, not 100": the number that a condition compares with.
pub(super) fn bound(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    let times = spans(clause.text, clause.language);
    // "36 hours" of a field that counts hours, "a limit of 5 days" are no times.
    let all: Vec<String> = bounds(patch.workflow(), kept)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let compared = compared_words(patch.workflow(), &all, clause.text);
    let is_bound = clause.has("bound") && of_type(patch.workflow(), "wait", kept).is_empty();
    let in_time = |item: &Item| {
        times.iter().any(|t| {
            let counted = compared.iter().any(|c| t.from <= c.start && c.end <= t.to);
            let whole = t.cost < 2 && t.from <= item.from && item.to <= t.to;
            whole && !counted && !is_bound
        })
    };
    let numbers: Vec<(usize, f64)> = (0..)
        .zip(&clause.chart.items)
        .filter(|(_, item)| item.shape() == Some(Kind::Number) && !in_time(item))
        .filter_map(|(at, item)| Some((at, item.text.replace(',', "").parse().ok()?)))
        .collect();
    let bounds = bounds(patch.workflow(), kept);
    let is_old = |n: f64| bounds.iter().any(|(_, bound)| *bound == n);
    let new: Vec<&(usize, f64)> = numbers.iter().filter(|(_, n)| !is_old(*n)).collect();
    let [(at, number)] = new.as_slice() else {
        return Read::Other;
    };
    let old: Vec<f64> = numbers
        .iter()
        .map(|(_, n)| *n)
        .filter(|n| is_old(*n))
        .collect();
    let before = at.checked_sub(1).and_then(|i| clause.chart.items.get(i));
    let signed =
        |item: &Item, sign: char| item.shape() == Some(Kind::Sign) && item.text.starts_with(sign);
    let upward = before.filter(|i| !i.tells("or")).and_then(|i| {
        match (
            i.is("more") || signed(i, '>'),
            i.is("less") || signed(i, '<'),
        ) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    });
    let compared = upward.is_some();
    let figures: Vec<Range<usize>> = numbers
        .iter()
        .filter_map(|(at, _)| clause.chart.items.get(*at))
        .map(|item| item.from..item.to)
        .collect();
    let mut fitting: Vec<String> = bounds
        .iter()
        .filter(|(_, bound)| old.is_empty() || old.contains(bound))
        .map(|(node, _)| node.clone())
        .collect();
    let meant = named::best(patch.workflow(), clause.text, &clause.chart, &fitting, 1);
    if fitting.len() > 1 && !meant.is_empty() {
        fitting = meant;
    }
    // "Raise the limit to 300", "the number of signups should be 25": the bound is named, and nothing else is.
    let named = || {
        let mut known = clause.places(&["bound", "raise", "be", "now", "unit"]);
        known.extend(clause.places(&BARE));
        known.extend(compared_words(patch.workflow(), &fitting, clause.text));
        if clause.has("bound") {
            known.extend(words_behind(patch.workflow(), &fitting, clause.text));
        }
        let also = known.len();
        known.extend(figures.iter().cloned());
        also > 0
            && !named::says_more(
                patch.workflow(),
                &fitting,
                clause.text,
                clause.language,
                known,
            )
    };
    if old.is_empty() && !compared && !clause.is_bare(figures.clone()) && !named() {
        return Read::Other;
    }
    // "Under 18" where more than 18 is asked for is another question.
    if let (Some(upward), [node]) = (upward, fitting.as_slice())
        && asks_upward(patch.workflow(), node).is_some_and(|asks| asks != upward)
    {
        return Read::Other;
    }
    match fitting.as_slice() {
        [] => Read::Other,
        [node] => match value::set_condition(patch, node, &number.to_string()) {
            true => Read::Done,
            false => Read::Other,
        },
        _ => Read::Which(number.to_string(), fitting),
    }
}

/// Where a text has words of the names of what these nodes lead to: "the approval limit".
fn words_behind(workflow: &Workflow, nodes: &[String], text: &str) -> Vec<Range<usize>> {
    let edges = workflow.edges();
    let behind = edges.filter(|(from, ..)| nodes.iter().any(|name| name == from));
    let names: Vec<String> = behind
        .flat_map(|(_, _, _, link)| words::words(&link.node))
        .map(|(_, word)| word)
        .collect();
    let said = words::words(text).into_iter();
    let own = said.filter(|(_, word)| names.iter().any(|name| named::alike(name, word)));
    own.map(|(place, _)| place).collect()
}

/// Where a text has words of what these nodes compare.
fn compared_words(workflow: &Workflow, nodes: &[String], text: &str) -> Vec<Range<usize>> {
    let mut fields: Vec<String> = Vec::new();
    for node in nodes.iter().filter_map(|name| workflow.node_by_name(name)) {
        let list = node
            .parameters()
            .and_then(|p| p.get("conditions")?.get("conditions"));
        let lefts = list.and_then(Value::as_array).into_iter().flatten();
        let lefts = lefts.filter_map(|c| c.get("leftValue")?.as_str());
        fields.extend(lefts.flat_map(words::words).map(|(_, word)| word));
    }
    let said = words::words(text).into_iter();
    let own = said.filter(|(_, word)| fields.iter().any(|field| named::alike(field, word)));
    own.map(|(place, _)| place).collect()
}

/// "No, Austria", "rather: order": the one text that a condition compares with.
pub(super) fn worded(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    const MOST: usize = 2;
    let signs = clause.places(&BARE);
    let is_sign = |item: &&Item| {
        signs
            .iter()
            .any(|place| place.start <= item.from && item.to <= place.end)
    };
    let items = clause.chart.items.iter().filter(|item| !item.stops());
    let said: Vec<&Item> = items.filter(|item| !is_sign(item)).collect();
    let is_name = |item: &&Item| {
        item.capital && item.service().is_none() && matches!(item.shape(), None | Some(Kind::Word))
    };
    let corrects = clause.has("correct") || clause.has("better");
    let (Some(first), Some(last)) = (said.first(), said.last()) else {
        return Read::Other;
    };
    if !corrects || said.len() > MOST || !said.iter().all(is_name) {
        return Read::Other;
    }
    let new = clause.text.get(first.from..last.to).unwrap_or_default();
    let texts = |node: &agentctl_n8n::Node| {
        let list = node.parameters()?.get("conditions")?.get("conditions")?;
        let [only] = list.as_array()?.as_slice() else {
            return None;
        };
        let held = only.get("rightValue")?.as_str()?;
        (!held.is_empty() && held.parse::<f64>().is_err()).then(|| node.name().to_owned())
    };
    let found: Vec<String> = patch.workflow().nodes.iter().filter_map(texts).collect();
    let [name] = found.as_slice() else {
        return Read::Other;
    };
    if kept.contains(name) {
        return Read::Other;
    }
    edit(patch, name, |params| {
        let value = params.get_mut("conditions");
        let value = value.and_then(|c| c.pointer_mut("/conditions/0/rightValue"));
        if let Some(value) = value {
            *value = json!(new);
        }
    })
}

/// Whether the one condition of a node asks for more than its number; None: it asks for neither more nor less.
fn asks_upward(workflow: &Workflow, node: &str) -> Option<bool> {
    let list = workflow.node_by_name(node)?.parameters()?;
    let list = list.get("conditions")?.get("conditions")?.as_array()?;
    let [only] = list.as_slice() else { return None };
    match only.get("operator")?.get("operation")?.as_str()? {
        "gt" | "gte" => Some(true),
        "lt" | "lte" => Some(false),
        _ => None,
    }
}

/// The nodes that compare with one number, and the number.
pub(in crate::modify) fn bounds(workflow: &Workflow, kept: &[String]) -> Vec<(String, f64)> {
    let nodes = workflow
        .nodes
        .iter()
        .filter(|n| !kept.iter().any(|k| k == n.name()));
    let bounds = nodes.filter_map(|node| {
        let list = node
            .parameters()?
            .get("conditions")?
            .get("conditions")?
            .as_array()?;
        let numbers = list.iter().filter_map(|c| c.get("rightValue"));
        let numbers = numbers.filter_map(|v| v.as_f64().or_else(|| v.as_str()?.parse().ok()));
        match numbers.collect::<Vec<_>>().as_slice() {
            [one] => Some((node.name().to_owned(), *one)),
            _ => None,
        }
    });
    bounds.collect()
}
