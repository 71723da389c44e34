//! How often something is done, and parts of a whole that are told in words: `twice a week`, `a third of its cheese`, `most of it`.

use crate::text::Token;
use crate::values::{Bound, Value, What, bound, written};
use crate::words::{fraction, scale, unit};

/// Seconds of the span in which how often is reckoned.
const SPAN: f64 = 31_557_600.0;
/// `four times a month` is about once a week.
const NEAR: f64 = 0.2;
/// A part that is told in words is meant so exactly, in percent.
const ABOUT: f64 = 5.0;

fn fold(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.fold.as_str())
}

fn made(at: usize, to: usize, dimension: &str, amount: f64, step: f64) -> Value {
    let what = What::Quantity {
        dimension: dimension.to_owned(),
        amount,
        step,
    };
    Value {
        from: at,
        to,
        what,
        bound: Bound::Exact,
        apart: false,
    }
}

/// `once a month`, `three times per day`, `twice weekly`.
pub(crate) fn frequency(tokens: &[Token], at: usize) -> Option<Value> {
    let (times, next) = match fold(tokens, at) {
        "once" => (1.0, at + 1),
        "twice" => (2.0, at + 1),
        "thrice" => (3.0, at + 1),
        _ if matches!(fold(tokens, at + 1), "times" | "time") => {
            (written(tokens.get(at)?)?.0, at + 2)
        }
        _ => return None,
    };
    let (span, to) = match fold(tokens, next) {
        "a" | "an" | "per" | "each" | "every" => {
            let unit = unit(fold(tokens, next + 1)).filter(|unit| unit.dimension == "time")?;
            (unit.factor, next + 2)
        }
        "hourly" => (3600.0, next + 1),
        "daily" => (86_400.0, next + 1),
        "weekly" => (604_800.0, next + 1),
        "monthly" => (SPAN / 12.0, next + 1),
        "yearly" | "annually" => (SPAN, next + 1),
        _ => return None,
    };
    let often = times * SPAN / span;
    Some(Value {
        bound: bound(tokens, at),
        ..made(at, to, "frequency", often, often * NEAR)
    })
}

/// What a part is of by the word behind it: a whole, or what something is more or less by, which is another thing. None: of neither.
pub(crate) fn share(tokens: &[Token], to: usize) -> Option<&'static str> {
    match fold(tokens, to) {
        // `a quarter of an hour`, `half of a million`
        "of" if matches!(fold(tokens, to + 1), "a" | "an") => {
            let measure = fold(tokens, to + 2);
            (unit(measure).is_none() && scale(measure).is_none()).then_some("share")
        }
        "of" => Some("share"),
        "more" | "higher" | "larger" => Some("share more"),
        "less" | "lower" | "fewer" | "smaller" => Some("share less"),
        _ => None,
    }
}

/// `a third of`, `two thirds`, `half of`, `three quarters`, `most of the`; as so many of a hundred.
pub(crate) fn part(tokens: &[Token], at: usize) -> Option<Value> {
    let most = match (fold(tokens, at), fold(tokens, at + 1)) {
        ("most", "of") => Some(at + 1),
        ("majority", "of") => Some(at + 1),
        _ => None,
    };
    // `the first half of 2022`, `most of them technicians`
    let ordered = matches!(
        at.checked_sub(1).map_or("", |before| fold(tokens, before)),
        "first" | "second" | "last" | "other" | "latter" | "early" | "late"
    );
    let pronoun = matches!(
        fold(tokens, at + 2),
        "them" | "us" | "these" | "those" | "whom" | "which"
    );
    if ordered || most.is_some() && pronoun {
        return None;
    }
    if let Some(to) = most {
        let share = made(at, to, "share", 50.0, ABOUT);
        return Some(Value {
            bound: Bound::AtLeast,
            ..share
        });
    }
    let counted = || match fold(tokens, at) {
        "a" | "one" => Some(1.0),
        _ => Some(written(tokens.get(at)?)?.0),
    };
    let (amount, to) = match fraction(fold(tokens, at)).filter(|of| *of == 2.0) {
        Some(of) => (100.0 / of, at + 1),
        None => {
            let of = fraction(fold(tokens, at + 1))?;
            (counted()? * 100.0 / of, at + 2)
        }
    };
    // `a third bridge` is none of a whole.
    let dimension = share(tokens, to).filter(|_| amount <= 100.0)?;
    Some(Value {
        bound: bound(tokens, at),
        ..made(at, to, dimension, amount, ABOUT)
    })
}
