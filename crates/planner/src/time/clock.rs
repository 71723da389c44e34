//! Clock times, parts of the day and windows of hours.

use super::Clock;
use super::cursor::Cursor;
use super::kind::Kind;
use super::token::Shape;
use super::zone;

/// A clock time as it was said.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    pub clock: Clock,
    /// It cannot be a mere number.
    pub marked: bool,
    /// Its half of the day was said.
    half: bool,
}

/// Clock times said one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Clocks {
    /// Each with its tokens, from and to.
    pub list: Vec<(Clock, usize, usize)>,
    /// A clock time was said, not only a part of the day.
    pub exact: bool,
    /// The form says that it is so each day.
    pub habit: bool,
}

/// Hours of the day.
#[derive(Debug, Clone, Default)]
pub(super) struct Hours {
    pub from: Option<Clock>,
    pub to: Option<Clock>,
    /// The days that it names itself, as bits.
    pub days: u8,
    pub not: bool,
    /// Its figures could be mere numbers.
    pub bare: bool,
}

fn part(value: [i32; 2]) -> Clock {
    Clock {
        hour: u32::try_from(value[0]).unwrap_or_default(),
        minute: u32::try_from(value[1]).unwrap_or_default(),
    }
}

fn shifted(hour: u32, minutes: i32) -> Option<Clock> {
    let all = i32::try_from(hour).ok()? * 60 + minutes;
    let all = u32::try_from(all.rem_euclid(24 * 60)).ok()?;
    Some(Clock {
        hour: all / 60,
        minute: all % 60,
    })
}

/// An hour after which no unit, count or measure stands.
fn hour(c: &mut Cursor<'_>) -> Option<u32> {
    c.whole().filter(|h| *h <= 24)
}

/// A clock time. `led`: a word before it says that it is one.
pub(super) fn said(c: &mut Cursor<'_>, led: bool) -> Option<Said> {
    if let Some(value) = c.eat(Kind::ClockWord) {
        return Some(Said {
            clock: part(value),
            marked: true,
            half: true,
        });
    }
    let found = c
        .attempt(from_hour_part)
        .or_else(|| c.attempt(from_minutes));
    match found {
        Some(clock) => Some(in_half(c, clock, true)),
        None => c.attempt(|c| figures(c, led)),
    }
}

/// `half past eight`.
fn from_hour_part(c: &mut Cursor<'_>) -> Option<Clock> {
    let [minutes, _] = c.eat(Kind::HourPart)?;
    let hour = hour(c)?;
    c.eat(Kind::OClock);
    shifted(hour, minutes)
}

/// `ten past eight`. `10 to 6` in digits is a range.
fn from_minutes(c: &mut Cursor<'_>) -> Option<Clock> {
    let digits = c
        .token()
        .is_some_and(|t| matches!(t.shape, Shape::Number(_)));
    let minutes = i32::try_from(c.whole().filter(|m| *m < 60)?).ok()?;
    let unit = c.unit(false).is_some();
    let range = c.sees(Kind::UpTo);
    let minutes = if c.eat(Kind::Past).is_some() {
        minutes
    } else if (unit || !digits || !range) && c.eat(Kind::To).is_some() {
        -minutes
    } else {
        return None;
    };
    let hour = hour(c)?;
    if c.unit(false).is_some() || c.measured() {
        return None;
    }
    c.eat(Kind::OClock);
    shifted(hour, minutes)
}

