//! "Between A and B, wait", "after the filter do this", "do that before mailing": a new step at a place that is said by any words that mean
//! a node.

use super::insert::steps_of;
use super::{named, spot, wire, words};
use crate::chart::chart;
use crate::compile::existing::Patch;
use crate::plan::{Does, Step};
use agentctl_n8n::Workflow;

/// A place has at most so many words.
const LONGEST: usize = 8;

pub(super) fn between(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let found = two(patch.workflow(), clause, language);
    found.is_some_and(|(work, from, to)| joined(patch, &work, &from, &to))
}

pub(super) fn placed(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let language = super::said::spoken(clause);
    let Some((work, anchor, behind)) = beside(patch, clause, language) else {
        return false;
    };
    // How a webhook answers is no matter of one step alone.
    let answers = |step: &Step| matches!(step.does, Does::Respond { .. });
    !steps_of(&work).iter().any(answers) && spot::beside(patch, &anchor, &work, behind, kept)
}

/// The one node that all words of a phrase are about.
pub(super) fn node(workflow: &Workflow, phrase: &str, language: &str) -> Option<String> {
    let phrase = phrase.trim().trim_end_matches(['.', ',', ';']);
    let meant = named::meant(workflow, phrase, language, 1);
    let whole = !named::says_more(workflow, &meant, phrase, language, Vec::new());
    let [one] = <[String; 1]>::try_from(meant).ok()?;
    (whole && !words::words(phrase).is_empty()).then_some(one)
}

/// The work, and the two nodes that it stands between.
fn two(workflow: &Workflow, clause: &str, language: &str) -> Option<(String, String, String)> {
    let sign = words::places(clause, language, "between")
        .into_iter()
        .next()?;
    let head = clause.get(..sign.start)?;
    let rest = clause.get(sign.end..)?;
    let chart = chart(rest, language);
    let ands = chart.items.iter().filter(|item| item.is("and"));
    { ands }.find_map(|and| {
        let first = node(workflow, rest.get(..and.from)?, language)?;
        let tail = rest.get(and.to..)?;
        cuts(tail).into_iter().find_map(|cut| {
            let second = node(workflow, tail.get(..cut)?, language)?;
            let behind = tail.get(cut..)?.trim_start_matches([',', ' ']);
            let work = format!("{} {behind}", head.trim());
            (!work.trim().is_empty()).then(|| (work.trim().to_owned(), first.clone(), second))
        })
    })
}

/// Whether a clause says a place beside a node that is there.
pub(super) fn says(workflow: &Workflow, clause: &str, language: &str) -> bool {
    ["behind", "ahead"].iter().any(|class| {
        words::places(clause, language, class).iter().any(|sign| {
            let rest = clause.get(sign.end..).unwrap_or_default();
            let cut = |cut: usize| node(workflow, rest.get(..cut)?, language);
            cuts(rest).into_iter().find_map(cut).is_some()
        })
    })
}

/// "Mail X when an approval is asked for", "each time a booking is stored, tell X", "if it is not down, log it": behind the node that does
/// what is said; of an If by the way that is said.
pub(super) fn when(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    if super::only::is_conditional(clause, language) {
        return false;
    }
    let mut signs = words::places(clause, language, "whenever");
    signs.extend(words::places(clause, language, "those"));
    signs.extend(words::places(clause, language, "case"));
    let first = words::words(clause).first().map(|(place, _)| place.start);
    let found = signs.iter().find_map(|sign| {
        let rest = clause.get(sign.end..)?;
        if Some(sign.start) != first {
            let work = clause.get(..sign.start)?.trim_end_matches([',', ' ']);
            let (node, output) = event(patch.workflow(), rest, language)?;
            return Some((node, output, work.to_owned()));
        }
        // A comma ends what happens.
        let cuts = match rest.find(", ") {
            Some(comma) => vec![comma],
            None => cuts(rest),
        };
        cuts.into_iter().find_map(|cut| {
            let (node, output) = event(patch.workflow(), rest.get(..cut)?, language)?;
            let work = rest.get(cut..)?.trim_start_matches([',', ' ', '?']);
            let work = as_then(work, language);
            (!steps_of(work).is_empty()).then(|| (node, output, work.to_owned()))
        })
    });
    let Some((node, output, work)) = found else {
        return false;
    };
    if super::failing::says_failure(&work) {
        return false;
    }
    follows(patch, &node, output, &work, language)
}

