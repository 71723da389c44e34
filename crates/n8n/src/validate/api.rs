//! `n8n/api`: what n8n's public API refuses besides a wrong structure, while its editor imports it. The keys and kinds are those
//! of the API's own description (n8n 2.22); what agentctl leaves out of every request is not reported.

use super::{path::joined, report::Report, rules};
use crate::hash;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Flag,
    Object,
    List,
    Among(&'static [&'static str]),
    /// Judged by `n8n/structure`, or not at all.
    Any,
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Kind::Text => value.is_string(),
            Kind::Number => value.is_number(),
            Kind::Flag => value.is_boolean(),
            Kind::Object => value.is_object(),
            Kind::List => value.is_array(),
            Kind::Among(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            Kind::Any => true,
        }
    }

    fn words(self) -> String {
        let word = match self {
            Kind::Text => "a text",
            Kind::Number => "a number",
            Kind::Flag => "true or false",
            Kind::Object => "an object",
            Kind::List => "a list",
            Kind::Among(words) => return format!("one of {}", words.join(", ")),
            Kind::Any => "anything",
        };
        word.to_owned()
    }
}

type Key = (&'static str, Kind);

const NODE: [Key; 21] = [
    ("id", Kind::Any),
    ("name", Kind::Any),
    ("type", Kind::Any),
    ("typeVersion", Kind::Any),
    ("position", Kind::Any),
    ("parameters", Kind::Any),
    ("disabled", Kind::Any),
    // Left out of every request.
    ("createdAt", Kind::Any),
    ("updatedAt", Kind::Any),
    (hash::EDITORS_NODE_KEY, Kind::Any),
    ("webhookId", Kind::Text),
    ("notes", Kind::Text),
    ("onError", Kind::Text),
    ("notesInFlow", Kind::Flag),
    ("executeOnce", Kind::Flag),
    ("alwaysOutputData", Kind::Flag),
    ("retryOnFail", Kind::Flag),
    ("continueOnFail", Kind::Flag),
    ("maxTries", Kind::Number),
    ("waitBetweenTries", Kind::Number),
    ("credentials", Kind::Object),
];
/// Those behind the first twelve came with later releases.
const SETTINGS: [Key; 17] = [
    ("saveExecutionProgress", Kind::Flag),
    ("saveManualExecutions", Kind::Flag),
    ("saveDataErrorExecution", Kind::Among(&["all", "none"])),
    ("saveDataSuccessExecution", Kind::Among(&["all", "none"])),
    ("executionTimeout", Kind::Number),
    ("errorWorkflow", Kind::Text),
    ("timezone", Kind::Text),
    ("executionOrder", Kind::Text),
    (
        "callerPolicy",
        Kind::Among(&[
            "any",
            "none",
            "workflowsFromAList",
            "workflowsFromSameOwner",
        ]),
    ),
    ("callerIds", Kind::Text),
    ("timeSavedPerExecution", Kind::Number),
    ("availableInMCP", Kind::Flag),
    ("redactionPolicy", Kind::Text),
    ("customTelemetryTags", Kind::List),
    ("workerPoolOverrideProduction", Kind::Text),
    ("workerPoolOverrideManual", Kind::Text),
    ("workerPoolOverrideEvaluation", Kind::Text),
];

/// Where the API refuses the document, as JSON pointers, and why.
pub fn refused_by_api(document: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let nodes = document.get("nodes").and_then(Value::as_array);
    for (i, node) in nodes.into_iter().flatten().enumerate() {
        if let Some(node) = node.as_object() {
            keys(node, &NODE, "a node", &format!("/nodes/{i}"), &mut found);
        }
    }
    if let Some(settings) = document.get("settings").and_then(Value::as_object) {
        keys(settings, &SETTINGS, "the settings", "/settings", &mut found);
    }
    found
}

/// Null is left out of every request.
fn keys(
    map: &Map<String, Value>,
    known: &[Key],
    whose: &str,
    pointer: &str,
    found: &mut Vec<(String, String)>,
) {
    for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
        if pointer == "/settings" && hash::is_editors_default(key, value) {
            continue;
        }
        let problem = match known.iter().find(|(name, _)| name == key) {
            None => format!("n8n's API knows no key {key:?} of {whose}"),
            Some((_, kind)) if !kind.fits(value) => {
                format!(
                    "n8n's API takes only {} as {key:?} of {whose}",
                    kind.words()
                )
            }
            Some(_) => continue,
        };
        found.push((joined(pointer, key), problem));
    }
}

pub(super) fn check(document: &Value, report: &mut Report) {
    for (pointer, message) in refused_by_api(document) {
        let node = super::structure::node_at(document, &pointer);
        report.place(node, rules::API.at(pointer, message));
    }
}
