//! Times: clock times, durations, schedule phrases and time zones, in four languages. Works on masked text, returns spans
//! so that the rest of the clause can be read without them.

use crate::lexicon::{first, has, rx, timezone};
use crate::plan::ScheduleRule;
use agentctl_base::lazy_regex::Captures;
use std::ops::Range;

/// A schedule phrase and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    pub rules: Vec<ScheduleRule>,
    pub span: Range<usize>,
    /// The request named a clock time (else ours is a default).
    pub exact: bool,
}

/// A number in digits or in words.
pub fn number(text: &str) -> Option<f64> {
    let t = text.trim().to_lowercase();
    if let Ok(n) = t.replace(',', ".").parse::<f64>() {
        return Some(n);
    }
    const WORDS: [(&str, f64); 46] = [
        ("one", 1.0),
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("six", 6.0),
        ("seven", 7.0),
        ("eight", 8.0),
        ("nine", 9.0),
        ("ten", 10.0),
        ("twelve", 12.0),
        ("fifteen", 15.0),
        ("twenty", 20.0),
        ("thirty", 30.0),
        ("sixty", 60.0),
        ("a", 1.0),
        ("an", 1.0),
        ("other", 2.0),
        ("second", 2.0),
        ("a couple of", 2.0),
        ("half an", 0.5),
        ("ein", 1.0),
        ("zwei", 2.0),
        ("drei", 3.0),
        ("vier", 4.0),
        ("fünf", 5.0),
        ("sechs", 6.0),
        ("zehn", 10.0),
        ("un", 1.0),
        ("una", 1.0),
        ("uno", 1.0),
        ("une", 1.0),
        ("dos", 2.0),
        ("deux", 2.0),
        ("tres", 3.0),
        ("trois", 3.0),
        ("cuatro", 4.0),
        ("quatre", 4.0),
        ("cinco", 5.0),
        ("cinq", 5.0),
        ("seis", 6.0),
        ("diez", 10.0),
        ("dix", 10.0),
        ("sieben", 7.0),
        ("siete", 7.0),
        ("sept", 7.0),
    ];
    if let Some((_, n)) = WORDS.iter().find(|(w, _)| *w == t) {
        return Some(*n);
    }
    has(r"^ein(?:e[rnms]?)?$", &t).then_some(1.0)
}

/// A whole number in digits, with thousands separators.
pub fn amount(text: &str) -> Option<f64> {
    let m = first(
        r"(\d{1,3}(?:[.,' ]\d{3})+|\d+(?:[.,]\d+)?)\s*(?:k\b)?",
        text,
    )?;
    let grouped = has(r"^\d{1,3}(?:[.,' ]\d{3})+$", m);
    let plain = if grouped {
        m.replace(['.', ',', '\'', ' '], "")
    } else {
        m.replace(',', ".")
    };
    let n = plain.parse::<f64>().ok()?;
    Some(if has(r"\d\s*k\b", text) {
        n * 1000.0
    } else {
        n
    })
}

const UNITS: [(&str, u64); 7] = [
    ("second", 1),
    ("minute", 60),
    ("hour", 3600),
    ("day", 86_400),
    ("week", 604_800),
    ("month", 2_592_000),
    ("year", 31_536_000),
];

fn unit_seconds(word: &str) -> Option<u64> {
    UNITS
        .iter()
        .find(|(name, _)| has(&format!("^{{{name}}}$"), word))
        .map(|(_, s)| *s)
}

/// The first duration of a text, in seconds: `4 hours`, `ein Tag`, `2 Wochen`.
pub fn duration(text: &str) -> Option<u64> {
    let pattern = r"\b({num})[\s-]*({second}|{minute}|{hour}|{day}|{week}|{month}|{year})(?:\b|$)";
    for caps in rx(pattern).captures_iter(text) {
        // "and" is no "an d"
        let glued = caps
            .get(1)
            .zip(caps.get(2))
            .is_some_and(|(n, u)| n.end() == u.start() && !n.as_str().ends_with(char::is_numeric));
        if glued {
            continue;
        }
        let n = caps.get(1).and_then(|m| number(m.as_str()));
        let unit = caps.get(2).and_then(|m| unit_seconds(m.as_str()));
        if let (Some(n), Some(unit)) = (n, unit) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "small positive figures"
            )]
            return Some((n * unit as f64) as u64);
        }
    }
    None
}

/// A clock time: hour and minute.
type Clock = (u32, u32);

