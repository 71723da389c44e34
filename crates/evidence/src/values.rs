//! Numbers with their units, dates and clock times of a sentence, brought to one measure each.

use crate::rates::{frequency, part, share};
use crate::text::{Kind, Token};
use crate::words::{is_small, month, number, scale, unit};

/// How far a number is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Exact,
    About,
    AtLeast,
    AtMost,
}

/// `about 12,000` is said by what is so near it, of 1.
const LOOSE: f64 = 0.05;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// `step`: one unit of the last place that was written.
    Quantity {
        dimension: String,
        amount: f64,
        step: f64,
    },
    /// At least a year or a month.
    Date {
        year: Option<i32>,
        month: Option<u32>,
        day: Option<u32>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    /// The first token, and the one behind the last.
    pub from: usize,
    pub to: usize,
    pub what: What,
    pub bound: Bound,
    /// It is one end of a range, or a name (`unit 11`): it is compared with nothing.
    pub apart: bool,
}

impl Value {
    pub fn year(&self) -> Option<i32> {
        match self.what {
            What::Date { year, .. } => year,
            What::Quantity { .. } => None,
        }
    }

    /// How many of year, month and day it has; 0: it is no date.
    pub fn parts(&self) -> usize {
        match self.what {
            What::Date { year, month, day } => {
                usize::from(year.is_some())
                    + usize::from(month.is_some())
                    + usize::from(day.is_some())
            }
            What::Quantity { .. } => 0,
        }
    }

    /// A day of a year, in full.
    pub fn is_day(&self) -> bool {
        matches!(
            self.what,
            What::Date {
                year: Some(_),
                month: Some(_),
                day: Some(_)
            }
        )
    }

    pub fn dimension(&self) -> &str {
        match &self.what {
            What::Quantity { dimension, .. } => dimension,
            What::Date { .. } => "date",
        }
    }

    /// The number itself, however far it was meant.
    pub fn exact(&self) -> Value {
        Value {
            bound: Bound::Exact,
            ..self.clone()
        }
    }

    /// Whether another one says all that this says: as exactly, and every part of a date.
    pub fn is_said_by(&self, other: &Value) -> bool {
        match (&self.what, &other.what) {
            (What::Quantity { amount, step, .. }, What::Quantity { amount: there, .. }) => {
                let near = |within: f64| (amount - there).abs() <= within + amount.abs() * 1e-9;
                match (self.bound, other.bound) {
                    (Bound::AtLeast, Bound::Exact | Bound::About | Bound::AtLeast) => {
                        there >= amount
                    }
                    (Bound::AtMost, Bound::Exact | Bound::About | Bound::AtMost) => there <= amount,
                    (Bound::About, _) => near(LOOSE * amount.abs().max(*step)),
                    (_, Bound::Exact | Bound::About) => near(step / 2.0),
                    _ => false,
                }
            }
            (
                What::Date { month, day, .. },
                What::Date {
                    month: there_month,
                    day: there_day,
                    ..
                },
            ) => {
                self.agrees(other)
                    && (month.is_none() || there_month.is_some())
                    && (day.is_none() || there_day.is_some())
            }
            _ => false,
        }
    }

    /// Whether the two say the same, as far as both say it. They are of one dimension.
    pub fn agrees(&self, other: &Value) -> bool {
        match (&self.what, &other.what) {
            (
                What::Quantity {
                    amount: a, step: x, ..
                },
                What::Quantity {
                    amount: b, step: y, ..
                },
            ) => {
                let near = (a - b).abs() <= x.max(*y) / 2.0 + a.abs() * 1e-9;
                let loose = self.bound == Bound::About || other.bound == Bound::About;
                near || loose && (a - b).abs() <= 0.15 * a.abs().max(b.abs())
                    || self.bound == Bound::AtLeast && b >= a
                    || other.bound == Bound::AtLeast && a >= b
                    || self.bound == Bound::AtMost && b <= a
                    || other.bound == Bound::AtMost && a <= b
            }
            (
                What::Date { year, month, day },
                What::Date {
                    year: y,
                    month: m,
                    day: d,
                },
            ) => {
                let same = |a: Option<i64>, b: Option<i64>| a.is_none() || b.is_none() || a == b;
                same(year.map(i64::from), y.map(i64::from))
                    && same(month.map(i64::from), m.map(i64::from))
                    && same(day.map(i64::from), d.map(i64::from))
            }
            _ => false,
        }
    }
}

