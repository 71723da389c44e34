//! Amounts of time and what is said with them: durations, ages, distances from now, rates.

use super::TimeMeaning;
use super::cursor::Cursor;
use super::kind::{Kind, Unit};
use super::rhythm;
use super::token::Shape;

/// An amount of time.
#[derive(Debug, Clone, Copy)]
pub(super) enum Amount {
    /// A whole number of one unit.
    Units(u32, Unit),
    Seconds(u64),
}

impl Amount {
    pub(super) fn seconds(self) -> u64 {
        match self {
            Amount::Units(n, unit) => u64::from(n) * unit.seconds(),
            Amount::Seconds(s) => s,
        }
    }
}

/// A number with its decimals, as thousandths.
fn number(c: &mut Cursor<'_>) -> Option<(u64, bool)> {
    if let Some(whole) = c.digits() {
        let part = c.attempt(|c| {
            (c.glued_mark('.') || c.glued_mark(',')).then_some(())?;
            let token = c.token().filter(|t| t.glued && t.key.len() <= 3)?;
            let scale = [100, 10, 1].get(token.key.len().checked_sub(1)?).copied()?;
            c.digits().map(|n| u64::from(n) * scale)
        });
        return Some((u64::from(whole) * 1000 + part.unwrap_or_default(), true));
    }
    let [n, _] = c.eat(Kind::Num)?;
    Some((u64::try_from(n).ok()? * 1000, false))
}

/// `30 minutes`, `1.5 hours`, `one and a half hours`, `2h 15m`, `half an hour`: without an article in place of a number.
pub(super) fn parts(c: &mut Cursor<'_>) -> Option<Amount> {
    if let Some([seconds, _]) = c.eat(Kind::Span) {
        return Some(Amount::Seconds(u64::try_from(seconds).ok()?));
    }
    let (mut thousandths, digits) = number(c)?;
    if c.eat(Kind::Half).is_some() {
        thousandths += 500;
    }
    let hyphen = c.attempt(|c| c.glued_mark('-').then_some(())).is_some();
    let apart = c.token().is_some_and(|t| !t.glued);
    let unit = c.unit(digits && !(apart && hyphen))?;
    let mut all = thousandths * unit.seconds() / 1000;
    let mut whole = thousandths % 1000 == 0;
    if c.eat(Kind::Half).is_some() {
        all += unit.seconds() / 2;
        whole = false;
    }
    while let Some(more) = c.attempt(|c| smaller(c, unit)) {
        all += more;
        whole = false;
    }
    let n = u32::try_from(thousandths / 1000).ok()?;
    if all == 0 {
        return None;
    }
    Some(if whole {
        Amount::Units(n, unit)
    } else {
        Amount::Seconds(all)
    })
}

/// The smaller unit after a greater one: `1 hour and 30 minutes`, `1h30`.
fn smaller(c: &mut Cursor<'_>, than: Unit) -> Option<u64> {
    let glued = c.token().is_some_and(|t| t.glued);
    c.eat(Kind::And);
    let (thousandths, digits) = number(c)?;
    match c.unit(digits) {
        Some(unit) => (unit < than).then(|| thousandths * unit.seconds() / 1000),
        None => (glued && than == Unit::Hour).then_some(thousandths * 60 / 1000),
    }
}

/// An amount, also `a day`. The flag says that an article stood for the number.
pub(super) fn amount(c: &mut Cursor<'_>) -> Option<(Amount, bool)> {
    if let Some(found) = c.attempt(parts) {
        return Some((found, false));
    }
    if let Some(few) = c.attempt(|c| {
        let [n, _] = c.eat(Kind::Few)?;
        c.cost += 1;
        Some(Amount::Units(n.unsigned_abs(), c.unit(false)?))
    }) {
        return Some((few, false));
    }
    c.eat(Kind::One)?;
    if let Some([seconds, _]) = c.eat(Kind::Span) {
        return Some((Amount::Seconds(u64::try_from(seconds).ok()?), false));
    }
    // "a second time" counts no seconds
    let ordinal = c.sees(Kind::Ord);
    let unit = c.unit(false)?;
    if ordinal && (c.stranger() || c.sees(Kind::Fold)) {
        return None;
    }
    if c.eat(Kind::Half).is_some() {
        return Some((Amount::Seconds(unit.seconds() * 3 / 2), false));
    }
    Some((Amount::Units(1, unit), true))
}

/// What was read, and what else it may mean, with the cost of that.
pub(super) type Read = (TimeMeaning, Option<(TimeMeaning, u32)>);

fn age(older: bool, amount: Amount) -> TimeMeaning {
    TimeMeaning::Age {
        older,
        seconds: amount.seconds(),
    }
}

