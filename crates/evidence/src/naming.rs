//! Names that others put into the same place: who did it, who is it, where it was made, where it comes from.

use crate::check::{Against, Claim};
use crate::corpus::Corpus;
use crate::likeness::Shared;
use crate::names::{Name, Slot};
use crate::values::Value;
use std::collections::BTreeSet;

/// A sentence with names in the same slot, and how much it has in common with the claim.
struct Other<'a> {
    at: usize,
    names: Vec<&'a Name>,
    /// It is about just this.
    close: bool,
}

impl Corpus {
    /// Another name that at least two publishers put into the same slot of the same thing.
    pub(crate) fn other_names(&self, claim: &Claim) -> Option<Against> {
        let names = &claim.statement.names;
        names.iter().find_map(|name| {
            name.slots
                .iter()
                .find_map(|slot| self.other_name(claim, name, slot))
        })
    }

    fn other_name(&self, claim: &Claim, name: &Name, slot: &Slot) -> Option<Against> {
        let others = self.in_slot(claim, name, slot);
        if others
            .iter()
            .any(|other| other.names.iter().any(|n| n.may_be(name)))
        {
            return None;
        }
        let close = || others.iter().filter(|other| other.close);
        let candidates = close().flat_map(|other| other.names.iter().copied());
        let known: Vec<&Name> = self
            .placed
            .iter()
            .filter(|placed| claim.documents.contains(&placed.doc))
            .flat_map(|placed| &placed.statement.names)
            .collect();
        for candidate in candidates {
            let has = |other: &&Other<'_>| other.names.iter().any(|n| n.may_be(candidate));
            // Where several names may stand, none contradicts another.
            let only = close().all(|other| has(&other));
            let with: Vec<&Other<'_>> = others.iter().filter(has).collect();
            let mut sentences: Vec<usize> = with.iter().map(|other| other.at).collect();
            sentences.extend(self.with_its_figures(claim, candidate, &with));
            let placed = sentences.iter().filter_map(|at| self.placed.get(*at));
            let publishers: BTreeSet<usize> = placed.map(|of| self.publisher(of)).collect();
            if only && publishers.len() >= 2 && !known.iter().any(|own| own.may_be(candidate)) {
                return Some(Against {
                    sentences,
                    about: "name",
                });
            }
        }
        None
    }

    /// Other sentences that have the name beside a figure that one of these gives with it: `NAME, who taught there, began it in 1931`.
    fn with_its_figures(&self, claim: &Claim, name: &Name, those: &[&Other<'_>]) -> Vec<usize> {
        let statement = |at: usize| self.placed.get(at).map(|placed| &placed.statement);
        let figures: Vec<&Value> = those
            .iter()
            .filter_map(|other| statement(other.at))
            .flat_map(|statement| &statement.values)
            .filter(|value| {
                let digits = if value.dimension().starts_with("count") {
                    3
                } else {
                    2
                };
                !value.apart && value.has_digits(digits)
            })
            .collect();
        let has = |other: &Value| {
            let mut same = figures.iter();
            same.any(|v| v.dimension() == other.dimension() && v.exact().agrees(&other.exact()))
        };
        let all = self.placed.iter().enumerate();
        let others = all.filter(|(at, placed)| {
            let of = &placed.statement;
            !claim.publishers.contains(&self.publisher(placed))
                && !those.iter().any(|other| other.at == *at)
                && of.names.iter().any(|other| other.may_be(name))
                && of.values.iter().any(has)
        });
        others.map(|(at, _)| at).collect()
    }

    /// Sentences of others that put another name into the place of one of the claim's.
    pub(crate) fn rival_names(&self, claim: &Claim) -> Vec<usize> {
        let mut found = Vec::new();
        for name in &claim.statement.names {
            for slot in &name.slots {
                let others = self.in_slot(claim, name, slot).into_iter();
                let rivals = others
                    .filter(|other| other.close && !other.names.iter().any(|n| n.may_be(name)));
                found.extend(rivals.map(|other| other.at));
            }
        }
        found
    }

    /// Whether a document speaks of one of the other names that the claim holds, if it holds any.
    fn is_of(&self, claim: &Claim, name: &Name, doc: usize) -> bool {
        let others: Vec<&Name> = claim
            .statement
            .names
            .iter()
            .filter(|other| *other != name)
            .collect();
        let Some(document) = self.documents.get(doc) else {
            return false;
        };
        let text =
            format!("{} {} {}", document.title, document.source, document.text).to_lowercase();
        others.is_empty()
            || others
                .iter()
                .any(|other| text.contains(&other.words.join(" ")))
    }

    fn in_slot(&self, claim: &Claim, name: &Name, slot: &Slot) -> Vec<Other<'_>> {
        let around = claim.context(name.from);
        // What the claim says near the name besides the name itself.
        let rest = around.near.iter().filter(|(sense, near)| {
            *near >= 0.6
                && !name
                    .words
                    .iter()
                    .any(|word| crate::words::stem(word) == *sense)
        });
        let own: f64 = rest.map(|(sense, _)| self.weight(sense)).sum();
        // `built in NAME`: where something was done is one place only of the same deed.
        let deed = claim.statement.deed_before(name.from);
        let mut found = Vec::new();
        for (at, placed) in self.placed.iter().enumerate() {
            if claim.publishers.contains(&self.publisher(placed)) {
                continue;
            }
            let names: Vec<&Name> = placed
                .statement
                .names
                .iter()
                .filter(|other| other.slots.iter().any(|own| own.is_one(slot)))
                .collect();
            let Some(first) = names.first() else { continue };
            let there = placed.context(first.from);
            let shared = self.shared(around, there);
            if shared.weight < 0.5 || !self.is_of(claim, name, placed.doc) {
                continue;
            }
            let placed_by = matches!(slot, Slot::Behind("in" | "to" | "after"));
            let done = |deed: &String| there.near.iter().any(|(sense, _)| sense == deed);
            let same_deed = !placed_by || deed.as_ref().is_some_and(done);
            let close = same_deed
                && (is_close(slot, &shared, own)
                    || matches!(slot, Slot::Role(_))
                        && shared.telling >= 1
                        && self.is_told_of_the_same(claim, at));
            found.push(Other { at, names, close });
        }
        found
    }
}

/// `own`: the weight of what the claim says near its name.
fn is_close(slot: &Slot, shared: &Shared, own: f64) -> bool {
    let most = shared.weight >= 0.4 * own;
    match slot {
        Slot::Role(_) => shared.telling >= 1 && shared.weight >= 1.0,
        Slot::Behind("from") => shared.telling >= 1 && shared.weight >= 0.25 * own,
        Slot::Does(_) => shared.telling >= 2 || shared.telling >= 1 && most,
        Slot::Behind("by") => shared.telling >= 1 && most,
        Slot::Behind(_) => shared.telling >= 2 && most,
    }
}