/// The values of a sentence, in its order.
pub(crate) fn values(tokens: &[Token]) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let next = date(tokens, at)
            .or_else(|| frequency(tokens, at))
            .or_else(|| part(tokens, at))
            .or_else(|| quantity(tokens, at))
            .or_else(|| elided(tokens, at, &found))
            .or_else(|| bare(tokens, at));
        match next {
            Some(value) => {
                at = value.to.max(at + 1);
                found.push(value);
            }
            None => at += 1,
        }
    }
    ranges(tokens, &mut found);
    with_years(&mut found);
    found
}

/// A day without a year is of the only year that the sentence names: `1987: on 12 October …`.
fn with_years(values: &mut [Value]) {
    let mut years: Vec<i32> = values.iter().filter_map(Value::year).collect();
    years.dedup();
    let [only] = years.as_slice() else { return };
    for value in values.iter_mut() {
        if let What::Date {
            year: year @ None, ..
        } = &mut value.what
        {
            *year = Some(*only);
        }
    }
}

/// Both ends of `30 to 70 percent` and `between 2 and 3 hours`.
fn ranges(tokens: &[Token], values: &mut [Value]) {
    let ends: Vec<(usize, usize)> = values.iter().map(|v| (v.from, v.to)).collect();
    for (n, pair) in ends.windows(2).enumerate() {
        let &[(from, left), (right, _)] = pair else {
            continue;
        };
        let between: Vec<&str> = tokens
            .get(left..right)
            .unwrap_or_default()
            .iter()
            .map(|t| t.fold.as_str())
            .collect();
        let word = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map(|t| t.fold.as_str());
        let is_range = matches!(between.as_slice(), ["to" | "-" | "–" | "until" | "or"])
            && right == left + 1
            || between == ["and"] && word(from.checked_sub(1)) == Some("between");
        if is_range {
            values
                .iter_mut()
                .skip(n)
                .take(2)
                .for_each(|value| value.apart = true);
        }
    }
}

fn fold(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.fold.as_str())
}

fn whole(tokens: &[Token], at: usize) -> Option<u32> {
    let token = tokens.get(at).filter(|token| token.kind == Kind::Number)?;
    token.text.parse().ok()
}

fn day(tokens: &[Token], at: usize) -> Option<u32> {
    whole(tokens, at).filter(|day| (1..=31).contains(day))
}

fn year(tokens: &[Token], at: usize) -> Option<i32> {
    let token = tokens
        .get(at)
        .filter(|token| token.kind == Kind::Number && token.text.len() == 4)?;
    token
        .text
        .parse()
        .ok()
        .filter(|year| (1000..2200).contains(year))
}

