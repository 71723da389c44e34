//! Times written as cron: expressions that n8n cannot read, or that name a day that no month has.

use super::{report::Report, rules, subject::NodeView};
use serde_json::Value;

/// Where the trigger nodes keep them: the list, and the key that must hold the mode for the expression to count.
const LISTS: [(&str, &str, &str, &str, &str); 3] = [
    ("rule", "interval", "field", "cronExpression", "expression"),
    ("triggerTimes", "item", "mode", "custom", "cronExpression"),
    ("pollTimes", "item", "mode", "custom", "cronExpression"),
];
/// Name and largest number of each field, from the minutes on.
const FIELDS: [(&str, u32); 5] = [
    ("minute", 59),
    ("hour", 23),
    ("day of the month", 31),
    ("month", 12),
    ("day of the week", 7),
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
        }
    }
}

/// Why the expression never fires; None: it does, or it is one that is not read here.
fn never(text: &str) -> Option<String> {
    let text = text.trim();
    if text.starts_with('=') || text.contains("{{") || text.starts_with('@') || text.is_empty() {
        return None;
    }
    let parts: Vec<&str> = text.split_whitespace().collect();
    // With six, the first are seconds.
    let (seconds, fields) = match parts.as_slice() {
        [seconds, rest @ ..] if rest.len() == FIELDS.len() => (Some(*seconds), rest),
        rest if rest.len() == FIELDS.len() => (None, rest),
        _ => {
            return Some(format!(
                "{text:?} has {} parts: a cron expression has five, or six with the seconds first; n8n does not start it",
                parts.len()
            ));
        }
    };
    let named = FIELDS
        .iter()
        .zip(fields)
        .map(|((name, most), part)| (*name, *most, *part));
    let all = seconds
        .map(|part| ("second", 59, part))
        .into_iter()
        .chain(named);
    for (name, most, part) in all {
        if let Some(number) = numbers(part).find(|n| *n > most) {
            return Some(format!(
                "{number} is no {name} (at most {most}) in {text:?}, so n8n does not start it"
            ));
        }
    }
    let [_, _, day, month, weekday] = fields else {
        return None;
    };
    let days = only_numbers(day)?;
    let months = only_numbers(month)?;
    let longest = months.iter().map(|m| length(*m)).max()?;
    let first = days.iter().min()?;
    (*weekday == "*" && *first > longest)
        .then(|| format!("no month of {text:?} has a day {first}, so it never fires"))
}

/// Every number that stands for a time; what follows a `/` is a step.
fn numbers(part: &str) -> impl Iterator<Item = u32> + '_ {
    let ranges = part.split(',').filter_map(|one| one.split('/').next());
    ranges.flat_map(|range| range.split('-').filter_map(|n| n.parse().ok()))
}

/// The numbers of a plain list; None: it is something else.
fn only_numbers(part: &str) -> Option<Vec<u32>> {
    part.split(',').map(|one| one.parse().ok()).collect()
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
            "@daily",
            "={{ $json.cron }}",
            "0 9 * * MON-FRI",
            "0 0 L * *",
            "",
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
            "0 0 0 32 * *",
            "every day",
        ] {
            assert!(never(text).is_some(), "{text}");
        }
    }
}
