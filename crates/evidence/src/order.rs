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
            self.dated(claim, &side(true))?,
            self.dated(claim, &side(false))?,
        );
        let contrary = if is_before {
            left.day > right.day
        } else {
            left.day < right.day
        };
        let publishers: BTreeSet<usize> = [left.at, right.at]
            .iter()
            .filter_map(|at| self.placed.get(*at))
            .map(|p| self.publisher(p))
            .collect();
        (contrary && publishers.len() >= 2).then(|| Against {
            sentences: vec![left.at, right.at],
            about: "order",
        })
    }

    /// The date that others give for what these words name: the sentence that has most of them near a date.
    fn dated(&self, claim: &Claim, of: &[String]) -> Option<Dated> {
        let telling: Vec<&String> = of.iter().filter(|sense| self.is_telling(sense)).collect();
        if telling.is_empty() || of.len() < 2 {
            return None;
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
        let best = all
            .map(|dated| (score(&dated), dated))
            .filter(|(score, _)| *score >= 0.45);
        best.max_by(|(a, x), (b, y)| a.total_cmp(b).then(y.at.cmp(&x.at)))
            .map(|(_, dated)| dated)
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
