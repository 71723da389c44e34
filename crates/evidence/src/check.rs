//! What becomes of a claim: who says the same, who says otherwise, and the verdict by fixed rules. Supported: a second independent
//! source says every value of it, or the same sentence in its words. Contradicted: at least two independent sources agree on
//! something else, and nobody else says it. All else is unverified.

use crate::corpus::Corpus;
use crate::likeness::{Context, contexts, is_one};
use crate::polarity::{are_alike, are_contrary};
use crate::statement::{Statement, Term};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Supported,
    Contradicted,
    Unverified,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Supported => "supported",
            Verdict::Contradicted => "contradicted",
            Verdict::Unverified => "unverified",
        }
    }
}

/// A sentence that a verdict rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// `DOC#NUMBER`.
    pub id: String,
    pub doc: String,
    pub title: String,
    pub source: String,
    /// Word for word.
    pub quote: String,
    /// `claims` it, says the `same`, or says `otherwise`.
    pub says: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub verdict: Verdict,
    pub sources: Vec<Source>,
    /// What the verdict rests on, in words.
    pub why: String,
}

/// Sentences of at least two publishers that agree on something else.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Against {
    pub sentences: Vec<usize>,
    pub about: &'static str,
}

/// A claim while it is checked.
pub(crate) struct Claim {
    pub statement: Statement,
    /// The sentences that it is taken from.
    pub origin: Vec<usize>,
    /// Their documents and publishers.
    pub documents: BTreeSet<usize>,
    pub publishers: BTreeSet<usize>,
    /// Of each segment.
    contexts: Vec<Context>,
}

impl Claim {
    pub fn context(&self, token: usize) -> &Context {
        static NONE: Context = Context { near: Vec::new() };
        self.contexts
            .get(self.statement.segment(token))
            .unwrap_or(&NONE)
    }
}

/// Sentences quoted for and against, at most.
const QUOTED: usize = 4;

impl Corpus {
    /// Checks a claim that was taken from these sentences (`DOC#NUMBER`). None: none of them is there, so it has no source.
    pub fn check(&self, text: &str, cited: &[String]) -> Option<Checked> {
        let claim = self.claim(text, cited)?;
        let against = self
            .other_values(&claim)
            .or_else(|| self.other_names(&claim));
        let against = against
            .or_else(|| self.other_polarity(&claim))
            .or_else(|| self.other_order(&claim));
        Some(match against {
            Some(against) => self.contradicted(&claim, &against),
            None => self.supported_or_not(&claim),
        })
    }

    /// Sentences that speak of the same thing as a claim and say otherwise, one source alone or many; by their ids.
    pub fn rivals(&self, text: &str, cited: &[String]) -> Vec<String> {
        let Some(claim) = self.claim(text, cited) else {
            return Vec::new();
        };
        let mut rivals = self.rival_values(&claim);
        rivals.extend(self.rival_names(&claim));
        rivals.extend(self.rival_courses(&claim));
        rivals.sort_unstable();
        rivals.dedup();
        rivals
            .into_iter()
            .filter_map(|at| Some(self.passage(at, 0.0)?.id))
            .collect()
    }

    pub(crate) fn claim(&self, text: &str, cited: &[String]) -> Option<Claim> {
        let origin: Vec<usize> = cited.iter().filter_map(|id| self.at(id)).collect();
        let first = origin.first().and_then(|at| self.placed.get(*at))?;
        let placed = || origin.iter().filter_map(|at| self.placed.get(*at));
        let statement = Statement::of(text);
        let title = self.titles.get(first.doc).map_or(&[][..], Vec::as_slice);
        let before = origin
            .first()
            .and_then(|at| self.placed.get(at.checked_sub(1)?))
            .filter(|before| before.doc == first.doc);
        Some(Claim {
            contexts: contexts(&statement, title, before.map(|before| &before.statement)),
            statement,
            documents: placed().map(|placed| placed.doc).collect(),
            publishers: placed().map(|placed| self.publisher(placed)).collect(),
            origin,
        })
    }

    fn contradicted(&self, claim: &Claim, against: &Against) -> Checked {
        let mut sources = self.sources(&claim.origin, "claims");
        sources.extend(
            self.sources(&against.sentences, "otherwise")
                .into_iter()
                .take(QUOTED),
        );
        Checked {
            verdict: Verdict::Contradicted,
            sources,
            why: format!("independent sources agree on another {}", against.about),
        }
    }

