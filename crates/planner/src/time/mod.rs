//! Times in a text: schedules, clock times, durations, ages, dates, windows, rates and zones, in four languages.
//! The words stand in `knowledge/lang/*/time.tsv` and `knowledge/timezones.tsv`; here is the grammar over their kinds.
//! It reads words only; what a time belongs to is decided by who asks.

mod clock;
mod cron;
mod cursor;
mod days;
mod kind;
mod lexicon;
mod quantity;
mod rhythm;
mod rules;
mod schedule;
mod token;
mod zone;

use crate::plan::ScheduleRule;
use cursor::{Cursor, Reader};
use kind::Kind;
use token::Shape;

/// A stretch of a text that says a time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSpan {
    /// Byte offsets into the text as given, on character boundaries.
    pub from: usize,
    pub to: usize,
    pub means: TimeMeaning,
    /// 0 = sure, 1 = the most plausible reading or a mistyped word, 2 = another reading of words that were read already,
    /// or a word of a rhythm that probably describes a thing ("the weekly report").
    pub cost: u32,
    /// The rows that said so, as `en/time.tsv:12,40`.
    pub source: String,
}

/// A clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    pub hour: u32,
    pub minute: u32,
}

/// What must hold on a day on which the rules run: what n8n's schedules cannot say themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayCheck {
    /// The nth of its weekday in the month, 1 to 5.
    Nth { nth: u32 },
    /// The last of its weekday in the month.
    LastOfItsKind,
    /// The last day of the month.
    LastDay,
    /// The first day of the month from Monday to Friday.
    FirstWorkday,
    /// The last day of the month from Monday to Friday.
    LastWorkday,
}

/// What a time means. Weekdays: 0 = Sunday to 6 = Saturday. A month is 30 days, a quarter 90, a year 365.
#[derive(Debug, Clone, PartialEq)]
pub enum TimeMeaning {
    /// It repeats. Without a clock time it runs at 9:00, a week's on Monday, a month's on the first.
    Schedule {
        rules: Vec<ScheduleRule>,
        only: Option<DayCheck>,
    },
    /// A clock time that belongs to a schedule or a date said elsewhere.
    AtTime {
        hour: u32,
        minute: u32,
    },
    /// How long: "30 minutes".
    Duration {
        seconds: u64,
    },
    /// How long ago at least (`older`) or at most: "older than 30 days", "in the last 24 hours".
    Age {
        older: bool,
        seconds: u64,
    },
    /// From now on: "in 3 days"; negative: "yesterday".
    Offset {
        seconds: i64,
    },
    Date {
        year: Option<i32>,
        month: u32,
        day: u32,
    },
    Today,
    /// Only on these days (none = all) and in these hours; `not` = only outside of them.
    Window {
        weekdays: Vec<u8>,
        from: Option<Clock>,
        to: Option<Clock>,
        not: bool,
    },
    /// So many in so many seconds.
    Rate {
        count: u32,
        seconds: u64,
    },
    /// An IANA name.
    Zone {
        name: String,
    },
}

