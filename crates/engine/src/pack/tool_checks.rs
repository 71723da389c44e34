//! What in a tool's file, and beside it in its mock, is read without a mistake and would come to nothing all the same.

use crate::condition::Condition;
use crate::nearest::nearest;
use agentctl_base::yaml::{Node, Place, Problem, Problems};

const MOCK_KEYS: [&str; 3] = ["cases", "answer", "error"];
const CASE_KEYS: [&str; 4] = ["when", "answer", "error", "searched"];
/// Keys of a tool's file that hold a list.
const LISTS: [&str; 2] = ["keywords", "usage_examples"];

/// `{cases: [{when, answer or error}], answer}`; a mock without cases is the answer itself.
pub(super) fn mock(node: &Node, file: &str, problems: &mut Vec<Problem>) {
    let Some(cases) = node.get("cases") else {
        return;
    };
    let mut found = Problems::new(file);
    let Some(items) = cases.as_list() else {
        found.add(cases.place, "cases is a list of {when, answer or error}");
        problems.extend(found.into_sorted());
        return;
    };
    known(node, &MOCK_KEYS, &mut found);
    for case in items {
        known(case, &CASE_KEYS, &mut found);
        if case.get("answer").is_none() && case.get("error").is_none() {
            found.add(case.place, "a case has an `answer` or an `error`");
        }
        if case.get("when").is_none() {
            let form = "a case says `when` it answers, as an expression over args and bound";
            found.add(case.place, form);
        }
        for node in [case.get("when"), case.get("searched")]
            .into_iter()
            .flatten()
        {
            let source = node.as_text().unwrap_or_default();
            if let Err(why) = Condition::compile(source, &["args", "bound"]) {
                found.add(node.place, why.to_string());
            }
        }
    }
    problems.extend(found.into_sorted());
}

fn known(node: &Node, keys: &[&str], problems: &mut Problems) {
    for entry in node.as_map().unwrap_or_default() {
        if !keys.contains(&entry.key.as_str()) {
            let near = nearest(&entry.key, keys.iter().copied());
            let message = format!("a mock has no {:?} here{near}", entry.key);
            problems.add(entry.key_place, message);
        }
    }
}

/// What an expression reads of the arguments, the tool takes.
pub(super) fn arguments(
    condition: &Condition,
    place: Place,
    values: &[String],
    problems: &mut Problems,
) {
    for path in condition.paths() {
        let [root, name, ..] = path.as_slice() else {
            continue;
        };
        if root == "args" && !values.contains(name) {
            let near = nearest(name, values.iter().map(String::as_str));
            problems.add(place, format!("the tool has no parameter {name:?}{near}"));
        }
    }
}

pub(super) fn lists(node: &Node, problems: &mut Problems) {
    for key in LISTS {
        let Some(of) = node.get(key).filter(|of| of.as_list().is_none()) else {
            continue;
        };
        problems.add(of.place, format!("{key} is a list"));
    }
}

/// The kinds of work that a definition of a tool names.
const CATEGORIES: [&str; 5] = [
    "information-retrieval",
    "data-analysis",
    "validation",
    "domain-specific",
    "processing",
];

pub(super) fn category(node: Option<&Node>, problems: &mut Problems) {
    let Some((node, name)) = node.and_then(|node| Some((node, node.as_text()?))) else {
        return;
    };
    if !CATEGORIES.contains(&name) {
        let near = nearest(name, CATEGORIES.iter().copied());
        let all = CATEGORIES.join(", ");
        problems.add(
            node.place,
            format!("there is no category {name:?}{near}; there are {all}"),
        );
    }
}

/// The types of an `output_schema`: of a JSON Schema, or of keys as parameters are written.
pub(super) fn types(node: &Node, types: &[&str], problems: &mut Problems) {
    for entry in node.as_map().unwrap_or_default() {
        let named = entry.value.as_text().filter(|_| entry.key == "type");
        if let Some(name) = named.filter(|name| !types.contains(name) && *name != "null") {
            let near = nearest(name, types.iter().copied());
            let all = types.join(", ");
            let message = format!("there is no type {name:?}{near}; there are {all}");
            problems.add(entry.value.place, message);
        }
        if !["example", "examples", "default", "enum", "const"].contains(&entry.key.as_str()) {
            self::types(&entry.value, types, problems);
        }
    }
    for item in node.as_list().unwrap_or_default() {
        self::types(item, types, problems);
    }
}

/// An example calls the tool with what it takes.
pub(super) fn examples(node: Option<&Node>, values: &[String], problems: &mut Problems) {
    for example in node.and_then(Node::as_list).unwrap_or_default() {
        for entry in example.entries("parameters") {
            if !values.contains(&entry.key) {
                let near = nearest(&entry.key, values.iter().map(String::as_str));
                let message = format!("the tool has no parameter {:?}{near}", entry.key);
                problems.add(entry.key_place, message);
            }
        }
    }
}
