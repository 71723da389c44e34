//! Sentences that deny what others say, or say the opposite: nobody was hurt, and several were; it rose, and it fell.

use crate::check::{Against, Claim};
use crate::corpus::{Corpus, Placed};
use crate::likeness::is_one;
use crate::statement::{Statement, Term};
use crate::values::{Value, What};
use crate::words::{sides, stem};
use std::collections::BTreeSet;

impl Corpus {
    pub(crate) fn other_polarity(&self, claim: &Claim) -> Option<Against> {
        if claim.statement.terms.len() < 3 {
            return None;
        }
        let (mut against, mut near, mut same) = (Vec::new(), Vec::new(), false);
        for (at, placed) in self.placed.iter().enumerate() {
            if claim.publishers.contains(&self.publisher(placed)) {
                continue;
            }
            match self.polarity(claim, at) {
                Some(true) => same = true,
                Some(false) => against.push(at),
                None if self.is_nearly_opposite(claim, at) => near.push(at),
                None => {}
            }
        }
        // One is about just this, others may be about nearly this.
        if !against.is_empty() {
            against.extend(near);
        }
        let publishers: BTreeSet<usize> = against
            .iter()
            .filter_map(|at| self.placed.get(*at))
            .map(|p| self.publisher(p))
            .collect();
        let same = same || self.says_so_too(claim, &against, &publishers);
        (publishers.len() >= 2 && !same).then_some(Against {
            sentences: against,
            about: "course of things",
        })
    }

    /// Sentences of others that deny a claim or say the opposite.
    pub(crate) fn rival_courses(&self, claim: &Claim) -> Vec<usize> {
        let all = self.placed.iter().enumerate();
        let others = all.filter(|(_, placed)| !claim.publishers.contains(&self.publisher(placed)));
        others
            .map(|(at, _)| at)
            .filter(|at| self.polarity(claim, *at) == Some(false))
            .collect()
    }

    /// Whether yet another publisher has the claim's word of two opposites: it fell, and it did not rise.
    fn says_so_too(&self, claim: &Claim, against: &[usize], publishers: &BTreeSet<usize>) -> bool {
        let theirs: Vec<&Term> = against
            .iter()
            .filter_map(|at| self.placed.get(*at))
            .flat_map(|p| &p.statement.terms)
            .collect();
        let ours = claim
            .statement
            .terms
            .iter()
            .filter(|x| theirs.iter().any(|y| opposed(x, y)));
        let others = |placed: &&Placed| {
            let of = self.publisher(placed);
            !claim.publishers.contains(&of) && !publishers.contains(&of)
        };
        let others: Vec<&Placed> = self.placed.iter().filter(others).collect();
        ours.into_iter().any(|x| {
            others.iter().any(|placed| {
                let mut same = placed
                    .statement
                    .terms
                    .iter()
                    .filter(|y| !y.denied && y.stem == x.stem);
                same.any(|y| {
                    let shared = self.shared(claim.context(x.at), placed.context(y.at));
                    shared.telling >= 2 && shared.ratio >= 0.45
                })
            })
        })
    }

    /// Of a sentence about the same deed: whether it says the same of it. None: it is about something else.
    fn polarity(&self, claim: &Claim, at: usize) -> Option<bool> {
        let placed = self.placed.get(at)?;
        let (a, b) = (&claim.statement, &placed.statement);
        let (besides, around) = (
            self.besides(claim, at, false),
            self.besides(claim, at, true),
        );
        for (x, y) in pairs(a, b) {
            if a.is_tentative(x.at) || b.is_tentative(y.at) || years_differ(a, b) {
                continue;
            }
            let opposite = are_opposite(x, y, a, b);
            if !opposite && x.sense != y.sense {
                continue;
            }
            let shared = self.shared(claim.context(x.at), placed.context(y.at));
            let figures = same_figures(a, b);
            let enough = match opposite {
                true => {
                    shared.telling >= 1 && (figures || shared.ratio >= 0.4)
                        || shared.telling >= 2 && shared.ratio >= 0.3
                        || figures && shared.ratio >= 0.25
                }
                // What was done or not must be one thing, and the whole about the same.
                false => {
                    let others = |shared: &BTreeSet<String>| {
                        shared.iter().filter(|sense| **sense != x.sense).count()
                    };
                    // A denial speaks of all, a figure of a part.
                    let part = x.denied
                        && b.values.iter().any(|v| {
                            v.dimension() != "date" && b.segment(v.from) == b.segment(y.at)
                        });
                    self.is_telling(&x.sense)
                        && !part
                        && (others(&besides) >= 2 || others(&around) >= 3)
                }
            };
            if enough {
                return Some(!opposite && x.denied == y.denied);
            }
        }
        self.course(claim, placed)
    }

