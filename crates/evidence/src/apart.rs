//! Values that others give for the same thing. Two numbers contradict one another when they measure the same, of the same year, in
//! the same mode, with the same words around them, and no text that has the one has the other too.

use crate::check::{Against, Claim};
use crate::corpus::{Corpus, group};
use crate::likeness::{Context, Shared};
use crate::polarity::{are_alike, are_contrary};
use crate::statement::Statement;
use crate::values::{Bound, Value, What};
use std::collections::BTreeSet;

/// Of any thing people may be counted.
const PEOPLE: &str = "count peopl";

/// A value of somebody else's about the same thing.
struct Other<'a> {
    at: usize,
    value: &'a Value,
    year: Option<i32>,
    publisher: usize,
    shared: Shared,
}

impl Corpus {
    pub(crate) fn other_values(&self, claim: &Claim) -> Option<Against> {
        (0..claim.statement.values.len()).find_map(|nth| self.other_value(claim, nth))
    }

    fn other_value(&self, claim: &Claim, nth: usize) -> Option<Against> {
        let value = claim
            .statement
            .values
            .get(nth)
            .filter(|value| !value.apart)?;
        let others = self.others(claim, value);
        // Whoever says the same value of anything near it shields it.
        let shields = |other: &Other<'_>| {
            let near = other.shared.telling + usize::from(other.shared.weight > 1.5) > 0;
            let just = value.dimension() != "date" && value.exact().agrees(&other.value.exact());
            near && just || value.agrees(other.value) && self.is_about_the_same(claim, value, other)
        };
        if others.iter().any(shields) {
            return None;
        }
        // `the sleep of 240 people` counts those that are spoken of, not all.
        let part = value.dimension().starts_with("count")
            && claim.statement.word_before(value.from) == "of";
        if part || claim.statement.is_denied(value.from) {
            return None;
        }
        let year = claim.statement.year_of(value);
        let tentative = claim.statement.is_tentative(value.from);
        let own: Vec<usize> = self.of_documents(&claim.documents);
        let unlike = others.into_iter().filter(|other| {
            let Some(placed) = self.placed.get(other.at) else {
                return false;
            };
            !value.agrees(other.value)
                && !other.value.apart
                && other.value.bound != Bound::About
                && placed.statement.is_tentative(other.value.from) == tentative
                && (year.is_none()
                    || other.year.is_none()
                    || year == other.year
                    || value.dimension() == "date")
                && !self.has(&own, other.value)
                && !self.has(&self.of_documents(&BTreeSet::from([placed.doc])), value)
        });
        let unlike: Vec<Other<'_>> = unlike.collect();
        let agreed = self.agreed(claim, value, &unlike);
        let sentences = agreed.or_else(|| self.counted_by_all(value, &unlike))?;
        Some(Against {
            sentences,
            about: "value",
        })
    }

    /// What at least two publishers agree on: one of them about just this, the others with the same value about nearly this.
    fn agreed(&self, claim: &Claim, value: &Value, others: &[Other<'_>]) -> Option<Vec<usize>> {
        let year = claim.statement.year_of(value);
        let anchors = others
            .iter()
            .filter(|other| self.is_about_the_same(claim, value, other));
        let groups = anchors.map(|anchor| -> Vec<&Other<'_>> {
            let near = |other: &&Other<'_>| {
                let same = anchor.value.exact().agrees(&other.value.exact())
                    && anchor.value.dimension() == other.value.dimension();
                let odd = other.value.has_digits(3) && other.shared.weight > 0.2;
                let about = other.shared.telling >= 1 || other.shared.weight > 1.5;
                let told =
                    || other.shared.weight > 0.2 && self.is_told_of_the_same(claim, other.at);
                same && (about || odd || told())
            };
            others.iter().filter(near).collect()
        });
        let weight = |group: &[&Other<'_>]| {
            group
                .iter()
                .map(|other| other.shared.weight)
                .fold(0.0, f64::max)
        };
        let mut best = groups.max_by(|a, b| {
            publishers(a)
                .cmp(&publishers(b))
                .then(weight(a).total_cmp(&weight(b)))
        })?;
        best.sort_by(|a, b| {
            b.shared
                .weight
                .total_cmp(&a.shared.weight)
                .then(a.at.cmp(&b.at))
        });
        // One of a series by years: without a year nobody knows which of them is meant.
        let of_years = best.iter().all(|other| other.year.is_some());
        let rival = |other: &Other<'_>| {
            self.is_about_the_same(claim, value, other)
                && other.year.is_some()
                && best.iter().all(|b| b.year != other.year)
        };
        if value.dimension() != "date" && year.is_none() && of_years && others.iter().any(rival) {
            return None;
        }
        (publishers(&best) >= 2).then(|| best.into_iter().map(|other| other.at).collect())
    }

    /// A number of things on which at least three publishers agree and that nobody else gives otherwise: it is the number of them.
    fn counted_by_all(&self, value: &Value, others: &[Other<'_>]) -> Option<Vec<usize>> {
        let noun = value
            .dimension()
            .strip_prefix("count ")
            .filter(|noun| *noun != "peopl")?;
        let of_it: Vec<&Other<'_>> = others
            .iter()
            .filter(|other| other.value.dimension() == value.dimension())
            .collect();
        let same = |a: &Other<'_>| -> Vec<&Other<'_>> {
            of_it
                .iter()
                .filter(|b| a.value.exact().agrees(&b.value.exact()))
                .copied()
                .collect()
        };
        let best = of_it
            .iter()
            .map(|a| same(a))
            .max_by_key(|group| publishers(group))?;
        let rare_others = of_it
            .iter()
            .filter(|other| !best.iter().any(|b| std::ptr::eq(*b, **other)))
            .count();
        let most = publishers(&best);
        let rivals = of_it
            .iter()
            .map(|a| same(a))
            .filter(|group| publishers(group) > 1 && group.len() != best.len())
            .count();
        let is_thing = self.share(noun) > 0.1 || most > 3;
        (most >= 3 && rivals == 0 && rare_others <= 1 && is_thing)
            .then(|| best.into_iter().map(|other| other.at).collect())
    }

    /// Sentences of other publishers that give another value of the same thing.
    pub(crate) fn rival_values(&self, claim: &Claim) -> Vec<usize> {
        let mut found = Vec::new();
        for value in claim.statement.values.iter().filter(|value| !value.apart) {
            let others = self.others(claim, value).into_iter();
            let rivals = others.filter(|other| {
                !value.agrees(other.value) && self.is_about_the_same(claim, value, other)
            });
            found.extend(rivals.map(|other| other.at));
            found.extend(self.rival_counts(claim, value));
        }
        found
    }

    /// Other numbers of the very things that a claim counts.
    fn rival_counts(&self, claim: &Claim, value: &Value) -> Vec<usize> {
        let noun = value
            .dimension()
            .strip_prefix("count ")
            .filter(|noun| *noun != "peopl");
        let others = noun.map(|_| self.others(claim, value)).unwrap_or_default();
        let same = others.into_iter().filter(|other| {
            other.value.dimension() == value.dimension() && !value.agrees(other.value)
        });
        same.map(|other| other.at).collect()
    }

    /// Sentences of other publishers that give the same value for the same thing: those that say it, and those that deny it or say the
    /// opposite.
    pub(crate) fn supporters(&self, claim: &Claim, nth: usize) -> (Vec<usize>, Vec<usize>) {
        let (mut same, mut otherwise) = (Vec::new(), Vec::new());
        let Some(value) = claim.statement.values.get(nth) else {
            return (same, otherwise);
        };
        let year = claim.statement.year_of(value);
        for other in self.others(claim, value) {
            let about = value.agrees(other.value)
                && (year.is_none() || other.year.is_none() || year == other.year)
                && (self.is_about_the_same(claim, value, &other)
                    || other.shared.telling >= 1 && other.shared.weight > 2.0
                    || other.shared.telling >= 2 && !self.is_weighed())
                && !self.is_copy(claim, other.at);
            let Some(placed) = self.placed.get(other.at).filter(|_| about) else {
                continue;
            };
            let (a, b) = (&claim.statement, &placed.statement);
            if are_contrary(a, b) || a.denies(value) != b.denies(other.value) {
                otherwise.push(other.at);
            } else if are_alike(a, b) {
                same.push(other.at);
            }
        }
        (same, otherwise)
    }

    fn others(&self, claim: &Claim, value: &Value) -> Vec<Other<'_>> {
        let around = claim.context(value.from);
        let places = self.by_dimension.get(group(value.dimension()));
        let mut others = Vec::new();
        for (at, nth) in places.into_iter().flatten() {
            let Some(placed) = self.placed.get(*at) else {
                continue;
            };
            let Some(other) = placed.statement.values.get(*nth) else {
                continue;
            };
            let publisher = self.publisher(placed);
            let own =
                claim.publishers.contains(&publisher) || claim.documents.contains(&placed.doc);
            let there = placed.context(other.from);
            if own || !is_comparable(value, other, around, there) {
                continue;
            }
            let shared = self.shared(around, there);
            others.push(Other {
                at: *at,
                value: other,
                year: placed.statement.year_of(other),
                publisher,
                shared,
            });
        }
        others
    }

    /// Whether enough tells that both measure one thing: two words, or one with the same year, a rare unit, the
    /// same thing counted or much in common around both.
    fn is_about_the_same(&self, claim: &Claim, value: &Value, other: &Other<'_>) -> bool {
        let year = claim.statement.year_of(value);
        let shared = &other.shared;
        let dimension = value.dimension();
        let noun = dimension
            .strip_prefix("count ")
            .filter(|noun| *noun != "peopl" && self.is_telling(noun));
        let same_noun = noun.is_some() && dimension == other.value.dimension();
        let same_year = year.is_some() && year == other.year;
        let rare = !dimension.starts_with("count") && self.share(dimension) <= 0.1;
        let signs = shared.telling
            + usize::from(same_noun)
            + usize::from(same_year && dimension != "date")
            + usize::from(rare);
        let likely = match dimension {
            "date" => shared.ratio >= 0.45,
            "share" => shared.ratio >= 0.45,
            _ => shared.ratio >= 0.3 || rare && shared.ratio >= 0.2,
        };
        let one = shared.telling >= 1 && likely && is_near(value, other.value);
        // What is told around both is looked at where it decides.
        let told = || {
            dimension != "date" && dimension != PEOPLE && self.is_told_of_the_same(claim, other.at)
        };
        one && (signs >= 2 || signs == 1 && told())
    }

    fn of_documents(&self, documents: &BTreeSet<usize>) -> Vec<usize> {
        let all = self.placed.iter().enumerate();
        all.filter(|(_, placed)| documents.contains(&placed.doc))
            .map(|(at, _)| at)
            .collect()
    }

    /// Whether one of the sentences has this value too.
    fn has(&self, sentences: &[usize], value: &Value) -> bool {
        let statements = sentences
            .iter()
            .filter_map(|at| self.placed.get(*at))
            .map(|placed| &placed.statement);
        statements
            .flat_map(|statement: &Statement| &statement.values)
            .any(|own| own.dimension() == value.dimension() && own.exact().agrees(&value.exact()))
    }
}

