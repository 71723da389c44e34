//! "Only if C, X", "X only when C": a condition ahead of the step that is meant, and of the first that acts where none is named.

use super::condition::{read_condition, who_condition};
use super::hold::first_acting;
use super::mention;
use super::named;
use super::words::{self, words};
use crate::chart::{Item, chart};
use crate::compile::existing::Patch;
use crate::spot::Kind;
use std::ops::Range;

/// Where "only" and the "if" behind it stand; None: it is no such condition.
fn place(clause: &str, language: &str) -> Option<(usize, usize)> {
    let only = words::places(clause, language, "only");
    let only = only.iter().min_by_key(|place| place.start)?;
    let mut ifs = words::places(clause, language, "if");
    // "Only for orders over 75"; "only orders with …" is about items.
    let right_behind = |place: &Range<usize>| {
        let between = clause.get(only.end..place.start);
        between.is_some_and(|between| between.trim().is_empty())
    };
    ifs.extend(
        words::places(clause, language, "for")
            .into_iter()
            .filter(right_behind),
    );
    let one = ifs.iter().filter(|place| place.start >= only.end);
    let one = one.min_by_key(|place| place.start);
    // "Only > 90 used", "only over 90".
    let compares = |item: &&Item| {
        right_behind(&(item.from..item.to))
            && (item.is("more") || item.is("less") || item.shape() == Some(Kind::Sign))
    };
    match one {
        Some(one) => Some((one.start, one.end)),
        None => {
            let chart = chart(clause, language);
            let sign = chart.items.iter().find(compares)?;
            Some((sign.from, sign.from))
        }
    }
}

/// Whether a clause makes something depend on a condition.
pub(super) fn is_conditional(clause: &str, language: &str) -> bool {
    place(clause, language).is_some()
}

/// Whether a text says nothing besides "only", "but", "please".
fn says_nothing(text: &str, language: &str) -> bool {
    let mut taken = words::places(text, language, "only");
    // "ne … que" holds more than itself.
    taken.retain(|place| text.get(place.clone()).is_some_and(|t| words(t).len() <= 2));
    taken.extend(words::places(text, language, "filler"));
    words(text).iter().all(|(word, _)| {
        taken
            .iter()
            .any(|place| place.start <= word.start && word.end <= place.end)
    })
}

pub(super) fn only(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let otherwise = chart(clause, language).items.iter().any(|i| i.is("else"));
    let Some((from, to)) = place(clause, language).filter(|_| !otherwise) else {
        return false;
    };
    let (mut what, mut when) = (
        clause.get(..from).unwrap_or_default(),
        clause.get(to..).unwrap_or_default(),
    );
    if says_nothing(what, language)
        && let Some((condition, work)) = when.split_once(", ")
    {
        (what, when) = (work, condition);
    }
    let target = match says_nothing(what, language) {
        true => first_acting(patch, "", &[]),
        false => target(patch, what, language, &["only"]),
    };
    match (target, read_condition(when)) {
        (Some(target), Some(condition)) => {
            patch.gate(&target, &condition, &[]);
            true
        }
        _ => false,
    }
}

/// The one step that a text is about, if anything leads to it; `small`: classes of words that say nothing here.
fn target(patch: &Patch<'_>, what: &str, language: &str, small: &[&str]) -> Option<String> {
    let flows_into = |name: &String| !patch.leads_to(name).is_empty();
    let one = mention::one(patch.workflow(), what, &[]).filter(flows_into);
    one.or_else(|| {
        let meant = named::meant(patch.workflow(), what, language, 1);
        let known = small
            .iter()
            .flat_map(|class| words::places(what, language, class));
        let whole = !named::says_more(patch.workflow(), &meant, what, language, known.collect());
        let one = <[String; 1]>::try_from(meant).ok().filter(|_| whole);
        one.map(|[name]| name).filter(flows_into)
    })
}

/// "Only orders over 100 should go to the warehouse": a condition ahead of the step that is named at the end.
pub(super) fn those(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let first = words(clause).first().map(|(place, _)| place.start);
    let only = words::places(clause, language, "only").into_iter();
    let Some(only) = { only }.find(|place| Some(place.start) == first) else {
        return false;
    };
    let verbs = words::places(clause, language, "be").into_iter();
    let verbs = verbs.chain(words::places(clause, language, "goes"));
    let verbs = verbs.filter(|verb| verb.start > only.end);
    let Some(verb) = verbs.min_by_key(|verb| (verb.start, std::cmp::Reverse(verb.end))) else {
        return false;
    };
    let who = clause.get(only.end..verb.start).unwrap_or_default().trim();
    let what = clause.get(verb.end..).unwrap_or_default().trim();
    let target = target(patch, what, language, &["goes", "be", "to", "auxiliary"]);
    match (target, who_condition(who)) {
        (Some(target), Some(condition)) => {
            patch.gate(&target, &condition, &[]);
            true
        }
        _ => false,
    }
}