/// New steps behind an output of a node, where the work names none that is there.
pub(super) fn follows(
    patch: &mut Patch<'_>,
    node: &str,
    output: u32,
    work: &str,
    language: &str,
) -> bool {
    let steps = steps_of(work);
    let names = !wire::all_named(patch.workflow(), work).is_empty();
    if steps.is_empty() || names || spot::is_there(patch, work, language) {
        return false;
    }
    patch.after(node, output, &steps, false);
    true
}

/// Without a "then" or a "should" ahead.
fn as_then<'t>(work: &'t str, language: &str) -> &'t str {
    let places = ["then", "be"]
        .into_iter()
        .flat_map(|class| words::places(work, language, class));
    let then = { places }.find(|place| place.start == 0);
    let rest = then.and_then(|place| work.get(place.end..));
    rest.map_or(work, str::trim_start)
}

/// The one node that does what a phrase says happens, and the output by which it is left then.
pub(super) fn event(workflow: &Workflow, phrase: &str, language: &str) -> Option<(String, u32)> {
    let phrase = phrase.trim().trim_end_matches(['.', ',', ';', '?', '!']);
    let not = words::places(phrase, language, "not");
    let mut known = not.clone();
    for class in ["auxiliary", "pronoun", "final", "goes", "be"] {
        known.extend(words::places(phrase, language, class));
    }
    let items = chart(phrase, language).items;
    // What is compared is a condition of its own.
    let compares = |item: &crate::chart::Item| {
        let number = matches!(item.shape(), Some(crate::spot::Kind::Number));
        item.is("more") || item.is("less") || number || item.literal()
    };
    if items.iter().any(compares) {
        return None;
    }
    let meant = named::meant(workflow, phrase, language, 1);
    // What arrives begins the flow, what is done a step does; that it fails is neither.
    let led_to = |name: &String| workflow.edges().any(|(_, _, _, link)| link.node == *name);
    let happens = match meant.iter().any(led_to) {
        true => "done",
        false => "arrives",
    };
    known.extend(words::places(phrase, language, happens));
    let more = named::says_more(workflow, &meant, phrase, language, known);
    let [one] = <[String; 1]>::try_from(meant).ok()?;
    // "When stock is running low": the name says it, whatever else is said of it.
    let named = wire::places(phrase, &one);
    let ends_so = named.iter().any(|place| place.end == phrase.len());
    if more && !ends_so {
        return None;
    }
    let splits = agentctl_n8n::short_type(workflow.node_by_name(&one)?.node_type()) == "if";
    if super::failing::says_failure(phrase) && !splits {
        return None;
    }
    match (splits, not.is_empty()) {
        (true, affirmed) => Some((one, u32::from(!affirmed))),
        (false, true) => Some((one, 0)),
        (false, false) => None,
    }
}

/// Where a text may be cut behind its first words: the longest first.
fn cuts(text: &str) -> Vec<usize> {
    let words = words::words(text);
    let ends = words.iter().take(LONGEST).map(|(place, _)| place.end);
    let mut ends: Vec<usize> = ends.collect();
    ends.reverse();
    ends
}

/// Steps on the way from one node to another.
fn joined(patch: &mut Patch<'_>, work: &str, from: &str, to: &str) -> bool {
    let steps = steps_of(work);
    let (from, to) = match patch.leads_to(to).iter().any(|name| name == from) {
        true => (from, to),
        false => (to, from),
    };
    let ways = patch.targets(from);
    let Some((output, ..)) = ways.iter().find(|(_, name, _)| name == to).cloned() else {
        return false;
    };
    if steps.is_empty() {
        return false;
    }
    match ways.iter().filter(|(o, ..)| *o == output).count() {
        1 => patch.after(from, output, &steps, true),
        _ if patch.leads_to(to).len() == 1 => patch.ahead(to, &steps, false),
        _ => return false,
    }
    true
}

