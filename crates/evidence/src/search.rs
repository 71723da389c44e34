//! BM25 over the sentences, with a share of what their documents score.

use crate::corpus::{Corpus, Passage, count};
use crate::statement::Statement;
use std::collections::HashMap;

/// How soon more of the same says nothing new, and how much a long sentence counts less.
const K1: f64 = 1.2;
const B: f64 = 0.4;
/// What a document's own score adds to each of its sentences.
const OF_DOCUMENT: f64 = 0.35;

impl Corpus {
    /// The sentences that fit a question best, at most `limit`, the best first.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Passage> {
        let mut asked: Vec<String> = Vec::new();
        for term in Statement::of(query).terms {
            if !asked.contains(&term.sense) {
                asked.push(term.sense);
            }
        }
        let mut documents: HashMap<usize, f64> = HashMap::new();
        for (doc, title) in self.titles.iter().enumerate() {
            let mut senses: Vec<&str> = title.iter().map(String::as_str).collect();
            let of_it = self.placed.iter().filter(|placed| placed.doc == doc);
            senses.extend(of_it.flat_map(|placed| {
                placed
                    .statement
                    .terms
                    .iter()
                    .map(|term| term.sense.as_str())
            }));
            documents.insert(doc, self.score(&asked, &senses, 120.0));
        }
        let mut hits: Vec<(usize, f64)> = Vec::new();
        for (at, placed) in self.placed.iter().enumerate() {
            let senses: Vec<&str> = placed
                .statement
                .terms
                .iter()
                .map(|term| term.sense.as_str())
                .collect();
            let own = self.score(&asked, &senses, 10.0);
            if own > 0.0 {
                hits.push((
                    at,
                    own + OF_DOCUMENT * documents.get(&placed.doc).copied().unwrap_or_default(),
                ));
            }
        }
        hits.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        hits.into_iter()
            .take(limit)
            .filter_map(|(at, score)| self.passage(at, score))
            .collect()
    }

    fn score(&self, asked: &[String], senses: &[&str], usual: f64) -> f64 {
        let length = 1.0 - B + B * count(senses.len()) / usual;
        let of = |term: &String| {
            let n = count(
                senses
                    .iter()
                    .filter(|sense| crate::likeness::is_one(sense, term))
                    .count(),
            );
            self.weight(term) * n * (K1 + 1.0) / (n + K1 * length)
        };
        asked.iter().map(of).sum()
    }
}
