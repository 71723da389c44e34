//! A value of a claim beside other values that at least two publishers agree on.

use crate::apart::{Other, is_counted_as, is_near};
use crate::check::Claim;
use crate::corpus::{Corpus, count, group};
use crate::facts::{Asked, Member, Place, Signs, closest, flag, publishers, sign, sum};
use crate::kin::{far, kin};
use crate::likeness::is_one;
use crate::statement::{Statement, Term};
use crate::values::{Bound, Value, What};
use crate::words::{is_extent, is_person};
use std::collections::BTreeSet;

/// The weight of each sign, and what all together have to be more than.
const WEIGHTS: [(&str, f64); 17] = [
    ("single", 2.66),
    ("cover", 2.93),
    ("core", 1.06),
    ("near", 0.65),
    ("publishers", 0.39),
    ("foreign", -0.31),
    ("elsewhere", -0.11),
    ("stranger", -1.19),
    ("told", 1.29),
    ("kin", 1.6),
    ("rare", 1.08),
    ("distinct", -0.44),
    ("same year", 4.73),
    ("deed", 0.29),
    ("far", -0.05),
    ("extent", -2.3),
    ("modified", -4.07),
];
const ENOUGH: f64 = 5.04;

impl Value {
    pub fn place(&self) -> Place {
        Place {
            from: self.from,
            to: self.to,
        }
    }
}

impl Corpus {
    /// Sentences of at least two publishers that agree on another value of what a claim's value measures; those with most in common
    /// first.
    pub(crate) fn other_fact(&self, claim: &Claim, value: &Value) -> Option<Vec<usize>> {
        let judged = self.judged(claim, value).into_iter();
        let judged = judged.map(|(signs, members)| (sum(&signs, &WEIGHTS), members));
        let good = judged.filter(|(sum, _)| *sum > ENOUGH);
        let (_, members) = good.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        Some(members)
    }

    /// Every other value that at least two publishers agree on, with its signs.
    pub(crate) fn judged(&self, claim: &Claim, value: &Value) -> Vec<(Signs, Vec<usize>)> {
        let asked = self.asked(claim, value.place());
        let mut found = Vec::new();
        for group in groups(self.others(claim, value)) {
            if group.first().is_none_or(|first| value.agrees(first.value)) {
                continue;
            }
            let mut others = self.comparable(claim, value, &group);
            let members: Vec<Member> = others.iter().map(|other| other.member()).collect();
            if publishers(&members).len() < 2 {
                continue;
            }
            let all: Vec<Member> = group.iter().map(Other::member).collect();
            let mut signs = self.signs(&asked, &members, &all);
            signs.push(("told", self.told(&asked, &members)));
            signs.extend(self.value_signs(&asked, value, &others));
            if self.is_other_thing(&asked, value, &others, &signs) {
                continue;
            }
            others.sort_by(|a, b| {
                let weight = b.shared.weight.total_cmp(&a.shared.weight);
                weight.then(a.at.cmp(&b.at))
            });
            found.push((signs, others.iter().map(|other| other.at).collect()));
        }
        found
    }

