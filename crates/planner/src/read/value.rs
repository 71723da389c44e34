//! Values of arguments: fields of the data at hand, literals, lists of fields, dates relative to now.

use crate::lexicon::{first, has, rx};
use crate::plan::{Arg, Role, Val};
use crate::read::text::Masked;
use crate::read::when::duration;
use serde_json::Value;

pub fn lit(value: impl Into<Value>) -> Val {
    Val::Lit {
        value: value.into(),
    }
}

/// The sign of an arithmetic operation between two numbers, from its sign or its word.
pub fn operator(said: &str) -> char {
    match said.to_lowercase().as_str() {
        "+" | "plus" | "más" => '+',
        "-" | "minus" | "menos" | "moins" => '-',
        "/" | "divided by" | "geteilt durch" | "entre" | "divisé par" => '/',
        _ => '*',
    }
}

pub fn field(name: &str) -> Val {
    Val::Field {
        name: clean_field(name),
        of: None,
    }
}

pub fn arg(role: Role, value: Val) -> Arg {
    Arg { role, value }
}

/// A field's name without articles, possessives and question words.
pub fn clean_field(name: &str) -> String {
    let t = rx(r"(?:^|\s)(?:the|a|an|its|their|his|her|our|my|your|der|die|das|den|dem|des|ein|eine|einen|deren|dessen|el|la|los|las|un|una|su|sus|le|les|une|des|du|son|sa|ses|new|each)\b(?:\s|$)|^(?:of|from|with|and|und|y|et)\s|^(?:l'|d')")
        .replace_all(name.trim(), " ")
        .into_owned();
    let t = rx(r"'s\b").replace_all(&t, "").into_owned();
    t.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .trim_matches([' ', ',', '.', ':', ';', '"', '\'', '(', ')'])
        .to_owned()
}

/// Splits "a, b (c) and d" into its parts; words like "not the headers" end the list.
pub fn list(text: &str) -> Vec<String> {
    let head = rx(r"\s*(?:[–—;]|\s-\s|\bnot the\b|\bonly\b.*$|\bbut not\b|\bnicht\b).*$")
        .replace(text, "")
        .into_owned();
    rx(r"\s*(?:,|;|\n|\s/\s|\s\+\s|\band\b|\bund\b|\by\b|\bet\b|\bor\b|\boder\b|\bou\b|\bas well as\b|\bplus\b|\bsowie\b|&)\s*")
        .split(&head)
        .map(|p| rx(r"^(?:and|und|y|et|or|also|the)\s+").replace(p.trim(), "").trim().to_owned())
        .filter(|p| !p.is_empty())
        .collect()
}

/// A list of names: at least two short parts without verbs or values.
pub fn field_list(m: &Masked, text: &str) -> Vec<String> {
    let plain = m.plain(text);
    let parts: Vec<String> = list(&plain)
        .iter()
        .map(|p| clean_field(p))
        .filter(|p| !p.is_empty())
        .collect();
    let fine = parts.iter().all(|p| {
        p.split_whitespace().count() <= 4 && !has(r"https?://|@|^#|\b(?:is|are|if|when|ist|sind|transcribe|nicht|not|those|my|roughly|about|example|e\.g)\b", p)
    });
    if fine && !parts.is_empty() && (parts.len() > 1 || parts.iter().all(|p| !p.contains(' '))) {
        parts
    } else {
        Vec::new()
    }
}