/// `14 May 2021`, `May 14, 2021`, `May 2021`, `2021-05-14`, `2021`.
fn date(tokens: &[Token], at: usize) -> Option<Value> {
    let made = |to: usize, year: Option<i32>, month: Option<u32>, day: Option<u32>| {
        Some(Value {
            from: at,
            to,
            what: What::Date { year, month, day },
            bound: Bound::Exact,
            apart: false,
        })
    };
    let named = |at: usize| {
        tokens
            .get(at)
            .filter(|t| t.kind == Kind::Word && t.capital)
            .and_then(|t| month(&t.fold))
    };
    if let Some(d) = day(tokens, at) {
        let ordinal = usize::from(matches!(
            fold(tokens, at + 1),
            "st" | "nd" | "rd" | "th" | "."
        ));
        let of = usize::from(fold(tokens, at + 1 + ordinal) == "of");
        let m = at + 1 + ordinal + of;
        if let Some(month) = named(m) {
            let comma = usize::from(fold(tokens, m + 1) == ",");
            return match year(tokens, m + 1 + comma) {
                Some(y) => made(m + 2 + comma, Some(y), Some(month), Some(d)),
                None => made(m + 1, None, Some(month), Some(d)),
            };
        }
    }
    if let Some(month) = named(at) {
        if let Some(y) = year(tokens, at + 1) {
            return made(at + 2, Some(y), Some(month), None);
        }
        let d = day(tokens, at + 1)?;
        let comma = usize::from(fold(tokens, at + 2) == ",");
        return match year(tokens, at + 2 + comma) {
            Some(y) => made(at + 3 + comma, Some(y), Some(month), Some(d)),
            None => made(at + 2, None, Some(month), Some(d)),
        };
    }
    let y = year(tokens, at)?;
    if fold(tokens, at + 1) == "-" && fold(tokens, at + 3) == "-" {
        return made(
            at + 5,
            Some(y),
            whole(tokens, at + 2),
            whole(tokens, at + 4),
        );
    }
    let before = at.checked_sub(1).map_or("", |before| fold(tokens, before));
    let dated = matches!(
        before,
        "in" | "of"
            | "since"
            | "until"
            | "till"
            | "by"
            | "from"
            | "during"
            | "before"
            | "after"
            | "year"
            | "and"
            | "to"
            | "for"
            | "summer"
            | "winter"
            | "spring"
            | "autumn"
            | "early"
            | "late"
            | "-"
            | "–"
            | "("
            | ""
    );
    let counted = unit_at(tokens, at + 1).is_some() || counted_noun(tokens, at + 1).is_some();
    (dated || !counted)
        .then(|| made(at + 1, Some(y), None, None))
        .flatten()
}

/// `24`, `twenty-four`, `three`.
pub(crate) fn written(token: &Token) -> Option<(f64, f64)> {
    if token.kind == Kind::Number {
        return token.amount.map(|amount| (amount.number, amount.step));
    }
    if let Some((tens, ones)) = token.fold.split_once('-') {
        let (tens, ones) = (number(tens)?, number(ones)?);
        return (tens >= 20.0 && ones < 10.0).then_some((tens + ones, 1.0));
    }
    Some((number(&token.fold)?, 1.0))
}

fn clock(tokens: &[Token], at: usize) -> Option<Value> {
    let token = tokens.get(at).filter(|token| token.kind == Kind::Number)?;
    let (hours, minutes) = token.text.split_once(':')?;
    let amount = hours.parse::<f64>().ok()? * 60.0 + minutes.parse::<f64>().ok()?;
    let what = What::Quantity {
        dimension: "clock".to_owned(),
        amount,
        step: 1.0,
    };
    Some(Value {
        from: at,
        to: at + 1,
        what,
        bound: Bound::Exact,
        apart: false,
    })
}

/// The words of a label, at most.
const LABEL: usize = 6;

/// Words before a number that make it a name.
const LABELS: [&str; 22] = [
    "unit",
    "no",
    "nr",
    "number",
    "page",
    "chapter",
    "phase",
    "line",
    "route",
    "report",
    "act",
    "section",
    "article",
    "paragraph",
    "room",
    "platform",
    "type",
    "model",
    "version",
    "act",
    "class",
    "road",
];

fn quantity(tokens: &[Token], at: usize) -> Option<Value> {
    if let Some(clock) = clock(tokens, at) {
        return Some(clock);
    }
    let token = tokens.get(at)?;
    let (mut amount, mut step) = written(token)?;
    let mut next = at + 1;
    while let Some(by) = tokens.get(next).and_then(|token| scale(&token.fold)) {
        amount *= by;
        // `three hundred` is a round number.
        step *= if token.kind == Kind::Number {
            by
        } else {
            by.min(100.0)
        };
        next += 1;
    }
    // `3 Mio. Euro`
    if next > at + 1 && fold(tokens, next) == "." && unit_at(tokens, next + 1).is_some() {
        next += 1;
    }
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let symbol = before.and_then(|token| {
        (token.kind == Kind::Mark)
            .then(|| unit(&token.fold))
            .flatten()
    });
    let (dimension, factor, to) = match symbol
        .map(|unit| (unit, next))
        .or_else(|| unit_at(tokens, next))
    {
        Some((unit, to)) => {
            let of_more = share(tokens, to).filter(|_| unit.dimension == "share");
            let dimension = of_more.unwrap_or(&unit.dimension).to_owned();
            per(tokens, dimension, unit.factor, to)
        }
        None => {
            let (noun, to) = match token.fold.as_str() {
                "one" => one_of_each(tokens, next)?,
                _ => counted_noun(tokens, next).or_else(|| labelled(tokens, at, next))?,
            };
            (format!("count {noun}"), 1.0, to)
        }
    };
    // `the four-day week` says which week it is.
    let kind = dimension == "time" && fold(tokens, next) == "-" && to < tokens.len();
    // `five years ago` says when.
    let kind = kind
        || dimension == "time"
            && matches!(
                fold(tokens, to),
                "ago" | "later" | "earlier" | "after" | "before"
            );
    let apart = kind || before.is_some_and(|token| LABELS.contains(&token.fold.as_str()));
    let what = What::Quantity {
        dimension,
        amount: amount * factor * sign(before),
        step: step * factor,
    };
    Some(Value {
        from: at,
        to,
        what,
        bound: bound(tokens, at),
        apart,
    })
}

