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
fn node(workflow: &Workflow, phrase: &str, language: &str) -> Option<String> {
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

/// "First Slack, then the sheet": the two nodes in their new order.
fn turn(workflow: &Workflow, clause: &str, language: &str) -> Option<(String, String)> {
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
    let mut known: Vec<_> = ["first", "then", "put", "be", "goes"]
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
