//! Sentences that tell how things are before anything is asked for: "We keep our customers in Pipedrive. When …".

use super::Reading;
use crate::clause::{Clause, Intro, Phrase};

impl Reading<'_> {
    /// Whether a clause only tells what the one who asks has and does: a sentence of its own before the request, about "we" or the
    /// business, where something else starts the workflow.
    pub(super) fn tells_how_things_are(&self, clause: &Clause) -> bool {
        /// How many sentences people say before they ask.
        const EARLY: usize = 2;
        let Some(verb) = clause.verb.as_ref().filter(|v| !v.negated) else {
            return false;
        };
        let mut others = self.clauses.iter().filter(|c| c.from != clause.from);
        let alone = !others.clone().any(|c| c.sentence == clause.sentence);
        let asked = others.any(|c| c.sentence > clause.sentence && c.verb.is_some());
        let present = matches!(verb.sense.form.as_str(), "base" | "third") && !verb.passive;
        let started = !self.plan.triggers.is_empty();
        clause.intro == Intro::None
            && clause.sentence < EARLY
            && alone
            && asked
            && present
            && started
            && clause.times.is_empty()
            && !self.wishes(clause)
            && clause.before.first().is_some_and(|p| self.is_ours(p))
    }

    /// "we", "I", "our shop".
    fn is_ours(&self, phrase: &Phrase) -> bool {
        let speaker = phrase.pronoun.is_some_and(|at| self.speaks(at));
        let business = self.kind(phrase) == "context" && phrase.service.is_none();
        phrase.prep.is_empty() && (speaker || business)
    }

    /// "I want …", "we should …", "I'd like to …": what is told is asked for.
    fn wishes(&self, clause: &Clause) -> bool {
        let asks = |i: &crate::chart::Item| {
            let wants = i.verb().is_some_and(|v| v.calls("WANT") || v.calls("TRY"));
            wants || i.tells("must") || i.is("please")
        };
        let helped = |i: &crate::chart::Item| i.is("aux") && !i.tells("be");
        let before = clause.verb.as_ref().map_or(clause.from, |v| v.at);
        let items = self.items(clause).iter();
        items.clone().any(asks)
            || (clause.from..before).any(|at| helped(self.chart.item(at)))
    }
}
