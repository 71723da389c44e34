//! What the one who called is answered: "answer A instead of B", "answer A".

use super::super::named;
use super::{Clause, Read, edit};
use crate::acceptance::{self, Told};
use crate::compile::existing::Patch;
use agentctl_n8n::{Node, short_type};
use serde_json::{Value, json};
use std::ops::Range;

/// What says that one thing comes for another, and nothing of what it is.
const SIGNS: [&str; 11] = [
    "of",
    "instead",
    "exchange",
    "now",
    "be",
    "to",
    "bare",
    "rest",
    "new",
    "auxiliary",
    "correct",
];

/// Puts another literal in the place of what a Respond node answers: of the one that answers the literal that goes, else of the only one.
pub(super) fn answered(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    let Some((told, mut known)) = acceptance::told_answers(clause.text) else {
        return Read::Other;
    };
    if clause.also() {
        return Read::Other;
    }
    let nodes = patch.workflow().nodes.iter();
    let nodes = nodes.filter(|n| short_type(n.node_type()) == "respondToWebhook");
    let answering: Vec<(String, Option<Value>)> = nodes
        .filter(|n| !n.disabled() && !kept.iter().any(|k| k == n.name()))
        .map(|n| (n.name().to_owned(), literal(n)))
        .collect();
    let is_held =
        |told: &Told| { answering.iter() }.any(|(_, held)| held.as_ref() == Some(&told.value));
    let gone = |told: &&Told| {
        let right_behind = |of: &Range<usize>| {
            let between = clause.text.get(of.end..told.place.start);
            between.is_some_and(|between| super::words::words(between).len() < 3)
        };
        clause.places(&["of"]).iter().any(right_behind)
    };
    let (new, old) = match told.as_slice() {
        [new] if !gone(&new) => (new, None),
        [a, b] if gone(&a) || (!gone(&b) && is_held(a)) => (b, Some(a)),
        [a, b] if gone(&b) || is_held(b) => (a, Some(b)),
        _ => return Read::Other,
    };
    let fitting: Vec<String> = { answering.iter() }
        .filter(|(_, held)| old.is_none_or(|old| held.as_ref() == Some(&old.value)))
        .map(|(name, _)| name.clone())
        .collect();
    known.extend(told.iter().map(|told| told.place.clone()));
    known.extend(clause.places(&SIGNS));
    if named::says_more(
        patch.workflow(),
        &fitting,
        clause.text,
        clause.language,
        known,
    ) {
        return Read::Other;
    }
    let meant = named::best(patch.workflow(), clause.text, &clause.chart, &fitting, 10);
    match (fitting.as_slice(), meant.as_slice()) {
        ([], _) => Read::Other,
        ([one], _) | (_, [one]) => put(patch, one, &new.value),
        _ => Read::Which(written(&new.value), fitting),
    }
}

/// What a node answers, where that is the same whatever comes in.
fn literal(node: &Node) -> Option<Value> {
    let parameters = node.parameters()?;
    let body = parameters.get("responseBody")?.as_str()?;
    let is_worked_out = body.starts_with('=') && body.contains("{{");
    let body = body.strip_prefix('=').unwrap_or(body);
    match parameters.get("respondWith").and_then(Value::as_str) {
        _ if is_worked_out => None,
        Some("text") => Some(json!(body)),
        Some("json") | None => serde_json::from_str(body).ok(),
        _ => None,
    }
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

fn put(patch: &mut Patch<'_>, name: &str, value: &Value) -> Read {
    let with = match value {
        Value::String(_) => "text",
        _ => "json",
    };
    edit(patch, name, |params| {
        params.insert("respondWith".into(), json!(with));
        params.insert("responseBody".into(), json!(written(value)));
    })
}
