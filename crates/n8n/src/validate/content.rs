//! What stands in values: JSON that does not parse, secrets written into the workflow.

use super::{
    leaves::Leaf,
    report::Report,
    rules,
    subject::NodeView,
    template::{self, Part},
};
use crate::{catalog::PropertyKind, finding::Severity};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Parameters that n8n parses as strict JSON, so that a mistake stops the run: (node type, parameter).
const STRICT_JSON: [(&str, &str); 9] = [
    ("n8n-nodes-base.httpRequest", "jsonBody"),
    ("n8n-nodes-base.httpRequest", "jsonQuery"),
    ("n8n-nodes-base.httpRequest", "jsonHeaders"),
    ("n8n-nodes-base.httpRequestTool", "jsonBody"),
    ("n8n-nodes-base.set", "jsonOutput"),
    ("n8n-nodes-base.respondToWebhook", "responseBody"),
    (
        "@n8n/n8n-nodes-langchain.outputParserStructured",
        "jsonSchemaExample",
    ),
    (
        "@n8n/n8n-nodes-langchain.outputParserStructured",
        "inputSchema",
    ),
    (
        "@n8n/n8n-nodes-langchain.informationExtractor",
        "jsonSchemaExample",
    ),
];
/// What an expression may stand for in JSON: a value, nothing, a text, a field, a separator.
const STAND_INS: [&str; 5] = ["0", "", "\"a\"", "\"a\":0", ","];

/// Shapes of keys that services issue; a match is a secret, not a placeholder.
static ISSUED_KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(sk-(ant-|proj-|live-)?[A-Za-z0-9_-]{24,}|xox[abprs]-[0-9A-Za-z-]{20,}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|glpat-[A-Za-z0-9_-]{20}|SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{10,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33})|-----BEGIN [A-Z ]*PRIVATE KEY-----",
    )
    .ok()
});
/// What every issued key has in it: letters alone, which are looked for many times faster than the whole shape.
static SIGNS_OF_KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"sk-|xox|gh[pousr]_|github_pat_|AKIA|AIza|glpat-|SG\.|eyJ|:AA|-----BEGIN ").ok()
});
/// Bytes of the shortest of them.
const SHORTEST_KEY: usize = 20;
/// Names of headers, query fields and parameters that carry secrets.
static SECRET_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(authorization|x-api-key|api[-_]?key|apikey|access[-_]?token|auth[-_]?token|client[-_]?secret|secret|password|bearer)$").ok()
});
/// Stand-ins that people write where a secret belongs.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)your|xxx|<[^>]*>|placeholder|example|\*\*\*|\.\.\.|insert|replace|change|enter|\{\{|\$|^\s*$|dummy|redacted|censored|here$|\{[a-z_ ]+\}|secret|api[-_ ]?key$|token$").ok()
});
/// A literal shorter than this is a word, not a key.
const SHORTEST_SECRET: usize = 16;

pub(super) fn check(node: &NodeView, leaf: &Leaf, report: &mut Report) {
    json(node, leaf, report);
    secret(node, leaf, report);
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
    let strict = STRICT_JSON.contains(&(node.node_type, leaf.key));
    let problem = match leaf.text.strip_prefix('=') {
        None if leaf.text.contains("{{") => return, // the forgotten "=" is said elsewhere
        None => parse(leaf.text).map(|error| (error, strict)),
        Some(template) => {
            let parts = template::parts(template);
            let is_code = |p: &Part| matches!(p, Part::Code { .. });
            if parts.iter().all(is_code) {
                return; // one expression gives the whole value
            }
            let Some(first) = parse(&filled_in(&parts, "0")) else {
                return;
            };
            // What an expression yields is unknown: it may bring what is missing along.
            let never = STAND_INS
                .iter()
                .all(|stand_in| parse(&filled_in(&parts, stand_in)).is_some());
            Some((first, strict && never))
        }
    };
    let Some((error, sure)) = problem else { return };
    let severity = if sure {
        Severity::Error
    } else {
        Severity::Warning
    };
    let draft = rules::JSON_BODY_INVALID.at(leaf.pointer, format!("is no valid JSON: {error}"));
    report.node(node, draft.at_most(severity));
}

/// Why the text is no JSON; nothing written is no mistake.
fn parse(text: &str) -> Option<serde_json::Error> {
    if text.trim().is_empty() {
        return None;
    }
    serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    serde_json::from_str::<Value>(text).err() // says more
}

/// The template with every `{{ … }}` replaced.
fn filled_in(parts: &[Part], stand_in: &str) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => (*text).to_owned(),
        Part::Code { .. } => stand_in.to_owned(),
    };
    parts.iter().map(text).collect()
}

fn secret(node: &NodeView, leaf: &Leaf, report: &mut Report) {
    let issued = leaf.text.len() >= SHORTEST_KEY
        && is_match(&SIGNS_OF_KEYS, leaf.text)
        && is_match(&ISSUED_KEYS, leaf.text);
    let message = if issued && !is_match(&STAND_IN, leaf.text) {
        "holds what looks like a real key; keep it in a credential of n8n and revoke this one"
    } else if in_address(leaf.text) {
        "holds an address with a secret in it; keep the secret in a credential of n8n"
    } else if named_so(node, leaf) {
        "holds a fixed value where a secret belongs; keep it in a credential of n8n"
    } else {
        return;
    };
    report.node(node, rules::HARDCODED_SECRET.at(leaf.pointer, message));
}

/// `https://user:password@…` or `?api_key=…`.
fn in_address(text: &str) -> bool {
    let Some(pattern) = IN_ADDRESS.as_ref() else {
        return false;
    };
    text.contains("://")
        && text.contains(['=', '@'])
        && pattern.captures_iter(text).any(|found| {
            let secret = found.get(1).or(found.get(2));
            secret.is_some_and(|s| !is_match(&PLACEHOLDER, s.as_str()))
        })
}
static IN_ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)[?&](?:api[-_]?key|appid|access[-_]?token|auth[-_]?token|client[-_]?secret|token|secret|password)=([A-Za-z0-9_.-]{16,})|://[^\s/:@{}]{1,64}:([^\s/:@{}]{8,})@[a-z0-9]",
    )
    .ok()
});

fn named_so(node: &NodeView, leaf: &Leaf) -> bool {
    if leaf.is_expression() || leaf.is_code() || leaf.text.trim().len() < SHORTEST_SECRET {
        return false;
    }
    let named =
        is_match(&SECRET_NAME, leaf.key) || (leaf.key == "value" && named_secret(node, leaf));
    named && !is_match(&PLACEHOLDER, leaf.text)
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