/// `minus 12 degrees`
fn sign(before: Option<&Token>) -> f64 {
    match before {
        Some(token) if token.fold == "minus" => -1.0,
        _ => 1.0,
    }
}

/// A unit at this place, behind a hyphen too, and the place behind it.
fn unit_at(tokens: &[Token], at: usize) -> Option<(&'static crate::words::Unit, usize)> {
    let at = at + usize::from(fold(tokens, at) == "-");
    let raised = format!("{}{}", fold(tokens, at), fold(tokens, at + 1));
    if raised.ends_with(['2', '3', '²', '³'])
        && let Some(unit) = unit(&raised)
    {
        return Some((unit, at + 2));
    }
    let two = format!("{} {}", fold(tokens, at), fold(tokens, at + 1));
    if let Some(unit) = unit(&two) {
        return Some((unit, at + 2));
    }
    Some((unit(fold(tokens, at))?, at + 1))
}

/// `per hour`, `an hour`, `/h` behind a unit. A rate by days and longer stays the amount itself: texts leave it out as often as not.
fn per(tokens: &[Token], dimension: String, factor: f64, to: usize) -> (String, f64, usize) {
    let over = match fold(tokens, to) {
        "per" | "/" | "a" | "an" | "each" | "every" => fold(tokens, to + 1),
        _ => return (dimension, factor, to),
    };
    let over = if over == "h" { "hour" } else { over };
    match unit(over) {
        Some(by) if by.dimension == "time" && by.factor >= 86400.0 => (dimension, factor, to + 2),
        Some(by) => (
            format!("{dimension} by {}", by.dimension),
            factor / by.factor,
            to + 2,
        ),
        None => (dimension, factor, to),
    }
}

/// The thing that a number counts: the first word in the plural behind it, with at most two words between.
fn counted_noun(tokens: &[Token], from: usize) -> Option<(String, usize)> {
    for at in from..from + 3 {
        let token = tokens
            .get(at)
            .filter(|t| t.kind == Kind::Word && (!is_small(&t.fold) || t.fold == "more"))?;
        if is_plural(&token.fold) {
            return Some((crate::words::sense(&token.stem), at + 1));
        }
    }
    None
}

fn is_plural(word: &str) -> bool {
    let ends =
        word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("'s");
    ends || matches!(word, "people" | "children" | "men" | "women" | "staff")
}

/// `Clear nights per year: 212`: the thing that a number behind its label counts.
fn labelled(tokens: &[Token], at: usize, to: usize) -> Option<(String, usize)> {
    let colon = at
        .checked_sub(1)
        .filter(|colon| fold(tokens, *colon) == ":")?;
    let label = tokens.get(..colon)?.iter().rev().take(LABEL);
    let label: Vec<&Token> = label.take_while(|t| t.kind == Kind::Word).collect();
    let mut words = label.iter().rev();
    let noun = words.find(|t| is_plural(&t.fold) && !is_small(&t.fold))?;
    Some((crate::words::sense(&noun.stem), to))
}

