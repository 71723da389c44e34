//! Spoken schedules in plain ones: "a quarter of an hour", "half past eight", "ten past every hour", "between 8 and 18 on
//! weekdays", "the first Monday of the month", "every year on 3 March". Rewrites the words before the request is cut into
//! clauses, so that the schedule reader meets few forms; it reads no trigger itself.

use crate::lexicon::{has, rx};
use crate::plan::{Cmp, Cond, Val};
use agentctl_base::lazy_regex::Captures;
use serde_json::Value;

/// A text with its schedules in plain words, and what must hold on a day on which the schedule runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Canonical {
    pub text: String,
    pub only: Option<Cond>,
}

const HOURS: [&[&str]; 12] = [
    &["one", "ein", "eins", "una", "un", "une"],
    &["two", "zwei", "dos", "deux"],
    &["three", "drei", "tres", "trois"],
    &["four", "vier", "cuatro", "quatre"],
    &["five", "fünf", "cinco", "cinq"],
    &["six", "sechs", "seis"],
    &["seven", "sieben", "siete", "sept"],
    &["eight", "acht", "ocho", "huit"],
    &["nine", "neun", "nueve", "neuf"],
    &["ten", "zehn", "diez", "dix"],
    &["eleven", "elf", "once", "onze"],
    &["twelve", "zwölf", "doce", "douze"],
];

const MONTHS: [&str; 12] = [
    r"january|jan|januar|jänner|enero|janvier",
    r"february|feb|februar|febrero|février",
    r"march|mar|märz|marzo|mars",
    r"april|apr|abril|avril",
    r"may|mai|mayo",
    r"june|jun|juni|junio|juin",
    r"july|jul|juli|julio|juillet",
    r"august|aug|agosto|août",
    r"september|sept?|septiembre|septembre",
    r"october|oct|oktober|okt|octubre|octobre",
    r"november|nov|noviembre|novembre",
    r"december|dec|dezember|dez|diciembre|décembre",
];

const CLOCK: &str = r"(?:\d{1,2}(?:[:.]\d{2}|\s?h\s?\d{2}|\s?h\b)?\s*(?:a\.?m\b\.?|p\.?m\b\.?|uhr\b(?:\s\d{2}\b)?|o'clock|hrs?\b|horas?\b|heures?\b)?|noon\b|midday\b|midnight\b|mittags?\b|mitternacht\b|mediodía\b|medianoche\b|midi\b|minuit\b)";
const AT: &str = r"(?:\bat\s+|\bum\s+|\ba\s+las?\s+|\bà\s+|\bvers\s+|\bgegen\s+|@\s*)";
const AND: &str = r"(?:\s*,\s*(?:and|und|y|et)?\s*|\s+(?:and|und|y|et|sowie)\s+)";
const YEARLY: &str = r"(?:(?:every|each|once a) year|annually|yearly|jedes jahr|jährlich|einmal im jahr|cada año|todos los años|anualmente|una vez al año|chaque année|tous les ans|une fois par an)";

fn part<'t>(c: &Captures<'t>, i: usize) -> &'t str {
    c.get(i).map_or("", |m| m.as_str())
}

/// A number up to twelve in words or any in digits.
fn small(word: &str) -> Option<u32> {
    let word = word.trim().to_lowercase();
    if let Ok(n) = word.parse() {
        return Some(n);
    }
    let quarter = has(r"quarter|viertel|cuarto|quart", &word);
    let half = has(r"half|halb|media|demie", &word);
    if quarter || half {
        return Some(if quarter { 15 } else { 30 });
    }
    if has(r"^(?:twenty|zwanzig|veinte|vingt)$", &word) {
        return Some(20);
    }
    (1u32..)
        .zip(HOURS)
        .find(|(_, names)| names.contains(&word.as_str()))
        .map(|(n, _)| n)
}

/// Words for the hours as alternatives of a pattern.
fn hour_words() -> String {
    let mut all: Vec<&str> = HOURS.iter().flat_map(|l| l.iter().copied()).collect();
    all.sort_by_key(|w| std::cmp::Reverse(w.len()));
    format!(r"(?:{}|\d{{1,2}})", all.join("|"))
}

