//! Cron expressions as they are written: five fields, or six with seconds, also in quotes or code marks.

/// An expression and where it stands, with its marks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub from: usize,
    pub to: usize,
    pub expression: String,
}

/// Smallest and largest value of each of the five fields.
const RANGES: [(u32, u32); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)];
/// Cron's own names of months and weekdays.
const NAMES: [&str; 19] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC", "SUN",
    "MON", "TUE", "WED", "THU", "FRI", "SAT",
];
const MARKS: [char; 4] = ['"', '\'', '`', '('];

/// The expressions of a text, in order.
pub(super) fn expressions(text: &str) -> Vec<Found> {
    let fields = fields(text);
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < fields.len() {
        match [6, 5]
            .iter()
            .find_map(|n| expression(text, &fields, at, *n))
        {
            Some((one, n)) => {
                found.push(one);
                at += n;
            }
            None => at += 1,
        }
    }
    found
}

/// What stands between spaces of one line, with its place. A line's end is an empty field.
fn fields(text: &str) -> Vec<(usize, &str)> {
    let mut all = Vec::new();
    let mut start = 0;
    for (i, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_whitespace() {
            if start < i {
                all.push((start, text.get(start..i).unwrap_or_default()));
            }
            start = i + c.len_utf8();
            if c == '\n' {
                all.push((i, ""));
            }
        }
    }
    all
}

fn expression(text: &str, fields: &[(usize, &str)], at: usize, n: usize) -> Option<(Found, usize)> {
    let run = fields.get(at..at + n)?;
    let (start, first) = *run.first()?;
    let (last_at, last) = *run.last()?;
    let open = first.chars().next().filter(|c| MARKS.contains(c));
    let first = first.trim_start_matches(MARKS);
    let close = match open {
        Some('(') => Some(')'),
        other => other,
    };
    let trimmed = last.trim_end_matches(['"', '\'', '`', '.', ',', ';', ':', '!', ')']);
    let mut said: Vec<&str> = run.iter().map(|(_, field)| *field).collect();
    *said.first_mut()? = first;
    *said.last_mut()? = trimmed;
    let five = said.get(n.checked_sub(5)?..)?;
    let seconds = n == 5 || field(first, (0, 59));
    let plausible = said.iter().filter(|f| f.contains('*')).count() >= 1;
    if !seconds || !plausible || !five.iter().zip(RANGES).all(|(f, range)| field(f, range)) {
        return None;
    }
    let mut to = last_at + trimmed.len();
    let mut from = start + open.map_or(0, char::len_utf8);
    if let Some(close) = close
        && text.get(to..)?.starts_with(close)
    {
        to += close.len_utf8();
        from = start;
    }
    let expression = said.join(" ");
    Some((
        Found {
            from,
            to,
            expression,
        },
        n,
    ))
}

/// Is this a field with values in the range?
fn field(text: &str, (from, to): (u32, u32)) -> bool {
    let value = |v: &str| {
        let named = to <= 12 && NAMES.contains(&v.to_uppercase().as_str());
        let last = v == "L" || v == "?" || v == "*";
        named || last || v.parse::<u32>().is_ok_and(|n| (from..=to).contains(&n))
    };
    !text.is_empty()
        && text.split(',').all(|part| {
            let (range, step) = part.split_once('/').unwrap_or((part, "1"));
            let fits = match range.split_once('-') {
                Some((a, b)) => value(a) && value(b),
                None => {
                    let nth = range.split_once('#').map_or(range, |(day, _)| day);
                    value(
                        nth.strip_suffix(['L', 'W'])
                            .filter(|v| !v.is_empty())
                            .unwrap_or(nth),
                    )
                }
            };
            fits && step.parse::<u32>().is_ok_and(|s| (1..=59).contains(&s))
        })
}