/// `8`, `8:30`, `8h30`, `8 Uhr 15`, `eight o'clock`, `9am`.
fn figures(c: &mut Cursor<'_>, led: bool) -> Option<Said> {
    let mut marked = false;
    let hour = hour(c)?;
    let mut minute = c.attempt(|c| {
        let colon = c.glued_mark(':');
        (colon || c.glued_mark('.')).then_some(())?;
        let minute = c.two_digits()?;
        let dated = c
            .token()
            .is_some_and(|t| t.glued && t.shape == Shape::Mark('.'))
            && c.token_after(1)
                .is_some_and(|t| t.glued && matches!(t.shape, Shape::Number(_)));
        let sure = colon || led || c.sees(Kind::OClock) || c.sees(Kind::Am) || c.sees(Kind::Pm);
        (sure && !dated).then_some(minute)
    });
    marked |= minute.is_some();
    if minute.is_some() {
        c.attempt(|c| c.glued_mark(':').then(|| c.two_digits())?);
    }
    // "las 9 hora de Madrid" names a zone
    let zone = zone::zone(&mut c.clone()).is_some();
    let ambiguous = c
        .attempt(|c| c.eat(Kind::OClock).filter(|_| !zone))
        .map(|[ambiguous, _]| ambiguous == 1);
    if let Some(ambiguous) = ambiguous {
        let glued = c.token().is_some_and(|t| t.glued);
        if minute.is_none() {
            minute = c.attempt(|c| {
                c.token().filter(|t| t.key.len() == 2)?;
                c.digits()
                    .filter(|m| *m < 60 && (!ambiguous || glued || led))
            });
        }
        marked |= !ambiguous || led || minute.is_some();
        if !marked && !c.sees(Kind::Tail) && !c.sees(Kind::Pm) && !c.sees(Kind::Am) {
            return None;
        }
    }
    let minute = i32::try_from(minute.unwrap_or_default()).ok()?;
    let tail = c.eat(Kind::Tail).map(|[m, _]| m).or_else(|| {
        c.attempt(|c| {
            let [sign, _] = c.eat(Kind::TailPlus).filter(|_| led)?;
            let said = c.token().filter(|t| t.shape == Shape::Word)?;
            let minutes = i32::try_from(c.whole()?).ok()?;
            (said.shape == Shape::Word && (5..60).contains(&minutes)).then_some(sign * minutes)
        })
    });
    let clock = shifted(hour, minute + tail.unwrap_or_default()).filter(|_| minute < 60)?;
    let whole = in_half(c, clock, marked || tail.is_some());
    if !whole.marked
        && (!zone && c.unit(true).is_some()
            || c.measured()
            || c.glued_mark('.') && c.digits().is_some())
    {
        return None;
    }
    Some(whole)
}

/// The half of the day after a clock time.
fn in_half(c: &mut Cursor<'_>, clock: Clock, marked: bool) -> Said {
    let (am, pm) = (c.eat(Kind::Am).is_some(), c.eat(Kind::Pm).is_some());
    let hour = match clock.hour {
        h if pm && h < 12 => h + 12,
        12 if am => 0,
        h => h,
    };
    Said {
        clock: Clock {
            hour,
            minute: clock.minute,
        },
        marked: marked || am || pm,
        half: am || pm,
    }
}

/// A clock time in a part of the day: seven in the evening.
fn within(clock: Said, part: Clock) -> Clock {
    let Clock { hour, minute } = clock.clock;
    let late = part.hour >= 12 && hour < 12 || part.hour < 6 && (7..12).contains(&hour);
    let hour = match hour {
        12 if part.hour < 6 => 0,
        h if late && !clock.half => h + 12,
        h => h,
    };
    Clock { hour, minute }
}

/// A part of the day. `beside`: a day or `every` stands before it.
fn day_part(c: &mut Cursor<'_>, beside: bool) -> Option<(Clock, bool)> {
    if let Some(value) = c.eat(Kind::Parts) {
        return Some((part(value), true));
    }
    let plain = if beside { c.eat(Kind::Daytime) } else { None };
    plain
        .or_else(|| c.eat(Kind::Part))
        .map(|v| (part(v), false))
}

/// `at 9`, `um 8 Uhr`, `9am`: a clock time that may be a bare number behind its preposition.
fn preposed(c: &mut Cursor<'_>, led: bool) -> Option<(Said, bool)> {
    if let Some(found) = c.attempt(|c| {
        c.eat(Kind::At)?;
        said(c, true)
    }) {
        return Some((found, true));
    }
    c.attempt(|c| {
        let marked_only = c.eat(Kind::AtMarked).is_some() || c.mark('@');
        let found = said(c, led || marked_only)?;
        found.marked.then_some((found, false))
    })
}

