//! Schedules: the parts of one in any order (rhythm, days, clock times, windows), put together.

use super::TimeMeaning;
use super::clock::{self, Clocks, Hours};
use super::cursor::Cursor;
use super::days::{self, Date, Days, MonthDays};
use super::kind::{Kind, Unit};
use super::quantity;
use super::rhythm::{self, Rhythm};
use super::rules::meaning;
use super::token::Shape;
use crate::plan::ScheduleRule;

/// The parts of one schedule.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    pub rhythm: Option<Rhythm>,
    pub days: Option<Days>,
    pub month_days: Option<MonthDays>,
    pub date: Option<Date>,
    pub clocks: Option<Clocks>,
    pub hours: Option<Hours>,
    pub minute: Option<u32>,
    pub except: u8,
}

/// A schedule, a clock time or a window, with what else it may be; each with its tokens.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub means: TimeMeaning,
    pub from: usize,
    pub to: usize,
    pub cost: u32,
}

fn is_clock_next(c: &Cursor<'_>) -> bool {
    let mut ahead = c.clone();
    ahead.mark(',');
    clock::clocks(&mut ahead, false, true).is_some()
}

impl Parts {
    /// Reads one more part here; `comma`: what came before ended with one.
    fn more(&mut self, c: &mut Cursor<'_>, comma: bool) -> bool {
        if let Some((minute, rhythm)) = c.attempt(|c| self.minute_of_hour(c)) {
            self.minute = Some(minute);
            self.rhythm = self.rhythm.or(rhythm);
        } else if let Some(date) = c.attempt(|c| self.yearly_date(c)) {
            self.date = Some(date);
        } else if let Some(days) = c.attempt(|c| self.days_of_months(c)) {
            self.month_days = Some(days);
        } else if let Some(days) = c.attempt(|c| self.weekdays(c, comma)) {
            self.days = Some(days);
        } else if let Some(rhythm) = c.attempt(|c| self.repeats(c)) {
            self.rhythm = Some(rhythm);
        } else if let Some(mask) = c.attempt(|c| self.exception(c)) {
            self.except = mask;
        } else if let Some(hours) = c.attempt(|c| self.window(c)) {
            self.hours = Some(hours);
        } else if let Some(clocks) = c.attempt(|c| self.times(c)) {
            self.clocks = Some(clocks);
        } else {
            return false;
        }
        true
    }

    /// The minute of each hour, with the rhythm if that stands behind it.
    fn minute_of_hour(&self, c: &mut Cursor<'_>) -> Option<(u32, Option<Rhythm>)> {
        let free = self.minute.is_none() && self.clocks.is_none();
        (free && (self.rhythm.is_none() || self.hourly())).then_some(())?;
        let minute = rhythm::minute(c)?;
        if self.rhythm.is_some() {
            return Some((minute, None));
        }
        let rhythm = rhythm::rhythm(c).filter(|r| r.unit == Unit::Hour && r.n == 1)?;
        self.is_empty().then_some((minute, Some(rhythm)))
    }

    fn yearly_date(&self, c: &mut Cursor<'_>) -> Option<Date> {
        (self.date.is_none() && (self.is_empty() || self.yearly())).then_some(())?;
        let date = days::date(c)?;
        (self.yearly() || date.each || next_is_yearly(c)).then_some(date)
    }

    fn days_of_months(&self, c: &mut Cursor<'_>) -> Option<MonthDays> {
        (self.month_days.is_none() && self.days.is_none()).then_some(())?;
        let monthly = |r: Rhythm| r.unit >= Unit::Month && r.unit < Unit::Year;
        let monthly = self.rhythm.is_some_and(monthly);
        (monthly || self.is_empty() || self.clocks.is_some()).then_some(())?;
        let days = days::month_days(c, monthly)?;
        (days.of.is_some() || monthly || !c.stranger()).then_some(days)
    }

    fn weekdays(&self, c: &mut Cursor<'_>, comma: bool) -> Option<Days> {
        let free = self.days.is_none() && self.month_days.is_none() && self.date.is_none();
        free.then_some(())?;
        let days = days::days(c)?;
        let joined = !comma || days.led || days.only || is_clock_next(c);
        ((self.is_empty() || joined) && self.fits(&days)).then_some(days)
    }

    fn repeats(&self, c: &mut Cursor<'_>) -> Option<Rhythm> {
        let checked = self.days.as_ref().is_some_and(|d| d.check.is_some());
        let limited = quantity::limited(c) || c.follows(Kind::Max);
        (self.rhythm.is_none() && !checked && !limited).then_some(())?;
        rhythm::rhythm(c).filter(|r| self.takes(r))
    }

    fn exception(&self, c: &mut Cursor<'_>) -> Option<u8> {
        (self.except == 0 && !self.is_empty()).then_some(())?;
        days::except(c)
    }

    fn window(&self, c: &mut Cursor<'_>) -> Option<Hours> {
        (self.hours.is_none() && self.clocks.is_none()).then_some(())?;
        let hours = clock::hours(c)?;
        let beside = self.rhythm.is_some_and(|r| r.within_a_day()) || next_is_within_a_day(c);
        (!hours.bare || beside).then_some(hours)
    }