/// Hour and minute of a clock time as [`CLOCK`] matches it.
fn clock(text: &str) -> Option<(u32, u32)> {
    let text = text.trim().to_lowercase();
    if has(r"noon|midday|mittag|mediodía|midi\b", &text) && !has("midnight", &text) {
        return Some((12, 0));
    }
    if has(r"midnight|mitternacht|medianoche|minuit", &text) {
        return Some((0, 0));
    }
    let caps = rx(r"^(\d{1,2})(?:[:.](\d{2})|\s?h\s?(\d{2}))?\s*(a\.?m|p\.?m|uhr(?:\s(\d{2}))?)?")
        .captures(&text)?;
    let hour: u32 = part(&caps, 1).parse().ok()?;
    let minute = [2, 3, 5]
        .iter()
        .find_map(|i| part(&caps, *i).parse().ok())
        .unwrap_or(0);
    let hour = match part(&caps, 4).replace('.', "").as_str() {
        "pm" if hour < 12 => hour + 12,
        "am" if hour == 12 => 0,
        _ => hour,
    };
    (hour < 24 && minute < 60).then_some((hour, minute))
}

fn clocks(text: &str) -> Vec<(u32, u32)> {
    rx(CLOCK)
        .find_iter(text)
        .filter_map(|m| clock(m.as_str()))
        .collect()
}

const DAYS: [&str; 7] = [
    "{sunday}",
    "{monday}",
    "{tuesday}",
    "{wednesday}",
    "{thursday}",
    "{friday}",
    "{saturday}",
];

/// 0 = Sunday.
fn weekday(word: &str) -> Option<u32> {
    (0u32..)
        .zip(DAYS)
        .find(|(_, p)| has(&format!("^(?:{p})$"), word.trim()))
        .map(|(n, _)| n)
}

/// The days field of a cron expression.
fn cron_days(text: &str) -> Option<String> {
    if has(r"\b{workdays}\b", text) {
        return Some("1-5".into());
    }
    if has(r"\b{weekend}\b", text) {
        return Some("0,6".into());
    }
    if let Some(c) =
        rx(r"\b({weekday})\s*(?:-|–|to|through|thru|bis|al?|au|à)\s*({weekday})\b").captures(text)
        && let (Some(a), Some(b)) = (weekday(part(&c, 1)), weekday(part(&c, 2)))
    {
        let b = if b <= a { b + 7 } else { b };
        return Some(if b > 7 || b == 7 && a == 0 {
            let mut list: Vec<String> = (a..=b).map(|d| (d % 7).to_string()).collect();
            list.sort();
            list.dedup();
            list.join(",")
        } else {
            format!("{a}-{b}")
        });
    }
    let list: Vec<String> = rx(r"\b{weekday}\b")
        .find_iter(text)
        .filter_map(|m| weekday(m.as_str()))
        .map(|d| d.to_string())
        .collect();
    (!list.is_empty()).then(|| list.join(","))
}

