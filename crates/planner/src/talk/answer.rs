//! What a conversation about a workflow is told: what was done, what a node does, what is asked back. Facts of the document only.

use super::super::modify::{begins, counted, is_said, meant as meant_nodes, spoken};
use super::super::roles::{Move, text};
use super::{Meant, document, meant, only_talks};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::tree::tree;
use agentctl_n8n::{EditOp, Node, Workflow, short_type};
use serde_json::{Map, Value, json};

/// Of a value and of a node's values at most so much is told.
const LONGEST: usize = 120;
const MOST: usize = 12;

/// Values that say how another one is compared or written, and not what is done.
const MEANS: [&str; 9] = [
    "id",
    "version",
    "typeValidation",
    "caseSensitive",
    "ignoreCase",
    "looseTypeValidation",
    "combinator",
    "mappingMode",
    "select",
];

/// Edit operations in short, one line each.
pub(super) fn told(ops: &[EditOp]) -> Vec<String> {
    let said = |value: &Value| match value {
        Value::String(text) => shortened(text),
        other => shortened(&other.to_string()),
    };
    let mut lines: Vec<String> = Vec::new();
    for op in ops {
        let line = match op {
            EditOp::AddNode { node } => format!("+ {}", node.name),
            EditOp::RemoveNode { node } => format!("- {node}"),
            EditOp::SetParameter {
                node,
                pointer,
                value,
            } => format!(
                "{node}: {} = {}",
                pointer.trim_start_matches('/'),
                said(value)
            ),
            EditOp::RenameNode { node, name } => format!("{node} → {name}"),
            EditOp::Connect { from, to, .. } => format!("+ {from} → {to}"),
            EditOp::Disconnect { from, to, .. } => format!("- {from} → {to}"),
            EditOp::ReplaceParameters { node, .. }
            | EditOp::ReplaceText { node, .. }
            | EditOp::EnableNode { node }
            | EditOp::DisableNode { node }
            | EditOp::SetNodeSettings { node, .. } => format!("~ {node}"),
            _ => continue,
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.chars().count() > LONGEST {
        true => line.chars().take(LONGEST).chain(['…']).collect(),
        false => line,
    }
}

/// By language: what was changed; what was made; what stays to do; not understood; what is offered; thanked for; not done.
fn texts(language: &str) -> [&'static str; 7] {
    match language {
        "de" => [
            "Geändert",
            "Erstellt",
            "Noch offen",
            "Nicht verstanden",
            "Sagen Sie, was der Workflow tun oder was sich ändern soll. Welcher Schritt, welcher Wert?",
            "Gern geschehen.",
            "Das wurde nicht gemacht",
        ],
        "es" => [
            "Cambiado",
            "Creado",
            "Queda por hacer",
            "No se entendió",
            "Diga qué debe hacer el flujo o qué debe cambiar. ¿Qué paso, qué valor?",
            "De nada.",
            "Eso no se hizo",
        ],
        "fr" => [
            "Modifié",
            "Créé",
            "Reste à faire",
            "Pas compris",
            "Dites ce que le workflow doit faire ou ce qui doit changer. Quelle étape, quelle valeur ?",
            "De rien.",
            "Cela n'a pas été fait",
        ],
        _ => [
            "Changed",
            "Made",
            "Still open",
            "Not understood",
            "Say what the workflow should do, or what should change. Which step, which value?",
            "You are welcome.",
            "This was not done",
        ],
    }
}

/// Why a change is not made, and what is asked about it.
pub(super) fn would_break(errors: &[String], language: &str) -> String {
    let errors = errors.join("; ");
    match language {
        "de" => format!(
            "Nicht gemacht, denn danach hätte der Workflow einen Fehler: {errors}. Wie soll es stattdessen sein?"
        ),
        "es" => format!("No se hizo, porque el flujo tendría un error: {errors}. ¿Cómo debe ser?"),
        "fr" => format!(
            "Pas fait, car le workflow aurait une erreur : {errors}. Comment doit-il être ?"
        ),
        _ => format!(
            "Not done, because the workflow would have an error: {errors}. How should it be instead?"
        ),
    }
}

pub(super) fn not_understood(language: &str) -> &'static str {
    let [_, _, _, not_understood, ..] = texts(language);
    not_understood
}

/// The reply: of what the log says was done, else the answer to what was asked.
pub(crate) fn respond(input: &Map<String, Value>, catalog: &Catalog) -> Result<Move, String> {
    let message = text(input, "message");
    let language = spoken(message);
    let workflow = document(input, "workflow");
    let log = input.get("log").and_then(Value::as_array);
    let log: Vec<&Value> = log.into_iter().flatten().collect();
    let reply = match (log.is_empty(), &workflow) {
        (false, workflow) => done(&log, changes(input), workflow.as_ref(), language, catalog),
        (true, Some(workflow)) if only_talks(message, Some(workflow), language) => {
            asked(message, workflow, language, catalog)
        }
        (true, workflow) => {
            let [.., offer, _, not_done] = texts(language);
            let [.., welcome, _] = texts(language);
            match meant(message, workflow.as_ref(), catalog) {
                Meant::Ask(_) if begins(message, language, "thanks") => welcome.to_owned(),
                Meant::Ask(question) if !question.is_empty() => question,
                Meant::Refuse(why) => format!("{not_done}: {why}"),
                Meant::Ask(_) | Meant::Change(_) => offer.to_owned(),
            }
        }
    };
    Ok(Move::Done(json!({"reply": reply, "language": language})))
}

/// What the program saw change, line by line; None: there was no workflow before.
fn changes(input: &Map<String, Value>) -> Option<Vec<&str>> {
    let lines = input.get("changes").and_then(Value::as_array)?;
    Some(lines.iter().filter_map(Value::as_str).collect())
}

fn done(
    log: &[&Value],
    changes: Option<Vec<&str>>,
    workflow: Option<&Workflow>,
    language: &str,
    catalog: &Catalog,
) -> String {
    let [changed, made, open, .., not_done] = texts(language);
    let of = |entry: &Value, key: &str| {
        let value = entry.get(key).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let is_error = |entry: &&&Value| of(entry, "status") == "error";
    let mut parts: Vec<String> = log
        .iter()
        .filter(is_error)
        .map(|e| format!("{not_done} ({}): {}", of(e, "phase"), of(e, "summary")))
        .collect();
    match (changes, workflow) {
        (Some(lines), _) if !lines.is_empty() => {
            parts.push(format!("{changed}:\n{}", lines.join("\n")));
        }
        (None, Some(workflow)) => parts.push(format!("{made}: {}", workflow.name())),
        _ => {}
    }
    if let Some(workflow) = workflow {
        parts.push(tree(workflow, Some(catalog)).trim_end().to_owned());
    }
    let left = log.iter().filter_map(|e| e.get("open")?.as_array());
    let left: Vec<&str> = left.flatten().filter_map(Value::as_str).collect();
    if !left.is_empty() {
        parts.push(format!("{open}:\n- {}", left.join("\n- ")));
    }
    parts.join("\n")
}

/// A question about the workflow: the nodes that it is about, what follows them, and the whole as a tree.
fn asked(message: &str, workflow: &Workflow, language: &str, catalog: &Catalog) -> String {
    let [.., offer, welcome, _] = texts(language);
    if !message.trim_end().ends_with('?') && is_said(message, language, "thanks") {
        return welcome.to_owned();
    }
    let mut nodes = meant_nodes(workflow, message);
    if nodes.is_empty() {
        nodes = counted(workflow, message, language);
    }
    // What serves a node belongs to it: its model, its memory, its tools.
    let serving: Vec<String> = workflow
        .edges()
        .filter(|(_, kind, _, link)| *kind != "main" && nodes.contains(&link.node))
        .map(|(from, _, _, _)| from.to_owned())
        .collect();
    nodes.extend(serving);
    if is_said(message, language, "follows") {
        let after: Vec<String> = workflow
            .edges()
            .filter(|(from, _, _, _)| nodes.iter().any(|n| n == from))
            .map(|(_, _, _, link)| link.node.clone())
            .collect();
        nodes.extend(after);
    }
    let about: Vec<&Node> = match nodes.is_empty() {
        true => workflow.nodes.iter().collect(),
        false => workflow
            .nodes
            .iter()
            .filter(|n| nodes.iter().any(|name| name == n.name()))
            .collect(),
    };
    let lines = about.into_iter().filter(|n| !n.is_sticky());
    let mut lines: Vec<String> = lines.map(|node| described(node, catalog)).collect();
    lines.push(tree(workflow, Some(catalog)).trim_end().to_owned());
    // With a mark of a question, and no word of one: it may be a wish.
    if !is_said(message, language, "ask") {
        lines.push(offer.to_owned());
    }
    lines.join("\n")
}

/// A node in one line: what it is, its values, the account that it needs.
fn described(node: &Node, catalog: &Catalog) -> String {
    let mut values = Vec::new();
    let told = node.parameters().into_iter().flatten();
    for (key, value) in told.filter(|(key, _)| !MEANS.contains(&key.as_str())) {
        leaves(key, value, &mut values);
    }
    values.truncate(MOST);
    let accounts = catalog
        .lookup(node.node_type(), node.type_version())
        .known()
        .map(|described| {
            let names = described.credentials.iter().map(|c| c.name.clone());
            names.collect::<Vec<_>>()
        });
    if let Some(account) = accounts.and_then(|names| names.into_iter().next()) {
        values.push(format!("account: {account}"));
    }
    let kind = short_type(node.node_type());
    format!("{} ({kind}): {}", node.name(), values.join(", "))
}

fn leaves(key: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(map) if map.contains_key("__rl") => {
            if let Some(value) = map.get("cachedResultName").or_else(|| map.get("value")) {
                leaves(key, value, out);
            }
        }
        Value::Object(map) if map.contains_key("leftValue") && map.contains_key("operator") => {
            let side = |key: &str| match map.get(key) {
                Some(Value::String(text)) => shortened(text),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            let how = map.get("operator").and_then(|o| o.get("operation"));
            let how = how.and_then(Value::as_str).unwrap_or_default();
            out.push(format!(
                "{} {how} {}",
                side("leftValue"),
                side("rightValue")
            ));
        }
        Value::Object(map) => {
            let told = map.iter().filter(|(key, _)| !MEANS.contains(&key.as_str()));
            told.for_each(|(key, value)| leaves(key, value, out));
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(key, item, out)),
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => out.push(format!("{key}: {}", shortened(text))),
        Value::Null => {}
        other => out.push(format!("{key}: {other}")),
    }
}
