//! What the parts of a schedule mean together: rules, a window or clock times.

use super::clock::{Clocks, Hours};
use super::days::{self, Days, MORNING, MonthDays};
use super::kind::Unit;
use super::rhythm::Rhythm;
use super::schedule::{Found, Parts};
use super::{Clock, DayCheck, TimeMeaning};
use crate::plan::ScheduleRule;

/// What the parts mean together.
pub(super) fn meaning(parts: &Parts, from: usize, to: usize) -> Option<Vec<Found>> {
    let one = |means, cost| Found {
        means,
        from,
        to,
        cost,
    };
    let schedule = |rules, only, cost| Some(vec![one(TimeMeaning::Schedule { rules, only }, cost)]);
    let loose = parts.rhythm.map_or(0, |r| r.loose);
    let exact = parts.clocks.as_ref().is_some_and(|c| c.exact);
    let loose = if exact || parts.days.is_some() {
        0
    } else {
        loose
    };
    if let Some(date) = parts.date {
        let (m, d) = (date.month, date.day);
        return schedule(crons(parts, &format!("{d} {m} *")), None, 0);
    }
    if let Some(month_days) = &parts.month_days {
        let (rules, only) = of_months(parts, month_days)?;
        return schedule(rules, only, loose);
    }
    if let Some(rhythm) = parts.rhythm {
        let (rules, cost) = of_rhythm(parts, rhythm)?;
        return schedule(rules, None, cost + loose);
    }
    if let Some(days) = &parts.days {
        return of_days(parts, days, one);
    }
    if let Some(hours) = &parts.hours {
        return Some(vec![one(
            window(hours, days::listed(hours.days)),
            u32::from(hours.bare),
        )]);
    }
    let clocks = parts.clocks.as_ref()?;
    of_clocks(clocks, one)
}

fn window(hours: &Hours, weekdays: Vec<u8>) -> TimeMeaning {
    TimeMeaning::Window {
        weekdays,
        from: hours.from,
        to: hours.to,
        not: hours.not,
    }
}

/// The clock times, or the morning.
fn times(parts: &Parts) -> Vec<Clock> {
    match &parts.clocks {
        Some(clocks) => clocks.list.iter().map(|(clock, ..)| *clock).collect(),
        None => vec![MORNING],
    }
}

fn crons(parts: &Parts, days: &str) -> Vec<ScheduleRule> {
    times(parts)
        .into_iter()
        .map(|Clock { hour, minute }| ScheduleRule::Cron {
            expression: format!("{minute} {hour} {days}"),
        })
        .collect()
}

type Rules = (Vec<ScheduleRule>, Option<DayCheck>);

fn of_months(parts: &Parts, said: &MonthDays) -> Option<Rules> {
    let unit = said
        .of
        .or(parts.rhythm.map(|r| r.unit))
        .unwrap_or(Unit::Month);
    let n = parts.rhythm.map_or(1, |r| r.n);
    let months = match unit {
        Unit::Quarter => 3 * n,
        Unit::Year => 12 * n,
        _ => n,
    };
    let last = said.days.contains(&0);
    let of = match unit {
        Unit::Quarter if last => "3,6,9,12",
        Unit::Quarter => "1,4,7,10",
        Unit::Year if last => "12",
        Unit::Year => "1",
        _ => "*",
    };
    if months == 12 && last && said.check.is_none() {
        return Some((crons(parts, "31 12 *"), None));
    }
    match said.check {
        Some(DayCheck::LastWorkday) => {
            return Some((crons(parts, &format!("26-31 {of} *")), said.check));
        }
        Some(check) => return Some((crons(parts, &format!("1-3 {of} *")), Some(check))),
        None if last && unit == Unit::Quarter => {
            return Some((
                crons(parts, &format!("28-31 {of} *")),
                Some(DayCheck::LastDay),
            ));
        }
        None => {}
    }
    let mut rules = Vec::new();
    for day in &said.days {
        for Clock { hour, minute } in times(parts) {
            rules.push(ScheduleRule::Months {
                n: months,
                day: *day,
                hour,
                minute,
            });
        }
    }
    Some((rules, None))
}

fn weeks(parts: &Parts, n: u32, mask: u8) -> Vec<ScheduleRule> {
    times(parts)
        .into_iter()
        .map(|Clock { hour, minute }| ScheduleRule::Weeks {
            n,
            weekdays: days::listed(mask),
            hour,
            minute,
        })
        .collect()
}

const MONDAY: u8 = 1 << 1;
const ALL: u8 = 0b111_1111;

