//! Secrets out of everything that leaves the gateway: results, errors, what the journal keeps of a run.
//! Two sources: shapes that only secrets have (`secrets::mask`), and values that the caller knows to be secret (the
//! environment's, `.mcp.json`'s). Each in every coat: Base64, hexadecimal, percent-encoded, escaped, split over two fields.
//! Pure; a value that is hidden once is hidden everywhere in the same way.

use super::untrusted::map_strings;
use crate::secrets::{self, forms};
use crate::store::Event;
use regex::Regex;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

pub use crate::secrets::{MARK, names_a_secret};

/// Shorter known values are not hidden: they would blot out ordinary words.
const MIN_KNOWN: usize = 8;
/// Larger lists of texts are looked at one by one only.
const MAX_SPLIT: usize = 64 * 1024;

/// Keys whose text value is a secret whatever it looks like. Compared without case, `_` and `-`.
const SECRET_KEYS: &[&str] = &[
    "apikey",
    "apitoken",
    "apisecret",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "secretkey",
    "secretaccesskey",
    "signingsecret",
    "webhooksecret",
    "privatekey",
    "password",
    "passwd",
    "passphrase",
    "xapikey",
    "xn8napikey",
    "xauthtoken",
    "proxyauthorization",
];

/// Keys whose value is a secret when it looks like one: they also name settings and field names.
const DOUBTFUL_KEYS: &[&str] = &[
    "token",
    "secret",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "key",
    "signature",
    "pwd",
    "pass",
    "pin",
    "cookie",
    "setcookie",
    "session",
    "sessionid",
    "bearer",
    "hmac",
];
/// Endings that make a key one of them: `botToken`, `dbPassword`.
const DOUBTFUL_ENDINGS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passphrase",
    "apikey",
    "privatekey",
    "accesskey",
];

#[derive(Clone, Default)]
pub struct Redactor {
    values: Vec<String>,
    /// Any known value in any form, longest first; None: nothing is known.
    known: Option<Regex>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} known values)", self.values.len())
    }
}

impl Redactor {
    /// Hides these values wherever they appear, besides the known shapes.
    pub fn new(known: impl IntoIterator<Item = String>) -> Self {
        let values: Vec<String> = known
            .into_iter()
            .filter(|value| value.len() >= MIN_KNOWN)
            .collect();
        let mut all: Vec<String> = values
            .iter()
            .flat_map(|value| forms::forms(value))
            .collect();
        all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        let any: Vec<String> = all.iter().map(|form| regex::escape(form)).collect();
        let known = (!any.is_empty()).then(|| {
            regex::RegexBuilder::new(&any.join("|"))
                .size_limit(256 * 1024 * 1024)
                .build()
                .ok()
        });
        Redactor {
            values,
            known: known.flatten(),
        }
    }

    /// Hides these values too.
    #[must_use]
    pub fn and(self, more: impl IntoIterator<Item = String>) -> Self {
        Self::new(self.values.into_iter().chain(more))
    }

    /// The values of the variables whose names say that they are secret.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::new(secret_values(variables))
    }

    pub fn text(&self, text: &str) -> String {
        self.hidden(text).into_owned()
    }

    /// The same; borrowed when there is nothing to hide.
    pub fn hidden<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = Cow::Borrowed(text);
        if let Some(known) = &self.known
            && known.is_match(&out)
        {
            out = Cow::Owned(known.replace_all(&out, secrets::mark("known")).into_owned());
        }
        if let Cow::Owned(hidden) = secrets::mask(&out) {
            out = Cow::Owned(hidden);
        }
        let coded = forms::coded(&out, &|plain| self.is_secret(plain));
        for place in coded.into_iter().rev() {
            out.to_mut().replace_range(place, &secrets::mark("coded"));
        }
        out
    }

    fn is_secret(&self, plain: &str) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.is_match(plain))
            || matches!(secrets::mask(plain), Cow::Owned(_))
    }

    /// Every string of the value; and the whole text below a key that names a secret, unless it is an expression.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::Object(map) => {
                let pair_is_secret = is_secret_pair(&map);
                let split = self.split(map.values());
                Value::Object(
                    map.into_iter()
                        .enumerate()
                        .map(|(at, (key, item))| {
                            let secret = (pair_is_secret && key == "value")
                                || names_secret_text(&key, &item);
                            let item = match item {
                                Value::String(_) if split.contains(&at) => {
                                    Value::String(secrets::mark("split"))
                                }
                                Value::String(text) if secret && is_literal(&text) => {
                                    Value::String(secrets::mark("value"))
                                }
                                other => self.value(other),
                            };
                            (self.text(&key), item)
                        })
                        .collect::<Map<_, _>>(),
                )
            }
            Value::Array(items) => {
                let split = self.split(items.iter());
                let hide = |(at, item): (usize, Value)| match item {
                    Value::String(_) if split.contains(&at) => {
                        Value::String(secrets::mark("split"))
                    }
                    other => self.value(other),
                };
                items.into_iter().enumerate().map(hide).collect()
            }
            Value::String(text) => Value::String(self.text(&text)),
            other => other,
        }
    }

    /// Every string as text; keys count for nothing. For output that was redacted by its keys before, or that has none.
    pub fn strings(&self, value: Value) -> Value {
        map_strings(value, &|text| self.text(&text))
    }

    /// The neighbouring texts (by their place) that are a secret only together.
    fn split<'a>(&self, items: impl Iterator<Item = &'a Value>) -> Vec<usize> {
        let mut whole = String::new();
        let mut parts: Vec<(usize, Range<usize>)> = Vec::new();
        for (at, item) in items.enumerate() {
            if let Value::String(text) = item {
                let start = whole.len();
                whole.push_str(text);
                parts.push((at, start..whole.len()));
            }
        }
        if parts.len() < 2 || whole.len() > MAX_SPLIT {
            return Vec::new();
        }
        let known = self.known.iter().flat_map(|known| known.find_iter(&whole));
        let mut found: Vec<Range<usize>> = known.map(|m| m.range()).collect();
        found.extend(secrets::issued(&whole));
        let mut split = Vec::new();
        for secret in found {
            let touched = parts
                .iter()
                .filter(|(_, part)| part.start < secret.end && secret.start < part.end);
            let touched: Vec<usize> = touched.map(|(at, _)| *at).collect();
            if touched.len() > 1 {
                split.extend(touched);
            }
        }
        split
    }

    /// An event as the journal may keep it. Err: what is left of it is no event.
    pub fn event(&self, event: Event) -> Result<Event, serde_json::Error> {
        let before = serde_json::to_value(&event)?;
        let after = self.value(before.clone());
        if after == before {
            return Ok(event);
        }
        serde_json::from_value(after)
    }

    /// A model's raw arguments, as the journal may keep them. Text that is not JSON is handled as text.
    pub fn arguments(&self, arguments: &str) -> String {
        match super::strict_json::object(arguments) {
            Ok(map) => {
                let before = Value::Object(map);
                let after = self.value(before.clone());
                if after == before {
                    arguments.to_owned()
                } else {
                    after.to_string()
                }
            }
            Err(_) => self.text(arguments),
        }
    }
}