const CLOCK: &str = r"(?:(?:\b(?:at|um|gegen|around|about|by|ab|kurz nach|a las?|a la|sobre las|à|vers|@|always at|punkt)\s+)?(?:(\d{1,2})(?:[:.](\d{2})|\s?h\s?(\d{2})?\b)?\s*(a\.?m\.?|p\.?m\.?|uhr(?:\s+(\d{2}))?|o'clock|hrs?\b|horas\b|heures\b|de la mañana|de la tarde|de la noche|du matin|du soir)?|(midnight|noon|mitternacht|mittags?|medianoche|mediodía|minuit|midi)\b))";

fn clock_at(text: &str, anchored: &str, marked: bool) -> Option<(Clock, Range<usize>)> {
    let caps = rx(anchored).captures(text)?;
    let whole = caps.get(0)?;
    if let Some(word) = caps.get(6) {
        let noon = has(r"^(?:noon|mittags?|mediodía|midi)$", word.as_str());
        return Some(((if noon { 12 } else { 0 }, 0), whole.range()));
    }
    let hour: u32 = caps.get(1)?.as_str().parse().ok()?;
    let minute = caps
        .get(2)
        .or(caps.get(3))
        .or(caps.get(5))
        .and_then(|m| m.as_str().parse().ok())
        .unwrap_or(0);
    let suffix = caps
        .get(4)
        .map(|m| m.as_str().to_lowercase().replace('.', ""));
    let bare =
        caps.get(2).is_none() && suffix.is_none() && !whole.as_str().to_lowercase().contains('h');
    let preposition = has(
        r"^\s*(?:,\s*)?(?:at|um|gegen|around|about|by|a la|à|@|vers|sobre|punkt|ab)",
        whole.as_str(),
    );
    if hour > 23 || minute > 59 || (marked && bare && !preposition) {
        return None;
    }
    let hour = match suffix.as_deref() {
        Some("pm" | "de la tarde" | "de la noche" | "du soir") if hour < 12 => hour + 12,
        Some("am" | "de la mañana" | "du matin") if hour == 12 => 0,
        _ => hour,
    };
    Some(((hour, minute), whole.range()))
}

/// What repeats, without its clock time.
enum Base {
    Seconds(u32),
    Minutes(u32),
    Hours(u32),
    Days(u32),
    Weekdays(Vec<u8>, u32),
    Months(u32, u32),
}

const DAY_NAMES: [&str; 7] = [
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];

fn weekdays(text: &str) -> Vec<u8> {
    let mut days: Vec<u8> = Vec::new();
    for (i, name) in (0u8..).zip(DAY_NAMES) {
        if has(&format!(r"\b{{{name}}}\b"), text) {
            days.push(i);
        }
    }
    days
}

fn clamp(n: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded"
    )]
    {
        n.clamp(1.0, 100_000.0) as u32
    }
}

type Reader = fn(&Captures<'_>) -> Option<(Base, Clock)>;

fn group<'t>(c: &Captures<'t>, i: usize) -> &'t str {
    c.get(i).map_or("", |m| m.as_str())
}

const EACH: &str = r"(?:{each}|once (?:a|an|per|every)|\d+ times an?)";

