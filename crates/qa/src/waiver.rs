//! Waivers: findings that somebody decided to live with, for a reason and until a day, in the project's `agentctl.toml`.
//!
//! ```toml
//! [[qa.waiver]]
//! code = "agentctl/unreachable-node"   # or a family: "agentctl/"; or `id = "…"` of one finding
//! path = "workflows/old/**"            # optional; seen from the folder of agentctl.toml
//! node = "Old branch"                  # optional: name or id
//! reason = "kept until the move to v2"
//! expires = "2027-01-31"               # the last day on which it holds
//! ```

use super::rules;
use agentctl_n8n::Finding;
use jiff::civil::Date;
use regex::Regex;
use serde::Deserialize;

/// One waiver, read and checked.
#[derive(Debug, Clone)]
pub struct Waiver {
    code: Option<String>,
    id: Option<String>,
    path: Option<Regex>,
    node: Option<String>,
    pub reason: String,
    pub expires: Date,
    /// Line in the file, for what is said about it.
    pub line: usize,
}

/// A waiver that cannot be taken as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct BadWaiver {
    /// From 1.
    pub line: usize,
    pub message: String,
}

/// The section `[qa]` of the file; whoever reads the file reads the rest.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    #[serde(default)]
    waiver: Vec<toml::Spanned<Written>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    code: Option<String>,
    id: Option<String>,
    path: Option<String>,
    node: Option<String>,
    reason: String,
    expires: toml::Value,
}

impl Section {
    /// The waivers, checked. `line_of` finds the line of an offset.
    pub fn waivers(self, line_of: &dyn Fn(usize) -> usize) -> Result<Vec<Waiver>, BadWaiver> {
        self.waiver
            .into_iter()
            .map(|spanned| {
                let line = line_of(spanned.span().start);
                checked(spanned.into_inner(), line).map_err(|message| BadWaiver { line, message })
            })
            .collect()
    }
}

fn checked(written: Written, line: usize) -> Result<Waiver, String> {
    if written.code.is_none() && written.id.is_none() {
        return Err("a waiver needs the code or the id of what it waives".to_owned());
    }
    if written.reason.trim().is_empty() {
        return Err("a waiver needs a reason".to_owned());
    }
    let day = match &written.expires {
        toml::Value::String(text) => text.clone(),
        toml::Value::Datetime(when) => when.to_string(),
        other => other.to_string(),
    };
    let expires = day
        .parse::<Date>()
        .map_err(|_| format!("`expires` is {day:?}; write a day like 2027-01-31"))?;
    Ok(Waiver {
        path: written.path.as_deref().map(glob).transpose()?,
        code: written
            .code
            .as_deref()
            .map(rules::meant)
            .transpose()
            .map_err(|unknown| unknown.to_string())?,
        id: written.id,
        node: written.node,
        reason: written.reason.trim().to_owned(),
        expires,
        line,
    })
}

/// `*` within a folder's or file's name, `**` across folders, `?` one character. A path without any of these also means
/// everything below it.
fn glob(pattern: &str) -> Result<Regex, String> {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let mut regex = String::from("^");
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            regex.push_str("(?:.*/)?");
            rest = after;
        } else if let Some(after) = rest.strip_prefix("**") {
            regex.push_str(".*");
            rest = after;
        } else {
            match c {
                '*' => regex.push_str("[^/]*"),
                '?' => regex.push_str("[^/]"),
                c => regex.push_str(&regex::escape(&c.to_string())),
            }
            rest = rest.get(c.len_utf8()..).unwrap_or("");
        }
    }
    regex.push_str("(?:/.*)?$");
    Regex::new(&regex).map_err(|e| format!("`path` {pattern:?} cannot be used: {e}"))
}

impl Waiver {
    /// Does it mean this finding? `path` is seen from the folder of agentctl.toml.
    pub fn means(&self, finding: &Finding, path: &str) -> bool {
        let code = |wanted: &String| matches_code(&finding.code, wanted);
        let node = |wanted: &String| {
            finding.node.as_ref() == Some(wanted) || finding.node_id.as_ref() == Some(wanted)
        };
        self.code.as_ref().is_none_or(code)
            && self.id.as_ref().is_none_or(|id| *id == finding.id)
            && self.node.as_ref().is_none_or(node)
            && self
                .path
                .as_ref()
                .is_none_or(|path_is| path_is.is_match(path))
    }

    pub fn holds_on(&self, day: Date) -> bool {
        day <= self.expires
    }

    /// What it is about, for a line about it.
    pub fn subject(&self) -> &str {
        self.code.as_deref().or(self.id.as_deref()).unwrap_or("")
    }
}

/// A code, or a family of codes (`n8n/`).
pub fn matches_code(code: &str, wanted: &str) -> bool {
    code == wanted || rules::is_family_of(wanted, code)
}

#[cfg(test)]
#[path = "waiver_tests.rs"]
pub(crate) mod waiver_tests;
