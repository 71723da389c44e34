//! What whoever says the same has to have too, whatever words it uses: each figure with what it counts or numbers, each sign in capitals,
//! each ordinal; and who did it to whom.

use crate::likeness::is_one;
use crate::names::Name;
use crate::statement::{Statement, Term};
use crate::text::{Kind, Token};
use crate::values::written;
use crate::words::{degree, denies, is_preposition, is_small, ordinal, scale};

/// Whether these sentences together have every detail of a claim.
pub(crate) fn has_details(claim: &Statement, others: &[&Statement]) -> bool {
    let all = claim.tokens.iter().enumerate().all(|(at, token)| {
        if claim.is_measured(at) {
            return true;
        }
        figure_at(claim, at).is_none_or(|figure| others.iter().any(|of| has_figure(of, &figure)))
            && ordinal(&token.fold).is_none_or(|word| others.iter().any(|of| has_ordinal(of, word)))
            && (!is_sign(claim, at) || others.iter().any(|of| has_word(of, &token.fold)))
    });
    all && !others.iter().any(|of| are_of_other_degrees(claim, of))
}

/// A number that is no value by itself (an end of a range, a number of a line, of what has no unit here), and what stands beside it.
struct Figure {
    amount: f64,
    beside: Vec<String>,
}

fn figure_at(of: &Statement, at: usize) -> Option<Figure> {
    let token = of.tokens.get(at)?;
    // `one` is a number where something is counted by it.
    let next = of.tokens.get(at + 1).map_or("", |next| next.fold.as_str());
    let counts = token.fold != "one" || ordinal(next).is_some() || scale(next).is_some();
    let (amount, _) = written(token).filter(|_| counts)?;
    let minus = at.checked_sub(1).is_some_and(|before| {
        let before = of.tokens.get(before);
        before.is_some_and(|before| before.fold == "minus")
    });
    let before = of.terms.iter().rev().find(|term| term.at < at);
    let behind = beside(of.tokens.get(at + 1..).unwrap_or_default());
    Some(Figure {
        amount: if minus { -amount } else { amount },
        beside: before
            .map(|term| term.sense.clone())
            .into_iter()
            .chain(behind)
            .collect(),
    })
}

/// The first word that tells something behind a number, or its scale or sign.
fn beside(behind: &[Token]) -> Option<String> {
    let mut words = behind.iter().filter(|token| token.kind == Kind::Word);
    let word = words.find(|token| !is_small(&token.fold))?;
    Some(crate::words::sense(&word.stem))
}

fn has_figure(of: &Statement, figure: &Figure) -> bool {
    let mut there = (0..of.tokens.len()).filter_map(|at| figure_at(of, at));
    there.any(|other| {
        let mut pairs = other.beside.iter();
        let near = pairs.any(|a| figure.beside.iter().any(|b| is_one(a, b)));
        (other.amount - figure.amount).abs() <= 1e-9 * figure.amount.abs()
            && (near || other.beside.is_empty() && figure.beside.is_empty())
    })
}

fn has_ordinal(of: &Statement, word: &str) -> bool {
    let mut tokens = of.tokens.iter();
    tokens.any(|token| ordinal(&token.fold) == Some(word))
}

/// `LX`, `XII`, `grade A`: what is written in capitals is a sign.
fn is_sign(of: &Statement, at: usize) -> bool {
    let Some(token) = of.tokens.get(at).filter(|token| token.kind == Kind::Word) else {
        return false;
    };
    let capitals = token.text.chars().all(|c| c.is_uppercase() || c == '-');
    let letter = token.text.chars().count() == 1;
    capitals && !denies(&token.fold) && !(letter && (at == 0 || token.fold == "i"))
}

fn has_word(of: &Statement, word: &str) -> bool {
    of.tokens.iter().any(|token| token.fold == word)
}

/// Whether one says `always` where the other says `rarely`.
fn are_of_other_degrees(a: &Statement, b: &Statement) -> bool {
    let degrees = |of: &Statement| -> Vec<(&'static str, &'static str)> {
        let tokens = of.tokens.iter();
        tokens.filter_map(|token| degree(&token.fold)).collect()
    };
    let (x, y) = (degrees(a), degrees(b));
    x.iter().any(|(kind, word)| {
        let mut same = y.iter().filter(|(other, _)| other == kind).peekable();
        same.peek().is_some() && same.all(|(_, other)| other != word)
    })
}

