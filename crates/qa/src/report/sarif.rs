//! SARIF 2.1.0, for code scanning.

use super::json::ShownFix;
use crate::check::{Checked, Judged, State};
use crate::rules;
use crate::source::relative;
use agentctl_n8n::finding::Severity;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Named for the fingerprint's making: an id that is made otherwise gets another name.
const FINGERPRINT: &str = "agentctlFindingId/v1";

/// One run over the files; `root` is the folder that locations are seen from (the repository's).
pub fn sarif(files: &[Checked], root: &Path) -> Value {
    let mut rules: BTreeMap<&str, Severity> = BTreeMap::new();
    for judged in files.iter().flat_map(|file| &file.findings) {
        let severity = rules
            .entry(judged.finding.code.as_str())
            .or_insert(judged.finding.severity);
        *severity = (*severity).max(judged.finding.severity);
    }
    let index: BTreeMap<&str, usize> = rules
        .keys()
        .enumerate()
        .map(|(i, code)| (*code, i))
        .collect();
    let results: Vec<Value> = files
        .iter()
        .flat_map(|file| {
            let uri = uri(&relative(Path::new(&file.path), root));
            file.findings
                .iter()
                .map(move |judged| (uri.clone(), judged))
        })
        .map(|(uri, judged)| {
            result(
                uri,
                judged,
                index.get(judged.finding.code.as_str()).copied(),
            )
        })
        .collect();
    let rules: Vec<Value> = rules
        .iter()
        .map(|(code, severity)| rule(code, *severity))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "agentctl", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: &str, severity: Severity) -> Value {
    let what = code
        .split_once('/')
        .map_or(code, |(_, rest)| rest)
        .replace('-', " ");
    let known = rules::rule(code);
    let reason = known.map_or(what.as_str(), |rule| rule.reason);
    let page = known.map_or(what.as_str(), |rule| rule.page);
    // n8n/unknown-type → N8nUnknownType
    let name: String = code.split(['/', '-']).map(capitalised).collect();
    json!({
        "id": code,
        "name": name,
        "shortDescription": {"text": capitalised(&what)},
        "fullDescription": {"text": sentence(reason)},
        "help": {"text": sentence(reason), "markdown": page},
        "defaultConfiguration": {"level": level(known.map_or(severity, |rule| rule.severity))},
    })
}

/// n8n writes its own name small, at the start of a sentence too.
fn sentence(text: &str) -> String {
    let text = if text.starts_with("n8n") {
        text.to_owned()
    } else {
        capitalised(text)
    };
    format!("{text}.")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result(uri: String, judged: &Judged, rule: Option<usize>) -> Value {
    let finding = &judged.finding;
    let place = &judged.place;
    let text = match &finding.node {
        Some(node) => format!("{node}: {}", finding.message),
        None => finding.message.clone(),
    };
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {
                "startLine": place.line, "startColumn": place.column,
                "endLine": place.end_line, "endColumn": place.end_column,
            },
        },
    });
    if let Some(node) = &finding.node {
        let logical =
            json!([{"name": node, "fullyQualifiedName": finding.pointer, "kind": "element"}]);
        insert(&mut location, "logicalLocations", logical);
    }
    let mut result = json!({
        "ruleId": finding.code,
        "level": level(finding.severity),
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: finding.id},
        "properties": {"pointer": finding.pointer, "nodeId": finding.node_id, "fix": finding.fix.as_ref().map(ShownFix::of)},
    });
    if let Some(rule) = rule {
        insert(&mut result, "ruleIndex", json!(rule));
    }
    match &judged.state {
        State::Open => {}
        State::Known => insert(
            &mut result,
            "suppressions",
            json!([{"kind": "external", "justification": "in the baseline"}]),
        ),
        State::Waived { reason, expires } => insert(
            &mut result,
            "suppressions",
            json!([{"kind": "external", "justification": format!("{reason} (until {expires})")}]),
        ),
    }
    result
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Some(map) = object.as_object_mut() {
        map.insert(key.to_owned(), value);
    }
}

/// A path as a URI reference; one that starts at the root is a file's address.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char);
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
#[path = "sarif_tests.rs"]
mod sarif_tests;
