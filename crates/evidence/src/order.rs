//! What came before what: a claim about an order is held against the dates that others give for the two.

use crate::check::{Against, Claim};
use crate::corpus::Corpus;
use crate::likeness::is_one;
use crate::statement::Statement;
use crate::values::What;
use std::collections::BTreeSet;

/// A date that a sentence gives, and what of the sentence belongs to it.
struct Dated {
    at: usize,
    day: (i32, u32, u32),
    senses: Vec<String>,
}

impl Corpus {
    pub(crate) fn other_order(&self, claim: &Claim) -> Option<Against> {
        let statement = &claim.statement;
        let (word, is_before) = statement
            .tokens
            .iter()
            .enumerate()
            .find_map(|(at, token)| match token.fold.as_str() {
                "before" => Some((at, true)),
                "after" => Some((at, false)),
                _ => None,
            })?;
        let segment = statement.segment(word);
        let side = |left: bool| -> Vec<String> {
            let terms = statement
                .terms
                .iter()
                .filter(|t| t.segment == segment && (t.at < word) == left);
            terms.map(|term| term.sense.clone()).collect()
        };
        let (left, right) = (
            self.dated(claim, &side(true)),
            self.dated(claim, &side(false)),
        );
        let (first, second) = (left.first()?.day, right.first()?.day);
        let contrary = if is_before {
            first > second
        } else {
            first < second
        };
        let sentences: Vec<usize> = left.iter().chain(&right).map(|dated| dated.at).collect();
        let publishers: BTreeSet<usize> = sentences
            .iter()
            .filter_map(|at| self.placed.get(*at))
            .map(|p| self.publisher(p))
            .collect();
        (contrary && publishers.len() >= 2).then_some(Against {
            sentences,
            about: "order",
        })
    }

    /// The date that others give for what these words name: the sentence that has most of them near a date, and those with the same day.
    fn dated(&self, claim: &Claim, of: &[String]) -> Vec<Dated> {
        if of.len() < 2 || !of.iter().any(|sense| self.is_telling(sense)) {
            return Vec::new();
        }
        let whole: f64 = of.iter().map(|sense| self.weight(sense)).sum();
        let score = |dated: &Dated| -> f64 {
            let held = of
                .iter()
                .filter(|sense| dated.senses.iter().any(|s| is_one(s, sense)));
            held.map(|sense| self.weight(sense)).sum::<f64>() / whole
        };
        let others = self
            .placed
            .iter()
            .enumerate()
            .filter(|(_, p)| !claim.publishers.contains(&self.publisher(p)));
        let all = others.flat_map(|(at, placed)| dates(at, &placed.statement));
        let mut found: Vec<(f64, Dated)> = all
            .map(|dated| (score(&dated), dated))
            .filter(|(score, _)| *score >= 0.45)
            .collect();
        found.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.at.cmp(&y.at)));
        let day = found.first().map(|(_, dated)| dated.day);
        found
            .into_iter()
            .map(|(_, dated)| dated)
            .filter(|dated| Some(dated.day) == day)
            .collect()
    }
}

fn dates(at: usize, statement: &Statement) -> Vec<Dated> {
    let mut found = Vec::new();
    for value in &statement.values {
        let What::Date {
            year: Some(year),
            month: Some(month),
            day,
        } = value.what
        else {
            continue;
        };
        let segment = statement.segment(value.from);
        let own = statement
            .terms
            .iter()
            .filter(|t| t.segment == segment)
            .count();
        let near = |of: usize| of == segment || own == 0 && of == segment + 1;
        let senses = statement
            .terms
            .iter()
            .filter(|t| near(t.segment))
            .map(|t| t.sense.clone())
            .collect();
        found.push(Dated {
            at,
            day: (year, month, day.unwrap_or(15)),
            senses,
        });
    }
    found
}