/// Puts clock times that are spoken into figures: `half past eight` → `at 8:30`.
fn spoken_clocks(text: &str) -> String {
    let hour = hour_words();
    let later = |h: u32, m: u32| format!("{}:{m:02}", h % 24);
    let t = rx(&format!(
        r"\b(?:at\s+)?(?:(half|a quarter|quarter)(?:\s+minutes?)?\s+(past|to)|(five|ten|twenty)\s+past)\s+({hour})\b"
    ))
    .replace_all(text, |c: &Captures<'_>| {
        let said = if part(c, 1).is_empty() { part(c, 3) } else { part(c, 1) };
        match (small(said), small(part(c, 4))) {
            (Some(m), Some(h)) if h < 24 && m < 60 && (1..=24).contains(&h) => {
                let time = if part(c, 2).eq_ignore_ascii_case("to") {
                    later(h + 23, 60 - m)
                } else {
                    later(h, m)
                };
                format!("at {time}")
            }
            _ => part(c, 0).to_owned(),
        }
    })
    .into_owned();
    let t = rx(&format!(
        r"\b(halb|dreiviertel|viertel (?:nach|vor))\s+({hour})\b"
    ))
    .replace_all(&t, |c: &Captures<'_>| match small(part(c, 2)) {
        Some(h) if (1..=24).contains(&h) => match part(c, 1).to_lowercase().as_str() {
            "halb" => later(h + 23, 30),
            "dreiviertel" | "viertel vor" => later(h + 23, 45),
            _ => later(h, 15),
        },
        _ => part(c, 0).to_owned(),
    })
    .into_owned();
    let t = rx(&format!(
        r"\b(las?)\s+({hour})\s+(y media|y cuarto|menos cuarto)\b"
    ))
    .replace_all(&t, |c: &Captures<'_>| match small(part(c, 2)) {
        Some(h) if h <= 24 => {
            let time = match part(c, 3).to_lowercase().as_str() {
                "y media" => later(h, 30),
                "y cuarto" => later(h, 15),
                _ => later(h + 23, 45),
            };
            format!("{} {time}", part(c, 1))
        }
        _ => part(c, 0).to_owned(),
    })
    .into_owned();
    let t = rx(&format!(
        r"\b({hour})\s*(?:heures?|h)\s+(et demie|et quart|moins le quart)\b"
    ))
    .replace_all(&t, |c: &Captures<'_>| match small(part(c, 1)) {
        Some(h) if h <= 24 => match part(c, 2).to_lowercase().as_str() {
            "et demie" => later(h, 30),
            "et quart" => later(h, 15),
            _ => later(h + 23, 45),
        },
        _ => part(c, 0).to_owned(),
    })
    .into_owned();
    let words = hour.replace(r"|\d{1,2}", "");
    let t = rx(&format!(
        r"(\b(?:at|um|a las?|à)|\band at|\bund um|\by a las?|\bet à)\s+({words})\s*(o'clock|uhr|heures?|horas)?(\s+(?:in the|every|each|on|daily|[ap]m\b|de la|del|du|jeden|cada|chaque|tous|todos|sharp|and at|and {words}|und {words}|y a)|\s*[,:.–-]|\s*$)"
    ))
    .replace_all(&t, |c: &Captures<'_>| match small(part(c, 2)) {
        // "at once" and "à une" name no hour
        Some(h) if !has(r"^(?:once|un|une|ein)$", part(c, 2)) || has("^a las?$", part(c, 1)) => {
            format!("{} {h}:00{}", part(c, 1), part(c, 4))
        }
        _ => part(c, 0).to_owned(),
    })
    .into_owned();
    let t = rx(r"\b(?:at )?midday\b|\bzur mittagszeit\b|\bal mediodía\b")
        .replace_all(&t, "at 12:00")
        .into_owned();
    // "8 in the evening", "8 Uhr abends", "7 de la noche"
    rx(r"\b(\d{1,2})(?:[:.](\d{2}))?\s*(?:o'clock\s+|uhr\s+)?(in the (?:morning|afternoon|evening)|at night|abends|nachmittags|morgens|früh|de la (?:tarde|noche|mañana)|du (?:soir|matin)|de l'après-midi)")
        .replace_all(&t, |c: &Captures<'_>| match part(c, 1).parse::<u32>() {
            Ok(h) if h <= 12 && part(c, 1) != "0" => {
                let late = !has(r"morning|morgens|früh|mañana|matin", part(c, 3));
                let h = if late && h < 12 { h + 12 } else if !late && h == 12 { 0 } else { h };
                let m = if part(c, 2).is_empty() { "00" } else { part(c, 2) };
                format!("{h}:{m}")
            }
            _ => part(c, 0).to_owned(),
        })
        .into_owned()
}

