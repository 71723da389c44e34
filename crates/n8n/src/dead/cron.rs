//! Whether a cron expression can come due at all: five fields, or six with the seconds first, as n8n reads them. One that n8n
//! cannot read never does; marks of other programs (`L`, `W`, `#`) are let stand.

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/// The most days that each month can have.
const LENGTHS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const NAMED: [&str; 11] = [
    "annually", "daily", "hourly", "midnight", "minutely", "monthly", "secondly", "weekly",
    "weekdays", "weekends", "yearly",
];

/// What a field says.
enum Field {
    Any,
    /// Some values, in no order.
    Some(Vec<u32>),
    /// Outside of what the field can hold: n8n refuses the whole expression.
    Impossible,
    Unknown,
}

/// True when the expression names no moment that any calendar has.
pub(super) fn never(expression: &str) -> bool {
    // n8n fills in a random second, which decides nothing about the day.
    if expression.starts_with('=') || expression.contains('[') {
        return false;
    }
    if let Some(name) = expression.trim().strip_prefix('@') {
        return !NAMED.contains(&name.to_lowercase().as_str());
    }
    let fields: Vec<&str> = expression.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = match fields.as_slice() {
        [minute, hour, day, month, weekday] => [minute, hour, day, month, weekday],
        [second, minute, hour, day, month, weekday] => {
            if matches!(field(second, 0, 59, &[]), Field::Impossible) {
                return true;
            }
            [minute, hour, day, month, weekday]
        }
        _ => return true,
    };
    let fields = [
        field(minute, 0, 59, &[]),
        field(hour, 0, 23, &[]),
        field(day, 1, 31, &[]),
        field(month, 1, 12, &MONTHS),
        field(weekday, 0, 7, &WEEKDAYS),
    ];
    if fields.iter().any(|f| matches!(f, Field::Impossible)) {
        return true;
    }
    if fields.iter().any(|f| matches!(f, Field::Unknown)) {
        return false;
    }
    // A weekday besides the day of the month makes it one of both.
    let [_, _, Field::Some(days), Field::Some(months), Field::Any] = &fields else {
        return false;
    };
    !months.iter().any(|month| {
        let length = usize::try_from(*month)
            .ok()
            .and_then(|m| LENGTHS.get(m.checked_sub(1)?));
        days.iter()
            .any(|day| length.is_none_or(|length| day <= length))
    })
}

fn field(text: &str, from: u32, to: u32, names: &[&str]) -> Field {
    if matches!(text, "*" | "?") {
        return Field::Any;
    }
    let mut values = Vec::new();
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse::<u32>().ok()),
            None => (part, Some(1)),
        };
        let step = match step {
            Some(0) => return Field::Impossible,
            Some(step) => step,
            None => return unread(part),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (Some(from), Some(to)),
            Some((first, last)) => (value(first, from, names), value(last, from, names)),
            None if part.contains('/') => (value(range, from, names), Some(to)),
            None => (value(range, from, names), value(range, from, names)),
        };
        let (Some(first), Some(last)) = (first, last) else {
            return unread(part);
        };
        if first < from || last > to || first > last {
            return Field::Impossible;
        }
        let steps = usize::try_from(step).unwrap_or(usize::MAX);
        values.extend((first..=last).step_by(steps));
    }
    Field::Some(values)
}

/// A part that is neither a number nor a name: of other programs' making when it is made of their marks.
fn unread(part: &str) -> Field {
    let known = |c: char| c.is_ascii_digit() || "LW#-/*".contains(c);
    let word = part.trim_end_matches(known);
    let is_name = MONTHS
        .iter()
        .chain(&WEEKDAYS)
        .any(|name| word.eq_ignore_ascii_case(name));
    match (word.is_empty() || is_name) && part.contains(['L', 'W', '#']) {
        true => Field::Unknown,
        false => Field::Impossible,
    }
}

fn value(text: &str, from: u32, names: &[&str]) -> Option<u32> {
    let low = text.to_lowercase();
    match names.iter().position(|name| *name == low) {
        Some(at) => u32::try_from(at).ok().map(|at| at + from),
        None if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}
