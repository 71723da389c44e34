//! Scores added up: of all requests, and by what the file says of them.

use crate::score::Scored;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    pub requests: usize,
    /// Requests with all of their items.
    pub whole: usize,
    pub items_passed: usize,
    pub items_total: usize,
}

impl Sums {
    fn add(&mut self, scored: &Scored) {
        self.requests += 1;
        self.whole += usize::from(scored.whole);
        self.items_passed += scored.passed;
        self.items_total += scored.total;
    }

    /// Of the items, in hundredths; 0 of none.
    pub fn percent(&self) -> f64 {
        match self.items_total {
            0 => 0.0,
            total => 100.0 * self.items_passed as f64 / total as f64,
        }
    }
}

/// What the requests are told apart by.
pub const BY: [&str; 5] = ["kind", "difficulty", "lang", "domain", "author"];

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    pub all: Sums,
    /// By kind, difficulty, language, domain and author, as far as the file says them.
    pub by: BTreeMap<&'static str, BTreeMap<String, Sums>>,
    /// Build requests that were answered with questions.
    pub asked: Vec<String>,
}

impl Summary {
    pub fn of(all: &[Scored]) -> Summary {
        let mut summary = Summary::default();
        for scored in all {
            summary.all.add(scored);
            let values = [
                Some(scored.kind.name()),
                scored.difficulty.as_deref(),
                scored.lang.as_deref(),
                scored.domain.as_deref(),
                scored.author.as_deref(),
            ];
            for (by, value) in BY.into_iter().zip(values) {
                let Some(value) = value else { continue };
                let sums = summary.by.entry(by).or_default();
                sums.entry(value.to_owned()).or_default().add(scored);
            }
            if scored.asked {
                summary.asked.push(scored.id.clone());
            }
        }
        summary
    }
}
