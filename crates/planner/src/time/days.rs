//! Weekdays, days of the month and dates.

use super::Clock;
use super::DayCheck;
use super::cursor::Cursor;
use super::kind::{Kind, Unit};
use super::token::Shape;

/// Days of the week.
#[derive(Debug, Clone, Default)]
pub(super) struct Days {
    /// Bit 0 = Sunday.
    pub mask: u8,
    /// 2 = every other one.
    pub every: u32,
    /// The form says that it repeats.
    pub habit: bool,
    /// A preposition or `every` stands before it.
    pub led: bool,
    /// `every` stands before it.
    pub each: bool,
    /// It restricts something, and starts nothing.
    pub only: bool,
    /// Which one of the month.
    pub check: Option<DayCheck>,
    /// Only short names, which are words of their own too.
    pub short: bool,
}

/// Days of each month, quarter or year.
#[derive(Debug, Clone)]
pub(super) struct MonthDays {
    /// 1 to 31, 0 = the last.
    pub days: Vec<u32>,
    /// The period, when it was said.
    pub of: Option<Unit>,
    /// Which working day.
    pub check: Option<DayCheck>,
}

/// A date.
#[derive(Debug, Clone, Copy)]
pub(super) struct Date {
    pub year: Option<i32>,
    pub month: u32,
    pub day: u32,
    /// `every` stands before it.
    pub each: bool,
}

fn bits(digits: i32) -> u8 {
    digits.to_string().bytes().fold(0, |mask, digit| {
        mask | 1 << (digit.saturating_sub(b'0') % 7)
    })
}

/// One weekday or set: bits, whether its form repeats, whether it is short.
fn one(c: &mut Cursor<'_>) -> Option<(u8, bool, bool)> {
    for (kind, habit) in [(Kind::Sets, true), (Kind::Set, false)] {
        if let Some([digits, _]) = c.eat(kind) {
            return Some((bits(digits), habit, false));
        }
    }
    for (kind, habit) in [
        (Kind::Days, true),
        (Kind::Day, false),
        (Kind::DayAbbr, false),
    ] {
        if let Some([day, _]) = c.eat(kind) {
            let short = kind == Kind::DayAbbr;
            if short {
                c.glued_mark('.');
            }
            return Some((1 << day, habit, short));
        }
    }
    None
}

/// All days from one to another.
fn span(from: u8, to: u8) -> u8 {
    let mut mask = from;
    let mut day = from;
    while day != to {
        day = if day == 1 << 6 { 1 } else { day << 1 };
        mask |= day;
    }
    mask
}

/// All days from the first of two to the second, in a week that begins on Monday.
fn enclosed(mask: u8) -> Option<u8> {
    let mut days = listed(mask);
    days.sort_by_key(|day| (*day + 6) % 7);
    match days.as_slice() {
        [from, to] => Some(span(1 << from, 1 << to)),
        _ => None,
    }
}

/// A list of weekdays and ranges.
fn list(c: &mut Cursor<'_>) -> Option<(u8, bool, bool)> {
    let mut mask = 0u8;
    let mut habit = false;
    let mut short = true;
    let mut parts = 0;
    loop {
        let read = c.attempt(|c| {
            if parts > 0 {
                let comma = c.mark(',');
                let mark = ['/', '&', '+'].iter().any(|m| c.mark(*m));
                let word = c.eat(Kind::And).or_else(|| c.eat(Kind::Or)).is_some();
                (comma || mark || word).then_some(())?;
                while c.eat(Kind::On).is_some() || c.eat(Kind::The).is_some() {}
            }
            let (day, habit, short) = one(c)?;
            let range = c.attempt(|c| {
                let dash = c.mark('-') || c.mark('\u{2013}');
                (dash || c.eat(Kind::UpTo).is_some()).then_some(())?;
                one(c)
            });
            Some(match range {
                Some((to, more, abbr)) if day.is_power_of_two() && to.is_power_of_two() => {
                    (span(day, to), habit || more, abbr && short && day == to)
                }
                _ => (day, habit, short),
            })
        });
        let Some((days, repeats, abbr)) = read.filter(|(days, ..)| mask & days == 0) else {
            break;
        };
        parts += 1;
        mask |= days;
        habit |= repeats;
        short = abbr && short && parts == 1;
    }
    (mask != 0).then_some((mask, habit, short))
}