fn offset(amount: Amount, sign: i64) -> Option<TimeMeaning> {
    let seconds = i64::try_from(amount.seconds()).ok()? * sign;
    Some(TimeMeaning::Offset { seconds })
}

/// A duration, and what the words around it make of it.
pub(super) fn plain(c: &mut Cursor<'_>) -> Option<Read> {
    let idle = c.follows(Kind::Idle);
    // "5 emails a day"
    let counted = c.token_before().is_some_and(|t| t.shape == Shape::Word);
    let start = c.clone();
    let (amount, article) = amount(c)?;
    let duration = TimeMeaning::Duration {
        seconds: amount.seconds(),
    };
    if c.attempt(|c| c.eat(Kind::Ago)).is_some() {
        return Some((offset(amount, -1)?, None));
    }
    if c.attempt(|c| c.eat(Kind::FromNow)).is_some() {
        return Some((offset(amount, 1)?, None));
    }
    if c.attempt(|c| c.eat(Kind::Old)).is_some() {
        c.cost += 1;
        return Some((age(true, amount), None));
    }
    if idle || start.at > 0 && article && start.near(Kind::Idle, 1, 0) {
        return Some((age(true, amount), None));
    }
    c.cost += u32::from(article && counted);
    Some((duration, None))
}

/// `older than 30 days`, `at least 5 days old`, `younger than a week`.
pub(super) fn compared(c: &mut Cursor<'_>) -> Option<Read> {
    if c.eat(Kind::Newer).is_some() {
        let (amount, _) = amount(c)?;
        c.eat(Kind::Ago).or_else(|| c.eat(Kind::Old));
        return Some((age(false, amount), None));
    }
    if c.eat(Kind::Over).is_some() {
        let (amount, _) = amount(c)?;
        c.eat(Kind::Ago).or_else(|| c.eat(Kind::Old))?;
        return Some((age(true, amount), None));
    }
    c.eat(Kind::Older)?;
    let (amount, _) = amount(c)?;
    c.eat(Kind::Ago).or_else(|| c.eat(Kind::Old));
    Some((age(true, amount), None))
}

/// `not updated for 14 days`, `seit 3 Tagen offen`: only beside a negation or a state.
pub(super) fn lasting(c: &mut Cursor<'_>) -> Option<Read> {
    let before = c.near(Kind::Not, 6, 0) || c.near(Kind::Idle, 4, 0);
    let inside = c.sees(Kind::In) && !c.sees(Kind::For);
    c.eat(Kind::For).or_else(|| c.eat(Kind::In))?;
    let (amount, _) = amount(c)?;
    let after = c.near(Kind::Not, 0, 3) || c.near(Kind::Idle, 0, 3);
    (before || after && !inside).then_some(())?;
    c.cost += u32::from(inside);
    Some((age(true, amount), None))
}

/// `in 3 days`, `vor 3 Tagen`.
pub(super) fn distant(c: &mut Cursor<'_>) -> Option<Read> {
    let ago = c.attempt(|c| {
        c.eat(Kind::AgoBefore)?;
        amount(c)
    });
    if let Some((amount, _)) = ago {
        return Some((offset(amount, -1)?, None));
    }
    c.eat(Kind::In)?;
    let (amount, _) = amount(c)?;
    if c.sees(Kind::Interval) {
        return None;
    }
    if c.near(Kind::Not, 6, 0) {
        c.cost += 2;
    }
    Some((offset(amount, 1)?, None))
}

/// `in the last 24 hours`, `last week`, `les 7 derniers jours`, `this month`, `next week`.
pub(super) fn recent(c: &mut Cursor<'_>) -> Option<Read> {
    if c.eat(Kind::Since).is_some() && !c.sees(Kind::LastAdj) && !c.sees(Kind::The) {
        return since(c);
    }
    let article = c.sees(Kind::The);
    let led = c.eat(Kind::Lead).is_some();
    let count = |c: &mut Cursor<'_>| {
        c.attempt(|c| number(c))
            .map(|(n, digits)| (n / 1000, digits))
    };
    if c.attempt(|c| c.eat(Kind::This)).is_some() {
        let unit = c.unit(false).filter(|u| *u >= Unit::Day)?;
        c.cost += 1;
        return Some(if unit == Unit::Day {
            (TimeMeaning::Today, None)
        } else {
            (age(false, Amount::Units(1, unit)), None)
        });
    }
    if c.attempt(|c| c.eat(Kind::Next)).is_some() {
        return coming(c);
    }
    let mut n = count(c);
    let mut last = c.eat(Kind::LastAdj).is_some();
    n = n.or_else(|| if last { count(c) } else { None });
    if last
        && n.is_none()
        && let Some(read) = c.attempt(last_day)
    {
        return Some(read);
    }
    let few = if last && n.is_none() {
        c.eat(Kind::Few).map(|[n, _]| n)
    } else {
        None
    };
    let unit = c.unit(n.is_some_and(|(_, digits)| digits))?;
    if !last && c.attempt(|c| c.eat(Kind::NextPost)).is_some() {
        let amount = Amount::Units(u32::try_from(n.map_or(1, |(n, _)| n)).ok()?, unit);
        c.cost += 1;
        return Some((offset(amount, 1)?, None));
    }
    last |= c.eat(Kind::LastPost).is_some();
    last.then_some(())?;
    let number = match (n, few) {
        (Some((n, _)), _) => u32::try_from(n).ok()?,
        (None, Some(few)) => few.unsigned_abs(),
        (None, None) => 1,
    };
    let amount = Amount::Units(number, unit);
    let sure = n.is_some() || led && !article;
    c.cost += u32::from(!sure);
    let other = if sure {
        None
    } else {
        offset(amount, -1).map(|m| (m, 2))
    };
    Some((age(false, amount), other))
}