/// Phrases in the order in which they are tried; the first that matches at a place wins.
fn phrases() -> Vec<(String, Reader)> {
    let day_list = r"({weekday})(?:[.,]?\s*(?:,|and|und|y|et|&|/|\+|sowie)\s*(?:on\s+|los\s+|les\s+)?({weekday}))?(?:\s*(?:,|and|und|y|et|&|/)\s*({weekday}))?";
    let list: Vec<(String, Reader)> = vec![
        // first / last day of the month
        (
            r"\b(?:on|at|am|an|el|le|the|every|each|jeden|jeweils|cada)?\s*(?:the\s+)?(?:last|letzte[nrm]?|últim[oa]|dernier)\s+(?:{workdays}|{day}|día|tag|jour)\s+(?:of|in|des|im|jedes|eines|del|de|du)\s*(?:the|each|every|a|jeden|jedes|cada|chaque)?\s*{month}\w*".to_owned(),
            |_| Some((Base::Months(1, 0), (9, 0))),
        ),
        (
            r"\b(?:on|at|am|an|el|le|the|every|each|jeden|jeweils|cada)?\s*(?:the\s+)?(?:first|1st|ersten?|erste[nr]?|primer|premier)\s*(?:\.)?\s*(?:(?:{workdays}|{day}|día|tag|jour)\s*)?(?:of|in|des|im|jedes|eines|del|de|du)?\s*(?:the|each|every|a|jeden|jedes|eines|cada|chaque)?\s*{month}\w*".to_owned(),
            |_| Some((Base::Months(1, 1), (9, 0))),
        ),
        (
            r"\b(?:on|am|el|le|every|each|jeden|jeweils am|cada)?\s*(?:the\s+|día\s+)?(\d{1,2})(?:st|nd|rd|th|\.|er)?\s+(?:day\s+)?(?:of|des|jedes|jeden|eines|im|de|du)\s*(?:the|each|every|a|jeden|jedes|eines|cada|chaque)?\s*{month}\w*".to_owned(),
            |c| group(c, 1).parse().ok().filter(|d| (1..=31).contains(d)).map(|d| (Base::Months(1, d), (9, 0))),
        ),
        (
            r"\b(?:monthly|monatlich|mensualmente|mensuellement|{each} {month}|once a {month}) (?:on|am|el|le) (?:the )?(?:día )?(\d{1,2})(?:st|nd|rd|th|\.)?".to_owned(),
            |c| group(c, 1).parse().ok().filter(|d| (1..=31).contains(d)).map(|d| (Base::Months(1, d), (9, 0))),
        ),
        (
            r"\b(?:{each}\s+{quarter}|quarterly|vierteljährlich|trimestralmente|once (?:a|per) quarter|quartalsweise)\b".to_owned(),
            |_| Some((Base::Months(3, 1), (9, 0))),
        ),
        // working days and weekend
        (
            format!(r"\b(?:on\s+|an\s+|am\s+|{EACH}\s+|los\s+|les\s+|de\s+)?(?:{{workdays}})\b"),
            |_| Some((Base::Weekdays(vec![1, 2, 3, 4, 5], 1), (9, 0))),
        ),
        (
            format!(r"\b(?:on\s+|am\s+|{EACH}\s+|los\s+|les\s+)(?:{{weekend}})\b"),
            |_| Some((Base::Weekdays(vec![0, 6], 1), (9, 0))),
        ),
        // every second Monday, every Monday and Thursday
        (
            format!(r"\b(?:{{each}})\s+(?:other|second|2nd|zweiten?|segundo)\s+{day_list}\b"),
            |c| Some((Base::Weekdays(weekdays(group(c, 0)), 2), (9, 0))),
        ),
        (
            format!(r"\b(?:(?:{EACH}|on|los|les|am|immer|jeweils)\s+){day_list}(?:\s+(morning|afternoon|evening|morgen|abend|nachmittag|night))?\b"),
            |c| Some((Base::Weekdays(weekdays(group(c, 0)), 1), part_of_day(group(c, 0)))),
        ),
        // Mondays and Thursdays at 10:00; Monday 9am
        (
            r"\b((?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|diens|mittwoch|donners|frei|sams|sonn)(?:tag)?s)(?:(?:,|\s+and|\s+und|\s*&)\s*({weekday}))?(?:(?:,|\s+and|\s+und|\s*&)\s*({weekday}))?\b".to_owned(),
            |c| Some((Base::Weekdays(weekdays(group(c, 0)), 1), (9, 0))),
        ),
        // every 5 minutes, alle 5 Minuten
        (
            r"\b(?:{each})\s+({num})\s*(?:-?\s*)({second}|{minute}|{hour}|{day}|{week}|{month})(?:\b|\s|$)".to_string(),
            |c| {
                let n = number(group(c, 1))?;
                let seconds = unit_seconds(group(c, 2))?;
                Some((
                    match seconds {
                        1 => Base::Seconds(clamp(n)),
                        60 => Base::Minutes(clamp(n)),
                        3600 if n < 1.0 => Base::Minutes(30),
                        3600 => Base::Hours(clamp(n)),
                        86_400 => Base::Days(clamp(n)),
                        604_800 => Base::Weekdays(vec![1], clamp(n)),
                        _ => Base::Months(clamp(n), 1),
                    },
                    (9, 0),
                ))
            },
        ),
        (
            r"\b(?:hourly|stündlich|{each} (?:full )?(?:hour|stunde|hora|heure)|once (?:an|per|every) hour|cada hora|toutes les heures|top of the hour)\b".to_owned(),
            |_| Some((Base::Hours(1), (0, 0))),
        ),
        (
            r"\b(?:{each} (?:half[- ]hour|halbe stunde)|half[- ]hourly|halbstündlich|cada media hora|toutes les demi-heures)\b".to_owned(),
            |_| Some((Base::Minutes(30), (0, 0))),
        ),
        (
            r"\b(?:{each} minute|minütlich|cada minuto|toutes les minutes|once (?:a|per|every) minute)\b".to_owned(),
            |_| Some((Base::Minutes(1), (0, 0))),
        ),
        // parts of the day
        (
            r"\b(?:nightly|nächtlich|{each} (?:night|nacht|noche|nuit)|at night|nachts|por la noche|por las noches|la nuit|over ?night)\b".to_owned(),
            |_| Some((Base::Days(1), (2, 0))),
        ),
        (
            r"\b(?:{each} (?:morning|morgen|mañana|matin)|mornings|in the mornings?|morgens|am morgen|frühmorgens|por las mañanas|por la mañana|le matin|tous les matins)\b".to_owned(),
            |_| Some((Base::Days(1), (8, 0))),
        ),
        (
            r"\b(?:{each} (?:evening|abend|tarde|soir|afternoon)|evenings|in the evenings?|abends|por las tardes|le soir|tous les soirs)\b".to_owned(),
            |c| Some((Base::Days(1), if has("afternoon", group(c, 0)) { (15, 0) } else { (18, 0) })),
        ),
        (
            r"\b(?:daily|täglich|{each} (?:single )?(?:day|tag|día|dia|jour)|{each} days|tous les jours|todos los días|todos los dias|a diario|diariamente|quotidiennement|jeden tag|once (?:a|per|every) day|day by day)\b".to_owned(),
            |_| Some((Base::Days(1), (9, 0))),
        ),
        (
            r"\b(?:weekly|wöchentlich|{each} (?:week|woche|semana|semaine)|once (?:a|per) week|semanalmente|toutes les semaines|hebdomadaire(?:ment)?)\b".to_owned(),
            |_| Some((Base::Weekdays(vec![1], 1), (9, 0))),
        ),
        (
            r"\b(?:monthly|monatlich|{each} (?:month|monat|mes|mois)|once (?:a|per) month|mensualmente|tous les mois|at (?:the )?month[- ]?end|zum monatsende)\b".to_owned(),
            |c| Some((Base::Months(1, if has("end", group(c, 0)) { 0 } else { 1 }), (9, 0))),
        ),
        (
            r"\b(?:yearly|annually|jährlich|{each} (?:year|jahr|año)|once a year|tous les ans|chaque année|anualmente)\b".to_owned(),
            |_| Some((Base::Months(12, 1), (9, 0))),
        ),
    ];
    list
}