/// `of each month`, `jedes Monats`.
fn of_period(c: &mut Cursor<'_>) -> Option<Unit> {
    let of = c.eat(Kind::Of).is_some();
    let each = c.eat(Kind::Each).is_some();
    let the = !each && (c.eat(Kind::The).is_some() || c.eat(Kind::One).is_some());
    let each = each || the && c.eat(Kind::Each).is_some();
    (of || each || the).then_some(())?;
    c.unit(false).filter(|u| *u >= Unit::Month)
}

/// `every Monday and Thursday`, `Mon-Fri`, `on weekdays`, `the first Monday of the month`.
pub(super) fn days(c: &mut Cursor<'_>) -> Option<Days> {
    let test = c.follows(Kind::Is);
    let short_name = c.token().is_some_and(|t| t.capital);
    let mut only = c.eat(Kind::Only).is_some();
    let mut led = false;
    let between = c.eat(Kind::Between).is_some();
    let whole = c.clone();
    while c.eat(Kind::On).is_some() || c.eat(Kind::The).is_some() || c.eat(Kind::From).is_some() {
        led = true;
    }
    let mut each = c.eat(Kind::Each).is_some();
    c.eat(Kind::The);
    let last = c.eat(Kind::LastAdj).is_some();
    let other = each && c.eat(Kind::Other).is_some();
    let nth = if last || other {
        None
    } else {
        c.attempt(ordinal)
    };
    let mut found = c.attempt(list);
    if found.is_none() && !last && nth.is_none() && !other {
        // a form may begin with the preposition that was just read
        *c = whole;
        each = false;
        found = c.attempt(list);
    }
    let (mut mask, habit, short) = found?;
    if between {
        mask = enclosed(mask)?;
        led = true;
    }
    let alternate = c.eat(Kind::Alternate).is_some();
    let period = if last || nth.is_some() {
        c.attempt(of_period)
    } else {
        None
    };
    let check = match (last, nth, period) {
        (true, _, Some(Unit::Month)) if mask == 0b11_1110 => Some(DayCheck::LastWorkday),
        (true, _, Some(Unit::Month)) => Some(DayCheck::LastOfItsKind),
        (_, Some(1), Some(Unit::Month)) if mask == 0b11_1110 => Some(DayCheck::FirstWorkday),
        (_, Some(nth), Some(Unit::Month)) if nth <= 5 => Some(DayCheck::Nth { nth }),
        (false, None, None) => None,
        (_, Some(2), None) if each => None,
        // "every first Monday" leaves the month out
        (true, None, None) if each => {
            c.cost += 1;
            Some(DayCheck::LastOfItsKind)
        }
        (_, Some(nth), None) if each && nth <= 5 => {
            c.cost += 1;
            Some(DayCheck::Nth { nth })
        }
        _ => return None,
    };
    let second = check.is_none() && nth == Some(2);
    only |= c.eat(Kind::Only).is_some() || test;
    if short && !each && !short_name && !led {
        return None;
    }
    Some(Days {
        mask,
        every: if other || second || alternate { 2 } else { 1 },
        habit: (habit || each || check.is_some() || alternate) && !only,
        led: led || each || habit,
        each,
        only,
        check,
        short: short && !each,
    })
}

/// The days that `except Sunday` takes away.
pub(super) fn except(c: &mut Cursor<'_>) -> Option<u8> {
    c.eat(Kind::Except)?;
    while c.eat(Kind::On).is_some() || c.eat(Kind::The).is_some() {}
    list(c).map(|(mask, ..)| mask)
}

