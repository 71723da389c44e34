//! What stands in values: JSON that does not parse, secrets written into the workflow.

use super::{
    leaves::{Leaf, leaves},
    report::{Draft, Report},
    subject::NodeView,
};
use crate::n8n::{catalog::PropertyKind, finding::Severity};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Parameters that n8n parses as strict JSON, so that a mistake stops the run: (node type, parameter).
const STRICT_JSON: [(&str, &str); 3] = [
    ("n8n-nodes-base.httpRequest", "jsonBody"),
    ("n8n-nodes-base.httpRequestTool", "jsonBody"),
    ("n8n-nodes-base.set", "jsonOutput"),
];

/// Shapes of keys that services issue; a match is a secret, not a placeholder.
static ISSUED_KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(sk-(ant-|proj-|live-)?[A-Za-z0-9_-]{24,}|xox[abprs]-[0-9A-Za-z-]{20,}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|glpat-[A-Za-z0-9_-]{20}|SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{10,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33})|-----BEGIN [A-Z ]*PRIVATE KEY-----",
    )
    .ok()
});
/// Names of headers, query fields and parameters that carry secrets.
static SECRET_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(authorization|x-api-key|api[-_]?key|apikey|access[-_]?token|auth[-_]?token|client[-_]?secret|secret|password|bearer)$").ok()
});
/// Stand-ins that people write where a secret belongs.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)your|xxx|<[^>]*>|placeholder|example|\*\*\*|\.\.\.|insert|replace|change|enter|\{\{|\$|^\s*$|dummy|redacted|api[-_ ]?key$|token$").ok()
});
/// A literal shorter than this is a word, not a key.
const SHORTEST_SECRET: usize = 16;

pub(super) fn check(node: &NodeView, report: &mut Report) {
    for leaf in leaves(node) {
        json(node, &leaf, report);
        secret(node, &leaf, report);
    }
}

fn is_match(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|regex| regex.is_match(text))
}

fn json(node: &NodeView, leaf: &Leaf, report: &mut Report) {
    let is_json = leaf
        .property
        .is_some_and(|p| p.kind == PropertyKind::Json && p.name == leaf.key);
    if !is_json || leaf.text.trim().is_empty() {
        return;
    }
    let text = match leaf.text.strip_prefix('=') {
        None => leaf.text.to_owned(),
        Some(template) => match filled_in(template) {
            Some(text) => text,
            None => return, // an unclosed expression has a finding of its own
        },
    };
    if text.trim().is_empty() {
        return;
    }
    let Err(error) = serde_json::from_str::<Value>(&text) else {
        return;
    };
    let strict = STRICT_JSON.contains(&(node.node_type, leaf.key));
    // What an expression yields is unknown: it may bring the missing quotes along.
    let severity = if strict && !leaf.is_expression() {
        Severity::Error
    } else {
        Severity::Warning
    };
    let message = format!("is no valid JSON: {error}");
    report.node(
        node,
        Draft::new(
            "agentctl/json-body-invalid",
            severity,
            leaf.pointer.as_str(),
            message,
        ),
    );
}

/// The template with every `{{ … }}` replaced by a value that JSON takes in its place.
fn filled_in(template: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, inside)) = rest.split_once("{{") {
        let (_, after) = inside.split_once("}}")?;
        text.push_str(before);
        text.push('0'); // a number stands on its own and inside quotes
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

fn secret(node: &NodeView, leaf: &Leaf, report: &mut Report) {
    if is_match(&ISSUED_KEYS, leaf.text) && !is_match(&STAND_IN, leaf.text) {
        let message =
            "holds what looks like a real key; keep it in a credential of n8n and revoke this one";
        return report.node(
            node,
            Draft::new(
                "agentctl/hardcoded-secret",
                Severity::Error,
                leaf.pointer.as_str(),
                message,
            ),
        );
    }
    if leaf.is_expression() || leaf.is_code() || leaf.text.trim().len() < SHORTEST_SECRET {
        return;
    }
    let named =
        is_match(&SECRET_NAME, leaf.key) || (leaf.key == "value" && named_secret(node, leaf));
    if named && !is_match(&PLACEHOLDER, leaf.text) {
        let message = "holds a fixed value where a secret belongs; keep it in a credential of n8n";
        report.node(
            node,
            Draft::new(
                "agentctl/hardcoded-secret",
                Severity::Warning,
                leaf.pointer.as_str(),
                message,
            ),
        );
    }
}

/// Runs of one character or the usual words inside something key-shaped.
static STAND_IN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)your|xxxx|placeholder|example|0000000|1234567890|redacted").ok()
});

/// A `{name, value}` pair whose name says secret.
fn named_secret(node: &NodeView, leaf: &Leaf) -> bool {
    let Some(pair) = leaf
        .pointer
        .strip_prefix("/parameters")
        .and_then(|p| p.strip_suffix("/value"))
    else {
        return false;
    };
    let name = pair
        .split('/')
        .skip(1)
        .try_fold(None, |at: Option<&Value>, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            let next = match at {
                None => node.filled.get(&token),
                Some(Value::Array(items)) => items.get(token.parse::<usize>().ok()?),
                Some(value) => value.get(&token),
            };
            next.map(Some)
        })
        .flatten()
        .and_then(|pair| pair.get("name")?.as_str());
    name.is_some_and(|name| is_match(&SECRET_NAME, name))
}