/// Fractions and counts: quarter hours, twice a day, every other week.
fn plain_words(text: &str) -> String {
    let mut t = text.to_owned();
    let swaps: [(&str, &str); 12] = [
        (
            r"\b(?:{each})\s+(?:quarters?(?:\s+of\s+an|\s+an)?[\s-]+hours?|viertelstunden?|cuartos? de hora|quarts? d'heure)\b|\bquarter[- ]hourly\b|\bviertelstündlich\b",
            "every 15 minutes",
        ),
        (
            r"\b(?:{each})\s+(?:half(?:\s+(?:an|of an))?[\s-]+hours?|halben? stunden?|medias? horas?|demi[- ]heures?)\b|\bhalf[- ]hourly\b|\bhalbstündlich\b",
            "every 30 minutes",
        ),
        (
            r"\b(?:{each})\s+(?:half a minute|half[- ]minute|halbe minute|medio minuto|demi[- ]minute)\b",
            "every 30 seconds",
        ),
        (
            r"\b(?:{each})\s+(?:three[- ]quarters of an hour|dreiviertelstunde|tres cuartos de hora|trois quarts d'heure)\b",
            "every 45 minutes",
        ),
        (
            r"\b(?:twice|two times|three times|thrice|four times|several times|\d (?:times|x)|2x|3x) (?:a|per|each|every) day\b|\b(?:twice|three times|four times) daily\b|\b(?:zwei|drei|vier|mehr|2|3|4) ?(?:mal|x) (?:am tag|pro tag|täglich)\b|\btäglich (?:zwei|drei|vier)mal\b|\b(?:dos|tres|cuatro|varias|2|3|4) veces (?:al|por) día\b|\b(?:deux|trois|quatre|plusieurs|2|3|4) fois par jour\b",
            "every day~",
        ),
        (
            r"\bfortnightly\b|\bbi-?weekly\b|\b(?:{each}) (?:other|second|2nd) weeks?\b|\b(?:jede|in jeder) zweiten? woche\b|\balle zwei wochen\b|\balle 14 tage\b|\b14-?tägig\b|\bvierzehntägig\b|\bzweiwöchentlich\b|\bquincenalmente\b|\bcada (?:dos semanas|quincena)\b|\btoutes les (?:deux semaines|quinzaines)\b|\bune semaine sur deux\b",
            "every 2 weeks",
        ),
        (
            r"\b(?:on |at )?(?:the )?(?:first day|1st day|1st|beginning|start) of (?:each|every|the|a) (?:calendar )?quarter\b|\b(?:am )?(?:ersten tag|anfang|beginn) (?:jedes|eines|des) quartals?\b|\bzum quartalsbeginn\b|\b(?:el )?(?:primer día|inicio) de cada trimestre\b|\b(?:le )?premier jour de chaque trimestre\b|\bau début de chaque trimestre\b",
            "every quarter",
        ),
        (
            r"\b(?:last business day|last working day|last weekday) of (?:the|each|every) month\b",
            "last weekday of every month",
        ),
        (
            r"\b(?:at )?(?:the )?end of (?:the|each|every) month\b|\b(?:am|zum|jeweils am|jeweils zum) monatsende\b|\bam ende (?:jedes|des) monats\b|\b(?:a )?(?:fin|final(?:es)?) de(?: cada)? mes\b|\b(?:en |à la )?fin (?:du|de chaque) mois\b",
            "on the last day of every month",
        ),
        (
            r"\bal (?:comienzo|principio) de cada mes\b|\b(?:am|zum|jeweils am|jeweils zum) monats(?:anfang|beginn)\b|\bau début de chaque mois\b|\b(?:at the )?(?:start|beginning) of (?:the|each|every) month\b",
            "on the first day of every month",
        ),
        (r"\b(?:every|each) single\b", "every"),
        (r"\b(?:full hour|volle stunde)\b|\ba full hour\b", "hour"),
    ];
    for (pattern, with) in swaps {
        if has(pattern, &t) {
            t = rx(pattern).replace_all(&t, with).into_owned();
        }
    }
    // the clock times of "twice a day, at …" belong to it; without them the day is cut evenly
    if t.contains("every day~") {
        let often = if has(r"\b(?:three|thrice|3|drei|tres|trois)\b", text) {
            "every day at 8:00 and 13:00 and 18:00"
        } else if has(r"\b(?:four|4|vier|cuatro|quatre)\b", text) {
            "every day at 6:00 and 12:00 and 18:00 and 23:00"
        } else {
            "every day at 9:00 and 18:00"
        };
        t = rx(&format!(r"every day~[\s,:(–-]*({AT}?{CLOCK})"))
            .replace_all(&t, "every day $1")
            .into_owned();
        t = rx(&format!(
            r"({AT}{CLOCK}(?:{AND}{AT}?{CLOCK})+)[\s,]*every day~"
        ))
        .replace_all(&t, "every day $1")
        .into_owned();
        t = t.replace("every day~", often);
    }
    t
}