/// `3rd`, `third`, `15.`
pub(super) fn ordinal(c: &mut Cursor<'_>) -> Option<u32> {
    if let Some([n, _]) = c.eat(Kind::Ord) {
        return u32::try_from(n).ok();
    }
    c.attempt(|c| {
        let n = c.digits().filter(|n| (1..=31).contains(n))?;
        let suffix = c.token().is_some_and(|t| t.glued) && c.eat(Kind::Suffix).is_some();
        let dot = !suffix && c.glued_mark('.') && !c.token().is_some_and(|t| t.glued);
        (suffix || dot).then_some(n)
    })
}

/// A day of the month. `bare`: a mere number is one.
fn month_day(c: &mut Cursor<'_>, bare: bool) -> Option<(u32, Option<DayCheck>)> {
    let spoken = c.sees(Kind::Ord) || c.sees(Kind::LastAdj);
    let last = c.eat(Kind::LastAdj).is_some();
    let day = if last {
        Some(0)
    } else {
        let number = c.eat(Kind::DayNo).is_some();
        c.attempt(ordinal).or_else(|| {
            let n = c.digits().filter(|n| (1..=31).contains(n));
            n.filter(|_| number || bare)
        })
    }?;
    if c.eat(Kind::Workday).is_some() {
        return match day {
            0 => Some((0, Some(DayCheck::LastWorkday))),
            1 => Some((1, Some(DayCheck::FirstWorkday))),
            _ => None,
        };
    }
    if spoken || !bare {
        c.attempt(|c| c.unit(false).filter(|u| *u == Unit::Day));
    }
    Some((day, None))
}

/// `on the 1st and 15th of each month`, `am letzten Tag des Monats`, `at the end of the month`. `monthly`: the period
/// was said before, so it need not be said again.
pub(super) fn month_days(c: &mut Cursor<'_>, monthly: bool) -> Option<MonthDays> {
    while c.eat(Kind::At).is_some() || c.eat(Kind::On).is_some() || c.eat(Kind::AtMarked).is_some()
    {
    }
    let each = c.eat(Kind::Each).is_some();
    c.eat(Kind::The);
    if let Some([first, unit]) = c.eat(Kind::EdgeWord) {
        return Some(edge(first, Unit::of(unit)));
    }
    if let Some(found) = c.attempt(|c| {
        let [first, _] = c.eat(Kind::Edge)?;
        c.attempt(of_period)
            .or_else(|| c.unit(false))
            .filter(|u| *u >= Unit::Month)
            .map(|u| edge(first, u))
    }) {
        return Some(found);
    }
    // "every 5th" and `cada` with a day and its number are of the month, "every 5" and "every second" count what follows
    let spoken = c.sees(Kind::Ord);
    let alone = each && !spoken && (c.sees(Kind::DayNo) || ordinal(&mut c.clone()).is_some());
    let (day, check) = month_day(c, true)?;
    let mut days = vec![day];
    while let Some((more, _)) = c.attempt(|c| {
        let comma = c.mark(',');
        let word = c.eat(Kind::And).or_else(|| c.eat(Kind::Or)).is_some();
        (comma || word).then_some(())?;
        while c.eat(Kind::On).is_some() || c.eat(Kind::The).is_some() {}
        month_day(c, false).filter(|(_, check)| check.is_none())
    }) {
        days.push(more);
    }
    let of = c.attempt(of_period);
    let ends = c.at_end() || c.sees(Kind::At) || c.sees(Kind::AtMarked);
    (of.is_some() || monthly || alone && ends).then_some(MonthDays { days, of, check })
}

fn edge(first: i32, unit: Unit) -> MonthDays {
    MonthDays {
        days: vec![u32::from(first == 1)],
        of: Some(unit),
        check: None,
    }
}

