//! Values as n8n writes them: literals, `={{ … }}` expressions, templates. Owns how a plan's `Val` becomes text;
//! where a field comes from is `data`'s to say.

use serde_json::Value;

use super::super::plan::Val;
use super::draft::{At, Draft};
use super::words::js_string;

/// `={{ code }}`.
pub(super) fn expression(code: &str) -> Value {
    Value::String(format!("={{{{ {code} }}}}"))
}

/// An offset as Luxon takes it: days from two days on, else the biggest whole unit below.
fn luxon(seconds: u64) -> String {
    match seconds {
        s if s % 86_400 == 0 && s > 86_400 => format!("{{ days: {} }}", s / 86_400),
        s if s % 3_600 == 0 && s > 0 => format!("{{ hours: {} }}", s / 3_600),
        s if s % 60 == 0 && s > 0 => format!("{{ minutes: {} }}", s / 60),
        s => format!("{{ seconds: {s} }}"),
    }
}

/// `$now.minus({ days: 7 })`.
pub(super) fn now(offset_seconds: i64) -> String {
    let size = luxon(offset_seconds.unsigned_abs());
    match offset_seconds {
        0 => "$now".to_owned(),
        n if n < 0 => format!("$now.minus({size})"),
        _ => format!("$now.plus({size})"),
    }
}

fn js_literal(value: &Value) -> String {
    match value {
        Value::String(s) => js_string(s),
        other => other.to_string(),
    }
}

impl Draft<'_> {
    /// The value as a JavaScript expression, for use inside `{{ }}` or in code.
    pub(super) fn js(&self, at: &At, val: &Val) -> String {
        match val {
            Val::Lit { value } => js_literal(value),
            Val::Field { name, of } => self.field(at, name, of.as_deref()),
            Val::Template { parts } => {
                let parts: Vec<String> = parts.iter().map(|p| self.js(at, p)).collect();
                if parts.is_empty() {
                    "''".to_owned()
                } else {
                    parts.join(" + ")
                }
            }
            Val::Now {
                offset_seconds,
                format,
            } => {
                let format = format.as_deref().unwrap_or("");
                match format {
                    "" | "iso" => format!("{}.toISO()", now(*offset_seconds)),
                    "millis" => format!("{}.toMillis()", now(*offset_seconds)),
                    "seconds" => format!("{}.toUnixInteger()", now(*offset_seconds)),
                    f => format!("{}.toFormat({})", now(*offset_seconds), js_string(f)),
                }
            }
            Val::Math { left, sign, right } => {
                format!(
                    "{} {sign} {}",
                    self.number(at, left),
                    self.number(at, right)
                )
            }
            Val::Expr { code } => strip(code),
        }
    }

    fn number(&self, at: &At, val: &Val) -> String {
        match val {
            Val::Lit {
                value: Value::Number(number),
            } => number.to_string(),
            other => format!("Number({})", self.js(at, other)),
        }
    }

    /// A value. A field of this name, which nobody said, is the first of it and the others that is known.
    pub(super) fn value_or(&self, at: &At, val: &Val, unsaid: &str, others: &[&str]) -> Value {
        let known = match val {
            Val::Field { name, of: None } if name == unsaid => std::iter::once(&unsaid)
                .chain(others)
                .find_map(|name| self.has_field(at, name)),
            _ => None,
        };
        known.map_or_else(|| self.value(at, val), |js| expression(&js))
    }

    /// The value as a parameter.
    pub(super) fn value(&self, at: &At, val: &Val) -> Value {
        match val {
            Val::Lit { value } => value.clone(),
            Val::Template { parts } => {
                if let [only] = parts.as_slice() {
                    return self.value(at, only);
                }
                if parts.iter().all(|p| matches!(p, Val::Lit { .. })) {
                    return Value::String(parts.iter().map(|p| self.inline(at, p)).collect());
                }
                let text: String = parts.iter().map(|p| self.inline(at, p)).collect();
                Value::String(format!("={text}"))
            }
            other => expression(&self.js(at, other)),
        }
    }

    /// The value as text; empty for null.
    pub(super) fn text(&self, at: &At, val: &Val) -> String {
        match self.value(at, val) {
            Value::String(s) => s,
            Value::Null => String::new(),
            other => other.to_string(),
        }
    }

    /// The value as a part of a longer text.
    pub(super) fn inline(&self, at: &At, val: &Val) -> String {
        match val {
            Val::Lit {
                value: Value::String(s),
            } => s.clone(),
            Val::Lit { value } => value.to_string(),
            Val::Template { parts } => parts.iter().map(|p| self.inline(at, p)).collect(),
            other => format!("{{{{ {} }}}}", self.js(at, other)),
        }
    }
}

/// An expression's code without the marks that a writer may have left on.
fn strip(code: &str) -> String {
    let code = code.trim();
    let code = code.strip_prefix('=').unwrap_or(code).trim();
    let inner = code.strip_prefix("{{").and_then(|c| c.strip_suffix("}}"));
    match inner {
        Some(inner) if !inner.contains("{{") => inner.trim().to_owned(),
        _ => code.to_owned(),
    }
}

/// A text about one item as a text about a collected list: a line for each of its items. None where it speaks of no field of
/// the list's own item, which has none but the list.
pub(super) fn per_item(list: &str, text: &str) -> Option<String> {
    const OPEN: &str = "{{ $json.";
    if matches!(list, "text" | "html" | "table") || !text.contains(OPEN) {
        return None;
    }
    let mut line = String::new();
    let mut rest = text;
    while let Some((plain, behind)) = rest.split_once(OPEN) {
        let (path, after) = behind.split_once(" }}")?;
        line.push_str(&in_template(plain));
        line.push_str(&format!("${{item.{path}}}"));
        rest = after;
    }
    line.push_str(&in_template(rest));
    (!line.contains("{{"))
        .then(|| format!("{{{{ $json.{list}.map((item) => `{line}`).join('\\n') }}}}"))
}

/// A plain text within a template of JavaScript.
fn in_template(text: &str) -> String {
    let marked = text.replace('\\', "\\\\").replace('`', "\\`");
    marked.replace("${", "\\${").replace('\n', "\\n")
}
