//! What several publishers agree on: a value, a name or a course of things, with all the words that stand around it wherever it is told.
//! What a claim says instead is held against it by signs (words in common, who tells of what, names of other things), each with a
//! weight. The weights were fitted over corpora with planted falsehoods (`tests/research/`); what counts is their sum.

use crate::check::Claim;
use crate::corpus::{Corpus, count};
use crate::likeness::{Shared, is_one};
use crate::statement::{Statement, Term};
use crate::words::{sense, stem};
use std::collections::{BTreeMap, BTreeSet};

/// Senses with how near they stand, of 1.
pub(crate) type Bag = BTreeMap<String, f64>;

/// How near words stand: in another part of the sentence, in a question before, before where the sentence points back, before, in the title.
const BESIDE: f64 = 0.7;
const ASKED: f64 = 1.0;
const POINTED: f64 = 0.6;
const BEFORE: f64 = 0.4;
const TITLE: f64 = 0.4;
/// So near tells which of several things is meant.
const NEAR: f64 = 0.6;

/// The tokens of a value, a name or a word: the first, and the one behind the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub from: usize,
    pub to: usize,
}

/// Somebody else's word on a thing.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub at: usize,
    pub place: Place,
    pub publisher: usize,
    pub shared: Shared,
}

/// What a claim says at a place, while it is held against others.
pub(crate) struct Asked<'a> {
    pub claim: &'a Claim,
    pub place: Place,
    bag: Bag,
    pub closest: Vec<String>,
}