    fn supported_or_not(&self, claim: &Claim) -> Checked {
        let (same, otherwise) = self.same(claim);
        let mut sources = self.sources(&claim.origin, "claims");
        let mut add = |sentences: &[usize], says: &'static str| {
            sources.extend(self.sources(sentences, says).into_iter().take(QUOTED));
        };
        let (verdict, why) = match &same {
            Some(sentences) => {
                add(sentences, "same");
                (
                    Verdict::Supported,
                    "a second independent source says the same",
                )
            }
            None if !otherwise.is_empty() => {
                add(&otherwise, "otherwise");
                (Verdict::Unverified, "another source says the opposite")
            }
            None if claim.publishers.len() > 1 => (
                Verdict::Unverified,
                "its sources do not say all of it twice",
            ),
            None => (Verdict::Unverified, "one source alone says it"),
        };
        Checked {
            verdict,
            sources,
            why: why.to_owned(),
        }
    }

    fn sources(&self, sentences: &[usize], says: &'static str) -> Vec<Source> {
        let mut seen = BTreeSet::new();
        let new = sentences
            .iter()
            .filter(|at| self.placed.get(**at).is_some_and(|p| seen.insert(p.doc)));
        let passages = new.filter_map(|at| self.passage(*at, 0.0));
        passages
            .map(|p| Source {
                id: p.id,
                doc: p.doc,
                title: p.title,
                source: p.source,
                quote: p.quote,
                says,
            })
            .collect()
    }

    /// Sentences of others that together say the claim once more (None: something of it nobody else says), and those that say the
    /// opposite of it.
    fn same(&self, claim: &Claim) -> (Option<Vec<usize>>, Vec<usize>) {
        let values: Vec<usize> = (0..claim.statement.values.len()).collect();
        let counted = values
            .iter()
            .filter(|nth| claim.statement.values.get(**nth).is_some_and(|v| !v.apart));
        let counted: Vec<&usize> = counted.collect();
        if counted.is_empty() {
            return self.in_other_words(claim);
        }
        let (mut found, mut otherwise, mut all) = (Vec::new(), Vec::new(), true);
        for nth in counted {
            let (same, contrary) = self.supporters(claim, *nth);
            all &= !same.is_empty();
            found.extend(same);
            otherwise.extend(contrary);
        }
        for sentences in [&mut found, &mut otherwise] {
            sentences.sort_unstable();
            sentences.dedup();
        }
        // The sentence that has most in common with the claim comes first.
        let likeness = |at: &usize| {
            let placed = self.placed.get(*at);
            placed.map_or(0.0, |placed| {
                self.shared(claim.context(0), placed.context(0)).weight
            })
        };
        found.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)).then(a.cmp(b)));
        (all.then_some(found), otherwise)
    }

    /// Sentences of others with nearly the same words, where there is no value to compare: those that say it, and those that say the
    /// opposite.
    fn in_other_words(&self, claim: &Claim) -> (Option<Vec<usize>>, Vec<usize>) {
        let all: Vec<&Term> = claim.statement.terms.iter().collect();
        let whole: f64 = all.iter().map(|term| self.weight(&term.sense)).sum();
        let (mut found, mut otherwise) = (Vec::new(), Vec::new());
        for (at, placed) in self.placed.iter().enumerate() {
            if claim.publishers.contains(&self.publisher(placed)) || self.is_copy(claim, at) {
                continue;
            }
            // What was done has to be the same: that a ward was closed is not said by whoever speaks of the ward.
            let mut deeds = claim.statement.all_deeds().peekable();
            let shared = |deed: &Term| {
                placed
                    .statement
                    .terms
                    .iter()
                    .any(|term| term.sense == deed.sense)
            };
            if deeds.peek().is_some() && !deeds.any(shared) {
                continue;
            }
            let names = claim
                .statement
                .names
                .iter()
                .all(|n| placed.statement.names.iter().any(|m| m.may_be(n)));
            let terms = &placed.statement.terms;
            let covers = |fits: &dyn Fn(&Term, &Term) -> bool| {
                let held = all.iter().filter(|x| terms.iter().any(|y| fits(x, y)));
                let held: Vec<&&Term> = held.collect();
                let weight: f64 = held.iter().map(|term| self.weight(&term.sense)).sum();
                names && held.len() >= 3 && whole > 0.0 && weight / whole >= 0.6
            };
            if !covers(&|x, y| is_one(&y.sense, &x.sense)) {
                continue;
            }
            if are_contrary(&claim.statement, &placed.statement) {
                otherwise.push(at);
            } else if claim.statement.is_tentative_at_all()
                == placed.statement.is_tentative_at_all()
                && are_alike(&claim.statement, &placed.statement)
                && covers(&|x, y| x.denied == y.denied && is_one(&y.sense, &x.sense))
            {
                found.push(at);
            }
        }
        ((!found.is_empty()).then_some(found), otherwise)
    }

    /// Whether a sentence is the claim's own, word for word and long: whoever copies is no second source.
    pub(crate) fn is_copy(&self, claim: &Claim, at: usize) -> bool {
        let Some(other) = self.placed.get(at) else {
            return false;
        };
        let long = other.statement.tokens.len() > 12;
        long && claim
            .origin
            .iter()
            .filter_map(|at| self.placed.get(*at))
            .any(|own| own.statement.text == other.statement.text)
    }
}
