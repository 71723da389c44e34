//! Who says a claim once more: another publisher with every value of it, or with the same words. What of it nobody else says keeps it
//! unverified, and who says a part of it is named.

use crate::check::Claim;
use crate::corpus::{Corpus, Placed};
use crate::details::{are_exchanged, has_details};
use crate::likeness::is_one;
use crate::polarity::{are_alike, are_contrary, deny_the_same};
use crate::statement::{Statement, Term};
use crate::values::Value;

/// Sentences of others beside a claim.
#[derive(Default)]
pub(crate) struct Twice {
    /// They say it once more; none: something of it nobody else says.
    pub same: Vec<usize>,
    /// They say the opposite.
    pub otherwise: Vec<usize>,
    /// They say a part of it.
    pub near: Vec<usize>,
}

impl Corpus {
    pub(crate) fn twice(&self, claim: &Claim) -> Twice {
        let counted: Vec<&Value> = claim
            .statement
            .values
            .iter()
            .filter(|value| !value.apart)
            .collect();
        let mut found = match counted.is_empty() {
            true => self.in_other_words(claim),
            false => self.with_values(claim, &counted),
        };
        for sentences in [&mut found.same, &mut found.otherwise, &mut found.near] {
            self.sort(claim, sentences);
        }
        if !self.is_said_by(claim, &found.same) {
            found.near.splice(0..0, std::mem::take(&mut found.same));
        }
        found
    }

