//! What the expressions of an orchestrator's file name: its input and the results of its agents, before anything starts. Other names are
//! told by the flow's own reader.

use super::Orchestrators;
use super::compile::{ASKED, AWAY, RESULTS, agents};
use crate::condition::Condition;
use crate::nearest::nearest;
use agentctl_base::yaml::{Node, Problems};

/// Every `if` and every value of `with`. One that is no expression is told by the flow's own reader.
pub(super) fn check(file: &Node, team: &Orchestrators, problems: &mut Problems) {
    let known = agents(file, team);
    let mut all: Vec<&Node> = Vec::new();
    expressions(file, &mut all);
    for node in all {
        let source = node.as_text().unwrap_or_default();
        let Ok(condition) = Condition::compile(source, &["input", "state"]) else {
            continue;
        };
        for path in condition.paths() {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            if let Some(message) = unknown(&path, team, &known) {
                problems.add(node.place, message);
            }
        }
    }
}

fn expressions<'n>(node: &'n Node, found: &mut Vec<&'n Node>) {
    for entry in node.as_map().unwrap_or_default() {
        match entry.key.as_str() {
            "if" => found.push(&entry.value),
            "with" => {
                let values = entry.value.as_map().unwrap_or_default().iter();
                found.extend(values.map(|entry| &entry.value));
            }
            _ => expressions(&entry.value, found),
        }
    }
    for item in node.as_list().unwrap_or_default() {
        expressions(item, found);
    }
}

fn unknown(path: &[&str], team: &Orchestrators, agents: &[String]) -> Option<String> {
    let of = |name: &str, known: Vec<&str>, what: &str| {
        (!known.contains(&name)).then(|| {
            let near = nearest(name, known.iter().copied());
            format!(
                "{what} has no {name:?}{near}; there are {}",
                known.join(", ")
            )
        })
    };
    match path {
        ["input", name, ..] => {
            let own = team.input.iter().map(String::as_str);
            of(name, own.chain([ASKED]).collect(), "input")
        }
        ["state", part, name, ..] if [RESULTS, AWAY].contains(part) => {
            let known = agents.iter().map(String::as_str).collect();
            of(name, known, &format!("state.{part}"))
        }
        _ => None,
    }
}