fn of_rhythm(parts: &Parts, r: Rhythm) -> Option<(Vec<ScheduleRule>, u32)> {
    if r.times > 1 && parts.clocks.is_none() {
        return several(parts, r);
    }
    let mask = match &parts.days {
        Some(days) => days.mask & !parts.except,
        None if parts.except != 0 => ALL & !parts.except,
        None => 0,
    };
    if r.within_a_day() {
        return Some(inside_days(parts, r, mask));
    }
    let days = |n| {
        times(parts)
            .into_iter()
            .map(|Clock { hour, minute }| ScheduleRule::Days { n, hour, minute })
            .collect()
    };
    let months = |n| {
        times(parts)
            .into_iter()
            .map(|Clock { hour, minute }| ScheduleRule::Months {
                n,
                day: 1,
                hour,
                minute,
            })
            .collect()
    };
    if parts.hours.is_some() {
        return None;
    }
    let rules = match r.unit {
        Unit::Day if mask != 0 => weeks(parts, 1, mask),
        Unit::Day => days(r.n),
        Unit::Week => weeks(
            parts,
            r.n * parts.days.as_ref().map_or(1, |d| d.every),
            if mask == 0 { MONDAY } else { mask },
        ),
        Unit::Month => months(r.n),
        Unit::Quarter => months(3 * r.n),
        Unit::Year => months(12 * r.n),
        _ => return None,
    };
    Some((rules, 0))
}

/// The hours of a day that is cut into parts.
const HOURS: [&[u32]; 3] = [&[9, 18], &[8, 13, 18], &[6, 12, 18, 23]];

/// `twice a day`, `three times an hour`.
fn several(parts: &Parts, r: Rhythm) -> Option<(Vec<ScheduleRule>, u32)> {
    let at = |weekdays| ScheduleRule::Weeks {
        n: 1,
        weekdays,
        hour: MORNING.hour,
        minute: MORNING.minute,
    };
    let index = usize::try_from(r.times.checked_sub(2)?).ok()?;
    match r.unit {
        Unit::Hour if 60 % r.times == 0 => {
            Some((vec![ScheduleRule::Minutes { n: 60 / r.times }], 0))
        }
        Unit::Day => {
            let hours = HOURS.get(index)?;
            let mask = parts.days.as_ref().map(|d| d.mask);
            let rule = |hour: &u32| match mask {
                Some(mask) => ScheduleRule::Weeks {
                    n: 1,
                    weekdays: days::listed(mask),
                    hour: *hour,
                    minute: 0,
                },
                None => ScheduleRule::Days {
                    n: 1,
                    hour: *hour,
                    minute: 0,
                },
            };
            Some((hours.iter().map(rule).collect(), 0))
        }
        Unit::Week if parts.days.is_some() => Some((weeks(parts, 1, parts.days.as_ref()?.mask), 0)),
        Unit::Week if r.times == 2 => Some((vec![at(vec![1, 4])], 1)),
        Unit::Week if r.times == 3 => Some((vec![at(vec![1, 3, 5])], 1)),
        Unit::Month if r.times == 2 => Some((
            [1, 15]
                .map(|day| ScheduleRule::Months {
                    n: 1,
                    day,
                    hour: 9,
                    minute: 0,
                })
                .to_vec(),
            1,
        )),
        _ => None,
    }
}

/// A rhythm of seconds, minutes or hours, on some days and in some hours.
fn inside_days(parts: &Parts, r: Rhythm, mask: u8) -> (Vec<ScheduleRule>, u32) {
    let hours = parts.hours.as_ref();
    let mask = match hours {
        Some(h) if mask == 0 && h.days != 0 => h.days,
        _ => mask,
    };
    let (n, unit) = match (r.n, r.unit) {
        (n, Unit::Minute) if n >= 60 && n % 60 == 0 => (n / 60, Unit::Hour),
        other => other,
    };
    if hours.is_none() && mask == 0 {
        let rule = match unit {
            Unit::Second => ScheduleRule::Seconds { n },
            Unit::Minute => ScheduleRule::Minutes { n },
            _ => ScheduleRule::Hours {
                n,
                minute: parts.minute.unwrap_or_default(),
            },
        };
        return (vec![rule], 0);
    }
    let step = |n: u32| {
        if n == 1 {
            "*".to_owned()
        } else {
            format!("*/{n}")
        }
    };
    let of_day = hours.map_or_else(|| "*".to_owned(), |h| hour_field(h, unit == Unit::Hour));
    let days = match mask {
        0 => "*".to_owned(),
        mask => day_field(mask),
    };
    let minute = parts.minute.unwrap_or_default();
    let expression = match unit {
        Unit::Second => format!("{} * {of_day} * * {days}", step(n)),
        Unit::Minute => format!("{} {of_day} * * {days}", step(n)),
        _ if n == 1 => format!("{minute} {of_day} * * {days}"),
        _ => format!("{minute} {of_day}/{n} * * {days}"),
    };
    // cron begins again with each hour and each day, and knows no half hour as an edge
    let even = match unit {
        Unit::Hour => n < 24,
        _ => n < 60 && 60 % n == 0,
    };
    let edges =
        hours.is_some_and(|h| [h.from, h.to].iter().flatten().any(|c| c.minute > 0) || h.not);
    (
        vec![ScheduleRule::Cron { expression }],
        u32::from(!even || edges),
    )
}

