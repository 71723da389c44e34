//! When a workflow begins and how long it waits: "at 7:30", "weekdays only", "wait two minutes".

use super::super::{value, words};
use super::table::is_part;
use super::{Clause, Read, bound, edit, of_type};
use crate::chart::{Item, chart};
use crate::compile::existing::Patch;
use crate::compile::schedule;
use crate::plan::ScheduleRule;
use crate::spot::Kind;
use crate::time::{TimeMeaning, TimeSpan, spans};
use serde_json::{Value, json};

/// The times of a clause that are not the old ones: what stands right behind "instead of" is one. None are new where something else stands there.
fn new_times(clause: &Clause<'_>) -> Vec<TimeSpan> {
    let mut times = spans(clause.text, clause.language);
    times.retain(|time| time.cost < 2);
    // "06:00 -> 05:30": the second is the new one.
    if let [old, new] = times.as_slice() {
        let between = clause.text.get(old.to..new.from).unwrap_or_default().trim();
        if ["->", "→", "=>", "-->"].contains(&between) {
            times.remove(0);
        }
    }
    for of in words::places(clause.text, clause.language, "of") {
        let behind = clause.text.get(of.end..).unwrap_or_default();
        // "At 9, not 8": a number alone is the old time.
        let last = behind.trim().rsplit(' ').next().unwrap_or_default();
        let number = !last.is_empty() && last.chars().all(|c| c.is_ascii_digit());
        match times.iter().position(|time| time.from >= of.end) {
            Some(old) => drop(times.remove(old)),
            None if number => {}
            None => return Vec::new(),
        }
    }
    times
}

