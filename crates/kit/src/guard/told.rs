//! What the program says by itself where no reply was accepted: the calls of the turn, one a line, in the words of `words/guard/told.tsv`,
//! and what each gave or said. Nothing else: whatever a model wanted to say of them stays unsaid.

use super::{Became, Evidence};
use crate::texts::filled;
use serde_json::Value;

const TOLD: &str = include_str!("../../words/guard/told.tsv");
/// Calls that are told, at most, and characters of what one gave.
const MAX_CALLS: usize = 20;
const MAX_WHAT: usize = 300;

/// The calls of a turn, told in a language; English where it is none of those that are read.
pub fn told(evidence: &[Evidence], language: &str) -> String {
    let text = |key: &str| {
        row(key, language)
            .or_else(|| row(key, "en"))
            .unwrap_or_default()
    };
    if evidence.is_empty() {
        return text("none").to_owned();
    }
    let mut lines = vec![text("head").to_owned()];
    for call in evidence.iter().take(MAX_CALLS) {
        let key = match (call.became, call.changes) {
            (Became::Ok, true) => "done",
            (Became::Ok, false) => "read",
            (Became::Failed, _) => "failed",
            (Became::Refused, _) => "refused",
            (Became::Unknown, _) => "unknown",
        };
        let what = match call.became {
            Became::Ok => values(&call.result),
            _ => call.error().to_owned(),
        };
        let line = filled(text(key), |place| {
            Some(match place {
                "tool" => call.tool.clone(),
                _ => cut(&what),
            })
        });
        lines.push(line.trim_end_matches([':', ' ', ';']).to_owned());
    }
    lines.join("\n")
}

fn row(key: &str, language: &str) -> Option<&'static str> {
    let rows = TOLD.lines().filter(|line| !line.starts_with('#'));
    let mut rows = rows.filter_map(|line| {
        let mut cells = line.splitn(3, '\t');
        Some((cells.next()?, cells.next()?, cells.next()?))
    });
    rows.find(|(of, spoken, _)| *of == key && *spoken == language)
        .map(|(_, _, text)| text)
}

/// Names and values; what only says how the call was made is left out.
fn values(of: &Value) -> String {
    match of {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(values).collect::<Vec<_>>().join("; "),
        Value::Object(map) => {
            let own = map.iter().filter(|(key, _)| *key != "effect");
            let parts = own.map(|(key, value)| match key.as_str() {
                "result" => values(value),
                key => format!("{key} {}", values(value)),
            });
            parts.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// In one line, without marks that could open a quotation.
fn cut(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ").replace(['"', '“', '”', '„', '«', '»'], "'");
    match line.chars().count() {
        0..=MAX_WHAT => line,
        _ => format!("{}…", line.chars().take(MAX_WHAT).collect::<String>()),
    }
}