fn part_of_day(text: &str) -> Clock {
    if has(r"\b(?:evening|abend|night)\b", text) {
        (18, 0)
    } else if has(r"\b(?:afternoon|nachmittag)\b", text) {
        (15, 0)
    } else if has(r"\b(?:morning|morgen)\b", text) {
        (8, 0)
    } else {
        (9, 0)
    }
}

/// Every schedule phrase of the text, in order, without overlaps.
pub fn schedules(text: &str) -> Vec<Timed> {
    let mut found: Vec<Timed> = Vec::new();
    for m in rx(
        r"\b(?:cron(?:\s*(?:expression|schedule|ausdruck))?)?[\s:]*((?:[\d*/,?-]+\s+){4,5}(?:[\d*/,?-]*[\d*/?]|(?-i:MON|TUE|WED|THU|FRI|SAT|SUN)(?:[-,](?-i:MON|TUE|WED|THU|FRI|SAT|SUN))*))(?:\s+(?:§\s*)?\(?(?:[A-Z][a-z]+/[A-Z][A-Za-z_]+|(?-i:UTC|GMT|CET))\)?)?",
    )
    .captures_iter(text)
    {
        if let (Some(whole), Some(expr)) = (m.get(0), m.get(1))
            && expr.as_str().contains('*')
        {
            found.push(Timed {
                rules: vec![ScheduleRule::Cron {
                    expression: expr
                        .as_str()
                        .split_whitespace()
                        .collect::<Vec<_>>()
                        .join(" "),
                }],
                span: whole.range(),
                exact: true,
            });
        }
    }
    for (pattern, read) in phrases() {
        for caps in rx(&pattern).captures_iter(text) {
            let Some(whole) = caps.get(0) else { continue };
            let span = whole.range();
            if found
                .iter()
                .any(|f| f.span.start < span.end && span.start < f.span.end)
                || not_a_schedule(text, &span)
            {
                continue;
            }
            if let Some((base, clock)) = read(&caps) {
                found.push(with_clock(text, span, base, clock));
            }
        }
    }
    bare_weekday_times(text, &mut found);
    found.sort_by_key(|f| f.span.start);
    found
}