/// `at ten past every hour`, `jede Stunde zur Minute 15`.
fn minute_of_hour(text: &str) -> String {
    let hour = hour_words();
    let minute = format!(r"(?:a quarter|quarter|half|viertel|twenty|zwanzig|veinte|vingt|{hour})");
    let every_hour = r"(?:(?:every|each|the|jeder?|zu jeder|cada|chaque)\s+(?:full\s+|vollen?\s+)?(?:hour|stunde|hora|heure)|hourly|stündlich|once an hour|toutes les heures)";
    let before = [
        format!(
            r"\b(?:at\s+|always\s+|um\s+|immer\s+)*({minute})(?:\s+minutes?|\s+minuten)?\s+(past|after|nach|before|to|vor)\s+{every_hour}\b"
        ),
        format!(
            r"\b(?:a los\s+|à\s+|à la\s+|en el\s+)?({minute})\s+(?:minutos?|minutes?)\s+(de|después de|après|of|past|into|avant|antes de)\s+{every_hour}\b"
        ),
        format!(
            r"\b(?:at|à la|en el|zur|a la)\s+minut[eo]\s+(\d{{1,2}})\s+(of|de|von|in)\s+{every_hour}\b"
        ),
        format!(
            r"\b{every_hour}[\s,]+(?:at|um|zur|in der|à la|en el|a los|a la|on)\s+(?:the\s+)?(?:minut[eo]\s+|:)?({minute})(?:\s*(?:minutes?|minutos|minuten)?(?:\s+(past|after|nach|after the hour|past the hour)(?: the hour)?)|\b)"
        ),
    ];
    let mut t = text.to_owned();
    for (i, pattern) in before.iter().enumerate() {
        t = rx(pattern)
            .replace_all(&t, |c: &Captures<'_>| {
                let whole = part(c, 0);
                // "every hour at 9" is a clock time, not a minute, unless it says so
                let says = i < 3 || has(r":\d|minut|past|after|nach", whole);
                match small(part(c, 1)) {
                    Some(m) if m < 60 && says => {
                        let m = if has(r"^(?:before|to|vor|avant|antes de)$", part(c, 2)) {
                            (60 - m) % 60
                        } else {
                            m
                        };
                        format!("cron {m} * * * *")
                    }
                    _ => whole.to_owned(),
                }
            })
            .into_owned();
    }
    t
}

