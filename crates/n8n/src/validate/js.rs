//! JavaScript's readings of plain values, as n8n's checks depend on them: `String(…)`, `Number(…)`, `trim`. Pure.

use serde_json::Value;

/// `String(value)`, or `value.toString()` for anything but null.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), number_text),
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::Null => String::new(),
                item => text(item),
            })
            .collect::<Vec<_>>()
            .join(","),
        Value::Object(_) => "[object Object]".to_owned(),
    }
}

/// A whole number has no point; very large and very small ones have an exponent.
pub(crate) fn number_text(n: f64) -> String {
    let size = n.abs();
    if n == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&size) {
        return n.to_string();
    }
    let text = format!("{n:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

/// Whether n8n takes the value for an expression where it looks at the value's text: a list of one expression counts too.
pub(super) fn starts_an_expression(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with('='),
        Value::Array(items) => items.first().is_some_and(starts_an_expression),
        _ => false,
    }
}

/// `Number(value)`; None for NaN.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(0.0),
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text_number(text),
        Value::Array(_) => text_number(&text(value)),
        Value::Object(_) => None,
    }
}

/// `Number(text)`; None for NaN.
pub(crate) fn text_number(text: &str) -> Option<f64> {
    let text = trim(text);
    let radix = |digits: &str, radix| {
        let digits: Option<Vec<u32>> = digits.chars().map(|c| c.to_digit(radix)).collect();
        let digits = digits.filter(|d| !d.is_empty())?;
        let base = f64::from(radix);
        Some(digits.iter().fold(0.0, |n, d| n * base + f64::from(*d)))
    };
    match text.get(..2) {
        Some("0x" | "0X") => return radix(text.get(2..)?, 16),
        Some("0o" | "0O") => return radix(text.get(2..)?, 8),
        Some("0b" | "0B") => return radix(text.get(2..)?, 2),
        _ => {}
    }
    if text.is_empty() {
        return Some(0.0);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "Infinity" {
        return Some(f64::INFINITY);
    }
    // Rust reads more words than JavaScript: `inf`, `nan`.
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !unsigned.chars().all(plain) {
        return None;
    }
    text.parse().ok()
}

/// `text.trim()`.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

pub(super) fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// JavaScript's truth.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}
