//! What a recording keeps of a request: for each part a hash, and the texts in which ids and times stand as marks, so that a
//! recording can be renewed. The prompts themselves are not copied into each recording. Pure.
//!
//! A request here is the value that the tape makes of it: `system`, `tools` and `contract` as hashes, `messages` in full, with marks.
//! Recordings of version 2 keep that value whole, and are still followed.

use super::form::{MAX_DIFF, difference};
use super::marks::marked_texts;
use super::{SHORTENED, short_hash};
use agentctl_base::canonical::canonical;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Under this name the hashes stand, by the name of their part.
const PARTS: &str = "parts";
/// Under this name the texts with marks stand, by the key that they had.
const MARKED: &str = "marked";

/// What is written of a request.
pub(super) fn summary(asks: &Value) -> Value {
    let hashes: Map<String, Value> = parts(asks)
        .into_iter()
        .map(|(name, part)| (name, part.hash().into()))
        .collect();
    let mut summary = Map::from_iter([(PARTS.to_owned(), Value::Object(hashes))]);
    let marked = marked_texts(asks);
    if !marked.is_empty() {
        summary.insert(MARKED.to_owned(), json!(marked));
    }
    if let Some(shortened) = asks.get(SHORTENED) {
        summary.insert(SHORTENED.to_owned(), shortened.clone());
    }
    Value::Object(summary)
}

/// In what a request differs from what was recorded; None: in nothing.
pub(super) fn changed(recorded: &Value, asks: &Value) -> Option<String> {
    let Some(Value::Object(before)) = recorded.get(PARTS) else {
        // Version 2.
        return (recorded != asks)
            .then(|| format!("(- recorded, + now)\n{}", difference(recorded, asks)));
    };
    let now = parts(asks);
    let mut told = Vec::new();
    for (name, part) in &now {
        let hash = Value::from(part.hash());
        match before.get(name) {
            Some(recorded) if *recorded == hash => {}
            known => {
                let how = known.map_or("new", |_| "changed");
                told.push(format!("{name}: {how}"));
                told.extend(part.lines());
            }
        }
    }
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    told.extend(gone.map(|name| format!("{name}: not asked any more")));
    // What is not known may say something else of the request.
    let strange = recorded.as_object().into_iter().flat_map(Map::keys);
    let strange = strange.filter(|key| ![PARTS, MARKED, SHORTENED].contains(&key.as_str()));
    told.extend(strange.map(|key| format!("{key}: nothing that a recording has")));
    if told.is_empty() && recorded.get(SHORTENED) != asks.get(SHORTENED) {
        told.push(format!("{SHORTENED}: other results than then"));
    }
    if told.is_empty() {
        return None;
    }
    if told.len() > MAX_DIFF {
        told.truncate(MAX_DIFF);
        told.push("…".to_owned());
    }
    Some(told.join("\n"))
}

enum Part {
    /// A prompt, a tool or a contract, which stands in the request as a hash already; or a result that the recording holds.
    Named(String),
    Text(Vec<Value>),
}

impl Part {
    fn hash(&self) -> String {
        match self {
            Part::Named(hash) => hash.clone(),
            Part::Text(lines) => short_hash(&canonical(&json!(lines))),
        }
    }

    fn lines(&self) -> Vec<String> {
        let Part::Text(lines) = self else {
            return Vec::new();
        };
        let told = lines.iter().flat_map(|line| match line {
            Value::String(text) => vec![text.clone()],
            other => serde_json::to_string_pretty(other)
                .unwrap_or_default()
                .lines()
                .map(str::to_owned)
                .collect(),
        });
        told.filter(|line| !line.is_empty())
            .map(|line| format!("  {line}"))
            .collect()
    }
}

/// The parts of a request by name: the system prompt, each tool, the contract, and of each message its sections or results.
fn parts(asks: &Value) -> IndexMap<String, Part> {
    let mut parts = IndexMap::new();
    let hash = |name: &str| asks.get(name).and_then(Value::as_str);
    if let Some(system) = hash("system") {
        parts.insert("system prompt".to_owned(), Part::Named(system.to_owned()));
    }
    for tool in array(asks.get("tools")).iter().filter_map(Value::as_str) {
        let (name, hash) = tool.split_once(' ').unwrap_or((tool, ""));
        parts.insert(format!("tool {name}"), Part::Named(hash.to_owned()));
    }
    if let Some(contract) = hash("contract") {
        parts.insert("contract".to_owned(), Part::Named(contract.to_owned()));
    }
    for (at, message) in array(asks.get("messages")).iter().enumerate() {
        let place = format!("message {}", at + 1);
        match message.get("user") {
            Some(Value::Array(lines)) => sections(&place, lines, &mut parts),
            Some(text) => sections(&place, std::slice::from_ref(text), &mut parts),
            None => results(&place, array(message.get("results")), &mut parts),
        }
    }
    parts
}

