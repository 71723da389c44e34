//! Patterns in JavaScript's syntax, as n8n's facts hold them, matched with the same outcome. Pure.
//! Owns the translation: ASCII `\d` and `\w`, literal braces and brackets, `$` only at the very end.

use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fancy_regex::Regex;

/// Compiled once; the patterns of a catalog are few.
static COMPILED: LazyLock<Mutex<HashMap<String, Option<Arc<Regex>>>>> =
    LazyLock::new(Mutex::default);
/// Patterns beyond this many (a foreign catalog) are compiled each time.
const KEPT: usize = 1000;

/// Whether the pattern is found in the text (`RegExp.test` without flags). None: not a pattern that we can run.
pub fn found(pattern: &str, text: &str) -> Option<bool> {
    compiled(pattern)?.is_match(text).ok()
}

fn compiled(pattern: &str) -> Option<Arc<Regex>> {
    let mut kept = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(pattern) {
        return known.clone();
    }
    let regex = Regex::new(&translated(pattern)).ok().map(Arc::new);
    if kept.len() < KEPT {
        kept.insert(pattern.to_owned(), regex.clone());
    }
    regex
}

/// The pattern in the syntax of the `regex` and `fancy-regex` crates.
fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, in_class, &mut out),
            '[' if in_class => out.push_str("\\["),
            '[' => {
                in_class = true;
                class_start(&mut chars, &mut out, &mut in_class);
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            ']' => out.push_str("\\]"),
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            '{' if !in_class && !is_count(&chars) => out.push_str("\\{"),
            '{' if !in_class => {
                out.push(c);
                for c in chars.by_ref() {
                    out.push(c);
                    if c == '}' {
                        break;
                    }
                }
            }
            '}' if !in_class => out.push_str("\\}"),
            '$' if !in_class => out.push_str("\\z"),
            '.' if !in_class => out.push_str(r"[^\n\r\x{2028}\x{2029}]"),
            _ => out.push(c),
        }
    }
    out
}

/// `[^]` is anything and `[]` nothing.
fn class_start(chars: &mut Peekable<Chars<'_>>, out: &mut String, in_class: &mut bool) {
    let negated = chars.next_if_eq(&'^').is_some();
    if chars.next_if_eq(&']').is_some() {
        *in_class = false;
        out.push_str(if negated { r"[\s\S]" } else { r"[^\s\S]" });
        return;
    }
    out.push('[');
    if negated {
        out.push('^');
    }
}

fn escape(chars: &mut Peekable<Chars<'_>>, in_class: bool, out: &mut String) {
    let Some(c) = chars.next() else {
        out.push_str("\\\\");
        return;
    };
    let set = match c {
        'd' => Some("0-9"),
        'w' => Some("0-9A-Za-z_"),
        _ => None,
    };
    match (c, set) {
        (_, Some(set)) if in_class => out.push_str(set),
        (_, Some(set)) => {
            out.push('[');
            out.push_str(set);
            out.push(']');
        }
        ('D', _) => out.push_str("[^0-9]"),
        ('W', _) => out.push_str("[^0-9A-Za-z_]"),
        ('u', _) => unicode(chars, out),
        // Word edges see letters beyond ASCII here; no pattern of n8n's tells the difference.
        ('b' | 'B', _) if !in_class => {
            out.push('\\');
            out.push(c);
        }
        ('s' | 'S' | 't' | 'n' | 'r' | 'f' | 'v' | '0'..='9' | 'k' | 'x' | 'p' | 'P', _) => {
            out.push('\\');
            out.push(c);
        }
        // JavaScript takes any other escaped character for itself.
        _ if c.is_ascii_punctuation() && !matches!(c, '<' | '>' | '_') => {
            out.push('\\');
            out.push(c);
        }
        _ => out.push(c),
    }
    // After a set, a hyphen is a hyphen.
    let ends_range = set.is_some() || matches!(c, 's' | 'S' | 'D' | 'W');
    if in_class && ends_range && chars.next_if_eq(&'-').is_some() {
        out.push_str("\\-");
    }
}

/// `\u00e9`.
fn unicode(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    let digits: String = chars.clone().take(4).collect();
    if digits.len() == 4 && digits.chars().all(|c| c.is_ascii_hexdigit()) {
        for _ in 0..4 {
            chars.next();
        }
        out.push_str(&format!("\\x{{{digits}}}"));
    } else {
        out.push('u');
    }
}

/// What follows the brace is a count: `{2}`, `{2,}`, `{2,5}`.
fn is_count(chars: &Peekable<Chars<'_>>) -> bool {
    let mut digits = 0;
    let mut comma = false;
    for c in chars.clone() {
        match c {
            '0'..='9' => digits += 1,
            ',' if digits > 0 && !comma => comma = true,
            '}' => return digits > 0,
            _ => return false,
        }
    }
    false
}
