//! Names that others put into the same place: who did it, who is it, where it was made, where it comes from.

use crate::check::{Against, Claim};
use crate::corpus::{Corpus, count};
use crate::facts::{Member, Signs, publishers, sum};
use crate::names::{Name, Slot};
use crate::statement::Statement;
use crate::values::Value;
use std::collections::BTreeSet;

/// The weight of each sign, and what all together have to be more than.
const WEIGHTS: [(&str, f64); 7] = [
    ("single", 1.61),
    ("cover", 2.1),
    ("core", 1.07),
    ("foreign", -0.2),
    ("elsewhere", -0.26),
    ("slot", 0.28),
    ("known", -0.57),
];
const ENOUGH: f64 = 1.12;

impl Corpus {
    /// Another name that at least two publishers put into the same place of the same thing.
    pub(crate) fn other_names(&self, claim: &Claim) -> Option<Against> {
        let names = claim.statement.names.iter();
        let judged = names.flat_map(|name| self.judged_names(claim, name));
        let judged = judged.map(|(signs, sentences)| (sum(&signs, &WEIGHTS), sentences));
        let good = judged.filter(|(sum, _)| *sum > ENOUGH);
        let (_, sentences) = good.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        Some(Against {
            sentences,
            about: "name",
        })
    }

    /// Sentences of others that put another name into the place of one of the claim's.
    pub(crate) fn rival_names(&self, claim: &Claim) -> Vec<usize> {
        let mut found = Vec::new();
        for name in &claim.statement.names {
            let groups = self.named_groups(claim, name).into_iter();
            let rivals = groups.filter(|(other, _)| !other.may_be(name));
            let members = rivals.flat_map(|(_, members)| members);
            let near = members.filter(|(member, slot)| *slot && member.shared.telling >= 1);
            found.extend(near.map(|(member, _)| member.at));
        }
        found
    }
}

impl Corpus {
    /// Every other name that at least two publishers have where a claim has this one, with its signs.
    pub(crate) fn judged_names(&self, claim: &Claim, name: &Name) -> Vec<(Signs, Vec<usize>)> {
        if name.slots.is_empty() || self.is_headed(claim, name) {
            return Vec::new();
        }
        let groups = self.named_groups(claim, name);
        if groups
            .iter()
            .any(|(other, members)| other.may_be(name) && members.iter().any(|(_, slot)| *slot))
        {
            return Vec::new();
        }
        let asked = self.asked(claim, name.place());
        let own = self.names_of(&claim.documents);
        let has = |at: usize| {
            self.placed
                .get(at)
                .is_some_and(|p| p.statement.names.iter().any(|n| n.may_be(name)))
        };
        let known: BTreeSet<usize> = (0..self.placed.len())
            .filter(|at| has(*at))
            .filter_map(|at| Some(self.placed.get(at)?.doc))
            .collect();
        let mut found = Vec::new();
        for (other, members) in &groups {
            let mut named = own.iter().copied().chain(&claim.statement.names);
            if other.may_be(name) || named.any(|own| own.may_be(other)) {
                continue;
            }
            let slots = publishers(members.iter().filter(|(_, slot)| *slot).map(|(m, _)| m)).len();
            let mut all: Vec<Member> = members.iter().map(|(m, _)| m.clone()).collect();
            if slots == 0 || publishers(&all).len() < 2 {
                continue;
            }
            let mut signs = self.signs(&asked, &all, &all);
            signs.extend([
                ("slot", count(slots.min(3))),
                (
                    "known",
                    count(known.difference(&claim.documents).count().min(4)),
                ),
            ]);
            all.sort_by(|a, b| {
                b.shared
                    .weight
                    .total_cmp(&a.shared.weight)
                    .then(a.at.cmp(&b.at))
            });
            found.push((signs, all.iter().map(|m| m.at).collect()));
        }
        found
    }

    /// Names of other publishers, each with the places where it stands in a slot of the claim's name or beside its role, and whether it is
    /// in the slot.
    fn named_groups<'a>(
        &'a self,
        claim: &Claim,
        name: &Name,
    ) -> Vec<(&'a Name, Vec<(Member, bool)>)> {
        let around = claim.context(name.from);
        let roles: Vec<&String> = name.slots.iter().filter_map(Slot::word).collect();
        let mut groups: Vec<(&Name, Vec<(Member, bool)>)> = Vec::new();
        let deed = claim.statement.deed_before(name.from);
        let mut seats: Vec<(usize, &Name, bool, bool)> = Vec::new();
        for (at, placed) in self.placed.iter().enumerate() {
            if claim.publishers.contains(&self.publisher(placed)) {
                continue;
            }
            for other in &placed.statement.names {
                // Where something was done is one place only of the same deed.
                let placed_by = |slot: &Slot| matches!(slot, Slot::Behind("in" | "to" | "after"));
                let same_deed = || {
                    deed.as_ref()
                        .is_some_and(|deed| placed.statement.has_near(other.from, deed))
                };
                let one = |a: &Slot, b: &Slot| a.is_one(b) && (!placed_by(a) || same_deed());
                let slot = other
                    .slots
                    .iter()
                    .any(|a| name.slots.iter().any(|b| one(a, b)));
                let role = || {
                    roles
                        .iter()
                        .any(|role| placed.statement.has_near(other.from, role))
                };
                seats.push((at, other, slot, slot || role()));
            }
        }
        let known: Vec<(usize, &Name)> = seats
            .iter()
            .filter(|(.., seated)| *seated)
            .map(|(at, name, ..)| (*at, *name))
            .collect();
        for &(at, other, slot, seated) in &seats {
            if !seated && !known.iter().any(|(_, name)| name.may_be(other)) {
                continue;
            }
            let Some(placed) = self.placed.get(at) else {
                continue;
            };
            let shared = self.shared(around, placed.context(other.from));
            // Who stands in the place somewhere is looked for elsewhere too.
            let figures = || {
                let seated = known.iter().filter(|(_, name)| name.may_be(other));
                let mut seated = seated.filter_map(|(at, _)| self.placed.get(*at));
                seated.any(|of| same_figure(&of.statement, &placed.statement))
            };
            if !seated && shared.telling == 0 && !figures() {
                continue;
            }
            let member = Member {
                at,
                place: other.place(),
                publisher: self.publisher(placed),
                shared,
            };
            match groups.iter_mut().find(|(known, _)| known.may_be(other)) {
                Some((_, members)) => members.push((member, slot)),
                None => groups.push((other, vec![(member, slot)])),
            }
        }
        groups
    }

    pub(crate) fn names_of(&self, docs: &BTreeSet<usize>) -> Vec<&Name> {
        let placed = self
            .placed
            .iter()
            .filter(|placed| docs.contains(&placed.doc));
        placed.flat_map(|placed| &placed.statement.names).collect()
    }

    /// Whether the claim's document is called by this name or published by it.
    fn is_headed(&self, claim: &Claim, name: &Name) -> bool {
        let documents = claim
            .documents
            .iter()
            .filter_map(|doc| self.documents.get(*doc));
        documents.into_iter().any(|document| {
            let head = format!("{} {}", document.title, document.source).to_lowercase();
            name.words.iter().any(|word| head.contains(word.as_str()))
        })
    }
}

/// Whether two sentences have a figure or a year in common.
fn same_figure(a: &Statement, b: &Statement) -> bool {
    let same = |x: &Value, y: &Value| {
        x.dimension() == y.dimension() && !x.apart && x.exact().agrees(&y.exact())
    };
    a.values.iter().any(|x| b.values.iter().any(|y| same(x, y)))
}