/// Whether what the one does to the other in a sentence, the other does to the one here.
pub(crate) fn are_exchanged(a: &Statement, b: &Statement) -> bool {
    names_change(a, b) || agents_differ(a, b) || agents_differ(b, a) || sides_change(a, b)
}

/// The preposition that a name stands behind; of names in a row that of the first. Empty: none.
fn role(of: &Statement, name: &Name) -> String {
    role_at(of, name.from)
}

fn role_at(of: &Statement, from: usize) -> String {
    let mut at = from;
    while let Some(before) = at.checked_sub(1).and_then(|before| of.tokens.get(before)) {
        at -= 1;
        if is_preposition(&before.fold) {
            return before.fold.clone();
        }
        let joined = matches!(before.fold.as_str(), "and" | "," | "or" | "und" | "oder");
        if joined && let Some(last) = of.names.iter().find(|last| last.to == at) {
            return role(of, last);
        }
        if before.kind != Kind::Word || of.is_verb(at) {
            break;
        }
    }
    String::new()
}

/// Whether two names are told in one breath, in whatever order.
fn are_in_a_row(of: &Statement, a: &Name, b: &Name) -> bool {
    let (first, second) = if a.from < b.from { (a, b) } else { (b, a) };
    let between = of.tokens.get(first.to..second.from).unwrap_or_default();
    let joins = ["and", ",", "or", "und", "oder", "the"];
    between
        .iter()
        .all(|token| joins.contains(&token.fold.as_str()))
}

fn names_change(a: &Statement, b: &Statement) -> bool {
    let pairs: Vec<(&Name, &Name)> = a
        .names
        .iter()
        .filter_map(|name| Some((name, b.names.iter().find(|other| other.may_be(name))?)))
        .collect();
    pairs.iter().enumerate().any(|(n, (x, u))| {
        pairs.iter().skip(n + 1).any(|(y, v)| {
            if u.from == v.from || are_in_a_row(a, x, y) && are_in_a_row(b, u, v) {
                return false;
            }
            let (of_x, of_y) = (role(a, x), role(a, y));
            let (of_u, of_v) = (role(b, u), role(b, v));
            if of_x == of_y && of_u == of_v {
                return (x.from < y.from) != (u.from < v.from);
            }
            of_x != of_y && of_x == of_v && of_y == of_u
        })
    })
}

/// Whether somebody did it in `a` (behind `by`) and somebody else of the same sentence in `b`.
fn agents_differ(a: &Statement, b: &Statement) -> bool {
    let by = |of: &Statement| {
        let mut names = of.names.iter();
        names
            .find(|name| matches!(role(of, name).as_str(), "by" | "von"))
            .cloned()
    };
    let (Some(agent), None) = (by(a), by(b)) else {
        return false;
    };
    let subject = b.names.iter().find(|name| {
        role(b, name).is_empty() && (name.to..b.tokens.len()).take(2).any(|at| b.is_verb(at))
    });
    subject.is_some_and(|subject| {
        !subject.may_be(&agent) && a.names.iter().any(|name| name.may_be(subject))
    })
}

/// Whether what stands before a deed in the one stands behind it in the other, and the other way round; both without a preposition.
fn sides_change(a: &Statement, b: &Statement) -> bool {
    let sides = |of: &Statement, deed: &Term, left: bool| -> Vec<String> {
        let of_it = of.terms.iter().filter(|term| {
            term.segment == deed.segment
                && term.at != deed.at
                && (term.at < deed.at) == left
                && role_at(of, term.at).is_empty()
        });
        of_it.map(|term| term.sense.clone()).collect()
    };
    let both = |x: &[String], y: &[String]| -> Vec<String> {
        let shared = x.iter().filter(|x| y.iter().any(|y| is_one(x, y)));
        shared.cloned().collect()
    };
    a.all_deeds().any(|deed| {
        let mut same = b.all_deeds().filter(|other| other.sense == deed.sense);
        same.any(|other| {
            let from_left = both(&sides(a, deed, true), &sides(b, other, false));
            let from_right = both(&sides(a, deed, false), &sides(b, other, true));
            a.is_passive(deed) == b.is_passive(other)
                && from_left.iter().any(|x| from_right.iter().any(|y| x != y))
        })
    })
}
