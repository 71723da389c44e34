//! Times written as cron: expressions that n8n cannot read, or that name a day that no month has. n8n 2 finds no date for such a day and
//! does not activate the workflow (cron 4.4); n8n 1 fires on other days instead (cron 3.1.7: 31 February is 2 February).

use super::{report::Report, rules, subject::NodeView};
use serde_json::Value;
use std::collections::BTreeSet;

/// Where the trigger nodes keep them: the list, and the key that must hold the mode for the expression to count.
const LISTS: [(&str, &str, &str, &str, &str); 3] = [
    ("rule", "interval", "field", "cronExpression", "expression"),
    ("triggerTimes", "item", "mode", "custom", "cronExpression"),
    ("pollTimes", "item", "mode", "custom", "cronExpression"),
];
/// Name, smallest and largest number of each field; the first may be left out.
const FIELDS: [(&str, u32, u32); 6] = [
    ("second", 0, 59),
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("day of the week", 0, 7),
];
/// Names that stand for a number: of months, and of days of the week.
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/// Numbers of a rule that is no cron expression, with what they may be.
const NUMBERS: [(&str, f64, f64); 7] = [
    ("secondsInterval", 1.0, f64::MAX),
    ("minutesInterval", 1.0, f64::MAX),
    ("hoursInterval", 1.0, f64::MAX),
    ("daysInterval", 1.0, f64::MAX),
    ("triggerAtMinute", 0.0, 59.0),
    ("triggerAtHour", 0.0, 23.0),
    ("triggerAtDayOfMonth", 1.0, 31.0),
];

pub(super) fn check(node: &NodeView, report: &mut Report) {
    for (list, items, mode, chosen, key) in LISTS {
        let of = node.filled.get(list).and_then(|list| list.get(items));
        for (i, item) in of
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
        {
            let counts = item.get(mode).and_then(Value::as_str) == Some(chosen);
            let text = item.get(key).and_then(Value::as_str).filter(|_| counts);
            if let Some(why) = text.and_then(never) {
                let place = format!("/parameters/{list}/{items}/{i}/{key}");
                report.node(node, rules::CRON_NEVER_FIRES.at(place, why));
            }
            for (key, least, most) in NUMBERS {
                let number = item.get(key).and_then(Value::as_f64);
                let Some(number) = number.filter(|n| *n < least || *n > most) else {
                    continue;
                };
                let place = format!("/parameters/{list}/{items}/{i}/{key}");
                let why = match key.ends_with("Interval") {
                    true => format!("every {number} is no rhythm, so n8n does not start it"),
                    false => format!(
                        "{number} is no time (from {least} to {most}), so n8n does not start it"
                    ),
                };
                report.node(node, rules::CRON_NEVER_FIRES.at(place, why));
            }
        }
    }
}

/// Why the expression never fires; None: it does, or it is one that is not read here.
fn never(text: &str) -> Option<String> {
    let text = text.trim();
    if text.starts_with('=') || text.contains("{{") || text.starts_with('@') {
        return None;
    }
    if text.is_empty() {
        return Some("the cron expression is empty, so n8n does not start it".to_owned());
    }
    let parts: Vec<&str> = text.split_whitespace().collect();
    let left_out = FIELDS.len().checked_sub(parts.len());
    let Some(left_out) = left_out.filter(|left_out| *left_out <= 1) else {
        return Some(format!(
            "{text:?} has {} parts: a cron expression has five, or six with the seconds first; n8n does not start it",
            parts.len()
        ));
    };
    let read = FIELDS.iter().skip(left_out).zip(&parts);
    let read: Result<Vec<BTreeSet<u32>>, String> =
        read.map(|(field, part)| values(*field, part)).collect();
    let read = match read {
        Ok(read) => read,
        Err(why) => return Some(format!("{why} in {text:?}, so n8n does not start it")),
    };
    let [.., days, months, weekdays] = read.as_slice() else {
        return None;
    };
    // Where it names days of the week, too, it fires on these.
    let each_day =
        (0..=6).all(|day| weekdays.contains(&day) || (day == 0 && weekdays.contains(&7)));
    let longest = months.iter().map(|month| length(*month)).max()?;
    let first = days.first().filter(|day| each_day && **day > longest)?;
    Some(format!(
        "no month of {text:?} has a day {first}, so n8n does not start it (n8n 1 fires on other days)"
    ))
}

