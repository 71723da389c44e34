//! When a schedule fires: each minute of two years, so that two ways to write one schedule are the same.

use crate::expect::{Schedule, When};
use crate::graph::Graph;
use jiff::civil::{Date, date};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

const SCHEDULE: &str = "n8n-nodes-base.scheduleTrigger";
/// From Monday, 1 January 2024: a leap year and one that is none.
const DAYS: usize = 731;
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const MACROS: [(&str, &str); 6] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
];

/// Minutes of a day.
pub type Minutes = BTreeSet<u32>;
/// For each day the minutes at which it fires.
pub type Fires = Vec<Arc<Minutes>>;

fn days() -> impl Iterator<Item = Date> {
    date(2024, 1, 1)
        .series(jiff::Span::new().days(1))
        .take(DAYS)
}

/// The days that fit, each with these minutes.
fn on_days(minutes: Minutes, fits: impl Fn(usize, Date) -> bool) -> Fires {
    let (minutes, none) = (Arc::new(minutes), Arc::default());
    let each = days().enumerate();
    each.map(|(i, day)| Arc::clone(if fits(i, day) { &minutes } else { &none }))
        .collect()
}

fn day_of_week(day: Date) -> u32 {
    u32::try_from(day.weekday().to_sunday_zero_offset()).unwrap_or_default()
}

/// One field of a cron expression. None: not understood.
fn field(text: &str, low: u32, high: u32, names: &[&str], first: u32) -> Option<BTreeSet<u32>> {
    let mut all = BTreeSet::new();
    for part in text.to_lowercase().split(',') {
        let (part, step) = match part.split_once('/') {
            Some((part, step)) => (part, Some(step.parse::<usize>().ok()?)),
            None => (part, None),
        };
        if step == Some(0) {
            return None;
        }
        let number = |text: &str| number_or_name(text, names, first);
        let (from, to) = match part.split_once('-') {
            _ if part == "*" || part == "?" => (low, high),
            Some((from, to)) => (number(from)?, number(to)?),
            None => {
                let from = number(part)?;
                (from, if step.is_some() { high } else { from })
            }
        };
        let step = step.unwrap_or(1);
        // From Friday to Monday.
        if from > to && names.len() == WEEKDAYS.len() {
            all.extend((from..=high).step_by(step));
            all.extend((low..=to).step_by(step));
        } else {
            all.extend((from..=to).step_by(step));
        }
    }
    let fits = all.first().is_some_and(|least| *least >= low);
    (fits && all.last().is_some_and(|most| *most <= high)).then_some(all)
}

fn number_or_name(text: &str, names: &[&str], first: u32) -> Option<u32> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let at = names.iter().position(|name| text.starts_with(name))?;
    (text.chars().all(char::is_alphabetic)).then_some(first + u32::try_from(at).ok()?)
}

/// A cron expression, with five fields or with seconds before them. None: not understood.
pub fn cron(expression: &str) -> Option<Fires> {
    let typed = expression.trim();
    let macros = MACROS
        .iter()
        .find(|(name, _)| *name == typed.to_lowercase());
    let typed = macros.map_or_else(|| typed.trim_start_matches('=').trim(), |(_, means)| means);
    let mut fields: Vec<&str> = typed.split_whitespace().collect();
    // With seconds, at one second of the minute.
    if fields.len() == 6 {
        let second = fields.remove(0);
        second.parse::<u32>().ok()?;
    }
    let [minute, hour, of_month, month, of_week] = *fields.as_slice() else {
        return None;
    };
    let minutes = field(minute, 0, 59, &[], 0)?;
    let hours = field(hour, 0, 23, &[], 0)?;
    let dates = field(of_month, 1, 31, &[], 0)?;
    let months = field(month, 1, 12, &MONTHS, 1)?;
    let week: BTreeSet<u32> = field(of_week, 0, 7, &WEEKDAYS, 0)?
        .iter()
        .map(|d| d % 7)
        .collect();
    let is_any = |text: &str| text == "*" || text == "?";
    let either = !is_any(of_month) && !is_any(of_week);
    let at = hours
        .iter()
        .flat_map(|h| minutes.iter().map(move |m| h * 60 + m));
    Some(on_days(at.collect(), |_, day| {
        let of_month = dates.contains(&number(day.day()));
        let of_week = week.contains(&day_of_week(day));
        let fits = if either {
            of_month || of_week
        } else {
            of_month && of_week
        };
        months.contains(&number(day.month())) && fits
    }))
}

/// A part of a date, which is never negative.
fn number(part: i8) -> u32 {
    u32::try_from(part).unwrap_or_default()
}