/// True when the text, or any text in it, holds a mark where a value was.
pub fn holds_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MARK),
        Value::Array(items) => items.iter().any(holds_mark),
        Value::Object(map) => map
            .iter()
            .any(|(key, item)| key.contains(MARK) || holds_mark(item)),
        _ => false,
    }
}

/// The values of the variables whose names say that they are secret.
pub fn secret_values(
    variables: impl IntoIterator<Item = (String, String)>,
) -> impl Iterator<Item = String> {
    variables
        .into_iter()
        .filter(|(name, _)| names_a_secret(name))
        .map(|(_, value)| value)
}

/// Without case, `_`, `-` and spaces.
fn bare(key: &str) -> String {
    key.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// True when the key says that its text is a secret, or may be one and the text looks so.
fn names_secret_text(key: &str, item: &Value) -> bool {
    let Value::String(text) = item else {
        return false;
    };
    let key = bare(key);
    let doubtful = || {
        (DOUBTFUL_KEYS.contains(&key.as_str()))
            || DOUBTFUL_ENDINGS.iter().any(|ending| key.ends_with(ending))
    };
    SECRET_KEYS.contains(&key.as_str()) || (doubtful() && looks_random(text))
}

/// `{"name": "X-API-Key", "value": "…"}`: how header and query lists are kept. A field list that offers a field by its own
/// name is none.
fn is_secret_pair(map: &Map<String, Value>) -> bool {
    let named = |key: &str| map.get(key).and_then(Value::as_str);
    let (Some(name), Some(value)) = (named("name").or_else(|| named("key")), named("value")) else {
        return false;
    };
    bare(name) != bare(value) && names_secret_text(name, &Value::from(value))
}

/// A text that is a value itself: no expression, no placeholder, long enough.
fn is_literal(text: &str) -> bool {
    text.len() >= 6 && !text.starts_with('=') && !text.contains("{{") && !text.contains(MARK)
}

/// Long, one word, letters and figures mixed, few repeats: nobody chose it to be read.
fn looks_random(text: &str) -> bool {
    let text = text.rsplit(' ').next().unwrap_or(text);
    let figures = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    text.len() >= 16
        && figures >= 3
        && letters >= 3
        && !text.contains("://")
        && entropy(text) >= 3.2
}

/// Bits per byte.
#[expect(clippy::cast_precision_loss, reason = "lengths of texts")]
fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    for byte in text.bytes() {
        *counts.entry(byte).or_insert(0usize) += 1;
    }
    let length = text.len() as f64;
    counts
        .values()
        .map(|n| *n as f64 / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// The same for one text.
pub(super) fn clean_text(redactor: &Redactor, text: &str) -> String {
    super::untrusted::text(&redactor.text(text)).into_owned()
}

/// Redacted, then harmless to look at.
pub(super) fn clean(redactor: &Redactor, value: Value) -> Value {
    map_strings(redactor.value(value), &|s| {
        super::untrusted::text(&s).into_owned()
    })
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod redact_tests;
