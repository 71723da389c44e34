//! How the offline model plays the tasks of a conversation about one workflow (the pack n8n-copilot): which phase a message is for, which
//! node types it needs, the structure, the values, the answer. All of them read the message in the same way, so they agree.

mod answer;

use super::modify::{self, begins, is_said};
use super::read::{self, ReadContext};
use super::roles::{Move, Seen, creation, does_nothing, text};
use super::{compile, cover, gate};
use agentctl_base::model::ToolStatus;
use agentctl_n8n::catalog::{Catalog, Lookup, structure};
use agentctl_n8n::{EditOp, Node, Workflow, edit};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

pub(super) use answer::respond;

/// What a message comes to.
enum Meant {
    Change(Box<Wanted>),
    /// Nothing is changed; this is asked.
    Ask(String),
    /// Nothing is changed; this is why.
    Refuse(String),
}

/// The workflow as the message wants it.
struct Wanted {
    workflow: Workflow,
    /// What the user must still fill in, what was decided, and what was not understood.
    open: Vec<String>,
    not_understood: Vec<String>,
}

/// The document of the workflow that the conversation is about, as the turn began.
fn document(input: &Map<String, Value>, key: &str) -> Option<Workflow> {
    let document = input.get(key).filter(|value| value.is_object())?;
    Workflow::from_value(document.clone()).ok()
}

/// Reads a message, on the workflow that there is.
fn meant(message: &str, before: Option<&Workflow>, catalog: &Catalog) -> Meant {
    match before {
        Some(before) => changed(message, before, catalog),
        None => made(message, catalog),
    }
}

fn made(message: &str, catalog: &Catalog) -> Meant {
    let reading = read::read(message, &ReadContext::default());
    if let Some(refusal) = reading.refusal {
        return Meant::Refuse(refusal.reason);
    }
    let language = &reading.plan.language;
    let built = compile::compile(&reading.plan, catalog);
    let account = gate::judge(
        message,
        &IndexMap::new(),
        language,
        &[&built.workflow],
        false,
    );
    if does_nothing(&reading.plan) || gate::too_little(&account) {
        return Meant::Ask(gate::question(message, &account, language).text);
    }
    let mut questions = reading.questions;
    if questions.is_empty() {
        questions.extend(cover::question(
            &cover::unused(message, &[&built.workflow]),
            language,
        ));
    }
    let needed: Vec<String> = questions
        .into_iter()
        .filter(|question| question.required)
        .map(|question| question.text)
        .collect();
    if !needed.is_empty() {
        return Meant::Ask(needed.join("\n"));
    }
    let todo = built
        .todo
        .into_iter()
        .map(|item| format!("{}: {}", item.node, item.text));
    Meant::Change(Box::new(Wanted {
        workflow: built.workflow,
        open: todo.chain(built.notes).collect(),
        not_understood: account.missing,
    }))
}

fn changed(message: &str, before: &Workflow, catalog: &Catalog) -> Meant {
    let change = modify::modify(before, message, catalog);
    if let Some(refusal) = change.refusal {
        return Meant::Refuse(refusal.reason);
    }
    let questions: Vec<String> = change.questions.iter().map(|q| q.text.clone()).collect();
    if change.ops.is_empty() || !change.unread.is_empty() || !questions.is_empty() {
        return Meant::Ask(questions.join("\n"));
    }
    let mut next = 0;
    let mut new_id = || {
        next += 1;
        format!("new-{next}")
    };
    match edit::apply(before, &change.ops, &mut new_id) {
        Ok(workflow) => {
            let todo = change
                .todo
                .into_iter()
                .map(|item| format!("{}: {}", item.node, item.text));
            Meant::Change(Box::new(Wanted {
                workflow,
                open: todo.chain(change.notes).collect(),
                not_understood: Vec::new(),
            }))
        }
        Err(error) => Meant::Refuse(error.to_string()),
    }
}

