//! `tests.yaml` of a tool: calls with what must come of each. A run reads none of them.

use super::source::Source;
use agentctl_base::yaml::{self, Node, Problem, Problems};
use serde_json::Value;

/// Beside the tool's file.
pub(super) const TESTS_FILE: &str = "tests.yaml";
const TEST_KEYS: [&str; 5] = ["name", "args", "bind", "after", "expect"];
const STATUSES: [&str; 4] = ["ok", "failed", "unknown", "refused"];
const EXPECT_KEYS: [&str; 4] = ["status", "rule", "content", "counts"];

/// The calls of a tool's `tests.yaml`: a list, each with a name and what must come of it.
pub(super) fn calls_of(source: &Source, problems: &mut Vec<Problem>) -> Vec<Value> {
    let node = match yaml::read(&source.text, &source.file) {
        Ok(node) => node,
        Err(problem) => {
            problems.push(problem);
            return Vec::new();
        }
    };
    let mut found = Problems::new(&source.file);
    let calls = node.as_list();
    if calls.is_none() {
        found.add(
            node.place,
            "here stands a list of calls, each {name, args, bind, after, expect}",
        );
    }
    for call in calls.into_iter().flatten() {
        unknown_keys(call, &TEST_KEYS, &mut found);
        match call.get("expect") {
            Some(expect) => {
                unknown_keys(expect, &EXPECT_KEYS, &mut found);
                let status = expect.get("status");
                if let Some(node) = status
                    && !node.as_text().is_some_and(|name| STATUSES.contains(&name))
                {
                    let message = format!("status is one of {}", STATUSES.join(", "));
                    found.add(node.place, message);
                }
            }
            None => found.add(
                call.place,
                "a call says under `expect` what must come of it",
            ),
        }
        if call.get("name").and_then(Node::as_text).is_none() {
            found.add(call.place, "a call has a name");
        }
    }
    problems.extend(found.into_sorted());
    calls.into_iter().flatten().map(Node::to_json).collect()
}

fn unknown_keys(node: &Node, known: &[&str], problems: &mut Problems) {
    for entry in node.as_map().into_iter().flatten() {
        if !known.contains(&entry.key.as_str()) {
            let message = format!(
                "unknown key {:?}; there are {}",
                entry.key,
                known.join(", ")
            );
            problems.add(entry.key_place, message);
        }
    }
}
