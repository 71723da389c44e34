//! Sentences that deny what others say, or say the opposite: nobody was hurt, and several were; it rose, and it fell.

use crate::check::{Against, Claim};
use crate::corpus::{Corpus, Placed, count};
use crate::facts::{Asked, Member, Place, Signs, closest, flag, publishers, sum};
use crate::likeness::is_one;
use crate::statement::{Statement, Term};
use crate::values::{Value, What, written};
use crate::words::{scale, sides, stem};
use std::collections::{BTreeMap, BTreeSet};

/// The weight of each sign, and what all together have to be more than.
const WEIGHTS: [(&str, f64); 13] = [
    ("core", 0.68),
    ("foreign", -0.12),
    ("subject", -0.18),
    ("closest", -0.09),
    ("figures", -0.02),
    ("dated", 0.73),
    ("support", -0.53),
    ("surplus", 0.26),
    ("denial", 0.76),
    ("close", 0.52),
    ("second", 0.37),
    ("short", -1.25),
    ("pinned", 0.4),
];
const ENOUGH: f64 = 1.71;

impl Corpus {
    /// Sentences of at least two publishers that deny what a claim says, or say the opposite.
    pub(crate) fn other_polarity(&self, claim: &Claim) -> Option<Against> {
        if claim.statement.terms.len() < 3 {
            return None;
        }
        let judged = claim
            .statement
            .terms
            .iter()
            .filter_map(|x| self.judged_courses(claim, x));
        let judged = judged.map(|(signs, sentences)| (sum(&signs, &WEIGHTS), sentences));
        let good = judged.filter(|(sum, _)| *sum > ENOUGH);
        let best = good.max_by(|(a, _), (b, _)| a.total_cmp(b));
        let (_, sentences) = best?;
        Some(Against {
            sentences,
            about: "course of things",
        })
    }

    /// Sentences of others that seem to deny a claim or to say the opposite.
    pub(crate) fn rival_courses(&self, claim: &Claim) -> Vec<usize> {
        let mut found = Vec::new();
        for x in &claim.statement.terms {
            let (against, _) = self.courses(claim, x);
            let members = against
                .into_iter()
                .filter_map(|(at, place, _)| self.member(claim, x.at, at, place));
            found.extend(members.filter(|m| self.likely(claim, m) >= 2).map(|m| m.at));
        }
        found
    }

    /// Whether what stands around a claim and around a sentence speaks of the same.
    pub(crate) fn is_told_of_the_same(&self, claim: &Claim, at: usize) -> bool {
        self.besides(claim, at).len() >= COMMON
    }

    /// Of a sentence that gives a number of two years: whether it went the way that the claim's word says, and where that stands. None:
    /// the claim says nothing of that.
    fn course(&self, claim: &Claim, x: &Term, placed: &Placed) -> Option<(bool, Place)> {
        let (a, b) = (&claim.statement, &placed.statement);
        let rises = rises(&x.stem).filter(|_| !x.denied)?;
        let turn = turn(b)?;
        let noun = turn
            .dimension
            .strip_prefix("count ")
            .filter(|noun| !noun.is_empty());
        let of_it = noun.is_none_or(|noun| {
            let mut terms = a.terms.iter();
            terms.any(|term| is_one(&term.sense, noun))
        });
        let mut years = a.values.iter().filter_map(Value::year).peekable();
        let then =
            years.peek().is_none() || years.any(|year| year == turn.year || year == turn.before);
        let named = a.names.iter().any(|n| b.names.iter().any(|m| m.may_be(n)));
        let shared = self.shared(claim.context(x.at), placed.context(turn.place.from));
        let same = of_it && then && (named && noun.is_some() || shared.telling >= 1);
        same.then_some((rises == turn.rises, turn.place))
    }
}

