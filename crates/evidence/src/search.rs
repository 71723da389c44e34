//! BM25 over the sentences, with a share of what their documents score. A question's words bring along what answers to them have, what
//! several publishers give as a value counts more, and a sentence that points back has the words of the one before it, too.

use crate::corpus::{Corpus, Passage, count, group};
use crate::statement::Statement;
use crate::values::Value;
use crate::words::related;
use std::collections::{BTreeSet, HashMap};

/// How soon more of the same says nothing new, and how much a long sentence counts less.
const K1: f64 = 1.2;
const B: f64 = 0.4;
/// What a document's own score adds to each of its sentences; a value that several publishers give is found by it alone.
const OF_DOCUMENT: f64 = 0.35;
/// What the words count of the sentence that a sentence points back to.
const POINTED_AT: f64 = 0.6;
/// What a word counts that an answer may have.
const RELATED: f64 = 0.5;
/// What each publisher more adds that gives a value of the sentence too.
const AGREED: f64 = 0.35;
/// A sentence with fewer tokens says nothing by itself.
const SHORT: usize = 5;

impl Corpus {
    /// The sentences that fit a question best, at most `limit`, the best first; none where a question names something and no
    /// document has a word of the name: what is said of other things answers nothing.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Passage> {
        let question = Statement::of(query);
        if self.has_none_named(&question) {
            return Vec::new();
        }
        let asked = asked(&question);
        let mut documents: HashMap<usize, Vec<&str>> = HashMap::new();
        for (doc, title) in self.titles.iter().enumerate() {
            documents.insert(doc, title.iter().map(String::as_str).collect());
        }
        for placed in &self.placed {
            let senses = placed
                .statement
                .terms
                .iter()
                .map(|term| term.sense.as_str());
            documents.entry(placed.doc).or_default().extend(senses);
        }
        let of = documents
            .iter()
            .map(|(doc, senses)| (*doc, self.score(&asked, senses, 120.0)));
        let documents: HashMap<usize, f64> = of.collect();
        let mut hits: Vec<(usize, f64)> = Vec::new();
        for (at, placed) in self.placed.iter().enumerate() {
            let statement = &placed.statement;
            if statement.tokens.len() < SHORT || statement.text.ends_with('?') {
                continue;
            }
            let before = self.before(at).filter(|_| statement.points_back());
            let of_document = documents.get(&placed.doc).copied().unwrap_or_default();
            let agreed = self.agreed_values(statement);
            let mut own = self.of_sentence(&asked, statement);
            own += before.map_or(0.0, |b| POINTED_AT * self.of_sentence(&asked, b));
            if own <= 0.0 && agreed > 0.0 {
                own = OF_DOCUMENT * of_document;
            }
            if own > 0.0 {
                let score = own + OF_DOCUMENT * of_document + AGREED * own.min(3.0) * agreed;
                hits.push((at, score));
            }
        }
        hits.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        hits.into_iter()
            .take(limit)
            .filter_map(|(at, score)| self.passage(at, score))
            .collect()
    }

    fn has_none_named(&self, question: &Statement) -> bool {
        let terms = question.terms.iter();
        let mut named = terms.filter(|term| question.is_named(term.at)).peekable();
        named.peek().is_some() && named.all(|term| self.share(&term.sense) <= 0.0)
    }

    fn of_sentence(&self, asked: &[(String, f64)], statement: &Statement) -> f64 {
        let senses = statement.terms.iter().map(|term| term.sense.as_str());
        self.score(asked, &senses.collect::<Vec<_>>(), 10.0)
    }

    fn score(&self, asked: &[(String, f64)], senses: &[&str], usual: f64) -> f64 {
        let length = 1.0 - B + B * count(senses.len()) / usual;
        let of = |(term, weight): &(String, f64)| {
            let n = count(
                senses
                    .iter()
                    .filter(|sense| crate::likeness::is_one(sense, term))
                    .count(),
            );
            weight * self.weight(term) * n * (K1 + 1.0) / (n + K1 * length)
        };
        asked.iter().map(of).sum()
    }

    /// How many publishers give the value of the sentence that most give, as a logarithm; 0: one alone.
    fn agreed_values(&self, statement: &Statement) -> f64 {
        let most = statement
            .values
            .iter()
            .map(|value| self.givers(value))
            .max()
            .unwrap_or_default();
        count(most.max(1)).ln()
    }

    fn givers(&self, value: &Value) -> usize {
        let places = self
            .by_dimension
            .get(group(value.dimension()))
            .into_iter()
            .flatten();
        let same = places.filter_map(|(at, nth)| {
            let placed = self.placed.get(*at)?;
            let other = placed.statement.values.get(*nth)?;
            let same = other.what == value.what;
            same.then(|| self.publisher(placed))
        });
        same.collect::<BTreeSet<usize>>().len()
    }
}

/// The senses that a question asks for, each with what it counts.
fn asked(statement: &Statement) -> Vec<(String, f64)> {
    let mut asked: Vec<(String, f64)> = Vec::new();
    for term in &statement.terms {
        if !asked.iter().any(|(known, _)| *known == term.sense) {
            asked.push((term.sense.clone(), 1.0));
        }
    }
    for token in &statement.tokens {
        for sense in related(&token.stem) {
            if !asked.iter().any(|(known, _)| *known == sense) {
                asked.push((sense, RELATED));
            }
        }
    }
    asked
}
