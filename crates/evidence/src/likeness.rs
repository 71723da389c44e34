//! How far two sentences speak of the same thing: the words around a value, a name or a deed, weighed by how much they tell.

use crate::corpus::Corpus;
use crate::statement::Statement;

/// What stands around a place of a sentence: senses with how near they are, of 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    pub near: Vec<(String, f64)>,
}

/// What two contexts have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shared {
    /// The sum of the weights of what they share.
    pub weight: f64,
    /// That, of what both have near (their geometric mean).
    pub ratio: f64,
    /// How many shared senses tell something and stand near in both.
    pub telling: usize,
}

/// In more of the documents than this a sense is what all of them are about.
const COMMON: f64 = 0.6;
/// The fewest documents that such a share is reckoned of.
const FEW: usize = 6;

/// Whether two senses are one: the same, or one is a compound that ends in the other.
pub(crate) fn is_one(a: &str, b: &str) -> bool {
    let ends = |long: &str, short: &str| {
        short.len() >= 4 && long.len() >= short.len() + 3 && long.ends_with(short)
    };
    a == b || ends(a, b) || ends(b, a)
}

/// The context of each segment: its own words, the rest of the sentence, what the title says, and what stands before where the sentence
/// points back. What is denied is not part of it.
pub(crate) fn contexts(
    statement: &Statement,
    title: &[String],
    before: Option<&Statement>,
) -> Vec<Context> {
    let segments = statement
        .terms
        .iter()
        .map(|term| term.segment)
        .chain(statement.values.iter().map(|v| statement.segment(v.from)));
    let names = statement
        .names
        .iter()
        .map(|name| statement.segment(name.from));
    let last = segments.chain(names).max().unwrap_or_default();
    let before = before.filter(|_| statement.points_back());
    (0..=last)
        .map(|segment| context(statement, segment, title, before))
        .collect()
}

fn context(
    statement: &Statement,
    segment: usize,
    title: &[String],
    before: Option<&Statement>,
) -> Context {
    let own = statement
        .terms
        .iter()
        .filter(|term| term.segment == segment && !statement.is_named(term.at))
        .count();
    let rest = if own < 2 { 0.7 } else { 0.35 };
    let mut near: Vec<(String, f64)> = Vec::new();
    let mut add = |sense: &str, weight: f64| match near.iter_mut().find(|(known, _)| known == sense)
    {
        Some((_, known)) => *known = known.max(weight),
        None => near.push((sense.to_owned(), weight)),
    };
    // What a number counts is what is compared, and tells little of which.
    let counted = |at: usize| {
        statement
            .values
            .iter()
            .any(|v| v.to == at + 1 && v.dimension().starts_with("count"))
    };
    for term in statement.terms.iter().filter(|term| !term.denied) {
        let weight = if term.segment == segment { 1.0 } else { rest };
        add(
            &term.sense,
            if counted(term.at) {
                weight / 2.0
            } else {
                weight
            },
        );
    }
    title.iter().for_each(|sense| add(sense, 0.25));
    for term in before
        .into_iter()
        .flat_map(|before| &before.terms)
        .filter(|term| !term.denied)
    {
        add(&term.sense, 0.6);
    }
    Context { near }
}

impl Corpus {
    /// Whether a sense tells one thing of the corpus from another.
    pub(crate) fn is_telling(&self, sense: &str) -> bool {
        !self.is_weighed() || self.share(sense) <= COMMON
    }

    /// Whether there are documents enough for the weights of words to say how much they tell.
    pub(crate) fn is_weighed(&self) -> bool {
        self.documents.len() >= FEW
    }

    pub(crate) fn shared(&self, a: &Context, b: &Context) -> Shared {
        let mut shared = Shared::default();
        for (sense, x) in &a.near {
            let both = b
                .near
                .iter()
                .filter(|(other, _)| is_one(sense, other))
                .map(|(_, y)| x.min(*y));
            let Some(weight) = both.reduce(f64::max) else {
                continue;
            };
            shared.weight += weight * self.weight(sense);
            if weight >= 0.6 && self.is_telling(sense) {
                shared.telling += 1;
            }
        }
        let whole = |context: &Context| -> f64 {
            context
                .near
                .iter()
                .filter(|(_, near)| *near >= 0.6)
                .map(|(sense, _)| self.weight(sense))
                .sum()
        };
        let both = (whole(a) * whole(b)).sqrt();
        shared.ratio = if both > 0.0 {
            shared.weight / both
        } else {
            0.0
        };
        shared
    }
}