/// The work, the node, and whether the work comes behind it.
fn beside(patch: &Patch<'_>, clause: &str, language: &str) -> Option<(String, String, bool)> {
    let workflow = patch.workflow();
    let first = words::words(clause).first()?.0.start;
    for (class, behind) in [("behind", true), ("ahead", false)] {
        for sign in words::places(clause, language, class) {
            let rest = clause.get(sign.end..)?;
            if sign.start == first {
                let found = cuts(rest).into_iter().find_map(|cut| {
                    let node = node(workflow, rest.get(..cut)?, language)?;
                    let work = rest.get(cut..)?.trim_start_matches([',', ' ']);
                    (!steps_of(work).is_empty()).then(|| (work.to_owned(), node))
                });
                if let Some((work, node)) = found {
                    return Some((work, node, behind));
                }
                continue;
            }
            // "Wait before saving", "add before saving a wait of a day".
            let head = clause.get(..sign.start)?.trim();
            let found = cuts(rest).into_iter().find_map(|cut| {
                let node = node(workflow, rest.get(..cut)?, language)?;
                let work = format!("{head} {}", rest.get(cut..)?.trim());
                (!steps_of(&work).is_empty()).then_some((work, node))
            });
            if let Some((work, node)) = found {
                return Some((work, node, behind));
            }
        }
    }
    None
}

/// "Swap the mail and the sheet": two neighbours, in their new order.
fn swap(workflow: &Workflow, clause: &str, language: &str) -> Option<(String, String)> {
    let sign = words::places(clause, language, "exchange")
        .into_iter()
        .next()?;
    let rest = clause.get(sign.end..)?;
    let items = chart(rest, language).items;
    let (a, b) = { items.iter().filter(|item| item.is("and")) }.find_map(|and| {
        let first = node(workflow, rest.get(..and.from)?, language)?;
        Some((first, node(workflow, rest.get(and.to..)?, language)?))
    })?;
    let leads = |from: &str, to: &str| {
        let mut edges = workflow.edges();
        edges.any(|(f, kind, _, link)| f == from && kind == "main" && link.node == to)
    };
    match (leads(&a, &b), leads(&b, &a)) {
        (true, false) => Some((b, a)),
        (false, true) => Some((a, b)),
        _ => None,
    }
}

/// "First Slack, then the sheet": the two nodes in their new order.
fn turn(workflow: &Workflow, clause: &str, language: &str) -> Option<(String, String)> {
    if let Some(both) = swap(workflow, clause, language) {
        return Some(both);
    }
    words::places(clause, language, "first")
        .into_iter()
        .next()?;
    let places = words::places(clause, language, "then");
    let then = places.iter().max_by_key(|place| place.start)?;
    let before = step(workflow, clause.get(..then.start)?, language)?;
    let behind = step(workflow, clause.get(then.end..)?, language)?;
    (before != behind).then_some((before, behind))
}

/// The one node that a phrase is about, what it does included.
fn step(workflow: &Workflow, phrase: &str, language: &str) -> Option<String> {
    let meant = named::meant(workflow, phrase, language, 1);
    let mut known: Vec<_> = ["first", "then", "put", "be", "goes", "sequence", "exchange"]
        .iter()
        .flat_map(|class| words::places(phrase, language, class))
        .collect();
    let items = chart(phrase, language).items.into_iter();
    let verbs = items.filter(|item| item.verb().is_some());
    known.extend(verbs.map(|item| item.from..item.to));
    let more = named::says_more(workflow, &meant, phrase, language, known);
    let [one] = <[String; 1]>::try_from(meant).ok()?;
    (!more).then_some(one)
}

pub(super) fn is_turn(workflow: &Workflow, sentence: &str, language: &str) -> bool {
    turn(workflow, sentence, language).is_some()
}

pub(super) fn turned(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let Some((before, behind)) = turn(patch.workflow(), clause, language) else {
        return false;
    };
    wire::moved(patch.workflow_mut(), &before, &behind, false);
    true
}

/// "Put the filter after the sheet", "the mail should go out before saving": a node that is there, to another place.
pub(super) fn moved(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let says = |class: &str| words::has(clause, language, class);
    if !says("put") && !says("definite") {
        return false;
    }
    for (class, behind) in [("behind", true), ("ahead", false)] {
        for sign in words::places(clause, language, class) {
            let (head, tail) = (clause.get(..sign.start), clause.get(sign.end..));
            let workflow = patch.workflow();
            let node = head.and_then(|head| step(workflow, head, language));
            let by = tail.and_then(|tail| step(workflow, tail, language));
            if let (Some(node), Some(by)) = (node, by)
                && node != by
            {
                wire::moved(patch.workflow_mut(), &node, &by, behind);
                return true;
            }
        }
    }
    false
}