/// `Monday 9am` without a preposition.
fn bare_weekday_times(text: &str, found: &mut Vec<Timed>) {
    let pattern = r"\b({weekday})(?:\s*(?:,|and|und|&)\s*({weekday}))?\b";
    for caps in rx(pattern).captures_iter(text) {
        let Some(whole) = caps.get(0) else { continue };
        let span = whole.range();
        if found
            .iter()
            .any(|f| f.span.start < span.end && span.start < f.span.end)
            || not_a_schedule(text, &span)
        {
            continue;
        }
        let timed = with_clock(
            text,
            span,
            Base::Weekdays(weekdays(whole.as_str()), 1),
            (9, 0),
        );
        if timed.exact && whole.as_str().len() > 3 {
            found.push(timed);
        }
    }
}

/// "last Monday", "since Monday", "until Friday", "10 times per day", "of the last week" repeat nothing.
fn not_a_schedule(text: &str, span: &Range<usize>) -> bool {
    let before = text.get(..span.start).unwrap_or_default();
    // "run this every night", "into the list every Monday"
    let rhythm = has(
        r"^\s*(?:every|each|jede[nrms]?|alle|cada|todos los|todas las|chaque|tous les|toutes les)\b",
        text.get(span.clone()).unwrap_or_default(),
    );
    if rhythm
        && has(
            r"\b(?:this|it|folder|ordner|carpeta|dossier|board|list|liste|table|channel|sheet|file|project)\s*$",
            before,
        )
    {
        return false;
    }
    has(
        r"\b(?:last|past|since|until|by|previous|next|this|letzten?|seit|bis|nächsten?|for|times|per|at most|more than|max(?:imum)?|the|older than|within|folder|ordner|carpeta|dossier|board|list|table|channel|sheet|called|named|namens|file|project)\s*$",
        before,
    ) && !has(r"\b(?:by|for the)\s*$", before)
        || has(
            r"\b(?:mails?|messages?|requests?|calls?|days|times)\s+(?:per|a|an)\s*$",
            before,
        )
}

fn with_clock(text: &str, mut span: Range<usize>, base: Base, default: Clock) -> Timed {
    let mut clocks: Vec<Clock> = Vec::new();
    let after = format!(r"^(?:\s*[,(]?\s*(?:always|immer|jeweils)?\s*){CLOCK}");
    if let Some((clock, range)) = clock_at(text.get(span.end..).unwrap_or_default(), &after, true) {
        clocks.push(clock);
        span.end += range.end;
        let more = format!(r"^\s*(?:,|and|und|y|et|&|or|sowie)\s*(?:again\s+)?{CLOCK}");
        while let Some((clock, range)) =
            clock_at(text.get(span.end..).unwrap_or_default(), &more, true)
        {
            clocks.push(clock);
            span.end += range.end;
        }
    } else {
        let before = format!(r"{CLOCK}[,\s]*(?:on\s+)?$");
        if let Some((clock, range)) =
            clock_at(text.get(..span.start).unwrap_or_default(), &before, true)
        {
            clocks.push(clock);
            span.start = range.start;
        }
    }
    let exact = !clocks.is_empty();
    // `09:00 UTC`, `9 Uhr (Europe/Berlin)` belong to the phrase.
    if let Some(zone) = rx(r"^\s*,?\s*§?\(?\s*(?:[A-Z][a-z]+/[A-Z][A-Za-z_]+|(?:utc|gmt|cet|cest|est|edt|pst|pdt|bst|mez)\b|[A-Z][a-zü]+(?:er)? (?:time|zeit)\b)\)?")
        .find(text.get(span.end..).unwrap_or_default())
    {
        span.end += zone.end();
    }
    if clocks.is_empty() {
        clocks.push(default);
    }
    let rules = clocks
        .into_iter()
        .map(|(hour, minute)| match &base {
            Base::Seconds(n) => ScheduleRule::Seconds { n: *n },
            Base::Minutes(n) => ScheduleRule::Minutes { n: *n },
            Base::Hours(n) => ScheduleRule::Hours { n: *n, minute: 0 },
            Base::Days(n) => ScheduleRule::Days {
                n: *n,
                hour,
                minute,
            },
            Base::Weekdays(days, n) => ScheduleRule::Weeks {
                n: *n,
                weekdays: days.clone(),
                hour,
                minute,
            },
            Base::Months(n, day) => ScheduleRule::Months {
                n: *n,
                day: *day,
                hour,
                minute,
            },
        })
        .collect();
    Timed { rules, span, exact }
}

/// The time zone that the request names.
pub fn zone(text: &str) -> Option<String> {
    if let Some(iana) = first(
        r"\b((?:Europe|America|Asia|Africa|Australia|Pacific|Atlantic|Indian)/[A-Za-z_]+(?:/[A-Za-z_]+)?)\b",
        text,
    ) {
        return Some(iana.to_owned());
    }
    timezone(text)
}

#[cfg(test)]
#[path = "when_tests.rs"]
mod when_tests;