/// The hours field of a cron expression.
fn hour_field(hours: &Hours, hourly: bool) -> String {
    let from = hours.from.map_or(0, |c| c.hour);
    let Some(to) = hours.to else {
        return if from == 0 {
            "*".to_owned()
        } else {
            format!("{from}-23")
        };
    };
    let last = if hourly || to.minute > 0 {
        to.hour
    } else {
        (to.hour + 23) % 24
    };
    let end = |h: u32| {
        if h == from {
            h.to_string()
        } else {
            format!("{from}-{h}")
        }
    };
    if hours.not {
        let rest = format!("{}-23", last + 1);
        return if from == 0 {
            rest
        } else {
            format!("0-{},{rest}", from - 1)
        };
    }
    if last < from && to.hour != from {
        // over midnight
        return match last {
            0 => format!("{from}-23,0"),
            last => format!("{from}-23,0-{last}"),
        };
    }
    end(last.max(from).min(23))
}

/// The weekday field of a cron expression.
fn day_field(mask: u8) -> String {
    let days = days::listed(mask);
    match (days.first(), days.last()) {
        (Some(a), Some(b)) if days.len() > 2 && usize::from(b - a) + 1 == days.len() => {
            format!("{a}-{b}")
        }
        _ => {
            let all: Vec<String> = days.iter().map(u8::to_string).collect();
            all.join(",")
        }
    }
}

/// Weekdays without a rhythm: a schedule if they repeat or have a clock time, else either that or a window.
fn of_days(
    parts: &Parts,
    days: &Days,
    one: impl Fn(TimeMeaning, u32) -> Found,
) -> Option<Vec<Found>> {
    let mask = days.mask & !parts.except;
    let weekdays = days::listed(mask);
    let part_of_day = parts.clocks.is_some();
    let exact = parts.clocks.as_ref().is_some_and(|c| c.exact);
    if let Some(hours) = &parts.hours {
        return Some(vec![one(window(hours, weekdays), u32::from(days.each))]);
    }
    let plain = one(
        TimeMeaning::Window {
            weekdays,
            from: None,
            to: None,
            not: false,
        },
        u32::from(!days.only),
    );
    if days.only && !exact {
        return Some(vec![plain]);
    }
    let rules = match days.check {
        Some(DayCheck::LastWorkday) => crons(parts, "26-31 * *"),
        Some(DayCheck::FirstWorkday) => crons(parts, "1-3 * *"),
        _ => weeks(parts, days.every, mask),
    };
    let schedule = |cost| {
        one(
            TimeMeaning::Schedule {
                rules: rules.clone(),
                only: days.check,
            },
            cost,
        )
    };
    if days.habit && (days.check.is_some() || days.every > 1) || exact {
        return Some(vec![schedule(0)]);
    }
    if days.short && !part_of_day && !days.led && mask.is_power_of_two() {
        return None;
    }
    if days.habit {
        return Some(vec![schedule(0)]);
    }
    if !days.led && !part_of_day && mask.is_power_of_two() {
        return Some(vec![plain, schedule(2)]);
    }
    Some(vec![schedule(1), one(plain.means, 2)])
}

/// Clock times without a day: each day if the form says so, else they belong to a schedule that is said elsewhere.
fn of_clocks(clocks: &Clocks, one: impl Fn(TimeMeaning, u32) -> Found) -> Option<Vec<Found>> {
    let at = |(clock, from, to): &(Clock, usize, usize), cost| Found {
        means: TimeMeaning::AtTime {
            hour: clock.hour,
            minute: clock.minute,
        },
        from: *from,
        to: *to,
        cost,
    };
    let daily = |cost| {
        let rules = clocks
            .list
            .iter()
            .map(|(c, ..)| ScheduleRule::Days {
                n: 1,
                hour: c.hour,
                minute: c.minute,
            })
            .collect();
        one(TimeMeaning::Schedule { rules, only: None }, cost)
    };
    if clocks.habit {
        return Some(vec![daily(0)]);
    }
    if clocks.exact {
        return Some(clocks.list.iter().map(|c| at(c, 0)).collect());
    }
    let mut found = vec![daily(1)];
    found.extend(clocks.list.iter().map(|c| at(c, 2)));
    Some(found)
}
