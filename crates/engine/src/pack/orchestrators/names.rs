//! What the expressions of an orchestrator's file name: its input and the results of its agents, before anything starts. Other names are
//! told by the flow's own reader.

use super::Orchestrators;
use super::compile::{ASKED, AWAY, RESULTS, agents};
use crate::condition::Condition;
use crate::nearest::nearest;
use agentctl_base::yaml::{Node, Problems};
use serde_json::{Map, Value, json};

/// Every `if` and every value of `with`. One that is no expression is told by the flow's own reader.
pub(super) fn check(file: &Node, team: &Orchestrators, problems: &mut Problems) {
    let known = agents(file, team);
    let mut all: Vec<(&Node, bool)> = Vec::new();
    expressions(file, &mut all);
    let values = sample(team, &known);
    for (node, is_rule) in all {
        let source = node.as_text().unwrap_or_default();
        let Ok(condition) = Condition::compile(source, &["input", "state"]) else {
            continue;
        };
        if is_rule
            && let Ok(value) = condition.value(&values)
            && !value.is_boolean()
        {
            let message = format!("`{source}` is not true or false: compare it with something");
            problems.add(node.place, message);
        }
        for path in condition.paths() {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            if let Some(message) = unknown(&path, team, &known) {
                problems.add(node.place, message);
            }
        }
    }
}

/// With each whether it is an `if`.
fn expressions<'n>(node: &'n Node, found: &mut Vec<(&'n Node, bool)>) {
    for entry in node.as_map().unwrap_or_default() {
        match entry.key.as_str() {
            "if" => found.push((&entry.value, true)),
            "with" => {
                let values = entry.value.as_map().unwrap_or_default().iter();
                found.extend(values.map(|entry| (&entry.value, false)));
            }
            _ => expressions(&entry.value, found),
        }
    }
    for item in node.as_list().unwrap_or_default() {
        expressions(item, found);
    }
}

/// The input, each value a text, and no result yet: what an expression says of it has the type that it always has.
fn sample(team: &Orchestrators, agents: &[String]) -> Map<String, Value> {
    let of = |names: &[String], value: Value| -> Map<String, Value> {
        let all = names.iter().map(|name| (name.clone(), value.clone()));
        all.collect()
    };
    let mut state = Map::new();
    state.insert(RESULTS.to_owned(), of(agents, json!({})).into());
    state.insert(AWAY.to_owned(), json!({}));
    let mut input = of(&team.input, json!(""));
    input.insert(ASKED.to_owned(), json!([]));
    Map::from_iter([
        ("input".to_owned(), input.into()),
        ("state".to_owned(), state.into()),
    ])
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