fn publishers(others: &[&Other<'_>]) -> usize {
    others
        .iter()
        .map(|other| other.publisher)
        .collect::<BTreeSet<usize>>()
        .len()
}

/// Figures of one thing lie near one another, unless only the unit or the scale is another one.
fn is_near(a: &Value, b: &Value) -> bool {
    let (What::Quantity { amount: x, .. }, What::Quantity { amount: y, .. }) = (&a.what, &b.what)
    else {
        return true;
    };
    let (x, y) = (x.abs().max(1e-12), y.abs().max(1e-12));
    let tenfold = (x / y).log10();
    tenfold.abs() <= 2.0 || (tenfold - tenfold.round()).abs() < 1e-9
}

/// Whether two values measure the same kind of thing. People may be counted as what they do, where that is said beside.
fn is_comparable(a: &Value, b: &Value, around_a: &Context, around_b: &Context) -> bool {
    let (Some(x), Some(y)) = (
        a.dimension().strip_prefix("count "),
        b.dimension().strip_prefix("count "),
    ) else {
        return a.dimension() == b.dimension();
    };
    let says = |context: &Context, noun: &str| {
        context
            .near
            .iter()
            .any(|(sense, near)| *near >= 1.0 && sense == noun)
    };
    x == y || x == "peopl" && says(around_a, y) || y == "peopl" && says(around_b, x)
}