/// `last Friday`: within the last seven days.
fn last_day(c: &mut Cursor<'_>) -> Option<Read> {
    c.eat(Kind::Day)?;
    if c.sees(Kind::Of) {
        return None;
    }
    c.cost += 1;
    Some((age(false, Amount::Units(1, Unit::Week)), None))
}

/// `next week`, `next Monday`.
fn coming(c: &mut Cursor<'_>) -> Option<Read> {
    c.cost += 1;
    if let Some([day, _]) = c.eat(Kind::Day) {
        return Some((window(vec![u8::try_from(day).ok()?]), None));
    }
    let n = c.whole().unwrap_or(1);
    let unit = c.unit(false)?;
    Some((offset(Amount::Units(n, unit), 1)?, None))
}

fn window(weekdays: Vec<u8>) -> TimeMeaning {
    TimeMeaning::Window {
        weekdays,
        from: None,
        to: None,
        not: false,
    }
}

/// `since yesterday`, `since Monday`.
fn since(c: &mut Cursor<'_>) -> Option<Read> {
    c.cost += 1;
    if c.eat(Kind::Day).is_some() {
        return Some((age(false, Amount::Units(1, Unit::Week)), None));
    }
    let [days, _] = c.eat(Kind::RelDay).filter(|[d, _]| *d < 0)?;
    Some((
        age(false, Amount::Units(days.unsigned_abs(), Unit::Day)),
        None,
    ))
}

/// `until Friday`, `by Monday`.
pub(super) fn until(c: &mut Cursor<'_>) -> Option<Read> {
    c.eat(Kind::Until)?;
    c.eat(Kind::The);
    let [day, _] = c.eat(Kind::Day)?;
    c.cost += 1;
    Some((window(vec![u8::try_from(day).ok()?]), None))
}

/// `today`, `tomorrow`.
pub(super) fn relative_day(c: &mut Cursor<'_>) -> Option<Read> {
    let [days, _] = c.eat(Kind::RelDay)?;
    Some(match days {
        0 => (TimeMeaning::Today, None),
        n => (
            TimeMeaning::Offset {
                seconds: i64::from(n) * 86_400,
            },
            None,
        ),
    })
}

/// `at most 5 per second`, `3 times a minute`, `100 messages per day`, `10/min`.
pub(super) fn rate(c: &mut Cursor<'_>) -> Option<Read> {
    c.eat(Kind::Max);
    let (count, fold) = match c.attempt(rhythm::times) {
        Some(n) => (n, true),
        None => (c.whole()?, false),
    };
    let mut nouns = 0;
    while !fold && nouns < 2 && c.unit_ahead() && c.token().is_some_and(|t| t.shape == Shape::Word)
    {
        c.at += 1;
        nouns += 1;
    }
    let slash = c.mark('/');
    let per = slash || c.eat(Kind::PerSlash).is_some() || {
        let each = c.sees(Kind::Each);
        (nouns == 0 || !each) && c.eat(Kind::Per).is_some()
    };
    per.then_some(())?;
    let unit = c.unit(slash)?;
    let unit = Amount::Units(1, unit).seconds();
    Some((
        TimeMeaning::Rate {
            count,
            seconds: unit,
        },
        None,
    ))
}

impl Cursor<'_> {
    /// Is the next word a counted noun: no unit, no `per`?
    fn unit_ahead(&self) -> bool {
        !self.sees(Kind::Unit)
            && !self.sees(Kind::Per)
            && !self.sees(Kind::PerSlash)
            && !self.sees(Kind::And)
    }
}

/// Does a limit stand here? Then a count per unit is a rate and no schedule.
pub(super) fn limited(c: &Cursor<'_>) -> bool {
    c.sees(Kind::Max)
}