fn month(c: &mut Cursor<'_>) -> Option<u32> {
    let capital = c.token().is_some_and(|t| t.capital);
    let found = c
        .eat(Kind::Month)
        .or_else(|| if capital { c.eat(Kind::MonthCap) } else { None })?;
    c.attempt(|c| {
        let dot = c.glued_mark('.');
        (dot && !c.at_end() && !c.token().is_some_and(|t| t.capital)).then_some(())
    });
    u32::try_from(found[0]).ok()
}

fn year(c: &mut Cursor<'_>) -> Option<i32> {
    c.attempt(|c| {
        c.mark(',');
        c.eat(Kind::Of);
        c.token().filter(|t| t.key.len() == 4)?;
        c.digits().filter(|y| (1970..2200).contains(y))
    })
    .and_then(|y| i32::try_from(y).ok())
}

/// `2026-03-01`, `01.03.2026`, `March 1st`.
pub(super) fn date(c: &mut Cursor<'_>) -> Option<Date> {
    let mut each = false;
    c.attempt(|c| {
        c.eat(Kind::On);
        one(c)?;
        c.mark(',');
        Some(())
    });
    loop {
        if c.eat(Kind::Each).is_some() {
            each = true;
        } else if c.eat(Kind::On).is_none() && c.eat(Kind::The).is_none() {
            break;
        }
    }
    let found = c.attempt(in_figures).or_else(|| c.attempt(in_words))?;
    let (year, month, day) = found;
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(Date {
        year,
        month,
        day,
        each,
    })
}

type Ymd = (Option<i32>, u32, u32);

fn in_figures(c: &mut Cursor<'_>) -> Option<Ymd> {
    let long = c.token().is_some_and(|t| t.key.len() == 4);
    let first = c.digits()?;
    let mark = ['-', '.', '/'].into_iter().find(|m| c.glued_mark(*m))?;
    let second = c.token().filter(|t| t.glued).and_then(|_| c.digits())?;
    if long {
        (mark != '.' && c.glued_mark(mark)).then_some(())?;
        let day = c.two_digits()?;
        return Some((i32::try_from(first).ok(), second, day));
    }
    if mark == '-' || !c.glued_mark(mark) {
        return None;
    }
    let year = c
        .token()
        .filter(|t| t.glued && t.key.len() == 4)
        .and_then(|_| c.digits());
    // 2.5.1 is a version
    let longer = c
        .token()
        .is_some_and(|t| t.glued && !matches!(t.shape, Shape::Mark(_)));
    if year.is_none() && (mark == '/' || longer) {
        return None;
    }
    let year = year.and_then(|y| i32::try_from(y).ok());
    let american = mark == '/' && c.reader.lexicon.month_first;
    let (month, day) = match (american, first, second) {
        (true, m, d) if m <= 12 => {
            c.cost += u32::from(d <= 12 && d != m);
            (m, d)
        }
        (_, d, m) => (m, d),
    };
    Some((year, month, day))
}

fn in_words(c: &mut Cursor<'_>) -> Option<Ymd> {
    if let Some(month) = c.attempt(month) {
        c.eat(Kind::The);
        let day = c.attempt(ordinal).or_else(|| c.digits())?;
        if c.token()
            .is_some_and(|t| t.glued && t.shape == Shape::Mark(':'))
            || c.unit(true).is_some()
        {
            return None;
        }
        return Some((year(c), month, day));
    }
    let ordinal = c.attempt(ordinal);
    let day = match ordinal {
        Some(day) => day,
        None => c.digits()?,
    };
    // "order 15 in May" names no day
    if ordinal.is_none() && c.sees(Kind::In) {
        return None;
    }
    c.eat(Kind::Of);
    let month = month(c)?;
    Some((year(c), month, day))
}

/// The days of a mask, 0 = Sunday.
pub(super) fn listed(mask: u8) -> Vec<u8> {
    (0..7).filter(|day| mask & (1 << day) != 0).collect()
}

/// The clock time of a day whose hour was not said.
pub(super) const MORNING: Clock = Clock { hour: 9, minute: 0 };