/// The times of a text in its language (`en`, `de`, `es`, `fr`; another is read as English), in order. The best readings
/// do not overlap; another reading of the same words follows its better one, with a higher cost.
pub fn spans(text: &str, language: &str) -> Vec<TimeSpan> {
    let Some(lexicon) = lexicon::of(language) else {
        return Vec::new();
    };
    let reader = Reader {
        text,
        tokens: token::tokens(text, lexicon),
        lexicon,
    };
    let mut found: Vec<TimeSpan> = Vec::new();
    let mut at = 0;
    while at < reader.tokens.len() {
        match best(&reader, at) {
            Some((end, readings)) if end > at => {
                found.extend(readings);
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// The readings that begin at a token, and where the best one ends.
fn best(reader: &Reader<'_>, at: usize) -> Option<(usize, Vec<TimeSpan>)> {
    let token = reader.tokens.get(at)?;
    match token.shape {
        Shape::Opaque => return None,
        Shape::Mark(mark) if !matches!(mark, '@' | ':' | '(') => return None,
        Shape::Word if !begins(reader, token) => return None,
        _ => {}
    }
    let mut best: Option<(usize, u32, Vec<TimeSpan>)> = None;
    for read in READERS {
        let mut cursor = Cursor::new(reader, at);
        let Some(readings) = read(&mut cursor).filter(|r| !r.is_empty()) else {
            continue;
        };
        let cost = readings.first().map_or(0, |r| r.cost);
        if best
            .as_ref()
            .is_none_or(|(end, least, _)| cursor.at > *end || cursor.at == *end && cost < *least)
        {
            best = Some((cursor.at, cost, readings));
        }
    }
    best.map(|(end, _, readings)| (end, readings))
}

/// May a time begin with this word?
fn begins(reader: &Reader<'_>, token: &token::Token) -> bool {
    let said = reader.text.get(token.from..token.to).unwrap_or_default();
    let zones = &reader.lexicon.zones;
    reader.lexicon.words.contains(&token.key)
        || zones.codes.contains_key(said)
        || zones.regions.contains(said)
}

type Read = fn(&mut Cursor<'_>) -> Option<Vec<TimeSpan>>;

/// Each reads from a place what it can; of those that read as far, the first stands.
const READERS: [Read; 13] = [
    cron_expression,
    schedules,
    zones,
    dates,
    |c| quantities(c, quantity::compared),
    |c| quantities(c, quantity::lasting),
    |c| quantities(c, quantity::recent),
    |c| quantities(c, quantity::distant),
    |c| quantities(c, quantity::until),
    |c| quantities(c, quantity::relative_day),
    |c| quantities(c, quantity::rate),
    |c| quantities(c, quantity::plain),
    since_clock,
];

/// A span over the tokens from .. to.
fn span(c: &Cursor<'_>, from: usize, to: usize, means: TimeMeaning, cost: u32) -> Option<TimeSpan> {
    let first = c.reader.tokens.get(from)?;
    let last = c.reader.tokens.get(to.checked_sub(1)?)?;
    let mut rows: Vec<u32> = c.rows.clone();
    rows.sort_unstable();
    rows.dedup();
    let rows: Vec<String> = rows.iter().map(u32::to_string).collect();
    let source = match rows.is_empty() {
        true => "figures".to_owned(),
        false => format!("{}/time.tsv:{}", c.reader.lexicon.language, rows.join(",")),
    };
    (first.from < last.to).then_some(TimeSpan {
        from: first.from,
        to: last.to,
        means,
        cost,
        source,
    })
}

fn cron_expression(c: &mut Cursor<'_>) -> Option<Vec<TimeSpan>> {
    let from = c.at;
    while c.eat(Kind::At).is_some() || c.eat(Kind::The).is_some() {}
    if c.eat(Kind::Cron).is_some() {
        c.mark(':');
    } else {
        c.at = from;
    }
    let Shape::Cron(expression) = &c.token()?.shape else {
        return None;
    };
    let rules = vec![ScheduleRule::Cron {
        expression: expression.clone(),
    }];
    c.at += 1;
    Some(vec![span(
        c,
        from,
        c.at,
        TimeMeaning::Schedule { rules, only: None },
        0,
    )?])
}

fn schedules(c: &mut Cursor<'_>) -> Option<Vec<TimeSpan>> {
    let found = schedule::read(c)?;
    let mut all: Vec<TimeSpan> = Vec::new();
    for one in found {
        let typos = c.cost;
        all.push(span(c, one.from, one.to, one.means, one.cost + typos)?);
    }
    Some(all)
}

fn zones(c: &mut Cursor<'_>) -> Option<Vec<TimeSpan>> {
    let from = c.at;
    let (name, line) = zone::zone(c)?;
    let mut read = span(c, from, c.at, TimeMeaning::Zone { name }, 0)?;
    read.source = match line {
        0 => "IANA name".to_owned(),
        line => format!("timezones.tsv:{line}"),
    };
    Some(vec![read])
}

fn dates(c: &mut Cursor<'_>) -> Option<Vec<TimeSpan>> {
    let mut from = c.at;
    let date = days::date(c)?;
    // the preposition is none of the date's words
    while from + 1 < c.at {
        let mut ahead = Cursor::new(c.reader, from);
        if ahead.eat(Kind::On).is_none() {
            break;
        }
        from = ahead.at;
    }
    let means = TimeMeaning::Date {
        year: date.year,
        month: date.month,
        day: date.day,
    };
    Some(vec![span(c, from, c.at, means, c.cost)?])
}

fn quantities(
    c: &mut Cursor<'_>,
    read: fn(&mut Cursor<'_>) -> Option<quantity::Read>,
) -> Option<Vec<TimeSpan>> {
    let from = c.at;
    let (means, other) = read(c)?;
    let mut all = vec![span(c, from, c.at, means, c.cost)?];
    if let Some((other, cost)) = other {
        all.push(span(c, from, c.at, other, cost)?);
    }
    Some(all)
}

/// `since 9:00`.
fn since_clock(c: &mut Cursor<'_>) -> Option<Vec<TimeSpan>> {
    let from = c.at;
    c.eat(Kind::Since)?;
    let said = clock::said(c, false).filter(|s| s.marked)?;
    let means = TimeMeaning::Window {
        weekdays: Vec::new(),
        from: Some(said.clock),
        to: None,
        not: false,
    };
    Some(vec![span(c, from, c.at, means, 1)?])
}

#[cfg(test)]
mod time_tests;
