//! What the expressions of an orchestrator's file name: its input and the results of its agents, before anything starts. Other names are
//! told by the flow's own reader.

use super::Orchestrators;
use super::compile::{ASKED, AWAY, RESULTS, agents};
use crate::condition::Condition;
use crate::nearest::nearest;
use agentctl_base::yaml::{Node, Place, Problems};
use serde_json::{Map, Value, json};

/// Every `if` and every value of `with`. One that is no expression is told by the flow's own reader.
pub(super) fn check(file: &Node, team: &Orchestrators, problems: &mut Problems) {
    let known = agents(file, team);
    let mut all: Vec<&Node> = Vec::new();
    expressions(file, &mut all);
    let rules: Vec<Place> = rules(file).into_iter().map(|node| node.place).collect();
    for node in all {
        let source = node.as_text().unwrap_or_default();
        let Ok(condition) = Condition::compile(source, &["input", "state"]) else {
            continue;
        };
        if rules.contains(&node.place)
            && let Ok(value) = condition.value(&sample(team, &known))
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

/// Every `if`.
fn rules(node: &Node) -> Vec<&Node> {
    let mut found: Vec<&Node> = node.get("if").into_iter().collect();
    let inside = node.as_map().unwrap_or_default().iter();
    let inside = inside.map(|entry| &entry.value);
    for node in inside.chain(node.as_list().unwrap_or_default()) {
        found.extend(rules(node));
    }
    found
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