/// What speaks for two being told of one thing, each as a number.
pub(crate) type Signs = Vec<(&'static str, f64)>;
/// The weight of each sign.
pub(crate) type Weights = [(&'static str, f64)];

pub(crate) fn sum(signs: &Signs, weights: &Weights) -> f64 {
    let weight = |name: &str| {
        let known = weights.iter().find(|(known, _)| *known == name);
        known.map_or(0.0, |(_, weight)| *weight)
    };
    signs.iter().map(|(name, sign)| sign * weight(name)).sum()
}

pub(crate) fn sign(signs: &Signs, name: &str) -> f64 {
    let known = signs.iter().find(|(known, _)| *known == name);
    known.map_or(0.0, |(_, sign)| *sign)
}

pub(crate) fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

pub(crate) fn publishers<'a>(members: impl IntoIterator<Item = &'a Member>) -> BTreeSet<usize> {
    members.into_iter().map(|member| member.publisher).collect()
}

impl Corpus {
    pub(crate) fn asked<'a>(&self, claim: &'a Claim, place: Place) -> Asked<'a> {
        let before = claim.origin.first().and_then(|at| self.before(*at));
        let doc = claim.documents.first().copied();
        Asked {
            claim,
            place,
            bag: self.bag(&claim.statement, place, doc, before),
            closest: closest(&claim.statement, place),
        }
    }

    /// The signs that any two have. `all`: whoever says what the members say, also where it cannot be held against the claim.
    pub(crate) fn signs(&self, asked: &Asked<'_>, members: &[Member], all: &[Member]) -> Signs {
        let (bag, core) = self.around_all(all);
        let near = asked.closest.iter();
        let near = near.filter(|sense| self.is_telling(sense) && holds(&bag, sense, NEAR));
        let single = members.iter().map(|m| m.shared.ratio).fold(0.0, f64::max);
        let (foreign, elsewhere) = self.foreign(asked, &bag, members);
        vec![
            ("single", single),
            ("cover", self.cover(asked, &bag)),
            ("core", self.core(asked, &core)),
            ("near", count(near.count())),
            ("publishers", count(publishers(members).len().min(4))),
            ("foreign", foreign),
            ("elsewhere", elsewhere),
            ("stranger", self.strangers(asked, members)),
        ]
    }

    /// How many of them tell the same around it as the claim's document does.
    pub(crate) fn told(&self, asked: &Asked<'_>, members: &[Member]) -> f64 {
        let told = members
            .iter()
            .filter(|m| self.is_told_of_the_same(asked.claim, m.at));
        count(told.take(2).count())
    }

    /// What stands around all of them, and of that what at least two publishers have.
    fn around_all(&self, all: &[Member]) -> (Bag, BTreeSet<String>) {
        let mut bag = Bag::new();
        let mut by: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for member in all {
            for (sense, near) in self.bag_at(member.at, member.place) {
                put(&mut bag, &sense, near);
                by.entry(sense).or_default().insert(member.publisher);
            }
        }
        let core = by
            .into_iter()
            .filter(|(_, publishers)| publishers.len() > 1);
        (bag, core.map(|(sense, _)| sense).collect())
    }

    /// How much a claim has in common with a place of another sentence.
    pub(crate) fn in_common(&self, asked: &Asked<'_>, member: &Member) -> f64 {
        self.common(&asked.bag, &self.bag_at(member.at, member.place))
            .0
    }

    /// Of what tells what the claim speaks of, the part that stands near the others' value too. What no other document has tells little.
    fn cover(&self, asked: &Asked<'_>, bag: &Bag) -> f64 {
        let telling = asked
            .bag
            .iter()
            .filter(|(sense, near)| **near >= NEAR && self.is_telling(sense));
        let whole: f64 = telling
            .map(|(sense, near)| {
                near * self.weight(sense) * if self.is_only_here(sense) { 0.4 } else { 1.0 }
            })
            .sum();
        let (_, common) = self.common(&asked.bag, bag);
        if whole > 0.0 { common / whole } else { 0.0 }
    }

    /// Of what several say around their value, the part that the claim has.
    fn core(&self, asked: &Asked<'_>, core: &BTreeSet<String>) -> f64 {
        let whole: f64 = core.iter().map(|sense| self.weight(sense)).sum();
        let held = core.iter().filter(|sense| holds(&asked.bag, sense, 0.0));
        let held: f64 = held.map(|sense| self.weight(sense)).sum();
        if whole > 0.0 { held / whole } else { 0.0 }
    }

    /// How much stands beside the claim's place and nowhere in the others' documents, and how much beside other things alone.
    fn foreign(&self, asked: &Asked<'_>, bag: &Bag, members: &[Member]) -> (f64, f64) {
        let statement = &asked.claim.statement;
        let segment = statement.segment(asked.place.from);
        let docs = self.documents_of(members);
        let beside = |term: &&Term| {
            term.segment == segment
                && !asked.place.holds(term.at)
                && self.is_telling(&term.sense)
                && !holds(bag, &term.sense, 0.35)
        };
        let beside: Vec<&Term> = statement.terms.iter().filter(beside).collect();
        let weigh = |terms: &mut dyn Iterator<Item = &&Term>| -> f64 {
            terms
                .map(|term| self.weight(&term.sense))
                .sum::<f64>()
                .min(8.0)
        };
        let mut foreign = beside
            .iter()
            .filter(|term| !docs.iter().any(|doc| self.is_in(*doc, &term.sense)));
        let mut elsewhere = beside.iter().filter(|term| !self.is_only_here(&term.sense));
        (weigh(&mut foreign), weigh(&mut elsewhere))
    }

    fn documents_of(&self, members: &[Member]) -> BTreeSet<usize> {
        let placed = members.iter().filter_map(|m| self.placed.get(m.at));
        placed.map(|placed| placed.doc).collect()
    }

    /// Names of which the claim speaks, in its sentence or where that points back to, and the others' documents do not.
    fn strangers(&self, asked: &Asked<'_>, members: &[Member]) -> f64 {
        let claim = &asked.claim.statement;
        let before = asked.claim.origin.first().and_then(|at| self.before(*at));
        let before = before.filter(|_| claim.points_back());
        let names = claim
            .names
            .iter()
            .chain(before.into_iter().flat_map(|of| &of.names));
        let names = names.filter(|name| name.from != asked.place.from);
        let docs = self.documents_of(members);
        let known = |word: &String| docs.iter().any(|doc| self.is_in(*doc, &sense(&stem(word))));
        let strange = names.filter(|name| !name.words.iter().any(known));
        count(strange.count().min(2))
    }

    /// What stands around a place: beside it, in the rest of the sentence, in the sentence before, in the title.
    fn bag(
        &self,
        statement: &Statement,
        place: Place,
        doc: Option<usize>,
        before: Option<&Statement>,
    ) -> Bag {
        let mut bag = Bag::new();
        let segment = statement.segment(place.from);
        // Of what is counted, the words before it: `permanent` jobs.
        let inside = Place {
            from: place.to.saturating_sub(1).max(place.from),
            to: place.to,
        };
        for term in statement.terms.iter().filter(|term| !inside.holds(term.at)) {
            put(
                &mut bag,
                &term.sense,
                if term.segment == segment { 1.0 } else { BESIDE },
            );
        }
        let title = doc.and_then(|doc| self.titles.get(doc));
        for sense in title.into_iter().flatten() {
            put(&mut bag, sense, TITLE);
        }
        if let Some(before) = before {
            let near = match (before.text.ends_with('?'), statement.points_back()) {
                (true, _) => ASKED,
                (false, true) => POINTED,
                (false, false) => BEFORE,
            };
            before
                .terms
                .iter()
                .for_each(|term| put(&mut bag, &term.sense, near));
        }
        bag
    }

    fn bag_at(&self, at: usize, place: Place) -> Bag {
        let placed = self.placed.get(at);
        placed.map_or_else(Bag::new, |placed| {
            self.bag(&placed.statement, place, Some(placed.doc), self.before(at))
        })
    }

    /// The sentence before one of the same document.
    pub(crate) fn before(&self, at: usize) -> Option<&Statement> {
        let doc = self.placed.get(at)?.doc;
        let before = self.placed.get(at.checked_sub(1)?)?;
        (before.doc == doc).then_some(&before.statement)
    }

    /// The weight of what two bags have in common, and of that what stands near in both and tells something.
    fn common(&self, a: &Bag, b: &Bag) -> (f64, f64) {
        let (mut all, mut telling) = (0.0, 0.0);
        for (sense, x) in a {
            let same = b.iter().filter(|(other, _)| is_one(other, sense));
            let both = x.min(same.map(|(_, y)| *y).fold(0.0, f64::max));
            all += both * self.weight(sense);
            if both >= NEAR && self.is_telling(sense) {
                telling += self.weight(sense);
            }
        }
        (all, telling)
    }

    fn is_only_here(&self, sense: &str) -> bool {
        self.share(sense) * count(self.documents.len()) <= 1.5
    }

    fn is_in(&self, doc: usize, sense: &str) -> bool {
        let senses = self.senses.get(doc).into_iter().flatten();
        senses.into_iter().any(|own| is_one(own, sense))
    }
}

fn put(bag: &mut Bag, sense: &str, near: f64) {
    let known = bag.entry(sense.to_owned()).or_default();
    *known = known.max(near);
}

fn holds(bag: &Bag, sense: &str, least: f64) -> bool {
    bag.get(sense).is_some_and(|near| *near >= least)
        || bag
            .iter()
            .any(|(other, near)| *near >= least && is_one(other, sense))
}

impl Place {
    pub fn holds(self, token: usize) -> bool {
        (self.from..self.to).contains(&token)
    }
}

/// The words beside a place that say what of a thing it is: two before it and one behind.
pub(crate) fn closest(statement: &Statement, place: Place) -> Vec<String> {
    let segment = statement.segment(place.from);
    let own = || {
        statement
            .terms
            .iter()
            .filter(|t| t.segment == segment && !statement.is_named(t.at))
    };
    let before = own().rev().filter(|term| term.at < place.from).take(2);
    let behind = own().find(|term| term.at >= place.to);
    before
        .chain(behind)
        .map(|term| term.sense.clone())
        .collect()
}
