//! Which of many items go on, and in which order: "the 10 newest", "top 5 by revenue", "oldest first".

use super::repeat::reads;
use super::{Reading, field, figure};
use crate::clause::Clause;
use crate::lex::Lexicon;
use crate::plan::{Does, Step, Val};
use crate::spot::Kind;

/// Classes of words that order items: the class, the field where none is named, whether the greatest comes first.
const ORDERS: &[(&str, &str, bool)] = &[
    ("newest", "date", true),
    ("oldest", "date", false),
    ("highest", "amount", true),
    ("lowest", "amount", false),
];

impl Reading<'_> {
    /// Puts the order and the limit that a clause names between what it reads and what it does with it.
    pub(super) fn picked(&mut self, clause: &Clause, steps: Vec<Step>) -> Vec<Step> {
        let reading = steps.iter().any(reads);
        if steps.is_empty() || !reading && !self.topic.many {
            return steps;
        }
        let said = self.said(clause);
        let order = self.order(clause);
        let top = self.top(clause);
        let sorts = steps.iter().any(|s| matches!(s.does, Does::Sort { .. }));
        let limits = steps.iter().any(|s| matches!(s.does, Does::LimitTo { .. }));
        let mut more = Vec::new();
        if let Some((by, descending)) = order.filter(|_| !sorts) {
            more.push(self.step(&said, Does::Sort { by, descending }));
        }
        if let Some(n) = top.filter(|_| !limits) {
            more.push(self.step(&said, Does::LimitTo { n }));
        }
        let at = steps
            .iter()
            .rposition(|s| reads(s) || matches!(s.does, Does::Filter { .. }))
            .map_or(0, |n| n + 1);
        let mut steps = steps;
        steps.splice(at..at, more);
        steps
    }

    fn order(&self, clause: &Clause) -> Option<(Val, bool)> {
        let (_, usual, descending) = ORDERS
            .iter()
            .find(|(class, _, _)| self.can_say(clause, class))?;
        // "the 10 with the highest value": what is highest.
        let known = Lexicon::of(self.chart.language);
        let word = (clause.from..clause.to).find(|at| {
            let text = &self.chart.item(*at).text;
            ORDERS.iter().any(|(class, ..)| known.can_be(text, class))
        });
        let of = word.and_then(|at| {
            clause
                .phrases()
                .find(|p| p.from == at + 1 || p.head == Some(at + 1))
        });
        let of = of.filter(|p| matches!(self.kind(p), "field" | "money" | "number"));
        let by = clause.phrases().find(|p| {
            p.prep == "by"
                && p.service.is_none()
                && matches!(self.kind(p), "field" | "money" | "date" | "number")
        });
        let by = by
            .or(of)
            .map_or_else(|| (*usual).to_owned(), |p| self.words(p));
        Some((field(&by), *descending))
    }

    /// "top 5", "the 10 newest", "at most 20 of them".
    fn top(&self, clause: &Clause) -> Option<u32> {
        let lexicon = Lexicon::of(self.chart.language);
        let items = self.items(clause);
        let number = |i: &crate::chart::Item| {
            (i.shape() == Some(Kind::Number))
                .then(|| figure(&i.text))
                .flatten()
                .filter(|n| (1.0..10_000.0).contains(n) && n.fract() == 0.0)
                .map(|n| n as u32)
        };
        let classes = ["newest", "oldest", "highest", "lowest"];
        items.iter().enumerate().find_map(|(n, item)| {
            let top = lexicon.can_be(&item.text, "top");
            let order = classes.iter().any(|c| lexicon.can_be(&item.text, c));
            let after = || items.get(n + 1).filter(|_| top).and_then(number);
            let before = || {
                n.checked_sub(1)
                    .filter(|_| order)
                    .and_then(|b| items.get(b))
                    .and_then(number)
            };
            after().or_else(before)
        })
    }
}
