//! Sentences that tell how things are before anything is asked for: "We keep our customers in Pipedrive. When …".

use super::{Clause, Intro, Phrase};
use crate::chart::{Chart, Item};

/// Whether a clause only tells what the one who asks has and does: in a sentence about "we" or the business before the request.
pub(crate) fn is_backdrop(chart: &Chart, clauses: &[Clause], clause: &Clause) -> bool {
    /// How many sentences people say before they ask.
    const EARLY: usize = 2;
    let Some(verb) = clause.verb.as_ref().filter(|v| !v.negated) else {
        return false;
    };
    let told = |c: &Clause| c.intro != Intro::None || !c.times.is_empty();
    let mut others = clauses.iter().filter(|c| c.from != clause.from);
    let alone = !told(clause)
        && !others
            .clone()
            .any(|c| c.sentence == clause.sentence && told(c));
    let asked = others.any(|c| c.sentence > clause.sentence && c.verb.is_some());
    let present = matches!(verb.sense.form.as_str(), "base" | "third") && !verb.passive;
    let early = clause.sentence < EARLY;
    early && alone && asked && present && !wishes(chart, clause) && about_us(chart, clauses, clause)
}

/// "we", "I", "our shop": the subject of a clause, or of the one that it goes on with.
fn about_us(chart: &Chart, clauses: &[Clause], clause: &Clause) -> bool {
    let ours = |p: &Phrase| {
        let speaker = p.pronoun.is_some_and(|at| {
            let item = chart.item(at);
            item.tells("speaker") || item.tells("us")
        });
        let business = p.kind(chart) == "context" && p.service.is_none();
        p.prep.is_empty() && (speaker || business)
    };
    let subject = |c: &Clause| c.before.first().map(ours);
    let before = clauses.iter().rev().find(|c| c.to <= clause.from);
    let goes_on = || {
        before
            .filter(|b| b.sentence == clause.sentence)
            .and_then(subject)
            .unwrap_or(false)
    };
    subject(clause).unwrap_or_else(goes_on)
}

/// "I want …", "we should …", "I'd like to …": what is told is asked for.
fn wishes(chart: &Chart, clause: &Clause) -> bool {
    let asks = |i: &Item| {
        let wants = i.verb().is_some_and(|v| v.calls("WANT") || v.calls("TRY"));
        wants || i.tells("must") || i.is("please")
    };
    let helped = |i: &Item| i.is("aux") && !i.tells("be");
    let before = clause.verb.as_ref().map_or(clause.from, |v| v.at);
    (clause.from..clause.to).any(|at| asks(chart.item(at)))
        || (clause.from..before).any(|at| helped(chart.item(at)))
}
