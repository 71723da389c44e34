//! Rhythms: `every 5 minutes`, `every other week`, `daily`, `twice a day`.

use super::cursor::Cursor;
use super::kind::{Kind, Unit};
use super::quantity;
use super::token::Shape;

/// What repeats: each `n` units, or `times` in each unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rhythm {
    pub n: u32,
    pub unit: Unit,
    pub times: u32,
    /// An adverb or adjective that may describe a thing; with what it costs then.
    pub loose: u32,
}

impl Rhythm {
    fn every(n: u32, unit: Unit) -> Self {
        Rhythm {
            n,
            unit,
            times: 1,
            loose: 0,
        }
    }

    /// Does it repeat more than once a day?
    pub(super) fn within_a_day(&self) -> bool {
        self.unit < Unit::Day
    }
}

/// Reads a rhythm.
pub(super) fn rhythm(c: &mut Cursor<'_>) -> Option<Rhythm> {
    c.attempt(each)
        .or_else(|| c.attempt(counted))
        .or_else(|| c.attempt(intervals))
        .or_else(|| c.attempt(adverb))
}

/// `every 5 minutes`, `every other week`, `every half hour`, `every second day`.
fn each(c: &mut Cursor<'_>) -> Option<Rhythm> {
    c.eat(Kind::Each)?;
    c.eat(Kind::Full);
    if c.eat(Kind::Other).is_some() {
        return c.unit(false).map(|unit| Rhythm::every(2, unit));
    }
    if let Some([seconds, _]) = c.eat(Kind::Span) {
        return of_seconds(u64::try_from(seconds).ok()?);
    }
    if let Some(found) = c.attempt(|c| {
        let nth = super::days::ordinal(c).filter(|n| *n > 1)?;
        c.unit(false)
            .filter(|u| *u >= Unit::Hour)
            .map(|unit| Rhythm::every(nth, unit))
    }) {
        return Some(found);
    }
    if let Some(found) = c.attempt(|c| {
        let [n, _] = c.eat(Kind::Few)?;
        c.cost += 1;
        c.unit(false)
            .map(|unit| Rhythm::every(n.unsigned_abs(), unit))
    }) {
        return Some(found);
    }
    if let Some(seconds) = c.attempt(|c| {
        c.token()
            .filter(|t| matches!(t.shape, Shape::Number(_)) || c.sees(Kind::Num))?;
        quantity::parts(c)
    }) {
        return match seconds {
            quantity::Amount::Units(n, unit) => Some(Rhythm::every(n, unit)),
            quantity::Amount::Seconds(s) => of_seconds(s),
        };
    }
    let ordinal = c.sees(Kind::Ord);
    let unit = c.unit(false)?;
    // "every second order" counts orders
    (!ordinal || !c.stranger()).then(|| Rhythm::every(1, unit))
}

/// The rhythm of a number of seconds.
pub(super) fn of_seconds(seconds: u64) -> Option<Rhythm> {
    [
        Unit::Week,
        Unit::Day,
        Unit::Hour,
        Unit::Minute,
        Unit::Second,
    ]
    .into_iter()
    .find(|unit| seconds >= unit.seconds() && seconds.is_multiple_of(unit.seconds()))
    .and_then(|unit| {
        Some(Rhythm::every(
            u32::try_from(seconds / unit.seconds()).ok()?,
            unit,
        ))
    })
}

/// `twice a day`, `3 times per hour`.
fn counted(c: &mut Cursor<'_>) -> Option<Rhythm> {
    let times = times(c)?;
    if let Some([n, unit]) = c.eat(Kind::Freq) {
        return (n == 1).then(|| Rhythm {
            times,
            ..Rhythm::every(1, Unit::of(unit))
        });
    }
    c.eat(Kind::Per)?;
    let unit = c.unit(false)?;
    Some(Rhythm {
        times,
        ..Rhythm::every(1, unit)
    })
}

/// `twice`, `3 times`, `3x`.
pub(super) fn times(c: &mut Cursor<'_>) -> Option<u32> {
    if let Some([n, _]) = c.eat(Kind::Count) {
        return Some(n.unsigned_abs());
    }
    c.attempt(|c| {
        let n = c.whole()?;
        c.eat(Kind::Fold)?;
        Some(n)
    })
}

/// `at 15-minute intervals`, `im 15-Minuten-Takt`.
fn intervals(c: &mut Cursor<'_>) -> Option<Rhythm> {
    while c.eat(Kind::At).is_some() || c.eat(Kind::In).is_some() || c.eat(Kind::Of).is_some() {}
    c.eat(Kind::One);
    let amount = quantity::parts(c)?;
    c.mark('-');
    c.eat(Kind::Interval)?;
    match amount {
        quantity::Amount::Units(n, unit) => Some(Rhythm::every(n, unit)),
        quantity::Amount::Seconds(s) => of_seconds(s),
    }
}

/// `daily`; `on the hour`. It costs more the more it looks like a part of a thing's name.
fn adverb(c: &mut Cursor<'_>) -> Option<Rhythm> {
    if c.eat(Kind::Top).is_some() {
        return Some(Rhythm::every(1, Unit::Hour));
    }
    c.mark('@');
    let the = c.follows(Kind::Noun) || c.follows(Kind::This);
    let named = c.follows(Kind::Name);
    let adjective = c.eat(Kind::FreqAdj);
    let [n, unit] = match adjective {
        Some(value) => value,
        None => c.eat(Kind::Freq)?,
    };
    let loose = match (the || named, c.stranger()) {
        (true, true) => 2,
        (true, false) => u32::from(adjective.is_some() || named) + 1,
        (false, true) => 1,
        (false, false) => u32::from(adjective.is_some()),
    };
    Some(Rhythm {
        loose,
        ..Rhythm::every(n.unsigned_abs(), Unit::of(unit))
    })
}

/// The minute of each hour: `at ten past every hour`, `every hour at minute 15`, `:15 past the hour`.
pub(super) fn minute(c: &mut Cursor<'_>) -> Option<u32> {
    let named = |c: &mut Cursor<'_>| {
        c.unit(false).filter(|u| *u == Unit::Minute)?;
        c.digits().filter(|m| *m < 60)
    };
    while c.eat(Kind::At).is_some()
        || c.eat(Kind::On).is_some()
        || c.eat(Kind::AtMarked).is_some()
        || c.eat(Kind::The).is_some()
        || c.eat(Kind::Per).is_some()
    {}
    if let Some(minute) = c.attempt(named) {
        return Some(minute);
    }
    if c.mark(':') {
        return c.two_digits().filter(|m| *m < 60);
    }
    let minute = c.attempt(|c| {
        let said = match c.eat(Kind::HourPart) {
            Some([minutes, _]) => return u32::try_from(minutes.rem_euclid(60)).ok(),
            None => c.whole().filter(|m| *m < 60)?,
        };
        c.unit(false);
        match (c.eat(Kind::Past), c.eat(Kind::To)) {
            (Some(_), _) => Some(said),
            (None, Some(_)) => Some((60 - said) % 60),
            _ => None,
        }
    })?;
    c.attempt(|c| {
        c.eat(Kind::The)?;
        c.unit(false)
    });
    Some(minute)
}