    /// The members of a group that may contradict a claim: in the same mode, of no other year, and neither text has the other's value too.
    fn comparable<'a, 'g>(
        &self,
        claim: &Claim,
        value: &Value,
        group: &'g [Other<'a>],
    ) -> Vec<&'g Other<'a>> {
        let year = claim.statement.year_of(value);
        let tentative = claim.statement.is_tentative(value.from);
        let own = self.of_documents(&claim.documents);
        let fits = |other: &&Other<'a>| {
            let Some(placed) = self.placed.get(other.at) else {
                return false;
            };
            let dated = year.is_some() && other.year.is_some() && value.dimension() != "date";
            !other.value.apart
                && !is_mere_year(&placed.statement, other.value)
                && other.value.bound != Bound::About
                && placed.statement.is_tentative(other.value.from) == tentative
                && (!dated || year == other.year)
                && !self.has(&own, other.value)
                && !claim.statement.gives(other.value)
                && !self.has(&self.of_documents(&BTreeSet::from([placed.doc])), value)
        };
        group.iter().filter(fits).collect()
    }

    /// What no sign makes up for: people of whom nothing else is told, amounts of another order, a year that only says when, a figure of
    /// another year.
    fn is_other_thing(
        &self,
        asked: &Asked<'_>,
        value: &Value,
        others: &[&Other<'_>],
        signs: &Signs,
    ) -> bool {
        let first = others.first().map_or(value, |other| other.value);
        let statement = &asked.claim.statement;
        let varies = ["share", "points", "count", "money"];
        let varies = varies
            .iter()
            .any(|kind| value.dimension().starts_with(kind));
        let people = [value, first]
            .iter()
            .any(|v| v.dimension().strip_prefix("count ").is_some_and(is_person));
        people
            && sign(signs, "kin") < 0.8
            && (sign(signs, "told") <= 0.0 || sign(signs, "far") > 1.0)
            || is_mere_year(statement, value)
            || !is_near(value, first)
            || varies
                && self.has_year(asked.claim, value)
                && self.is_of_another_year(asked.claim, value, others)
    }

    /// Whether a claim says itself of which year its value is, or its title does.
    fn has_year(&self, claim: &Claim, value: &Value) -> bool {
        let statement = &claim.statement;
        let segment = statement.segment(value.from);
        let beside = statement
            .values
            .iter()
            .any(|v| v.year().is_some() && statement.segment(v.from) == segment);
        let title = claim
            .documents
            .first()
            .and_then(|doc| self.documents.get(*doc));
        let years = title.map(|document| Statement::of(&document.title));
        beside
            || years.is_some_and(|title| title.values.iter().filter_map(Value::year).count() == 1)
    }

    fn value_signs(&self, asked: &Asked<'_>, value: &Value, others: &[&Other<'_>]) -> Signs {
        let claim = asked.claim;
        let statements = || {
            let all = others.iter();
            all.filter_map(|o| Some((o, &self.placed.get(o.at)?.statement)))
        };
        let first = others.first().map_or(value, |other| other.value);
        let year = claim.statement.year_of(value);
        let date = value.dimension() == "date";
        let deed = claim.statement.deed_before(value.from);
        let deeds =
            statements().filter(|(o, of)| deed.is_some() && of.deed_before(o.value.from) == deed);
        let theirs: Vec<String> = statements()
            .flat_map(|(o, of)| closest(of, o.value.place()))
            .collect();
        vec![
            ("kin", kin(value, first)),
            ("rare", 1.0 - self.share(value.dimension()).min(1.0)),
            ("distinct", self.distinct(value)),
            (
                "same year",
                flag(!date && year.is_some() && others.iter().any(|o| o.year == year)),
            ),
            ("deed", count(deeds.count().min(2))),
            ("far", far(value, first)),
            ("extent", flag(is_other_extent(&asked.closest, &theirs))),
            ("modified", self.modified(claim, value, others)),
        ]
    }

    /// How many values of this kind the documents have, as a logarithm.
    fn distinct(&self, value: &Value) -> f64 {
        let mut amounts: Vec<f64> = Vec::new();
        for (at, nth) in self
            .by_dimension
            .get(group(value.dimension()))
            .into_iter()
            .flatten()
        {
            let of = self
                .placed
                .get(*at)
                .and_then(|placed| placed.statement.values.get(*nth));
            let Some(What::Quantity {
                dimension, amount, ..
            }) = of.map(|v| &v.what)
            else {
                continue;
            };
            if dimension == value.dimension()
                && !amounts
                    .iter()
                    .any(|known| (known - amount).abs() <= 1e-9 * amount.abs())
            {
                amounts.push(*amount);
            }
        }
        (1.0 + count(amounts.len())).ln()
    }

    /// Words between a number and what it counts that nobody else has there: the electric ones are not all.
    fn modified(&self, claim: &Claim, value: &Value, members: &[&Other<'_>]) -> f64 {
        if !value.dimension().starts_with("count") {
            return 0.0;
        }
        let has = |term: &Term| {
            members
                .iter()
                .filter_map(|o| self.placed.get(o.at))
                .any(|placed| {
                    placed
                        .statement
                        .terms
                        .iter()
                        .any(|other| is_one(&other.sense, &term.sense))
                })
        };
        let between = claim
            .statement
            .terms
            .iter()
            .filter(|term| (value.from..value.to.saturating_sub(1)).contains(&term.at));
        count(between.filter(|term| !has(term)).count())
    }

    /// Whether the documents say of which year their values are, and it is another one than the claim's.
    fn is_of_another_year(&self, claim: &Claim, value: &Value, members: &[&Other<'_>]) -> bool {
        let mine = claim
            .origin
            .first()
            .and_then(|at| self.year_told(*at, value));
        let told = |other: &&Other<'_>| {
            let published = || {
                self.placed
                    .get(other.at)
                    .and_then(|placed| self.document(placed)?.date.get(..4)?.parse().ok())
            };
            self.year_told(other.at, other.value).or_else(published)
        };
        let theirs: BTreeSet<Option<i32>> = members.iter().map(told).collect();
        mine.is_some() && !theirs.contains(&mine) && !theirs.contains(&None)
    }

    /// The year that a value is of as far as its document says: beside it, in the title, in the sentences before.
    fn year_told(&self, at: usize, value: &Value) -> Option<i32> {
        let placed = self.placed.get(at)?;
        let statement = &placed.statement;
        let segment = statement.segment(value.from);
        if statement
            .values
            .iter()
            .any(|v| v.year().is_some() && statement.segment(v.from) == segment)
        {
            return statement.year_of(value);
        }
        let title = self
            .documents
            .get(placed.doc)
            .map(|document| Statement::of(&document.title));
        let of_title = title
            .iter()
            .flat_map(|title| &title.values)
            .filter_map(Value::year)
            .next_back();
        let before = self
            .placed
            .iter()
            .take(at)
            .rev()
            .take_while(|other| other.doc == placed.doc);
        let before = before
            .flat_map(|other| other.statement.values.iter().rev())
            .find_map(Value::year);
        of_title.or(before).or_else(|| statement.year_of(value))
    }
}

