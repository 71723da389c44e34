//! Of the services that a request names the one that what starts the workflow comes from (`knowledge/brings.tsv`).

use super::Reading;
use crate::clause::{Clause, Phrase};
use crate::lex::Table;
use crate::lexicon::ServiceEntry;

pub(super) const BRINGS: Table = Table {
    file: "brings.tsv",
    text: include_str!("../../knowledge/brings.tsv"),
    columns: 2,
};

impl Reading<'_> {
    /// "I'd like a Trello card for each mail that arrives in our IMAP mailbox": the service of what comes, where the clause names
    /// another one.
    pub(super) fn comes_from(
        &self,
        clause: &Clause,
        named: Option<&'static ServiceEntry>,
    ) -> Option<&'static ServiceEntry> {
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        let Some((n, came)) = phrases
            .iter()
            .enumerate()
            .find(|(_, p)| self.arrives(clause, p))
        else {
            return named;
        };
        let concept = self.concept(came);
        let row = BRINGS.rows().find(|row| row.at(0) == concept);
        let tags: Vec<&str> = row
            .map(|r| r.at(1).split('|').collect())
            .unwrap_or_default();
        let brings = |s: &ServiceEntry| !s.triggers.is_empty() && s.is_any(&tags);
        let place = |p: &&&Phrase| matches!(p.prep.as_str(), "in" | "on" | "at" | "from" | "of");
        let next = phrases.get(n + 1).filter(place).and_then(|p| p.service);
        let own = came.service.or(next).filter(|s| !s.triggers.is_empty());
        let known = own.or(named);
        if tags.is_empty() || known.is_some_and(|s| brings(s) || came.service.is_some()) {
            return own.filter(|_| came.quantity.is_some()).or(named);
        }
        let items = &self.chart.items;
        let behind = items.iter().skip(clause.from).filter_map(|i| i.service());
        let before = items
            .iter()
            .take(clause.from)
            .rev()
            .filter_map(|i| i.service());
        behind.chain(before).find(|s| brings(s)).or(named)
    }

    /// A thing that is new, each one of many, or what a verb of arriving tells of.
    fn arrives(&self, clause: &Clause, phrase: &Phrase) -> bool {
        let fresh = phrase.states.iter().any(|s| self.is_fresh(*s));
        let each = phrase
            .quantity
            .is_some_and(|q| self.chart.item(q).tells("each"));
        let subject =
            clause.calls("HAPPEN") && clause.before.last().is_some_and(|p| p.from == phrase.from);
        let kept = self.is_target(phrase);
        !kept && (fresh || each || subject) && self.kind(phrase) != "person"
    }

    /// "in a single fresh line of …": what is put somewhere comes from nowhere.
    pub(super) fn is_target(&self, phrase: &Phrase) -> bool {
        matches!(phrase.prep.as_str(), "in" | "into" | "to" | "onto" | "as")
    }
}