/// "Make it 5": so many of what the one wait counts, where nothing else has a number.
fn counted(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Option<Read> {
    let numbers = clause.chart.items.iter();
    let mut numbers = numbers.filter(|item| item.shape() == Some(Kind::Number));
    let number = numbers.next().filter(|_| numbers.next().is_none())?;
    let amount: u64 = number.text.parse().ok()?;
    let waits = of_type(patch.workflow(), "wait", kept);
    let [name] = waits.as_slice() else {
        return None;
    };
    let bare = clause.is_bare(std::iter::once(number.from..number.to).collect());
    let alone = bound::bounds(patch.workflow(), kept).is_empty();
    (bare && alone && amount > 0).then(|| {
        edit(patch, name, |params| {
            params.insert("amount".into(), json!(amount));
        })
    })
}

/// "wait two minutes": the one wait that there is.
pub(super) fn waited(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    let waits = clause
        .chart
        .items
        .iter()
        .filter_map(Item::verb)
        .any(|v| v.calls("WAIT"));
    if let Some(read) = counted(patch, clause, kept) {
        return read;
    }
    let times = new_times(clause);
    let better = clause.has("better") && clause.chart.items.iter().all(|i| i.verb().is_none());
    let better = better || clause.is_bare(times.iter().map(|time| time.from..time.to).collect());
    let (
        true,
        [
            TimeSpan {
                means: TimeMeaning::Duration { seconds },
                ..
            },
        ],
    ) = (waits || better, times.as_slice())
    else {
        return Read::Other;
    };
    let nodes = of_type(patch.workflow(), "wait", kept);
    let [name] = nodes.as_slice() else {
        return match nodes.is_empty() {
            true => Read::Other,
            false => Read::Which(clause.text.to_owned(), nodes),
        };
    };
    let (amount, unit) = value::as_said(*seconds, clause.text);
    edit(patch, name, |params| {
        params.insert("amount".into(), json!(amount));
        params.insert("unit".into(), json!(unit));
    })
}

/// "at 7:30", "weekdays only", "every hour": the one schedule that there is.
pub(super) fn timed(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    // "Subject: Weekly revenue" says a text; "the time: 7:30" does not.
    let head = clause.text.split_once(": ").map_or("", |(head, _)| head);
    let items = chart(head, clause.language).items;
    if { items.iter().filter_map(Item::noun) }.any(|noun| is_part(&noun.concept)) {
        return Read::Other;
    }
    let names_a_service = clause.chart.items.iter().any(|i| i.service().is_some());
    let waits = clause
        .chart
        .items
        .iter()
        .filter_map(Item::verb)
        .any(|v| v.calls("WAIT"));
    let nodes = of_type(patch.workflow(), "scheduleTrigger", kept);
    let ([name], false, false) = (nodes.as_slice(), names_a_service, waits) else {
        return Read::Other;
    };
    let before = patch
        .workflow()
        .node_by_name(name)
        .and_then(|n| n.parameters()?.get("rule").cloned());
    let clock = before.as_ref().and_then(clock_of);
    let times = new_times(clause);
    let rules = match times.as_slice() {
        [
            TimeSpan {
                means: TimeMeaning::AtTime { hour, minute },
                ..
            },
        ] => {
            return at(patch, name, before, *hour, *minute);
        }
        [
            TimeSpan {
                means:
                    TimeMeaning::Window {
                        weekdays,
                        from: None,
                        not: false,
                        ..
                    },
                ..
            },
        ] if !weekdays.is_empty() => {
            let Some((hour, minute)) = clock else {
                return Read::Other;
            };
            vec![ScheduleRule::Weeks {
                n: 1,
                weekdays: weekdays.clone(),
                hour,
                minute,
            }]
        }
        [
            TimeSpan {
                means: TimeMeaning::Schedule { rules, only: None },
                from,
                to,
                ..
            },
        ] => {
            let said = clause.text.get(*from..*to).unwrap_or_default();
            rules
                .iter()
                .map(|rule| with_clock(rule, said, clock))
                .collect()
        }
        _ => return Read::Other,
    };
    edit(patch, name, |params| {
        params.insert("rule".into(), schedule::rule(&rules));
    })
}

/// Where no time of day is said (the reader takes 9:00 then), the one that there is stays.
fn with_clock(rule: &ScheduleRule, said: &str, clock: Option<(u32, u32)>) -> ScheduleRule {
    let mut rule = rule.clone();
    if let ScheduleRule::Days { hour, minute, .. }
    | ScheduleRule::Weeks { hour, minute, .. }
    | ScheduleRule::Months { hour, minute, .. } = &mut rule
        && (*hour, *minute) == (9, 0)
        && !said.contains('9')
        && let Some((old_hour, old_minute)) = clock
    {
        (*hour, *minute) = (old_hour, old_minute);
    }
    rule
}

/// The time of day at which a rule fires, where it fires once a day at most.
pub(in crate::modify) fn clock_of(rule: &Value) -> Option<(u32, u32)> {
    let [one] = rule.get("interval")?.as_array()?.as_slice() else {
        return None;
    };
    if let Some((minute, hour, _)) = one.get("expression").and_then(Value::as_str).and_then(cron) {
        return Some((hour, minute));
    }
    let field = one.get("field").and_then(Value::as_str).unwrap_or("days");
    let number = |key: &str| u32::try_from(one.get(key).and_then(Value::as_u64).unwrap_or(0)).ok();
    let clock = number("triggerAtHour").zip(number("triggerAtMinute"));
    clock.filter(|_| ["days", "weeks", "months"].contains(&field))
}

/// Minute, hour and the days of a cron expression that fires once on each.
fn cron(expression: &str) -> Option<(u32, u32, String)> {
    let mut parts = expression.split_whitespace();
    let (minute, hour) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let days: Vec<&str> = parts.collect();
    (days.len() == 3).then(|| (minute, hour, days.join(" ")))
}

/// Another time of day, on the days that are set.
fn at(patch: &mut Patch<'_>, name: &str, rule: Option<Value>, hour: u32, minute: u32) -> Read {
    let Some(mut rule) = rule.filter(|rule| clock_of(rule).is_some()) else {
        return Read::Other;
    };
    if let Some(one) = rule
        .pointer_mut("/interval/0")
        .and_then(Value::as_object_mut)
    {
        match one.get("expression").and_then(Value::as_str).and_then(cron) {
            Some((_, _, days)) => {
                let expression = format!("{minute} {hour} {days}");
                one.insert("expression".into(), json!(expression));
            }
            None => {
                one.insert("triggerAtHour".into(), json!(hour));
                one.insert("triggerAtMinute".into(), json!(minute));
            }
        }
    }
    edit(patch, name, |params| {
        params.insert("rule".into(), rule);
    })
}
