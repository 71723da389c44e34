//! The values of `.mcp.json` that are used and never shown, and what is shown instead.

use serde_json::{Map, Value};
use std::fmt;

/// A value that is used and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }
    /// For the place that needs the value; not for messages.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Values that no message may hold, longest first.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Hidden(Vec<String>);

impl Hidden {
    /// The values that are long enough to tell something.
    pub(super) fn of(mut all: Vec<String>) -> Hidden {
        all.retain(|value| value.len() >= 4);
        all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        Hidden(all)
    }
}

impl std::ops::Deref for Hidden {
    type Target = Vec<String>;
    fn deref(&self) -> &Vec<String> {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// The command or address as the file has it. Arguments and query strings may hold secrets written out, so they are left out.
pub(super) fn shown(map: &Map<String, Value>) -> String {
    let text = |key: &str| map.get(key).and_then(Value::as_str);
    if let Some(command) = text("command") {
        return command.to_owned();
    }
    let url = text("url").unwrap_or("");
    let url = url.split(['?', '#']).next().unwrap_or(url);
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit('@').next().unwrap_or(host);
            format!("{scheme}://{host}/{path}")
        }
        None => url.to_owned(),
    }
}

/// The text with every secret hidden and control characters as blanks.
pub(super) fn scrub(text: &str, secrets: &[String]) -> String {
    let mut out: String = text
        .chars()
        .map(|c| if c.is_control() && c != '\t' { ' ' } else { c })
        .collect();
    for secret in secrets {
        if out.contains(secret.as_str()) {
            out = out.replace(secret.as_str(), "(hidden)");
        }
    }
    out
}
