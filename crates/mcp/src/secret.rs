//! The values of `.mcp.json` that are used and never shown, and what is shown instead.

use super::config::McpTransport;
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

/// Values that could be secrets: what variables gave (plain addresses excepted), the environment's by their names, every header,
/// and what an argument says behind its `=`.
pub(super) fn hidden(transport: &McpTransport, filled: &[String]) -> Hidden {
    let plain_address = |value: &str| {
        reqwest::Url::parse(value)
            .is_ok_and(|url| url.has_host() && url.username().is_empty() && url.query().is_none())
    };
    let mut all: Vec<String> = filled
        .iter()
        .filter(|value| !plain_address(value))
        .cloned()
        .collect();
    match transport {
        McpTransport::Stdio { args, env, .. } => {
            let named = env.iter().filter(|(name, _)| {
                let name = name.to_ascii_uppercase();
                [
                    "KEY",
                    "TOKEN",
                    "SECRET",
                    "PASS",
                    "AUTH",
                    "CREDENTIAL",
                    "BEARER",
                ]
                .iter()
                .any(|word| name.contains(word))
            });
            all.extend(named.map(|(_, value)| value.0.clone()));
            let said = args.iter().filter_map(|arg| arg.0.split_once('='));
            all.extend(said.map(|(_, value)| value.to_owned()));
        }
        McpTransport::Http { url, headers } => {
            for value in headers.values() {
                // A scheme in front is no part of the secret: of `Bearer abc`, `abc` is hidden too.
                all.extend(value.0.rsplit(' ').next().map(str::to_owned));
                all.push(value.0.clone());
            }
            if !plain_address(&url.0) {
                all.push(url.0.clone());
            }
        }
    }
    all.retain(|value| value.len() >= 4);
    all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    all.dedup();
    Hidden(all)
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