/// One rule of a Schedule Trigger. None: not understood.
fn rule(rule: &Value) -> Option<Fires> {
    let field = rule.get("field").and_then(Value::as_str).unwrap_or("days");
    let of = |key: &str, default: u32| match rule.get(key) {
        None => Some(default),
        Some(Value::Number(n)) => n.as_f64().filter(|n| *n >= 0.0).map(|n| n as u32),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    let (hour, minute) = (of("triggerAtHour", 0)?, of("triggerAtMinute", 0)?);
    let once = Minutes::from([hour * 60 + minute]);
    let every = |key: &str, default: u32| of(key, default).filter(|n| *n > 0);
    match field.trim_start_matches('=') {
        "cronExpression" => cron(rule.get("expression")?.as_str()?),
        "minutes" => {
            let n = every("minutesInterval", 5)?;
            cron(&match n < 60 {
                true => format!("*/{n} * * * *"),
                false => format!("0 */{} * * *", n / 60),
            })
        }
        "hours" => {
            let n = every("hoursInterval", 1)?;
            cron(&match n < 24 {
                true => format!("{minute} */{n} * * *"),
                false => format!("{minute} 0 */{} * *", n / 24),
            })
        }
        "days" => {
            let n = every("daysInterval", 1)? as usize;
            Some(on_days(once, |i, _| i % n == 0))
        }
        "weeks" => {
            let n = every("weeksInterval", 1)? as usize;
            let week: BTreeSet<u32> = match rule.get("triggerAtDay") {
                None => BTreeSet::from([0]),
                Some(Value::Array(list)) => list.iter().map(day).collect::<Option<_>>()?,
                Some(one) => BTreeSet::from([day(one)?]),
            };
            Some(on_days(once, |i, d| {
                (i / 7) % n == 0 && week.contains(&day_of_week(d))
            }))
        }
        "months" => {
            let n = every("monthsInterval", 1)?;
            let of_month = of("triggerAtDayOfMonth", 1)?;
            let since = |d: Date| {
                u32::from(d.year() > 2024) * 12
                    + u32::from(d.year() > 2025) * 12
                    + number(d.month())
                    - 1
            };
            Some(on_days(once, |_, d| {
                number(d.day()) == of_month && since(d) % n == 0
            }))
        }
        _ => None,
    }
}

fn day(value: &Value) -> Option<u32> {
    let number = match value {
        Value::String(text) => text.trim().parse::<u32>().ok(),
        other => other.as_u64().and_then(|n| u32::try_from(n).ok()),
    };
    number.map(|n| n % 7)
}

fn together(all: &[Fires]) -> Fires {
    let minutes = |i: usize| {
        let of_day = all.iter().filter_map(|fires| fires.get(i));
        Arc::new(of_day.flat_map(|minutes| minutes.iter().copied()).collect())
    };
    (0..DAYS).map(minutes).collect()
}

/// What the workflow may be said to do by the clock: each rule, each trigger, all of them together. With whether all was understood.
fn scheduled(graph: &Graph) -> (Vec<Fires>, bool) {
    let (mut candidates, mut by_trigger, mut whole) = (Vec::new(), Vec::new(), true);
    let nothing = [Value::Object(serde_json::Map::new())];
    for node in graph.enabled().filter(|n| n.node_type == SCHEDULE) {
        let rules = node.whole.pointer("/parameters/rule/interval");
        let rules = rules.and_then(Value::as_array).map(Vec::as_slice);
        let rules = rules.filter(|r| !r.is_empty()).unwrap_or(&nothing);
        let fires: Vec<Fires> = rules.iter().filter_map(rule).collect();
        whole &= fires.len() == rules.len();
        if !fires.is_empty() {
            by_trigger.push(together(&fires));
        }
        candidates.extend(fires);
    }
    let all = together(&by_trigger);
    if !by_trigger.is_empty() {
        candidates.extend(by_trigger);
        candidates.push(all);
    }
    (candidates, whole)
}

/// Whether the workflow is scheduled so.
pub fn fits(graph: &Graph, wanted: &Schedule) -> bool {
    let (candidates, whole) = scheduled(graph);
    match wanted.only {
        // Nothing else may be scheduled, so what fires is what all of them do together.
        true => whole && candidates.last().is_some_and(|all| is(all, wanted)),
        false => candidates.iter().any(|fires| is(fires, wanted)),
    }
}

fn is(fires: &Fires, wanted: &Schedule) -> bool {
    match &wanted.when {
        When::Cron(some) => some.contains(fires),
        When::EveryMinutes(step) => each_minutes(fires, *step),
        When::EveryDays(count, at) => each_days(fires, *count, *at),
    }
}

/// `5m` as its parts.
pub fn period(text: &str) -> Option<(u32, char)> {
    let unit = text.chars().last().filter(|unit| "mhd".contains(*unit))?;
    let count = text.strip_suffix(unit)?.parse().ok()?;
    Some((count, unit))
}

fn each_minutes(fires: &Fires, step: u32) -> bool {
    let days = fires.iter().take(14).zip(0u32..);
    let times: Vec<u32> = days
        .flat_map(|(minutes, day)| minutes.iter().map(move |m| day * 1440 + m))
        .collect();
    let mut gaps = times.iter().zip(times.iter().skip(1));
    times.len() > 2
        && gaps.all(|(a, b)| b - a == step)
        && times.first().is_some_and(|first| *first < step)
}

fn each_days(fires: &Fires, count: u32, at: Option<u32>) -> bool {
    let on: Vec<usize> = (0..)
        .zip(fires)
        .filter(|(_, m)| !m.is_empty())
        .map(|(i, _)| i)
        .collect();
    if on.len() < 10 || fires.iter().any(|minutes| minutes.len() > 1) {
        return false;
    }
    if at.is_some_and(|at| fires.iter().flat_map(|m| m.iter()).any(|m| *m != at)) {
        return false;
    }
    let gaps: Vec<usize> = on
        .iter()
        .zip(on.iter().skip(1))
        .map(|(a, b)| b - a)
        .collect();
    let right = gaps.iter().filter(|gap| **gap == count as usize).count();
    // A month's end breaks the rhythm of some forms.
    right * 100 >= gaps.len() * 85
}

/// `HH:MM` as a minute of the day.
pub fn minute_of(at: &str) -> Option<u32> {
    let (hours, minutes) = at.split_once(':')?;
    Some(hours.parse::<u32>().ok()? * 60 + minutes.parse::<u32>().ok()?)
}
