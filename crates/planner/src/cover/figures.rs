//! Figures with units in a request, and the numbers that each can have become in a node.

use crate::lexicon::rx;
use crate::read::text::Masked;

/// A figure as it was said, with every number that stands for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub said: String,
    pub forms: Vec<f64>,
    /// A rhythm or a length of time: a trigger can hold it in words of its own.
    pub time: bool,
}

const UNIT: &str = r"€|\$|£|%|eur\b|euros?\b|usd\b|dollars?\b|gbp\b|chf\b|percent\b|prozent\b|kb\b|mb\b|gb\b|kg\b|°c\b|degrees?\b|grad\b|points?\b|stars?\b|sterne\b|seats?\b|words?\b|wörter\b|palabras\b|mots\b|characters?\b|zeichen\b|items?\b|rows?\b|zeilen\b|filas\b|lignes\b|records?\b|messages?\b|nachrichten\b|mensajes\b|retries\b|times\b|tries\b|attempts?\b|results?\b|tokens?\b";
const TIME: &str = r"seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|secondes?|heures?|jours?|semaines?|mois|ans?";

/// The figures of the request outside its quotes and addresses.
pub(super) fn figures(m: &Masked) -> Vec<Figure> {
    let open = m.open(&m.open(&m.text));
    let text = rx(r"§[a-z]\d+§").replace_all(&open, " § ").into_owned();
    let mut found = Vec::new();
    for c in rx(&format!(
        r"(?:^|[\s(=<>≥≤~])(?P<pre>[€$£]\s?)?(?P<n>\d[\d.,]*\d|\d)(?P<k>k\b)?\s*-?(?:(?P<t>(?:{TIME})\b)|(?P<u>{UNIT}))?"
    ))
    .captures_iter(&text)
    {
        let Some(whole) = c.get(0) else { continue };
        let (time, unit) = (c.name("t"), c.name("u").is_some() || c.name("pre").is_some());
        if time.is_none() && !unit {
            continue;
        }
        let mut forms = Vec::new();
        for n in numbers(c.name("n").map_or("", |n| n.as_str())) {
            let n = if c.name("k").is_some() { n * 1000.0 } else { n };
            forms.extend([n, n - 1.0, n + 1.0, n - 0.01, n + 0.01, n / 100.0, n * 100.0]);
            if let Some(t) = time {
                forms.extend(lengths(n, t.as_str()));
            }
        }
        found.push(Figure {
            said: whole.as_str().trim_matches([' ', '(', '=', '<', '>', '≥', '≤', '~']).to_owned(),
            forms,
            time: time.is_some(),
        });
    }
    found
}

/// The times of day that a text names, outside its quotes and addresses: what stands before each, and the numbers that hold it.
pub(super) fn clocks(m: &Masked) -> Vec<(String, Vec<Figure>)> {
    let open = m.open(&m.open(&m.text));
    let text = rx(r"§[a-z]\d+§").replace_all(&open, " § ").into_owned();
    let clock = rx(r"(?i)\b(\d{1,2})(?:[:.h](\d{2}))?\s*(am|pm|uhr)\b|\b(\d{1,2}):(\d{2})\b");
    let mut found = Vec::new();
    for c in clock.captures_iter(&text) {
        let number = |i: usize| c.get(i).and_then(|n| n.as_str().parse::<u32>().ok());
        let (Some(whole), Some(hour)) = (c.get(0), number(1).or(number(4))) else {
            continue;
        };
        let minute = number(2).or(number(5)).unwrap_or(0);
        let late = c
            .get(3)
            .is_some_and(|half| half.as_str().eq_ignore_ascii_case("pm"));
        let hours = match late {
            true => vec![f64::from(hour % 12 + 12)],
            false => vec![f64::from(hour), f64::from(hour % 12)],
        };
        let part = |forms: Vec<f64>| Figure {
            said: whole.as_str().to_owned(),
            forms,
            time: false,
        };
        let mut parts = Vec::new();
        // Midnight, and the full hour, are what stands there without a number.
        if hour % 24 != 0 {
            parts.push(part(hours));
        }
        if minute != 0 {
            parts.push(part(vec![f64::from(minute)]));
        }
        let before = text.get(..whole.start()).unwrap_or_default();
        found.push((before.to_owned(), parts));
    }
    found
}

/// `1,000`, `1.000,50`, `12.5`: every reading of a number.
fn numbers(said: &str) -> Vec<f64> {
    let mut readings = Vec::new();
    let plain = said.trim_end_matches(['.', ',']);
    for text in [
        plain.replace(',', ""),
        plain.replace('.', "").replace(',', "."),
        plain.replace([',', '.'], ""),
    ] {
        if let Ok(n) = text.parse::<f64>()
            && !readings.contains(&n)
        {
            readings.push(n);
        }
    }
    readings
}

/// A length of time in every unit that a node may count in.
fn lengths(n: f64, unit: &str) -> Vec<f64> {
    let unit = unit.to_lowercase();
    let seconds = match unit.get(..3).unwrap_or(&unit) {
        "sec" | "sek" | "seg" => 1.0,
        "min" => 60.0,
        "hou" | "stu" | "hor" | "heu" => 3_600.0,
        "wee" | "woc" | "sem" => 604_800.0,
        "mon" | "mes" | "moi" => 2_592_000.0,
        "yea" | "jah" | "año" | "an" | "ans" => 31_536_000.0,
        _ => 86_400.0,
    } * n;
    [0.001, 1.0, 60.0, 3_600.0, 86_400.0, 604_800.0]
        .iter()
        .map(|part| seconds / part)
        .collect()
}