/// Intervals inside hours and on days: `every 10 minutes between 8 and 18 on weekdays`.
fn windows(text: &str) -> String {
    let interval = r"(?:\b(?:{each})\s+(?:\d{1,2}|two|three|four|five|ten|fifteen|twenty|thirty|zwei|drei|vier|fünf|zehn|zwanzig|dreißig|dos|tres|cuatro|cinco|diez|quince|veinte|treinta|deux|trois|quatre|cinq|dix|quinze|vingt|trente)[\s-]*(?:minutes?|mins?\.?|minuten|minutos|h(?:ou)?rs?|hours?|stunden|horas|heures)\b|\b(?:hourly|stündlich)\b|\b(?:{each})\s+(?:hour|stunde|hora|heure|heures)\b)";
    let window = format!(
        r"(?:(?:\(\s*)?\b(?:between|from|zwischen|von|entre|de|desde|during)?\s*(?:the hours of\s+)?(?:las?\s+)?{CLOCK}\s*(?:\band\b|\bto\b|\buntil\b|\btill\b|-|–|\bbis\b|\bund\b|\by\b|\ba\b|\bhasta\b|\bet\b|\bà\b)\s*(?:las?\s+)?{CLOCK}(?:\s*\))?|\b(?:during\s+|während\s+(?:der\s+)?|in\s+|durante\s+(?:el\s+)?|en\s+|pendant\s+(?:les\s+)?|within\s+)?(?:business hours|office hours|working hours|work hours|geschäftszeiten|bürozeiten|arbeitszeit|horario laboral|horario de oficina|horas? laborables|heures de bureau|heures ouvrables|heures ouvrées)\b)"
    );
    let days = r"(?:\b(?:on\s+|an\s+|am\s+|von\s+|from\s+|los\s+|les\s+|du\s+|de\s+|en\s+|only\s+|nur\s+|every\s+|jeden\s+)*(?:{workdays}|{weekend}|{weekday}\s*(?:-|–|to|through|thru|bis|al?|au|à)\s*{weekday}|{weekday}(?:(?:\s*,\s*|\s+(?:and|und|y|et)\s+){weekday})*)\b)";
    let gap = r"(?:[\s,]|\b(?:on|only|nur|and|but|at|während|immer|always|aber|jeweils|solo|seulement|uniquement)\b)*";
    let whole = format!(
        r"(?:(?:{days}|{window}){gap}){{0,2}}{interval}(?:{gap}(?:{days}|{window})){{0,2}}"
    );
    rx(&whole)
        .replace_all(text, |c: &Captures<'_>| {
            let said = part(c, 0);
            let Some(step) = rx(interval).find(said) else {
                return said.to_owned();
            };
            let rest = format!(
                "{} | {}",
                said.get(..step.start()).unwrap_or_default(),
                said.get(step.end()..).unwrap_or_default()
            );
            let office = has(
                r"business|office|work(?:ing)? hours|geschäftszeiten|bürozeiten|arbeitszeit|laboral|oficina|bureau|ouvr",
                &rest,
            ) && !has(r"\d", &rest);
            let (from, to) = if office {
                (Some((9, 0)), Some((17, 0)))
            } else {
                let mut all = clocks(&rest).into_iter();
                (all.next(), all.next())
            };
            let days = cron_days(&rest);
            if from.is_none() && days.is_none() || from.is_some() != to.is_some() {
                return said.to_owned();
            }
            let days = days.unwrap_or_else(|| if office { "1-5".into() } else { "*".into() });
            let hourly = has(r"\bh(?:ou)?rs?\b|hour|stunde|stündlich|hora|heure", step.as_str());
            let n = rx(r"\d+|\b\p{L}+\b")
                .find_iter(step.as_str())
                .filter_map(|w| count(w.as_str()))
                .next()
                .unwrap_or(1);
            let hours = match (from, to) {
                (Some((a, _)), Some((b, m))) => {
                    let b = if b <= a && b < 12 { b + 12 } else { b };
                    let last = if hourly || m > 0 { b } else { b.saturating_sub(1) };
                    if last <= a {
                        a.to_string()
                    } else {
                        format!("{a}-{}", last.min(23))
                    }
                }
                _ => "*".to_owned(),
            };
            match (hourly, n) {
                (true, 1) => format!(" cron 0 {hours} * * {days} "),
                (true, n) => format!(" cron 0 {hours}/{n} * * {days} "),
                (false, 1) => format!(" cron * {hours} * * {days} "),
                (false, n) => format!(" cron */{n} {hours} * * {days} "),
            }
        })
        .into_owned()
}

fn count(word: &str) -> Option<u32> {
    let w = word.to_lowercase();
    match w.as_str() {
        "fifteen" | "fünfzehn" | "quince" | "quinze" => Some(15),
        "twenty" | "zwanzig" | "veinte" | "vingt" => Some(20),
        "thirty" | "dreißig" | "treinta" | "trente" => Some(30),
        "une" | "un" | "una" | "ein" | "once" => None,
        other => {
            small(other).filter(|_| !has("half|quarter|halb|viertel|media|cuarto|quart", other))
        }
    }
}

/// Days of the week as a range or a long list, with their clock times.
fn day_ranges(text: &str) -> String {
    let days = r"(?:{weekday}\s*(?:-|–|to|through|thru|bis|al?|au|à)\s*{weekday}|{weekday}(?:(?:\s*,\s*(?:and\s+|und\s+|y\s+|et\s+)?|\s+(?:and|und|y|et)\s+){weekday}){3,})";
    let times = format!(r"{AT}?{CLOCK}(?:{AND}{AT}?{CLOCK})*");
    let lead =
        r"(?:every\s+|each\s+|on\s+|from\s+|von\s+|immer\s+|jeweils\s+|de\s+|du\s+|los\s+|les\s+)*";
    let after = format!(r"\b{lead}({days})(?:[\s,]+({times}))");
    let before = format!(r"({AT}{CLOCK}(?:{AND}{AT}?{CLOCK})*)[\s,]+{lead}({days})\b");
    let write = |days: &str, times: &str, said: &str| -> String {
        let Some(days) = cron_days(days).filter(|d| d != "1-5") else {
            return said.to_owned();
        };
        let all: Vec<String> = clocks(times)
            .iter()
            .map(|(h, m)| format!("cron {m} {h} * * {days}"))
            .collect();
        if all.is_empty() {
            said.to_owned()
        } else {
            format!(" {} ", all.join(" , "))
        }
    };
    let t = rx(&after)
        .replace_all(text, |c: &Captures<'_>| {
            write(part(c, 1), part(c, 2), part(c, 0))
        })
        .into_owned();
    rx(&before)
        .replace_all(&t, |c: &Captures<'_>| {
            write(part(c, 2), part(c, 1), part(c, 0))
        })
        .into_owned()
}