impl Corpus {
    /// What at least two publishers say otherwise of a claim's word, its opposite or its denial, with its signs.
    pub(crate) fn judged_courses(&self, claim: &Claim, x: &Term) -> Option<(Signs, Vec<usize>)> {
        let a = &claim.statement;
        if a.is_tentative(x.at) || is_said_of_all(&x.stem) {
            return None;
        }
        let (against, same) = self.courses(claim, x);
        let publisher = |at: usize| self.placed.get(at).map(|placed| self.publisher(placed));
        let of = against.iter().map(|(at, _, _)| publisher(*at));
        let of: BTreeSet<Option<usize>> = of.collect();
        if of.len() < 2 {
            return None;
        }
        let asked = self.asked(
            claim,
            Place {
                from: x.at,
                to: x.at + 1,
            },
        );
        let member = |at: usize, place: Place| self.member(claim, x.at, at, place);
        let against = against
            .into_iter()
            .filter_map(|(at, place, denial)| Some((member(at, place)?, denial)));
        let mut against: Vec<(Member, bool)> = against.collect();
        // How much each publisher's word is of the same thing; the second best counts.
        let mut best: BTreeMap<usize, usize> = BTreeMap::new();
        against.retain(|(m, _)| {
            let likely = self.likely(claim, m) + usize::from(self.share(&x.sense) <= RARE);
            let known = best.entry(m.publisher).or_default();
            *known = likely.max(*known);
            likely >= 1
        });
        let mut best: Vec<usize> = best.into_values().collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        let second = best.get(1).copied().unwrap_or_default();
        if best.first().is_none_or(|first| *first < 2) {
            return None;
        }
        // Where two say it of the same thing by the words just beside, others do not count.
        let just_beside = |m: &Member| {
            self.is_beside(&asked, m)
                || self
                    .placed
                    .get(m.at)
                    .is_some_and(|b| same_figures(a, &b.statement))
        };
        let just = publishers(against.iter().map(|(m, _)| m).filter(|m| just_beside(m))).len() >= 2;
        against.retain(|(m, _)| !just || just_beside(m));
        let members: Vec<Member> = against.iter().map(|(m, _)| m.clone()).collect();
        if publishers(&members).len() < 2 {
            return None;
        }
        let same = same.into_iter().filter(|(at, place)| {
            !self
                .placed
                .get(*at)
                .is_some_and(|p| p.statement.is_tentative(place.from))
        });
        let same = same.filter_map(|(at, place)| member(at, place));
        let same: Vec<Member> = same.filter(|m| !just || just_beside(m)).collect();
        let mut signs = self.signs(&asked, &members, &members);
        let same_subject = |member: &&Member| {
            let of = self
                .placed
                .get(member.at)
                .map(|placed| beside(&placed.statement, member.place.from));
            of.into_iter().flatten().any(|theirs| {
                let mut own = beside(a, x.at).into_iter();
                own.any(|own| self.is_telling(own) && is_one(own, theirs))
            })
        };
        let subject = publishers(members.iter().filter(same_subject)).len();
        let statements = || {
            members
                .iter()
                .filter_map(|m| Some(&self.placed.get(m.at)?.statement))
        };
        let figures = statements().filter(|b| same_figures(a, b)).count();
        // `a loss of 86,000`, `a surplus of 86,000`: a figure that is no chance stands beside both words.
        let beside_both = |m: &&Member| {
            let other = self.placed.get(m.at).map(|placed| &placed.statement);
            other.is_some_and(|b| {
                let there = figures_in(b, b.segment(m.place.from));
                figures_in(a, a.segment(x.at)).any(|own| {
                    let mut there = there.clone();
                    there
                        .any(|v| v.dimension() == own.dimension() && v.exact().agrees(&own.exact()))
                })
            })
        };
        let pinned = publishers(members.iter().filter(beside_both)).len();
        let years =
            |s: &Statement| -> BTreeSet<i32> { s.values.iter().filter_map(Value::year).collect() };
        let dated = statements()
            .filter(|b| !years(a).is_disjoint(&years(b)))
            .count();
        let support = same
            .iter()
            .map(|m| self.in_common(&asked, m))
            .fold(0.0, f64::max);
        let strongest = members
            .iter()
            .map(|m| self.in_common(&asked, m))
            .fold(0.0, f64::max);
        let of_both: Vec<usize> = members
            .iter()
            .filter(|m| m.shared.telling >= 2)
            .map(|m| m.publisher)
            .collect();
        let denial = against.iter().all(|(_, denial)| *denial);
        if !denial && subject < 2 && figures == 0 {
            return None;
        }
        signs.extend([
            ("subject", count(subject.min(3))),
            (
                "closest",
                count(
                    publishers(members.iter().filter(|m| self.is_beside(&asked, m)))
                        .len()
                        .min(3),
                ),
            ),
            ("figures", count(figures.min(2))),
            ("pinned", count(pinned.min(3))),
            ("dated", count(dated.min(2))),
            ("support", support.min(10.0)),
            ("surplus", (strongest - support).clamp(-8.0, 8.0)),
            ("denial", flag(denial)),
            (
                "close",
                count(
                    of_both
                        .into_iter()
                        .collect::<BTreeSet<usize>>()
                        .len()
                        .min(3),
                ),
            ),
            ("second", count(second.min(6))),
            ("short", flag(a.terms.len() < 4)),
        ]);
        let mut members = members;
        members.sort_by(|a, b| {
            b.shared
                .weight
                .total_cmp(&a.shared.weight)
                .then(a.at.cmp(&b.at))
        });
        Some((signs, members.iter().map(|m| m.at).collect()))
    }

