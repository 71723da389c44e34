//! Values that others give for the same thing. Two numbers contradict one another when they measure the same, of the same year, in
//! the same mode, with the same words around them, and no text that has the one has the other too.

use crate::check::{Against, Claim};
use crate::corpus::{Corpus, group};
use crate::facts::Member;
use crate::likeness::{Context, Shared};
use crate::polarity::{are_alike, are_contrary};
use crate::statement::Statement;
use crate::values::{Value, What};
use crate::words::is_general;
use std::collections::BTreeSet;

/// Of one value so many others are looked at, at most.
const RIVALS: usize = 16;
/// Of any thing people may be counted.
const PEOPLE: &str = "count peopl";

/// A value of somebody else's about the same thing.
pub(crate) struct Other<'a> {
    pub at: usize,
    pub value: &'a Value,
    pub year: Option<i32>,
    pub publisher: usize,
    pub shared: Shared,
}

impl Other<'_> {
    pub fn member(&self) -> Member {
        Member {
            at: self.at,
            place: self.value.place(),
            publisher: self.publisher,
            shared: self.shared.clone(),
        }
    }
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
            .filter(|value| !value.apart && self.may_be_held(claim, value))?;
        let sentences = self.other_fact(claim, value)?;
        Some(Against {
            sentences,
            about: "value",
        })
    }

    /// Whether a value may be held against others: nobody shields it, it is not denied, and it counts all of something.
    pub(crate) fn may_be_held(&self, claim: &Claim, value: &Value) -> bool {
        // Whoever says the same value of anything near it shields it.
        let shields = |other: &Other<'_>| {
            let near = other.shared.telling + usize::from(other.shared.weight > 1.5) > 0;
            let just = (value.dimension() != "date" || value.is_day() && other.value.is_day())
                && value.exact().agrees(&other.value.exact());
            near && just
                || value.agrees(other.value)
                    && other.value.parts() >= value.parts().min(2)
                    && self.is_about_the_same(claim, value, other)
        };
        // `the sleep of 240 people` counts those that are spoken of, not all.
        // So does `two hundred metres of the wall`.
        let kind = value.dimension();
        let whole = kind.starts_with("share") || kind.starts_with("money");
        let part = value.dimension().starts_with("count")
            && claim.statement.word_before(value.from) == "of"
            || !whole && claim.statement.is_part_behind(value.to);
        !part
            && !claim.statement.is_denied(value.from)
            && !self.others(claim, value).iter().any(shields)
    }

    /// Sentences of other publishers that seem to give another value of the same thing.
    pub(crate) fn rival_values(&self, claim: &Claim) -> Vec<usize> {
        let mut found = Vec::new();
        for value in claim.statement.values.iter().filter(|value| !value.apart) {
            let others = self.others(claim, value).into_iter();
            let rivals = others.filter(|other| {
                let counted = value.dimension() == other.value.dimension()
                    && value.dimension().starts_with("count ");
                !value.agrees(other.value) && (counted || other.shared.telling >= 1)
            });
            let mut rivals: Vec<Other<'_>> = rivals.collect();
            rivals.sort_by(|a, b| {
                b.shared
                    .weight
                    .total_cmp(&a.shared.weight)
                    .then(a.at.cmp(&b.at))
            });
            found.extend(rivals.into_iter().take(RIVALS).map(|other| other.at));
        }
        found
    }

    /// Sentences of other publishers that give the same value for the same thing: those that say it, those that deny it or say the
    /// opposite, and those that say no more than the value.
    pub(crate) fn supporters(
        &self,
        claim: &Claim,
        value: &Value,
    ) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
        let (mut same, mut otherwise, mut near) = (Vec::new(), Vec::new(), Vec::new());
        let year = claim.statement.year_of(value);
        for other in self.others(claim, value) {
            let dated = year.is_none() || other.year.is_none() || year == other.year;
            let about = self.is_about_the_same(claim, value, &other)
                || other.shared.telling >= 1 && other.shared.weight > 2.0
                || other.shared.telling >= 2 && !self.is_weighed();
            let said = value.agrees(other.value) && dated && !self.is_copy(claim, other.at);
            let Some(placed) = self.placed.get(other.at).filter(|_| said) else {
                continue;
            };
            let (a, b) = (&claim.statement, &placed.statement);
            if !about {
                if other.shared.telling >= 1 && value.is_said_by(other.value) {
                    near.push(other.at);
                }
            } else if are_contrary(a, b) || a.denies(value) != b.denies(other.value) {
                otherwise.push(other.at);
            } else if are_alike(a, b) && value.is_said_by(other.value) {
                same.push(other.at);
            } else {
                near.push(other.at);
            }
        }
        (same, otherwise, near)
    }

    pub(crate) fn others(&self, claim: &Claim, value: &Value) -> Vec<Other<'_>> {
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
            let alike = is_comparable(value, other, around, there)
                || is_counted_as(value, other)
                    && has_same_figure(&claim.statement, &placed.statement);
            if own || !alike {
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

    pub(crate) fn of_documents(&self, documents: &BTreeSet<usize>) -> Vec<usize> {
        let all = self.placed.iter().enumerate();
        all.filter(|(_, placed)| documents.contains(&placed.doc))
            .map(|(at, _)| at)
            .collect()
    }

    /// Whether one of the sentences has this value too.
    pub(crate) fn has(&self, sentences: &[usize], value: &Value) -> bool {
        let mut placed = sentences.iter().filter_map(|at| self.placed.get(*at));
        placed.any(|placed| placed.statement.gives(value))
    }
}