/// A section begins with a heading, or as the block of one field of the input.
fn sections(place: &str, lines: &[Value], parts: &mut IndexMap<String, Part>) {
    let mut name = place.to_owned();
    for line in lines {
        let text = line.as_str().unwrap_or_default();
        let heading = text.strip_prefix("# ").map(str::to_owned);
        let field = text
            .strip_prefix("<input field=\"")
            .and_then(|rest| Some(format!("input {}", rest.split_once('"')?.0)));
        if let Some(title) = heading.or(field) {
            name = free(format!("{place}, {title}"), parts);
        }
        let part = parts
            .entry(name.clone())
            .or_insert_with(|| Part::Text(Vec::new()));
        if let Part::Text(lines) = part {
            lines.push(line.clone());
        }
    }
}

fn results(place: &str, results: &[Value], parts: &mut IndexMap<String, Part>) {
    for result in results {
        let of = |key| result.get(key).and_then(Value::as_str).unwrap_or_default();
        match result.as_str().and_then(|text| text.split_once(", ")) {
            Some((call, above)) => {
                let name = free(format!("{place}, {call}"), parts);
                parts.insert(name, Part::Named(above.to_owned()));
            }
            None => {
                let name = format!("{place}, {} of {}", of("call_id"), of("tool"));
                parts.insert(free(name, parts), Part::Text(vec![result.clone()]));
            }
        }
    }
}

/// The name, with a number behind it where another part has it.
fn free(name: String, parts: &IndexMap<String, Part>) -> String {
    let mut free = name.clone();
    let mut number = 1;
    while parts.contains_key(&free) {
        number += 1;
        free = format!("{name} ({number})");
    }
    free
}

fn array(value: Option<&Value>) -> &[Value] {
    value
        .and_then(Value::as_array)
        .map_or(&[], |items| items.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks() -> Value {
        json!({
            "system": "0000000000a", "tools": ["get_node 0000000000b"], "contract": "0000000000c",
            "messages": [
                {"user": ["# Task: build", "", "Build it.", "# Input", "<input field=\"workflow\">", {"id": "⟨id-1⟩"}, "</input>"]},
                null,
                {"results": ["c1 of get_node, as above", {"call_id": "c2", "tool": "get_node", "status": "failed", "result": "none"}]},
            ],
        })
    }

    #[test]
    fn a_summary_names_each_part_and_keeps_what_has_marks() {
        let summary = summary(&asks());
        let names: Vec<&String> = summary[PARTS].as_object().unwrap().keys().collect();
        assert_eq!(
            names,
            [
                "system prompt",
                "tool get_node",
                "contract",
                "message 1, Task: build",
                "message 1, Input",
                "message 1, input workflow",
                "message 3, c1 of get_node",
                "message 3, c2 of get_node",
            ]
        );
        assert_eq!(summary[MARKED], json!({"id": ["⟨id-1⟩"]}));
        assert!(!summary.to_string().contains("Build it"), "{summary}");
    }

    #[test]
    fn each_part_that_changed_is_named_with_what_it_is_now() {
        let recorded = summary(&asks());
        assert_eq!(changed(&recorded, &asks()), None);
        let with = |pointer: &str, value: Value| {
            let mut asks = asks();
            *asks.pointer_mut(pointer).unwrap() = value;
            changed(&recorded, &asks).unwrap()
        };
        assert_eq!(
            with("/system", json!("0000000000d")),
            "system prompt: changed"
        );
        assert_eq!(
            with("/messages/0/user/2", json!("Build more.")),
            "message 1, Task: build: changed\n  # Task: build\n  Build more."
        );
        assert_eq!(
            with("/tools/0", json!("get_nodes 0000000000b")),
            "tool get_nodes: new\ntool get_node: not asked any more"
        );
        assert!(
            with("/messages/2/results/1/result", json!("two"))
                .contains("message 3, c2 of get_node: changed"),
        );
    }
}