/// The numbers that a field's list comes to; an error: what is wrong with it.
fn values(field: (&str, u32, u32), part: &str) -> Result<BTreeSet<u32>, String> {
    let mut all = BTreeSet::new();
    for entry in part.split(',') {
        all.extend(one(field, entry)?);
    }
    Ok(all)
}

/// The numbers of one entry: `*`, a number or a range, each with a step or without.
fn one(
    (name, least, most): (&str, u32, u32),
    entry: &str,
) -> Result<impl Iterator<Item = u32>, String> {
    let (range, step) = match entry.split_once('/') {
        None => (entry, None),
        Some((range, step)) => match step.parse::<usize>() {
            Ok(each) if each > 0 => (range, Some(each)),
            _ => return Err(format!("a step of {step:?} is none")),
        },
    };
    let number = |text: &str| -> Result<u32, String> {
        let plain = text.to_lowercase();
        let of = |names: &[&str], first| {
            let at = names.iter().position(|known| *known == plain)?;
            u32::try_from(at + first).ok()
        };
        let named = match name {
            "month" => of(&MONTHS, 1),
            "day of the week" => of(&DAYS, 0),
            _ => None,
        };
        match named.or_else(|| text.parse().ok()) {
            Some(n) if n < least || n > most => {
                Err(format!("{n} is no {name} (from {least} to {most})"))
            }
            Some(n) => Ok(n),
            None => Err(format!("{text:?} is no {name}")),
        }
    };
    let (from, to) = match range.split_once('-') {
        None if range == "*" => (least, most),
        // With a step, from there on.
        None => number(range).map(|n| (n, if step.is_some() { most } else { n }))?,
        Some((from, to)) => (number(from)?, number(to)?),
    };
    if from > to {
        return Err(format!("the range {range:?} runs backwards"));
    }
    Ok((from..=to).step_by(step.unwrap_or(1)))
}

fn length(month: u32) -> u32 {
    match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::never;

    #[test]
    fn a_cron_expression_that_can_fire_is_left_alone() {
        for text in [
            "*/5 * * * *",
            "0 9 * * 1-5",
            "0 0 1 1 *",
            "30 2 29 2 *",
            "0 0 */2 * * *",
            "0 8 31 1,2 *",
            "0 0 30 2 1",
            "0 0 29-31 feb *",
            "0 0 31 feb-mar *",
            "0 0 */31 2 *",
            "@daily",
            "={{ $json.cron }}",
            "0 9 * * MON-FRI",
            "0 9 * jan-mar Mon,WED",
            "5/10 * * * *",
            "0 9 * * 7",
        ] {
            assert_eq!(never(text), None, "{text}");
        }
    }

    #[test]
    fn what_never_fires_is_told_with_its_reason() {
        for text in [
            "99 25 * *",
            "60 * * * *",
            "0 24 * * *",
            "0 0 31 2 *",
            "0 0 31 4,6,9,11 *",
            "0 0 31 feb *",
            "0 0 30-31 2 *",
            "0 0 31 Apr-Apr 0-6",
            "0 0 30/1 2 *",
            "0 0 0 32 * *",
            "every day",
            "",
            "0 9 ? * *",
            "*/0 * * * *",
            "0 9 0 * *",
            "0 9 * * 5-1",
            "0 9 L * *",
            "H 9 * * *",
            "0 9 * * sunday",
            "10-5 * * * *",
            "0 9 * * 1#1",
            "0 9 * jan-xyz *",
        ] {
            assert!(never(text).is_some(), "{text}");
        }
    }
}