/// `grew to 4,690`, `Output: 21`: a number of three figures or more of what the part before it names, the last noun that it has. Empty
/// where nobody can tell.
fn bare(tokens: &[Token], at: usize) -> Option<Value> {
    let to = at + 1;
    let before = at.checked_sub(1).map_or("", |before| fold(tokens, before));
    let next = fold(tokens, to);
    let digits = tokens.get(at).is_some_and(|t| t.kind == Kind::Number);
    let behind = matches!(
        before,
        "to" | "at"
            | "from"
            | "is"
            | "was"
            | "were"
            | "by"
            | ":"
            | "of"
            | "than"
            | "only"
            | "about"
            | "nearly"
            | "almost"
            | "reached"
    );
    let ends = tokens.get(to).is_none_or(|t| t.kind == Kind::Mark)
        || matches!(
            next,
            "in" | "to"
                | "and"
                | "on"
                | "at"
                | "by"
                | "from"
                | "after"
                | "for"
                | "of"
                | "last"
                | "this"
        );
    // `a magnitude of 4.8`
    let of = at
        .checked_sub(2)
        .and_then(|of| tokens.get(of))
        .filter(|t| before == "of" && t.kind == Kind::Word);
    let noun = of.map_or_else(String::new, |noun| crate::words::sense(&noun.stem));
    let (amount, step) = written(tokens.get(at)?).filter(|_| digits && behind && ends)?;
    let what = What::Quantity {
        dimension: format!("count {noun}"),
        amount,
        step,
    };
    Some(Value {
        from: at,
        to,
        what,
        bound: bound(tokens, at),
        apart: false,
    })
}

/// `one tree of each variety`: the thing of which there is one each. Any other `one` may be no number.
fn one_of_each(tokens: &[Token], from: usize) -> Option<(String, usize)> {
    for at in from..from + 3 {
        let token = tokens
            .get(at)
            .filter(|t| t.kind == Kind::Word && !is_small(&t.fold))?;
        let each = match fold(tokens, at + 1) {
            "of" | "for" | "from" | "in" | "to" => fold(tokens, at + 2),
            next => next,
        };
        if matches!(each, "each" | "every" | "per") {
            return Some((crate::words::sense(&token.stem), at + 1));
        }
    }
    None
}

/// `38,500 visitors in 2023, after 31,200 in 2022`: a number of the same things as the one before it.
fn elided(tokens: &[Token], at: usize, before: &[Value]) -> Option<Value> {
    let last = before
        .iter()
        .rev()
        .find(|value| value.dimension() != "date")?;
    let dimension = last.dimension();
    let token = tokens.get(at).filter(|token| token.kind == Kind::Number)?;
    let (amount, step) = written(token).filter(|_| dimension != "clock")?;
    // What is left out is the unit of the one before.
    let of_one = match (&last.what, tokens.get(last.from).and_then(written)) {
        (What::Quantity { amount, .. }, Some((of, _))) if of > 0.0 => amount / of,
        _ => 1.0,
    };
    let word = at.checked_sub(1).map_or("", |before| fold(tokens, before));
    let of_year = matches!(word, "," | "and" | ";")
        && fold(tokens, at + 1) == "in"
        && year(tokens, at + 2).is_some();
    (of_year || matches!(word, "after" | "from" | "against" | "than" | "been")).then(|| Value {
        from: at,
        to: at + 1,
        what: What::Quantity {
            dimension: dimension.to_owned(),
            amount: amount * of_one,
            step: step * of_one,
        },
        bound: Bound::Exact,
        apart: false,
    })
}

/// How far the words before a number say that it is meant.
pub(crate) fn bound(tokens: &[Token], at: usize) -> Bound {
    let before: Vec<&str> = tokens
        .get(at.saturating_sub(3)..at)
        .unwrap_or_default()
        .iter()
        .map(|t| t.fold.as_str())
        .collect();
    match before.as_slice() {
        [
            ..,
            "about" | "some" | "around" | "roughly" | "nearly" | "almost" | "approximately"
            | "circa" | "ca" | "close",
        ] => Bound::About,
        [.., "no" | "not", "less" | "fewer", "than"]
        | [.., "at", "least"]
        | [.., "over" | "above"] => Bound::AtLeast,
        [.., "no" | "not", "more", "than"]
        | [.., "less" | "fewer", "than"]
        | [.., "at", "most"]
        | [.., "up", "to"]
        | [.., "under" | "below"] => Bound::AtMost,
        [.., "more", "than"] => Bound::AtLeast,
        _ => Bound::Exact,
    }
}
