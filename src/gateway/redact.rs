//! Secrets out of everything that leaves the gateway: results, errors, what the journal keeps of a call.
//! Two sources: shapes that only secrets have (`secrets::mask`), and values that the caller knows to be secret (the
//! environment's). Pure; a value that is hidden once is hidden everywhere in the same way.

use super::untrusted::map_strings;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Shorter known values are not hidden: they would blot out ordinary words.
const MIN_KNOWN: usize = 8;

use crate::secrets;
pub use crate::secrets::MARK;

/// Keys whose text value is a secret whatever it looks like. Compared without case, `_` and `-`.
const SECRET_KEYS: &[&str] = &[
    "apikey",
    "apitoken",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "secretkey",
    "secretaccesskey",
    "privatekey",
    "password",
    "passwd",
    "passphrase",
    "xapikey",
    "xn8napikey",
    "xauthtoken",
    "proxyauthorization",
];

#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Longest first: one may contain another.
    known: Vec<String>,
}

impl Redactor {
    /// Hides these values wherever they appear, besides the known shapes.
    pub fn new(known: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> = known
            .into_iter()
            .filter(|value| value.len() >= MIN_KNOWN)
            .collect();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        Redactor { known }
    }

    /// Hides these values too.
    #[must_use]
    pub fn and(self, more: impl IntoIterator<Item = String>) -> Self {
        Self::new(self.known.into_iter().chain(more))
    }

    /// The values of the variables whose names say that they are secret.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::new(
            variables
                .into_iter()
                .filter(|(name, _)| names_a_secret(name))
                .map(|(_, value)| value),
        )
    }

    pub fn text(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for known in &self.known {
            if out.contains(known.as_str()) {
                out = out.replace(known.as_str(), &secrets::mark("known"));
            }
        }
        if let Cow::Owned(hidden) = secrets::mask(&out) {
            out = hidden;
        }
        out
    }

    /// Every string of the value; and the whole text below a key that names a secret, unless it is an expression.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::Object(map) => {
                let pair_is_secret = is_secret_pair(&map);
                Value::Object(
                    map.into_iter()
                        .map(|(key, item)| {
                            let secret = is_secret_key(&key) || (pair_is_secret && key == "value");
                            let item = match item {
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
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::String(text) => Value::String(self.text(&text)),
            other => other,
        }
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

/// True for names like `N8N_API_KEY`, `SLACK_TOKEN`, `DB_PASSWORD`.
pub fn names_a_secret(variable: &str) -> bool {
    let name = variable.to_ascii_uppercase();
    name.split('_').any(|part| {
        matches!(
            part,
            "KEY"
                | "APIKEY"
                | "TOKEN"
                | "SECRET"
                | "PASSWORD"
                | "PASSWD"
                | "PASS"
                | "CREDENTIAL"
                | "CREDENTIALS"
                | "AUTH"
        )
    })
}

fn is_secret_key(key: &str) -> bool {
    let plain: String = key
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    SECRET_KEYS.contains(&plain.as_str())
}

/// `{"name": "X-API-Key", "value": "…"}`: how header and query lists are kept.
fn is_secret_pair(map: &Map<String, Value>) -> bool {
    map.get("name")
        .and_then(Value::as_str)
        .is_some_and(is_secret_key)
}

/// A text that is a value itself: no expression, no placeholder, long enough.
fn is_literal(text: &str) -> bool {
    text.len() >= 6 && !text.starts_with('=') && !text.contains("{{") && !text.contains(MARK)
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