/// `every year on 3 March at 9`, `jedes Jahr am 24. Dezember`.
fn yearly(text: &str) -> String {
    let months = MONTHS.join("|");
    let date = format!(
        r"(?:(?:on|am|el|le|the|each|every|jeden|cada|chaque)\s+)*(?:(\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?({months})\b\.?|\b({months})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b)"
    );
    let time = format!(r"(?:[\s,]+({AT}?{CLOCK}))?");
    let write = |c: &Captures<'_>| -> String {
        let day = [1, 4].iter().find_map(|i| part(c, *i).parse::<u32>().ok());
        let name = if part(c, 2).is_empty() {
            part(c, 3)
        } else {
            part(c, 2)
        };
        let month = (1u32..)
            .zip(MONTHS)
            .find(|(_, p)| has(&format!("^(?:{p})$"), name))
            .map(|(n, _)| n);
        let (h, m) = clocks(part(c, 5)).first().copied().unwrap_or((9, 0));
        match (day, month) {
            (Some(d), Some(month)) if (1..=31).contains(&d) => {
                format!(" cron {m} {h} {d} {month} * ")
            }
            _ => part(c, 0).to_owned(),
        }
    };
    let t = rx(&format!(r"\b{YEARLY}[\s,]+{date}{time}"))
        .replace_all(text, |c: &Captures<'_>| write(c))
        .into_owned();
    let t = rx(&format!(r"{date}(?:[\s,]+of)?[\s,]+{YEARLY}{time}"))
        .replace_all(&t, |c: &Captures<'_>| write(c))
        .into_owned();
    if has(&format!(r"\b(?:every|each|jeden|cada|chaque)\s+{date}"), &t) {
        return rx(&format!(r"{date}{time}"))
            .replace(&t, |c: &Captures<'_>| write(c))
            .into_owned();
    }
    t
}

/// What n8n's schedules cannot say runs more often, behind a check of the day.
fn nth_days(text: &str) -> Canonical {
    let number = |code: &str, op: Cmp, n: u32| Cond::Compare {
        left: Val::Expr {
            code: code.to_owned(),
        },
        op,
        right: Val::Lit {
            value: Value::from(n),
        },
    };
    let of = r"(?:\s+(?:of|in|im|des|jedes|eines|del|de|du)\s*(?:the|each|every|a|jeden|jedes|eines|cada|chaque|le)?\s*{month}|\s+{each}\s+{month})\b";
    let ordinal = r"(first|1st|1\.|second|2nd|2\.|third|3rd|3\.|fourth|4th|4\.|last|ersten?|zweiten?|dritten?|vierten?|letzten?|primer|segundo|tercer|cuarto|últim[oa]|premier|deuxième|troisième|quatrième|dernier)";
    let pattern = format!(
        r"(?:\b(?:on|at|am|an|el|le|the|every|each|jeden|jeweils|cada|chaque)\s+)*\b{ordinal}\s+({{weekday}}){of}|(?:\b(?:on|am|el|le|the|every|each|jeden|cada|chaque)\s+)*\b(último|dernier)?\s*({{weekday}})\s+(?:último|dernier){of}"
    );
    if let Some(c) = rx(&pattern).captures(text)
        && let Some(whole) = c.get(0)
    {
        let day = weekday(part(&c, 2)).or_else(|| weekday(part(&c, 4)));
        let nth = match part(&c, 1).to_lowercase().as_str() {
            w if has(r"^(?:first|1|erst|primer|premier)", w) => Some(1u32),
            w if has(r"^(?:second|2|zweit|segundo|deux)", w) => Some(2),
            w if has(r"^(?:third|3|dritt|tercer|trois)", w) => Some(3),
            w if has(r"^(?:fourth|4|viert|cuarto|quatr)", w) => Some(4),
            _ => None,
        };
        if let Some(day) = day {
            let name = [
                "Sunday",
                "Monday",
                "Tuesday",
                "Wednesday",
                "Thursday",
                "Friday",
                "Saturday",
            ]
            .get(day as usize)
            .copied()
            .unwrap_or("Monday");
            let mut out = text.to_owned();
            out.replace_range(whole.range(), &format!("every {name}"));
            let only = match nth {
                Some(n) => number("Math.ceil($now.day / 7)", Cmp::Eq, n),
                None => number("$now.plus({ days: 7 }).day", Cmp::Le, 7),
            };
            return Canonical {
                text: out,
                only: Some(only),
            };
        }
    }
    let last_weekday = rx(
        r"(?:\b(?:on|at|am|an|el|le|the|every|each|jeden|jeweils|cada)\s+)*\b(?:last|letzte[nrm]?|últim[oa]|dernier)\s+(?:business day|working day|weekday|werktag|arbeitstag|día (?:hábil|laborable)|jour ouvr(?:é|able))\s+(?:of|in|des|im|jedes|eines|del|de|du)\s*(?:the|each|every|a|jeden|jedes|cada|chaque)?\s*{month}\w*",
    );
    let last_day = rx(
        r"(?:\b(?:on|at|am|an|el|le|the|every|each|jeden|jeweils|cada|immer)\s+)*\b(?:last|letzte[nrm]?|últim[oa]|dernier)\s+(?:day|tag|día|dia|jour)?\s*(?:of|in|des|im|jedes|eines|del|de|du)\s*(?:the|each|every|a|jeden|jedes|eines|cada|chaque)?\s*(?:{month}\w*|{quarter})\b",
    );
    for (pattern, business) in [(last_weekday, true), (last_day, false)] {
        let Some(found) = pattern.find(text) else {
            continue;
        };
        let quarter = has(r"\b{quarter}\b", found.as_str());
        let tail = text.get(found.end()..).unwrap_or_default();
        let head = text.get(..found.start()).unwrap_or_default();
        let after = rx(&format!(r"^[\s,]*({AT}?{CLOCK})")).find(tail);
        let before = rx(&format!(r"({AT}{CLOCK})[\s,]*$")).find(head);
        let ((h, m), start, end) = match (&after, &before) {
            (Some(a), _)
                if clocks(a.as_str()).len() == 1
                    && has(
                        r"\bat|um|a las|à|\d[:.h]|[ap]m|uhr|noon|night|mi",
                        a.as_str(),
                    ) =>
            {
                (
                    clocks(a.as_str()).first().copied().unwrap_or((9, 0)),
                    found.start(),
                    found.end() + a.end(),
                )
            }
            (_, Some(b)) => (
                clocks(b.as_str()).first().copied().unwrap_or((9, 0)),
                b.start(),
                found.end(),
            ),
            _ => ((9, 0), found.start(), found.end()),
        };
        let months = if quarter { "3,6,9,12" } else { "*" };
        let (days, only) = if business {
            (
                "26-31",
                number(
                    "[$now, $now.plus({ days: 1 }), $now.plus({ days: 2 }), $now.plus({ days: 3 })].filter((day) => day.weekday < 6 && day.month === $now.month).length * ($now.weekday < 6 ? 1 : 0)",
                    Cmp::Eq,
                    1,
                ),
            )
        } else {
            ("28-31", number("$now.plus({ days: 1 }).day", Cmp::Eq, 1))
        };
        return Canonical {
            text: format!(
                "{} cron {m} {h} {days} {months} * {}",
                text.get(..start).unwrap_or_default(),
                text.get(end..).unwrap_or_default()
            ),
            only: Some(only),
        };
    }
    Canonical {
        text: text.to_owned(),
        only: None,
    }
}

/// Writes the schedules of a (masked) text in few plain forms.
pub fn canonical(text: &str) -> Canonical {
    let t = spoken_clocks(text);
    let t = plain_words(&t);
    let t = minute_of_hour(&t);
    let t = windows(&t);
    let t = yearly(&t);
    let t = day_ranges(&t);
    nth_days(&t)
}

/// A literal cron expression inside code marks or quotes.
pub fn is_cron(text: &str) -> bool {
    let fields = text.split_whitespace().count();
    (5..=6).contains(&fields)
        && has(
            r"^\s*(?:[\d*/,?#LW-]|\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\b|\s)+$",
            text,
        )
        && text.contains('*')
}

#[cfg(test)]
#[path = "times_tests.rs"]
mod times_tests;
