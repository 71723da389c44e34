//! What a request to an HTTP endpoint carries, and how a webhook is called: method, headers, query parameters.

use serde_json::{Map, Value, json};

use super::mention;
use crate::compile::existing::Patch;
use crate::lexicon::{has, rx};

/// "Call the API with POST", "the webhook should take PUT".
pub(super) fn method(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let Some(method) = rx(r"\b((?-i:GET|POST|PUT|PATCH|DELETE|HEAD))\b")
        .captures(clause)
        .and_then(|c| c.get(1).map(|m| m.as_str().to_owned()))
    else {
        return false;
    };
    let Some(name) = endpoint(patch, clause, kept, &["httpRequest", "webhook"]) else {
        return false;
    };
    let Some(node) = patch.workflow_mut().node_by_name_mut(&name) else {
        return false;
    };
    let slot = if node.node_type().ends_with(".webhook") {
        "httpMethod"
    } else {
        "method"
    };
    // a path that is named in the same breath
    let path = rx(r"(?:^|\s)/([\w/-]+)")
        .captures(clause)
        .and_then(|c| c.get(1));
    node.edit_parameters(|params| {
        params.insert(slot.into(), json!(method));
        if let (Some(path), "httpMethod") = (path, slot) {
            params.insert("path".into(), json!(path.as_str()));
        }
    });
    true
}

/// "Send the header X-Version: 2", "add the query parameter page=1".
pub(super) fn part(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let quoted = r#"["'`]?"#;
    let sign = r"\s*(?::|=|\s(?:to|is|with(?: the)? value|auf|mit(?: dem)? wert|a|con(?: el)? valor|à|avec(?: la)? valeur))\s*";
    let header = format!(
        r"\b(?:header|kopfzeile|cabecera|en-tête)\s+(?:called\s+|named\s+)?{quoted}([A-Za-z][\w-]*){quoted}{sign}{quoted}(.+?){quoted}(?:\s+(?:with|to|in|for|on|mit|zu|bei|a|en|à|dans)\s+(?:the|every|each|all|der|die|dem|jede\w*|la|cada|toda\w*|chaque)\b.*)?$"
    );
    let query = header.replace(
        "header|kopfzeile|cabecera|en-tête",
        "query parameter|query param|url parameter|parameter|abfrageparameter|parámetro|paramètre",
    );
    for (pattern, switch, list) in [
        (header.as_str(), "sendHeaders", "headerParameters"),
        (query.as_str(), "sendQuery", "queryParameters"),
    ] {
        let Some(c) = rx(pattern).captures(clause) else {
            continue;
        };
        let group = |i: usize| c.get(i).map_or("", |m| m.as_str()).trim().to_owned();
        let (key, value) = (group(1), group(2));
        // what signs a request in belongs into a credential
        if has(r"auth|token|key|secret|cookie|password|session", &key) {
            return false;
        }
        let Some(name) = endpoint(patch, clause, kept, &["httpRequest"]) else {
            return false;
        };
        let Some(node) = patch.workflow_mut().node_by_name_mut(&name) else {
            return false;
        };
        return node.edit_parameters(|params| put(params, switch, list, &key, &value));
    }
    false
}

/// The node of these types that is meant: named, or the only one.
fn endpoint(patch: &Patch<'_>, clause: &str, kept: &[String], types: &[&str]) -> Option<String> {
    let all: Vec<String> = types
        .iter()
        .flat_map(|kind| mention::of_type(patch.workflow(), kind))
        .filter(|n| !kept.contains(n))
        .collect();
    mention::one(patch.workflow(), clause, kept)
        .filter(|n| all.contains(n))
        .or_else(|| match all.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        })
}

/// One pair of a list of names and values: in the place of its namesake, else at the end.
fn put(params: &mut Map<String, Value>, switch: &str, list: &str, key: &str, value: &str) -> bool {
    params.insert(switch.to_owned(), Value::Bool(true));
    let pairs = params
        .entry(list.to_owned())
        .or_insert_with(|| json!({"parameters": []}))
        .as_object_mut()
        .and_then(|m| {
            m.entry("parameters")
                .or_insert_with(|| json!([]))
                .as_array_mut()
        });
    let Some(pairs) = pairs else {
        return false; // written as one JSON text: not ours to take apart
    };
    let pair = json!({"name": key, "value": value});
    match pairs.iter_mut().find(|p| {
        p.get("name")
            .and_then(Value::as_str)
            .is_some_and(|n| n.eq_ignore_ascii_case(key))
    }) {
        Some(same) => *same = pair,
        None => pairs.push(pair),
    }
    true
}