    /// Whether a sentence's document has a day or month of which the claim speaks.
    fn is_of_the_day(&self, claim: &Statement, placed: &Placed) -> bool {
        let own: Vec<&Value> = claim
            .values
            .iter()
            .filter(|v| v.parts() >= 2 && v.year().is_some())
            .collect();
        if own.is_empty() {
            return false;
        }
        let title = self
            .document(placed)
            .map(|document| Statement::of(&document.title));
        let of_doc = self.placed.iter().filter(|other| other.doc == placed.doc);
        let dates = of_doc
            .flat_map(|other| &other.statement.values)
            .chain(title.iter().flat_map(|t| &t.values));
        // A day without a year is of the year in which it was published.
        let published = self
            .document(placed)
            .and_then(|document| document.date.get(..4)?.parse().ok());
        let dated = |v: &Value, day: &Value| v.year().is_some() || published == day.year();
        dates
            .into_iter()
            .any(|v| v.parts() >= 2 && own.iter().any(|day| day.agrees(v) && dated(v, day)))
    }

    /// Whether one of the words just beside both is the same.
    fn is_beside(&self, asked: &Asked<'_>, member: &Member) -> bool {
        let theirs = self
            .placed
            .get(member.at)
            .map(|placed| closest(&placed.statement, member.place));
        theirs.into_iter().flatten().any(|theirs| {
            let mut own = asked.closest.iter();
            own.any(|own| self.is_telling(own) && is_one(own, &theirs))
        })
    }

    fn member(&self, claim: &Claim, own: usize, at: usize, place: Place) -> Option<Member> {
        let placed = self.placed.get(at)?;
        Some(Member {
            at,
            place,
            publisher: self.publisher(placed),
            shared: self.shared(claim.context(own), placed.context(place.from)),
        })
    }

    /// Where others say the opposite of a claim's word or deny it (whether it is that), and where they say the same.
    fn courses(&self, claim: &Claim, x: &Term) -> (Vec<Contrary>, Vec<(usize, Place)>) {
        let a = &claim.statement;
        let opposites = !sides(&x.stem).is_empty();
        let (mut against, mut same) = (Vec::new(), Vec::new());
        for (at, placed) in self.placed.iter().enumerate() {
            let b = &placed.statement;
            if claim.publishers.contains(&self.publisher(placed))
                || b.terms.iter().all(|y| !y.denied) && !x.denied && !opposites
            {
                continue;
            }
            if let Some((agrees, place)) = self.course(claim, x, placed) {
                match agrees {
                    true => same.push((at, place)),
                    false => against.push((at, place, false)),
                }
            }
            for y in &b.terms {
                let place = Place {
                    from: y.at,
                    to: y.at + 1,
                };
                let one = is_one(&x.sense, &y.sense);
                let denial = one && x.denied != y.denied && (x.carries || y.carries) && {
                    let (denying, affirmed, of) = if x.denied { (a, y, b) } else { (b, x, a) };
                    let denied = if x.denied { x } else { y };
                    let mut deeds = denying.deeds(denied.at);
                    crate::polarity::is_of_the_same(denied, denying, of)
                        && (denying.is_of_nobody()
                            || of.is_deed(affirmed)
                            || deeds.any(|deed| {
                                of.deeds(affirmed.at).any(|other| other.sense == deed.sense)
                            }))
                };
                let other = denial || opposites && x.denied == y.denied && opposed(x, y);
                if other && (denial || are_opposite(x, y, a, b)) && !b.is_tentative(y.at) {
                    if !years_differ(a, b) {
                        against.push((at, place, denial));
                    }
                } else if one && x.denied == y.denied
                    || opposites && x.denied != y.denied && opposed(x, y)
                {
                    same.push((at, place));
                }
            }
        }
        (against, same)
    }

