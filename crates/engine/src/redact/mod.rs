//! Secrets out of everything that leaves the gateway: results, errors, what the journal keeps of a run.
//! Two sources: shapes that only secrets have (`secrets::mask`), and values that the caller knows to be secret (the
//! environment's, `.mcp.json`'s). Each in every coat: Base64, hexadecimal, percent-encoded, escaped, split over two fields.
//! Pure; a value that is hidden once is hidden everywhere in the same way.

mod hide;

use crate::store::Event;
use agentctl_base::secrets::{self, Known, forms};
use agentctl_base::untrusted::map_strings;
use hide::Texts;
use serde::de::Error as _;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

pub use agentctl_base::secrets::{MARK, names_a_secret};

/// Shorter known values are not hidden: they would blot out ordinary words.
const MIN_KNOWN: usize = 8;

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
    /// Every known value in every form.
    known: Arc<Known>,
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
        let forms = values.iter().flat_map(|value| forms::forms(value));
        let known = Arc::new(Known::new(forms));
        Redactor { values, known }
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
        if self.known.is_in(text) {
            let mut hidden = String::with_capacity(text.len());
            let mut from = 0;
            for found in self.known.find_iter(text) {
                hidden.push_str(text.get(from..found.start).unwrap_or_default());
                hidden.push_str(&secrets::mark("known"));
                from = found.end;
            }
            hidden.push_str(text.get(from..).unwrap_or_default());
            out = Cow::Owned(hidden);
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
        self.known.is_in(plain) || matches!(secrets::mask(plain), Cow::Owned(_))
    }

    /// Where known values stand.
    fn known_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        self.known.find_iter(text)
    }

    /// Every string of the value; and the whole text below a key that names a secret, unless it is an expression.
    pub fn value(&self, mut value: Value) -> Value {
        self.hide(&mut value, Texts::Hidden);
        value
    }

    /// Every string as text; keys count for nothing. For output that was redacted by its keys before, or that has none.
    pub fn strings(&self, value: Value) -> Value {
        map_strings(value, &|text| self.text(&text))
    }

    /// An event as the journal may keep it. Err: what is left of it is no event.
    pub fn event(&self, mut event: Event) -> Result<Event, serde_json::Error> {
        // What a tool answered is most of a journal: it is a value already, and stays one.
        let mut answer = content_of(&mut event).map(Value::take);
        if let Some(answer) = &mut answer {
            self.hide(answer, Texts::Hidden);
        }
        let mut value = serde_json::to_value(&event)?;
        if self.hide(&mut value, Texts::Hidden) {
            event = serde_json::from_value(value)?;
        }
        match (answer, content_of(&mut event)) {
            (Some(answer), Some(place)) => *place = answer,
            (Some(_), None) => return Err(serde_json::Error::custom("its answer has no place")),
            (None, _) => {}
        }
        Ok(event)
    }

    /// A model's raw arguments, as the journal may keep them. Text that is not JSON is handled as text.
    pub fn arguments(&self, arguments: &str) -> String {
        match agentctl_base::strict_json::object(arguments) {
            Ok(map) => {
                let mut value = Value::Object(map);
                if self.hide(&mut value, Texts::Hidden) {
                    value.to_string()
                } else {
                    arguments.to_owned()
                }
            }
            Err(_) => self.text(arguments),
        }
    }
}

/// The content of a call's result, but for a text: that may be a part of a secret with the texts beside it.
fn content_of(event: &mut Event) -> Option<&mut Value> {
    match event {
        Event::ToolFinished { result, .. } if !result.content.is_string() => {
            Some(&mut result.content)
        }
        _ => None,
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

/// How the keys end that name a secret: most keys need no closer look.
const TAILS: [&[u8; 3]; 18] = [
    b"key", b"ken", b"ret", b"ord", b"swd", b"ase", b"ion", b"uth", b"ial", b"als", b"ure", b"pwd",
    b"ass", b"pin", b"kie", b"nid", b"rer", b"mac",
];

/// False for a key that is none of the lists above, whatever its case and its signs.
fn may_name_a_secret(key: &str) -> bool {
    if !key.is_ascii() {
        return true; // its lower case may be ASCII
    }
    let mut letters = key
        .bytes()
        .rev()
        .filter(|b| !matches!(b, b'_' | b'-' | b' '));
    let mut tail = [0; 3];
    for place in tail.iter_mut().rev() {
        match letters.next() {
            Some(letter) => *place = letter.to_ascii_lowercase(),
            None => return false,
        }
    }
    TAILS.contains(&&tail)
}

/// True when the key says that its text is a secret, or may be one and the text looks so.
fn names_secret_text(key: &str, item: &Value) -> bool {
    item.as_str().is_some_and(|text| names_secret(key, text))
}

fn names_secret(key: &str, text: &str) -> bool {
    if !may_name_a_secret(key) || !is_literal(text) {
        return false;
    }
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
    let (mut name, mut key, mut value) = (None, None, None);
    for (at, item) in map {
        match at.as_str() {
            "name" => name = item.as_str(),
            "key" => key = item.as_str(),
            "value" => value = item.as_str(),
            _ => {}
        }
    }
    let (Some(name), Some(value)) = (name.or(key), value) else {
        return false;
    };
    names_secret(name, value) && bare(name) != bare(value)
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

/// One text, redacted, then harmless to look at.
pub fn clean_text(redactor: &Redactor, text: &str) -> String {
    agentctl_base::untrusted::text(&redactor.text(text)).into_owned()
}

/// Redacted, then harmless to look at.
pub fn clean(redactor: &Redactor, mut value: Value) -> Value {
    redactor.hide(&mut value, Texts::HiddenAndHarmless);
    value
}

#[cfg(test)]
mod tests;