    /// The sentence that has most in common with the claim comes first.
    fn sort(&self, claim: &Claim, sentences: &mut Vec<usize>) {
        sentences.sort_unstable();
        sentences.dedup();
        let likeness = |at: &usize| {
            let placed = self.placed.get(*at);
            placed.map_or(0.0, |placed| {
                self.shared(claim.context(0), placed.context(0)).weight
            })
        };
        sentences.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)).then(a.cmp(b)));
    }

    /// Whether these sentences together have every figure, name and sign of the claim, and nobody in it has changed places with another.
    fn is_said_by(&self, claim: &Claim, sentences: &[usize]) -> bool {
        let said: Vec<&Statement> = sentences
            .iter()
            .filter_map(|at| Some(&self.placed.get(*at)?.statement))
            .collect();
        let named = claim.statement.names.iter().all(|name| {
            sentences.iter().any(|at| {
                let mut words = name.words.iter();
                words.any(|word| self.speaks_of(*at, word))
            })
        });
        named
            && has_details(&claim.statement, &said)
            && !said
                .iter()
                .any(|other| are_exchanged(&claim.statement, other))
    }

    /// Whether a name's word stands in a sentence, or anywhere in its document: it may be named once and meant throughout.
    fn speaks_of(&self, at: usize, word: &str) -> bool {
        let Some(placed) = self.placed.get(at) else {
            return false;
        };
        let sense = crate::words::sense(&crate::words::stem(word));
        let senses = self.senses.get(placed.doc).into_iter().flatten();
        let publisher = self.documents.get(placed.doc);
        senses.into_iter().any(|own| is_one(own, &sense))
            || publisher.is_some_and(|of| of.source.to_lowercase().contains(word))
    }

    fn with_values(&self, claim: &Claim, counted: &[&Value]) -> Twice {
        let mut found = Twice::default();
        let beside: Vec<(Vec<usize>, Vec<usize>, Vec<usize>)> = counted
            .iter()
            .map(|value| self.supporters(claim, value))
            .collect();
        let figures = counted.iter().any(|value| value.dimension() != "date");
        let mut all = true;
        for (value, (same, contrary, near)) in counted.iter().zip(&beside) {
            let mut same = same.clone();
            if same.is_empty() {
                let others = counted.iter().zip(&beside);
                let others = others.filter(|(other, _)| other.dimension() != "date");
                same = self.told_beside(claim, value, others.flat_map(|(_, (same, _, _))| same));
            }
            all &= !same.is_empty();
            found.same.extend(same);
            found.otherwise.extend(contrary);
            if !figures || value.dimension() != "date" {
                found.near.extend(near);
            }
        }
        if !all {
            found.near.append(&mut found.same);
        }
        found
    }

    /// Who gives another figure of the claim for the same thing, and beside it this value of the same year, says this one too.
    fn told_beside<'a>(
        &self,
        claim: &Claim,
        value: &Value,
        sentences: impl Iterator<Item = &'a usize>,
    ) -> Vec<usize> {
        let year = claim.statement.year_of(value);
        let says = |at: &&usize| {
            let Some(placed) = self.placed.get(**at) else {
                return false;
            };
            let of = &placed.statement;
            let mut values = of.values.iter();
            values.any(|other| {
                other.dimension() == value.dimension()
                    && value.is_said_by(other)
                    && of.year_of(other) == year
                    && of.denies(other) == claim.statement.denies(value)
            })
        };
        sentences.filter(says).copied().collect()
    }

    /// Sentences of others with all the words of the claim, where there is no value to compare.
    fn in_other_words(&self, claim: &Claim) -> Twice {
        let mut found = Twice::default();
        for (at, placed) in self.placed.iter().enumerate() {
            let own = claim.publishers.contains(&self.publisher(placed));
            if own || self.is_copy(claim, at) || !self.is_alike(claim, placed) {
                continue;
            }
            if are_contrary(&claim.statement, &placed.statement) {
                if deny_the_same(&claim.statement, &placed.statement) {
                    found.otherwise.push(at);
                }
            } else if self.has_words(claim, at) {
                found.same.push(at);
            } else {
                found.near.push(at);
            }
        }
        found
    }

    /// Nearly the same words, the same names, and the same deed: that a ward was closed is not said by whoever speaks of the ward.
    fn is_alike(&self, claim: &Claim, placed: &Placed) -> bool {
        let (own, other) = (&claim.statement, &placed.statement);
        let has = |term: &Term| other.terms.iter().any(|x| is_one(&x.sense, &term.sense));
        let mut deeds = own.all_deeds().peekable();
        let done = deeds.peek().is_none()
            || deeds.any(|deed| other.terms.iter().any(|term| term.sense == deed.sense));
        let mut names = own.names.iter();
        let named = names.all(|n| other.names.iter().any(|m| m.may_be(n)));
        let weigh = |terms: &mut dyn Iterator<Item = &Term>| -> f64 {
            terms.map(|term| self.weight(&term.sense)).sum()
        };
        if !done || !named {
            return false;
        }
        let held: Vec<&Term> = own.terms.iter().filter(|term| has(term)).collect();
        let whole = weigh(&mut own.terms.iter());
        let weight = weigh(&mut held.iter().copied());
        held.len() >= WORDS && whole > 0.0 && weight / whole >= ALIKE
    }

    /// Whether every word of a claim stands in a sentence, in its title or where it points back to, denied or not as there.
    fn has_words(&self, claim: &Claim, at: usize) -> bool {
        let Some(placed) = self.placed.get(at) else {
            return false;
        };
        let (own, other) = (&claim.statement, &placed.statement);
        let title = || self.titles.get(placed.doc).into_iter().flatten();
        let before = at.checked_sub(1).and_then(|before| self.placed.get(before));
        let before = before.filter(|before| before.doc == placed.doc && other.points_back());
        let told = |term: &Term| {
            let fits = |x: &Term| x.denied == term.denied && is_one(&x.sense, &term.sense);
            let around = || before.iter().any(|of| of.statement.terms.iter().any(fits));
            other.terms.iter().any(fits)
                || !term.denied && (title().any(|x| is_one(x, &term.sense)) || around())
        };
        own.is_tentative_at_all() == other.is_tentative_at_all()
            && are_alike(own, other)
            && own.terms.iter().all(told)
    }

    /// Whether a sentence is the claim's own, word for word and long: whoever copies is no second source.
    pub(crate) fn is_copy(&self, claim: &Claim, at: usize) -> bool {
        let Some(other) = self.placed.get(at) else {
            return false;
        };
        let long = other.statement.tokens.len() > LONG;
        long && claim
            .origin
            .iter()
            .filter_map(|at| self.placed.get(*at))
            .any(|own| own.statement.text == other.statement.text)
    }
}

/// So many words and this part of their weight make two sentences alike; a sentence of more tokens than `LONG` is not written twice by
/// chance.
const WORDS: usize = 3;
const ALIKE: f64 = 0.6;
const LONG: usize = 12;