    /// Whether a sentence says the opposite with a telling word in common. Which of several things a claim with figures means, they tell.
    fn is_nearly_opposite(&self, claim: &Claim, at: usize) -> bool {
        let Some(placed) = self.placed.get(at) else {
            return false;
        };
        let (a, b) = (&claim.statement, &placed.statement);
        let mut opposites = pairs(a, b).filter(|(x, y)| {
            let real = !a.is_tentative(x.at) && !b.is_tentative(y.at) && !years_differ(a, b);
            real && are_opposite(x, y, a, b)
        });
        opposites.any(|(x, y)| {
            let shared = self.shared(claim.context(x.at), placed.context(y.at));
            let figures = a.values.iter().any(|v| v.dimension() != "date");
            shared.telling >= 1 && (!figures || self.is_told_of_the_same(claim, at))
        })
    }

    /// Whether what stands around a claim and around a sentence speaks of the same.
    pub(crate) fn is_told_of_the_same(&self, claim: &Claim, at: usize) -> bool {
        self.besides(claim, at, true).len() >= COMMON
    }

    /// Of a sentence that gives a number of two years: whether it went the way that the claim says. None: the claim says nothing of that.
    fn course(&self, claim: &Claim, placed: &Placed) -> Option<bool> {
        let (a, b) = (&claim.statement, &placed.statement);
        let turn = turn(b)?;
        a.terms.iter().find_map(|x| {
            let rises = rises(&x.stem).filter(|_| !x.denied && !a.is_tentative(x.at))?;
            let counted =
                |term: &&Term| term.segment == x.segment && is_one(&term.sense, turn.noun);
            let of_it = a.terms.iter().any(|term| counted(&term));
            let of_then = a.values.iter().any(|v| v.year() == Some(turn.year));
            let named = a.names.iter().any(|n| b.names.iter().any(|m| m.may_be(n)));
            let shared = self.shared(claim.context(x.at), placed.context(turn.at));
            let same = of_it && of_then && (named || shared.telling >= 1);
            same.then_some(rises == turn.rises)
        })
    }
}

/// Sentences before and behind that belong to what is told.
const AROUND: usize = 2;
/// So many telling words in common with them are no chance.
const COMMON: usize = 3;

impl Corpus {
    /// What the claim has in common with a sentence, the one before it and its title, as far as it tells something; a day counts.
    /// `widely`: what stands around both counts as well.
    fn besides(&self, claim: &Claim, at: usize, widely: bool) -> BTreeSet<String> {
        let Some(placed) = self.placed.get(at) else {
            return BTreeSet::new();
        };
        let (before, behind) = if widely { (AROUND, AROUND) } else { (1, 0) };
        let theirs = self.around(at, before, behind);
        let title = self.titles.get(placed.doc).into_iter().flatten();
        let there: Vec<&String> = theirs
            .iter()
            .flat_map(|s| s.terms.iter().map(|t| &t.sense))
            .chain(title)
            .collect();
        let first = claim.origin.first().filter(|_| widely);
        let before = first.map(|at| self.around(*at, 1, 0)).unwrap_or_default();
        let own: Vec<&Statement> = before.into_iter().chain([&claim.statement]).collect();
        let mut shared = BTreeSet::new();
        for statement in &own {
            // A name counts once.
            let inside = |at: usize| {
                statement
                    .names
                    .iter()
                    .any(|name| (name.from + 1..name.to).contains(&at))
            };
            for term in statement.terms.iter().filter(|term| !inside(term.at)) {
                if self.is_telling(&term.sense)
                    && there.iter().any(|other| is_one(other, &term.sense))
                {
                    shared.insert(term.sense.clone());
                }
            }
        }
        let others = days(&theirs);
        if days(&own)
            .iter()
            .any(|day| others.iter().any(|other| other.agrees(day)))
        {
            shared.insert("a day".to_owned());
        }
        shared
    }