/// One clock time or part of the day, or both.
fn item(c: &mut Cursor<'_>, led: bool, beside: bool) -> Option<(Clock, bool, bool, bool)> {
    let start = c.at;
    if let Some((of_day, habit)) = c.attempt(|c| day_part(c, beside)) {
        let exact = c.attempt(|c| {
            c.mark(',');
            preposed(c, true)
        });
        return Some(match exact {
            Some((clock, bare)) => (within(clock, of_day), true, habit, bare),
            None => (of_day, false, habit, false),
        });
    }
    let (clock, bare) = preposed(c, led)?;
    if !clock.marked && c.stranger() && !led {
        c.cost += u32::from(start > 0 || c.at > start);
    }
    let of_day = c.attempt(|c| day_part(c, true));
    Some(match of_day {
        Some((of_day, habit)) => (within(clock, of_day), true, habit, bare),
        None => (clock.clock, true, false, bare),
    })
}

/// Clock times in a row: `at 7:30, 12 and 18:00`.
pub(super) fn clocks(c: &mut Cursor<'_>, led: bool, beside: bool) -> Option<Clocks> {
    let from = c.at;
    let (clock, exact, habit, mut bare) = item(c, led, beside)?;
    let mut found = Clocks {
        list: vec![(clock, from, c.at)],
        exact,
        habit,
    };
    while let Some((clock, from, next, habit)) = c.attempt(|c| {
        let comma = c.mark(',');
        let and =
            c.eat(Kind::And).or_else(|| c.eat(Kind::Or)).is_some() || c.mark('&') || c.mark('/');
        (comma || and).then_some(())?;
        let from = c.at;
        if let Some((clock, _, habit, next)) = c.attempt(|c| item(c, and, beside)) {
            return Some((clock, from, next, habit));
        }
        let last = found.list.last()?.0;
        let clock = said(c, true)?.clock;
        (bare && clock.hour > last.hour && (c.at_end() || and))
            .then_some((clock, from, true, false))
    }) {
        bare |= next;
        found.habit |= habit;
        found.list.push((clock, from, c.at));
    }
    Some(found)
}

/// `between 9 and 17`, `from 9am to 5pm`, `9:00-17:00`, `business hours`, `after 18:00`.
pub(super) fn hours(c: &mut Cursor<'_>) -> Option<Hours> {
    let not = c.eat(Kind::Outside).is_some();
    if !not {
        c.attempt(|c| {
            c.eat(Kind::Inside)?;
            (c.sees(Kind::Office) || c.sees(Kind::The)).then_some(())
        });
    }
    c.attempt(|c| {
        c.eat(Kind::The)?;
        c.sees(Kind::Office).then_some(())
    });
    if let Some([from, to]) = c.eat(Kind::Office) {
        return Some(Hours {
            from: Some(part([from, 0])),
            to: Some(part([to, 0])),
            days: 0b0011_1110,
            not,
            bare: false,
        });
    }
    let found = c
        .attempt(range)
        .or_else(|| if not { None } else { c.attempt(one_sided) })?;
    Some(Hours { not, ..found })
}

fn range(c: &mut Cursor<'_>) -> Option<Hours> {
    let between = c.eat(Kind::Between).is_some();
    let led = between || c.eat(Kind::From).is_some();
    if led {
        c.eat(Kind::At);
        c.eat(Kind::The);
    }
    let from = said(c, led)?;
    let joined = if between { c.eat(Kind::And) } else { None };
    if joined.is_none() && c.eat(Kind::UpTo).is_none() && !c.mark('-') && !c.mark('\u{2013}') {
        return None;
    }
    c.attempt(|c| c.eat(Kind::At).or_else(|| c.eat(Kind::The)));
    let to = said(c, true)?;
    let bare = !from.marked && !to.marked;
    if bare && c.stranger() {
        c.cost += 1;
    }
    let mut first = from.clock;
    if to.half && !from.half && to.clock.hour >= 12 && first.hour + 12 < to.clock.hour {
        first.hour += 12;
    }
    let mut last = to.clock;
    if !to.half && last.hour <= first.hour && last.hour > 0 && last.hour < 12 && first.hour < 12 {
        last.hour += 12;
    }
    Some(Hours {
        from: Some(first),
        to: Some(last),
        days: 0,
        not: false,
        bare: bare && !between || bare && c.measured(),
    })
}

fn one_sided(c: &mut Cursor<'_>) -> Option<Hours> {
    let after = c.eat(Kind::After).is_some();
    (after || c.eat(Kind::Before).is_some()).then_some(())?;
    let clock = said(c, !after).filter(|s| s.marked)?.clock;
    Some(Hours {
        from: after.then_some(clock),
        to: (!after).then_some(clock),
        ..Hours::default()
    })
}