/// Field lists in braces or parentheses, or after "with", "including", "columns", "fields".
pub fn fields_in(m: &Masked, text: &str) -> Vec<String> {
    for e in m.all(text, "b") {
        let names = list(&e.value.replace(['"', '\''], ""))
            .iter()
            .map(|p| p.split(':').next().unwrap_or(p).trim().to_owned())
            .filter(|p| !p.is_empty())
            .collect::<Vec<_>>();
        if !names.is_empty() {
            return names;
        }
    }
    for e in m.all(text, "r") {
        let inner = rx(r"^(?:columns?|fields?|spalten?|felder|columnas?|campos|colonnes?|champs|with|mit|con|avec|including|inkl\.?|incl\.?|body|name it|namely|i\.e\.)[:\s]+")
            .replace(&e.value, "")
            .into_owned();
        let names = field_list(m, &inner);
        if names.len() > 1 {
            return names;
        }
    }
    if let Some(tail) = first(
        r"\b(?:with (?:the )?(?:fields?|columns?)|including|containing|columns?|fields?|mit den (?:feldern|spalten)|spalten|felder|con los campos|con las columnas|avec les (?:champs|colonnes)|capturing|consisting of)[:\s]+([^→]+)$",
        text,
    ) {
        let names = field_list(m, tail);
        if names.len() > 1 {
            return names;
        }
    }
    if let Some(tail) = first(
        r"\b(?:with|mit|con|avec)\s+([^→§]+(?:,| and | und | y | et | \+ | & )[^→]+?)(?:\s+(?:please|bitte|por favor|s'il te plaît))?$",
        text,
    ) {
        let names = field_list(m, tail);
        if names.len() > 1 {
            return names;
        }
    }
    Vec::new()
}

/// Arguments for a list of field names: each carries the field of the same name.
pub fn field_args(names: &[String]) -> Vec<Arg> {
    names
        .iter()
        .map(|n| {
            let clean = clean_field(n);
            let value = if has(r"^(?:today|now|timestamp|current date|today's date|datum von heute|hoy|aujourd'hui|heute)$", &clean) {
                Val::Now { offset_seconds: 0, format: None }
            } else {
                field(&clean)
            };
            arg(Role::Field(clean), value)
        })
        .collect()
}

/// "two days from now", "in 3 days", "tomorrow", "today", "in zwei Tagen".
pub fn relative_date(text: &str) -> Option<Val> {
    let offset = |days: i64| Val::Now {
        offset_seconds: days * 86_400,
        format: Some("yyyy-MM-dd".into()),
    };
    if has(r"\b(?:tomorrow|morgen|mañana|demain)\b", text) {
        return Some(offset(1));
    }
    if has(r"\b(?:today|heute|hoy|aujourd'hui)\b", text) {
        return Some(offset(0));
    }
    if has(
        r"\b(?:next week|in a week|nächste woche|in einer woche|dentro de una semana|dans une semaine)\b",
        text,
    ) {
        return Some(offset(7));
    }
    let future = first(r"\b(?:in|within|dentro de|dans|nach|after|\+)\s+([\w\s]{1,14}?(?:{day}|{week}|{hour}|{month}))\b", text)
        .or(first(r"\b({num}\s+(?:{day}|{week}|{hour}|{month}))\s+(?:from now|later|ahead|from today|danach|später|après|después)\b", text))?;
    let seconds = duration(future)?;
    Some(Val::Now {
        offset_seconds: i64::try_from(seconds).ok()?,
        format: Some(if seconds % 86_400 == 0 {
            "yyyy-MM-dd".into()
        } else {
            "yyyy-MM-dd'T'HH:mm:ss".into()
        }),
    })
}

/// Text with `<hole>` or `{hole}` as a template; plain text as a literal.
pub fn template(text: &str) -> Val {
    let pattern = rx(r"<([^<>]{1,60})>|\{\{?([^{}]{1,60})\}?\}");
    let mut parts = Vec::new();
    let mut from = 0;
    for caps in pattern.captures_iter(text) {
        let (Some(whole), Some(name)) = (caps.get(0), caps.get(1).or(caps.get(2))) else {
            continue;
        };
        let before = text.get(from..whole.start()).unwrap_or_default();
        if !before.is_empty() {
            parts.push(lit(before));
        }
        parts.push(hole(name.as_str()));
        from = whole.end();
    }
    if parts.is_empty() {
        return lit(text);
    }
    let rest = text.get(from..).unwrap_or_default();
    if !rest.is_empty() {
        parts.push(lit(rest));
    }
    Val::Template { parts }
}

fn hole(name: &str) -> Val {
    if has(
        r"^(?:date|datum|fecha|today|yyyy-mm-dd|aktuelles datum)$",
        name,
    ) {
        Val::Now {
            offset_seconds: 0,
            format: Some("yyyy-MM-dd".into()),
        }
    } else {
        field(name)
    }
}