    fn times(&self, c: &mut Cursor<'_>) -> Option<Clocks> {
        let within = self.rhythm.is_some_and(|r| r.within_a_day());
        (self.clocks.is_none() && self.hours.is_none() && !within).then_some(())?;
        let first = self.is_empty();
        if first && let Some(each) = c.attempt(each_part) {
            return Some(each);
        }
        let beside = self.days.is_some() || self.rhythm.is_some() || c.follows(Kind::RelDay);
        clock::clocks(c, !first, beside)
    }

    fn is_empty(&self) -> bool {
        self.rhythm.is_none()
            && self.days.is_none()
            && self.month_days.is_none()
            && self.date.is_none()
            && self.clocks.is_none()
            && self.hours.is_none()
            && self.minute.is_none()
    }

    fn hourly(&self) -> bool {
        self.rhythm.is_some_and(|r| r.unit == Unit::Hour)
    }

    fn yearly(&self) -> bool {
        self.rhythm.is_some_and(|r| r.unit == Unit::Year)
    }

    /// May these days stand beside the rhythm?
    fn fits(&self, days: &Days) -> bool {
        match self.rhythm {
            Some(r) if days.check.is_some() => r.unit == Unit::Month && r.n == 1,
            Some(r) => r.unit <= Unit::Week && (r.unit != Unit::Day || r.n == 1),
            None => true,
        }
    }

    /// May this rhythm stand beside the other parts?
    fn takes(&self, r: &Rhythm) -> bool {
        let days = self.days.is_none() || r.unit <= Unit::Week;
        let months = self.month_days.is_none() || r.unit >= Unit::Month;
        let clocks = self.clocks.is_none() || !r.within_a_day();
        days && months && clocks
    }
}

/// `every evening at 7`.
fn each_part(c: &mut Cursor<'_>) -> Option<Clocks> {
    c.eat(Kind::Each)?;
    let part = [Kind::Daytime, Kind::Part, Kind::Parts];
    part.iter().find(|kind| c.sees(**kind))?;
    let clocks = clock::clocks(c, false, true)?;
    Some(Clocks {
        habit: true,
        ..clocks
    })
}

fn next_is_within_a_day(c: &Cursor<'_>) -> bool {
    let mut ahead = c.clone();
    ahead.mark(',');
    rhythm::rhythm(&mut ahead).is_some_and(|r| r.within_a_day())
}

fn next_is_yearly(c: &Cursor<'_>) -> bool {
    let mut ahead = c.clone();
    ahead.mark(',');
    ahead.eat(Kind::Of);
    rhythm::rhythm(&mut ahead).is_some_and(|r| r.unit == Unit::Year)
}

/// The longest run of parts that makes sense, and what it means.
pub(super) fn read(c: &mut Cursor<'_>) -> Option<Vec<Found>> {
    let from = c.at;
    let mut parts = Parts::default();
    let mut best: Option<(Vec<Found>, Cursor<'_>)> = None;
    let mut ahead = c.clone();
    for _ in 0..6 {
        let mut next = ahead.clone();
        let mut comma = false;
        if !parts.is_empty() {
            comma = next.mark(',');
            let open = next.mark('(');
            while !next.sees(Kind::Except) && next.eat(Kind::Glue).is_some() {}
            comma &= !open;
        }
        let mut grown = parts.clone();
        if !grown.more(&mut next, comma) {
            break;
        }
        if next.token().is_some_and(|t| t.shape == Shape::Mark(')'))
            && c.reader
                .tokens
                .get(from..next.at)
                .is_some_and(|all| all.iter().any(|t| t.shape == Shape::Mark('(')))
        {
            next.at += 1;
        }
        parts = grown;
        ahead = next;
        if let Some(found) = meaning(&parts, from, ahead.at) {
            best = Some((found, ahead.clone()));
        }
    }
    let (mut found, end) = best?;
    *c = end;
    if let Some(first) = found.first_mut()
        && let TimeMeaning::Schedule { rules, .. } = &mut first.means
        && first.cost < 2
    {
        while let Some((more, cost)) = c.attempt(also) {
            rules.extend(more);
            first.cost = first.cost.max(cost);
            first.to = c.at;
        }
    }
    Some(found)
}

/// `and Thursday at 14:00` after a schedule.
fn also(c: &mut Cursor<'_>) -> Option<(Vec<ScheduleRule>, u32)> {
    let comma = c.mark(',') || c.mark(';');
    let and = c.eat(Kind::And).is_some() || c.mark('&');
    (comma || and).then_some(())?;
    let from = c.at;
    let mut parts = Parts::default();
    while parts.more(c, false) {}
    let exact = parts.clocks.as_ref().is_some_and(|c| c.exact);
    let sure = parts.days.is_some() && exact
        || and
            && parts
                .days
                .as_ref()
                .is_some_and(|d| d.habit && parts.clocks.is_some());
    let found = meaning(&parts, from, c.at)?.into_iter().next()?;
    match found.means {
        TimeMeaning::Schedule { rules, only: None } if sure => Some((rules, found.cost)),
        _ => None,
    }
}