/// Whether one is a height and the other a width.
fn is_other_extent(mine: &[String], theirs: &[String]) -> bool {
    let extents = |of: &[String]| -> BTreeSet<String> {
        of.iter()
            .filter(|sense| is_extent(sense))
            .cloned()
            .collect()
    };
    let (mine, theirs) = (extents(mine), extents(theirs));
    !mine.is_empty() && !theirs.is_empty() && mine.is_disjoint(&theirs)
}

/// Whether a year or a month only says of when a sentence speaks, and not when something was done: `founded in 1878`, `first light was in 1998`.
fn is_mere_year(statement: &Statement, value: &Value) -> bool {
    let segment = statement.segment(value.from);
    let figures = statement
        .values
        .iter()
        .any(|v| v.dimension() != "date" && statement.segment(v.from) == segment);
    let before = value
        .from
        .checked_sub(2)
        .map_or("", |at| statement.word_before(at + 1));
    let told = statement.is_behind_deed(value.from)
        || matches!(before, "was" | "were" | "is" | "up" | "place")
        || matches!(statement.word_before(value.from), ":" | "since");
    matches!(value.what, What::Date { month: None, .. }) && !told
        || matches!(value.what, What::Date { day: None, .. }) && figures
}

fn amount_of(value: &Value) -> Option<f64> {
    match value.what {
        What::Quantity { amount, .. } => Some(amount),
        What::Date { .. } => None,
    }
}

/// Those who give one value, by values.
fn groups(mut others: Vec<Other<'_>>) -> Vec<Vec<Other<'_>>> {
    // A day and its month are one date; the whole ones come first.
    others.sort_by_key(|other| usize::MAX - other.value.parts());
    let mut groups: Vec<Vec<Other<'_>>> = Vec::new();
    for other in others {
        let same = |group: &&mut Vec<Other<'_>>| {
            group.first().is_some_and(|first| {
                let (a, b) = (first.value, other.value);
                let date = a.dimension() == "date";
                let dated = || a.year().is_some() && b.year().is_some();
                if is_counted_as(a, b) {
                    return amount_of(a) == amount_of(b);
                }
                a.dimension() == b.dimension()
                    && (a.what == b.what || (!date || dated()) && a.exact().agrees(&b.exact()))
            })
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(other),
            None => groups.push(vec![other]),
        }
    }
    groups
}