/// Whether a message asks for nothing to be done: a question that is no polite wish, a word of thanks.
fn only_talks(message: &str, language: &str) -> bool {
    let polite = is_said(message, language, "polite");
    let asks = message.trim_end().ends_with('?') || begins(message, language, "ask");
    (asks && !polite) || begins(message, language, "thanks")
}

/// Which case a message is: taken back, or the first phase that it needs; `responder` for all else.
pub(super) fn supervise(input: &Map<String, Value>, catalog: &Catalog) -> Result<Move, String> {
    let message = text(input, "message");
    let language = modify::spoken(message);
    let chosen = |case: &str, why: &str| Ok(Move::Done(json!({"reasoning": why, "case": case})));
    let offers = |case: &str| input.get(case).and_then(Value::as_bool) == Some(true);
    if only_talks(message, language) {
        return chosen("responder", "it asks, and wants nothing changed");
    }
    if is_said(message, language, "redo") && offers("redo") {
        return chosen("redo", "it wants what was taken back again");
    }
    if is_said(message, language, "undo") && offers("undo") {
        return chosen("undo", "it takes the last change back");
    }
    let before = document(input, "workflow");
    let wanted = match meant(message, before.as_ref(), catalog) {
        Meant::Change(wanted) => wanted,
        Meant::Ask(_) => return chosen("responder", "it is not clear enough to act on"),
        Meant::Refuse(_) => return chosen("responder", "it is not done"),
    };
    let Some(before) = before else {
        return chosen("discovery", "a new workflow");
    };
    let ops = modify::between(&before, &wanted.workflow);
    let adds = ops.iter().any(|op| matches!(op, EditOp::AddNode { .. }));
    let builds = ops.iter().any(|op| {
        !matches!(
            op,
            EditOp::SetParameter { .. }
                | EditOp::ReplaceParameters { .. }
                | EditOp::ReplaceText { .. }
                | EditOp::SetNodeSettings { .. }
        )
    });
    match (adds, builds) {
        (true, _) => chosen("discovery", "it needs a node that is not there yet"),
        (false, true) => chosen(
            "builder",
            "it changes which nodes there are, or how they are joined",
        ),
        (false, false) => chosen("configurator", "it changes values of nodes that are there"),
    }
}

/// The node types that the message needs and the workflow lacks, with the versions that the catalog has.
pub(super) fn discover(input: &Map<String, Value>, catalog: &Catalog) -> Result<Move, String> {
    let before = document(input, "workflow");
    let Meant::Change(wanted) = meant(text(input, "message"), before.as_ref(), catalog) else {
        return Err("the offline model read no change out of the message".to_owned());
    };
    let mut found: Vec<Value> = Vec::new();
    for node in added(before.as_ref(), &wanted.workflow) {
        let one = json!({
            "nodeName": node.node_type(),
            "version": node.type_version(),
            "reasoning": node.name(),
            "connectionChangingParameters": [],
        });
        if !found.contains(&one) {
            found.push(one);
        }
    }
    let names: Vec<&str> = found
        .iter()
        .filter_map(|f| f.get("nodeName").and_then(Value::as_str))
        .map(agentctl_n8n::short_type)
        .collect();
    let summary = names.join(", ");
    Ok(Move::Done(
        json!({"nodes_found": found, "summary": summary}),
    ))
}

/// The nodes that are new.
fn added<'w>(before: Option<&Workflow>, wanted: &'w Workflow) -> Vec<&'w Node> {
    let old = |node: &Node| before.is_some_and(|b| b.nodes.iter().any(|n| n.id() == node.id()));
    wanted.nodes.iter().filter(|node| !old(node)).collect()
}

/// The same node with what belongs to the structure alone.
fn skeleton(node: &Node, catalog: &Catalog) -> Node {
    let whole = node.parameters().cloned().unwrap_or_default();
    let bare = match catalog.lookup(node.node_type(), node.type_version()) {
        Lookup::Known(described) => structure::at(&whole, &described.structural(&whole)),
        _ => structure::at(&whole, &structure::ABOUT.into()),
    };
    let mut node = node.clone();
    node.edit_parameters(|parameters| *parameters = bare);
    node
}

