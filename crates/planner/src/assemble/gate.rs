//! What becomes of a request that is read: it is refused, asked about, or built. Harm is found by the words of
//! `knowledge/lang/*/gate.tsv` under the rules of `knowledge/gate/risks.tsv`; what is asked stands in `knowledge/gate`.

mod ask;
#[cfg(test)]
mod gate_tests;
mod risk;
mod words;

pub(crate) use ask::spoken_of;

use super::Reading;
use crate::lex::Table;
use crate::plan::Refusal;
use crate::read;

/// The columns of the texts in four languages, in the order of the tables.
fn column(language: &str) -> usize {
    ["en", "de", "es", "fr"]
        .iter()
        .position(|l| *l == language)
        .unwrap_or(0)
}

impl Reading<'_> {
    /// The reading as it is handed on. A refusal leaves the plan without its steps; questions stand beside the plan.
    pub(super) fn judged(mut self) -> read::Reading {
        let hits = words::hits(&self);
        let topics = risk::topics(&self, &hits);
        if !topics.is_empty() {
            self.plan.steps.clear();
            return read::Reading {
                refusal: Some(refusal(&topics, self.chart.language)),
                plan: self.plan,
                ..read::Reading::default()
            };
        }
        let questions = ask::questions(&self, &hits);
        read::Reading {
            plan: self.plan,
            questions,
            ..read::Reading::default()
        }
    }
}

const REFUSALS: Table = Table {
    file: "gate/refusals.tsv",
    text: include_str!("../../knowledge/gate/refusals.tsv"),
    columns: 3,
};

#[cfg(test)]
pub(super) fn tables() -> Vec<&'static Table> {
    let mut tables = vec![&REFUSALS, &risk::RISKS, &ask::QUESTIONS, &ask::SYSTEMS];
    tables.extend(words::LANGUAGES.iter().map(|(_, table)| table));
    tables
}

/// The reasons of all topics, and what could be built instead.
fn refusal(topics: &[String], language: &str) -> Refusal {
    let mut reasons = Vec::new();
    let mut alternatives: Vec<String> = Vec::new();
    for cells in REFUSALS.rows() {
        let [topic, of, reason, others @ ..] = cells.as_slice() else {
            continue;
        };
        if *of == language && topics.iter().any(|t| t == topic) {
            reasons.push(*reason);
            alternatives.extend(others.iter().map(|a| (*a).to_owned()));
        }
    }
    Refusal {
        reason: reasons.join(" "),
        alternatives,
    }
}