    /// How much says that a word of another is of the claim's thing: words in common beside it, a figure, a date, what is told around.
    fn likely(&self, claim: &Claim, member: &Member) -> usize {
        let Some(placed) = self.placed.get(member.at) else {
            return 0;
        };
        let (a, b) = (&claim.statement, &placed.statement);
        let years =
            |s: &Statement| -> BTreeSet<i32> { s.values.iter().filter_map(Value::year).collect() };
        let dated = !years(a).is_disjoint(&years(b));
        let told = self.is_told_of_the_same(claim, member.at);
        member.shared.telling.min(3)
            + 2 * usize::from(same_figures(a, b))
            + usize::from(dated)
            + 2 * usize::from(told || self.is_of_the_day(a, placed))
    }
}

/// A sentence, where it says the opposite or denies something, and whether it is that.
type Contrary = (usize, Place, bool);
/// From here on a figure is one that no two things have by chance.
const LARGE: f64 = 100.0;

/// Figures of a part that are no chance, as they were written: two hours are two, and not 7200 seconds.
fn figures_in(of: &Statement, segment: usize) -> impl Iterator<Item = &Value> + Clone {
    let here = of
        .values
        .iter()
        .filter(move |value| of.segment(value.from) == segment);
    here.filter(move |value| {
        let figure = of.tokens.get(value.from).and_then(written);
        let scaled = of.tokens.get(value.from + 1).and_then(|t| scale(&t.fold));
        let number = figure.map_or(0.0, |(number, _)| number * scaled.unwrap_or(1.0));
        value.dimension() != "date" && (number >= LARGE || number.fract() != 0.0)
    })
}

/// A word that so few documents have says by itself what is meant.
const RARE: f64 = 0.2;
/// Sentences before and behind that belong to what is told.
const AROUND: usize = 2;
/// So many telling words in common with them are no chance.
const COMMON: usize = 3;

impl Corpus {
    /// What the claim and the sentence before it have in common with a sentence, what stands around it and its title, as far as it tells
    /// something; a day counts.
    fn besides(&self, claim: &Claim, at: usize) -> BTreeSet<String> {
        let Some(placed) = self.placed.get(at) else {
            return BTreeSet::new();
        };
        let theirs = self.around(at, AROUND, AROUND);
        let title = self.titles.get(placed.doc).into_iter().flatten();
        let there: Vec<&String> = theirs
            .iter()
            .flat_map(|s| s.terms.iter().map(|t| &t.sense))
            .chain(title)
            .collect();
        let first = claim.origin.first();
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

/// How an amount went from one year to a later one, as the two numbers say.
struct Turn<'a> {
    dimension: &'a str,
    rises: bool,
    /// The later one, and the one before.
    year: i32,
    before: i32,
    place: Place,
}

/// `38,500 visitors in 2023, after 31,200 in 2022`, `286,000 visitors in 2023, against 251,000 in the previous year`.
fn turn(of: &Statement) -> Option<Turn<'_>> {
    let amounts = of.values.iter().filter_map(|value| match &value.what {
        What::Quantity {
            dimension, amount, ..
        } if !value.apart => {
            let earlier = of.is_of_year_before(value);
            Some((
                dimension.as_str(),
                *amount,
                of.year_of(value)? - i32::from(earlier),
                value,
            ))
        }
        _ => None,
    });
    let amounts: Vec<(&str, f64, i32, &Value)> = amounts.collect();
    if let Some((rises, before)) = of.more_than_in() {
        let (dimension, _, year, value) = amounts.iter().find(|(_, _, year, _)| *year != before)?;
        return Some(Turn {
            dimension,
            rises,
            year: *year,
            before,
            place: value.place(),
        });
    }
    amounts.iter().find_map(|(dimension, amount, year, value)| {
        let earlier = amounts.iter().find(|(other, before, then, _)| {
            other == dimension && then < year && before != amount
        })?;
        Some(Turn {
            dimension,
            rises: *amount > earlier.1,
            year: *year,
            before: earlier.2,
            place: value.place(),
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

/// Words that say too little to be denied, or an order that dates tell.
fn is_said_of_all(stem: &str) -> bool {
    let words = [
        "before", "after", "make", "take", "give", "get", "go", "come", "see", "want", "know",
        "use", "need",
    ];
    words.iter().any(|word| crate::words::stem(word) == stem)
}

/// What stands in the part around a word besides it and names.
fn beside(of: &Statement, at: usize) -> Vec<&str> {
    let segment = of.segment(at);
    let others = of
        .terms
        .iter()
        .filter(|t| t.segment == segment && t.at != at && !of.is_named(t.at));
    others.map(|term| term.sense.as_str()).collect()
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