/// What the last change of this step came to: its result, or why it was not made.
fn made_by<'a>(seen: &Seen<'a>, tool: &str) -> Result<Option<&'a Value>, String> {
    match seen.last(tool) {
        None => Ok(None),
        Some(result) if result.status == ToolStatus::Ok => Ok(Some(&result.content)),
        Some(result) => Err(format!(
            "{} did not succeed: {}",
            result.name,
            result
                .content
                .get("error")
                .and_then(Value::as_str)
                .unwrap_or("no reason given")
        )),
    }
}

/// Nodes and connections, without the values.
pub(super) fn structure(
    input: &Map<String, Value>,
    seen: &Seen<'_>,
    catalog: &Catalog,
) -> Result<Move, String> {
    let before = document(input, "workflow");
    let message = text(input, "message");
    let Meant::Change(wanted) = meant(message, before.as_ref(), catalog) else {
        return Err("the offline model read no change out of the message".to_owned());
    };
    let mut bare = wanted.workflow.clone();
    for node in &mut bare.nodes {
        let old = before.as_ref().and_then(|b| b.node(&node.id()));
        let same = old.and_then(|old| old.parameters().cloned());
        match (old, same) {
            (Some(_), same) => node.edit_parameters(|p| *p = same.unwrap_or_default()),
            (None, _) => *node = skeleton(node, catalog),
        }
    }
    let Some(before) = before else {
        return Ok(match made_by(seen, "create_workflow")? {
            Some(result) => structured(result.get("id").or(result.get("workflow_id")), &[], &bare),
            None => Move::Call(vec![("create_workflow", creation(&bare))]),
        });
    };
    let id = text(input, "workflow_id");
    let ops = modify::between(&before, &bare);
    if ops.is_empty() || made_by(seen, "update_workflow")?.is_some() {
        return Ok(structured(Some(&json!(id)), &ops, &bare));
    }
    Ok(Move::Call(vec![(
        "update_workflow",
        json!({"workflow_id": id, "ops": ops}),
    )]))
}

fn structured(id: Option<&Value>, ops: &[EditOp], bare: &Workflow) -> Move {
    let summary = match ops.is_empty() {
        true => {
            let names: Vec<&str> = bare.nodes.iter().map(Node::name).collect();
            format!("+ {}", names.join(", "))
        }
        false => answer::told(ops).join("; "),
    };
    Move::Done(json!({"id": id, "summary": summary}))
}

/// The values, on the structure that is there now.
pub(super) fn configure(
    input: &Map<String, Value>,
    seen: &Seen<'_>,
    catalog: &Catalog,
) -> Result<Move, String> {
    let before = document(input, "before");
    let now = document(input, "workflow").ok_or("there is no workflow to set values in")?;
    let Meant::Change(wanted) = meant(text(input, "message"), before.as_ref(), catalog) else {
        return Err("the offline model read no change out of the message".to_owned());
    };
    let mut target = now.clone();
    for node in &mut target.nodes {
        let Some(meant) = wanted.workflow.node_by_name(node.name()) else {
            continue;
        };
        let parameters = meant.parameters().cloned().unwrap_or_default();
        node.edit_parameters(|now| *now = parameters);
        for (key, value) in meant.map() {
            if agentctl_n8n::workflow::RUN_SETTINGS.contains(&key.as_str()) {
                node.set(key, value.clone());
            }
        }
    }
    let ops = modify::between(&now, &target);
    if !ops.is_empty() && made_by(seen, "update_workflow")?.is_none() {
        let id = text(input, "workflow_id");
        return Ok(Move::Call(vec![(
            "update_workflow",
            json!({"workflow_id": id, "ops": ops}),
        )]));
    }
    let mut open = wanted.open;
    let missing = wanted.not_understood;
    if !missing.is_empty() {
        let language = modify::spoken(text(input, "message"));
        open.push(format!(
            "{}: {}",
            answer::not_understood(language),
            missing.join(", ")
        ));
    }
    let summary = answer::told(&ops).join("; ");
    Ok(Move::Done(json!({"summary": summary, "open": open})))
}