    /// A sentence with those of its document before and behind it.
    fn around(&self, at: usize, before: usize, behind: usize) -> Vec<&Statement> {
        let Some(doc) = self.placed.get(at).map(|placed| placed.doc) else {
            return Vec::new();
        };
        let from = at.saturating_sub(before);
        let near = self.placed.iter().skip(from).take(at - from + behind + 1);
        near.filter(|placed| placed.doc == doc)
            .map(|placed| &placed.statement)
            .collect()
    }
}

/// How a number of things went from one year to a later one, as the two numbers say.
struct Turn<'a> {
    noun: &'a str,
    rises: bool,
    /// The later one.
    year: i32,
    at: usize,
}

/// `38,500 visitors in 2023, after 31,200 in 2022`.
fn turn(of: &Statement) -> Option<Turn<'_>> {
    let counts = of.values.iter().filter_map(|value| match &value.what {
        What::Quantity {
            dimension, amount, ..
        } if !value.apart => Some((
            dimension.strip_prefix("count ")?,
            *amount,
            of.year_of(value)?,
            value.from,
        )),
        _ => None,
    });
    let counts: Vec<(&str, f64, i32, usize)> = counts.collect();
    counts.iter().find_map(|(noun, amount, year, at)| {
        let earlier = counts
            .iter()
            .find(|(other, before, then, _)| other == noun && then < year && before != amount)?;
        Some(Turn {
            noun,
            rises: *amount > earlier.1,
            year: *year,
            at: *at,
        })
    })
}

/// Whether a word says that something became more; None: it says nothing of it.
fn rises(of: &str) -> Option<bool> {
    let of = sides(of);
    sides(&stem("rise")).iter().find_map(|(pair, up)| {
        let (_, side) = of.iter().find(|(other, _)| other == pair)?;
        Some(side == up)
    })
}

fn days(of: &[&Statement]) -> Vec<Value> {
    let values = of.iter().flat_map(|statement| &statement.values);
    values
        .filter(|v| {
            let What::Date { year, month, day } = v.what else {
                return false;
            };
            day.is_some() || month.is_some() && year.is_some()
        })
        .cloned()
        .collect()
}

/// Words of the two that are one deed: the same word, one of them denied, or two opposites.
fn pairs<'a>(a: &'a Statement, b: &'a Statement) -> impl Iterator<Item = (&'a Term, &'a Term)> {
    let denied = a.terms.iter().chain(&b.terms).any(|term| term.denied);
    a.terms.iter().flat_map(move |x| {
        let fits = move |y: &&Term| {
            is_one(&x.sense, &y.sense) && denied && (x.carries || y.carries) || opposed(x, y)
        };
        b.terms.iter().filter(fits).map(move |y| (x, y))
    })
}

fn opposed(x: &Term, y: &Term) -> bool {
    let of = sides(&x.stem);
    !of.is_empty()
        && sides(&y.stem)
            .iter()
            .any(|(pair, side)| of.contains(&(*pair, !*side)))
}

/// Opposites, unless one of the two has both words or is denied.
fn are_opposite(x: &Term, y: &Term, a: &Statement, b: &Statement) -> bool {
    let has =
        |statement: &Statement, stem: &str| statement.terms.iter().any(|term| term.stem == stem);
    opposed(x, y) && x.denied == y.denied && !has(a, &y.stem) && !has(b, &x.stem)
}

fn years_differ(a: &Statement, b: &Statement) -> bool {
    let years = |statement: &Statement| -> BTreeSet<i32> {
        statement
            .values
            .iter()
            .filter_map(crate::values::Value::year)
            .collect()
    };
    let (x, y) = (years(a), years(b));
    !x.is_empty() && !y.is_empty() && x.is_disjoint(&y)
}

/// Whether the two have a figure in common that is no date.
fn same_figures(a: &Statement, b: &Statement) -> bool {
    let figures = |s: &Statement| {
        s.values
            .iter()
            .filter(|v| v.dimension() != "date")
            .cloned()
            .collect::<Vec<_>>()
    };
    let (x, y) = (figures(a), figures(b));
    x.iter().any(|v| {
        y.iter()
            .any(|w| v.dimension() == w.dimension() && v.agrees(w))
    })
}