impl Statement {
    /// Whether it has this value too.
    pub(crate) fn gives(&self, value: &Value) -> bool {
        let same = |own: &Value| {
            own.dimension() == value.dimension() && own.exact().agrees(&value.exact())
        };
        self.values.iter().any(same)
    }
}

/// So many years apart no two dates are of one deed.
const YEARS: u32 = 150;

/// Figures of one thing lie near one another, unless only the unit or the scale is another one.
pub(crate) fn is_near(a: &Value, b: &Value) -> bool {
    if let (Some(a), Some(b)) = (a.year(), b.year()) {
        return a.abs_diff(b) <= YEARS;
    }
    let (What::Quantity { amount: x, .. }, What::Quantity { amount: y, .. }) = (&a.what, &b.what)
    else {
        return true;
    };
    let (x, y) = (x.abs().max(1e-12), y.abs().max(1e-12));
    let tenfold = (x / y).log10();
    tenfold.abs() <= 2.0 || (tenfold - tenfold.round()).abs() < 1e-9
}

/// Whether what the one counts may be what the other does, under a wider name: `animals` and beavers.
pub(crate) fn is_counted_as(a: &Value, b: &Value) -> bool {
    let noun = |value: &Value| value.dimension().strip_prefix("count ").map(str::to_owned);
    match (noun(a), noun(b)) {
        (Some(a), Some(b)) if a != b => {
            let people = |noun: &str| noun == "peopl" || crate::words::is_person(noun);
            (is_general(&a) || is_general(&b)) && !people(&a) && !people(&b)
        }
        _ => false,
    }
}

/// Whether two sentences give one figure of the same thing: what else they count beside it may be one thing, too.
fn has_same_figure(a: &Statement, b: &Statement) -> bool {
    let figures = a.values.iter().filter(|value| value.dimension() != "date");
    figures
        .into_iter()
        .any(|value| !value.apart && b.gives(value))
}

/// Whether two values measure the same kind of thing. People may be counted as what they do, where that is said beside.
pub(crate) fn is_comparable(a: &Value, b: &Value, around_a: &Context, around_b: &Context) -> bool {
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
    x == y
        || (x.is_empty() || x == "peopl" && crate::words::is_person(y)) && says(around_a, y)
        || (y.is_empty() || y == "peopl" && crate::words::is_person(x)) && says(around_b, x)
}
