//! A whole turn by one agent: what supervisor, builder, configurator and responder do, one after the other in one step.

use super::super::roles::{Move, Seen, text};
use super::{Meant, configure, document, meant, respond, structure, supervise};
use crate::explain::Turn;
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use serde_json::{Map, Value, json};

/// The next move: take back, answer, or the next call of the phases that the message needs.
pub(crate) fn converse(
    input: &Map<String, Value>,
    seen: &Seen<'_>,
    catalog: &Catalog,
) -> Result<Move, String> {
    let Move::Done(chosen) = supervise(input, catalog)? else {
        return Err("the offline model chose no case".to_owned());
    };
    let case = chosen.get("case").and_then(Value::as_str);
    let case = case.unwrap_or_default();
    if ["undo", "redo"].contains(&case) {
        return Ok(Move::Done(json!({"act": case, "reply": ""})));
    }
    let mut log = Vec::new();
    let mut known = input.clone();
    if case != "responder" {
        if case != "configurator" {
            match structure(input, seen, catalog)? {
                Move::Done(answer) => log.push(entry("builder", &answer)),
                call => return Ok(call),
            }
        }
        let made = seen.ok("new_workflow").and_then(|made| made.get("id"));
        let id = made.and_then(Value::as_str);
        let id = id.unwrap_or_else(|| text(input, "workflow_id"));
        if !id.is_empty() {
            let Some(now) = read_after(seen, "edit_structure") else {
                return Ok(read(id));
            };
            let before = input.get("workflow").filter(|w| w.is_object());
            known.insert("made".into(), before.is_none().into());
            let was = before.map(|w| json!({"nodes": w.get("nodes"), "kept": [], "connections": w.get("connections")}));
            known.insert("before".into(), was.unwrap_or_default());
            known.insert("workflow_id".into(), id.into());
            known.insert("workflow".into(), now);
            match configure(&known, seen, catalog)? {
                Move::Done(answer) => log.push(entry("configurator", &answer)),
                call => return Ok(call),
            }
            // Values may be what the other half of the check finds fault with.
            if changed_after(seen, "validate_structure") {
                let args = json!({"workflow_id": id});
                return Ok(Move::Call(vec![("validate_structure", args)]));
            }
            match read_after(seen, "update_node_parameters") {
                Some(now) => drop(known.insert("workflow".into(), now)),
                None => return Ok(read(id)),
            }
        }
        let changes = changes(document(input, "workflow"), document(&known, "workflow"));
        known.insert("changes".into(), changes);
    }
    known.insert("log".into(), Value::Array(log));
    let Move::Done(told) = respond(&known, catalog)? else {
        return Err("the offline model has no answer".to_owned());
    };
    let reply = told.get("reply").cloned().unwrap_or_default();
    Ok(Move::Done(json!({"act": "reply", "reply": reply})))
}

/// A turn without the program around it: nothing is called, and what the message means is done at once.
pub(crate) fn turn(input: &Map<String, Value>, catalog: &Catalog) -> Result<Turn, String> {
    let Move::Done(chosen) = supervise(input, catalog)? else {
        return Err("the offline model chose no case".to_owned());
    };
    let before = document(input, "workflow");
    let case = text(chosen.as_object().ok_or("no case")?, "case").to_owned();
    let mut known = input.clone();
    let mut workflow = None;
    if !["undo", "redo", "responder"].contains(&case.as_str())
        && let Meant::Change(wanted) = meant(text(input, "message"), before.as_ref(), catalog)
    {
        let entry = json!({"phase": "configurator", "status": "completed", "open": wanted.open});
        known.insert("log".into(), json!([entry]));
        known.insert("workflow".into(), wanted.workflow.to_value());
        known.insert(
            "changes".into(),
            changes(before, Some(wanted.workflow.clone())),
        );
        workflow = Some(wanted.workflow);
    }
    let Move::Done(told) = respond(&known, catalog)? else {
        return Err("the offline model has no answer".to_owned());
    };
    let reply = told.get("reply").and_then(Value::as_str);
    Ok(Turn {
        case,
        workflow,
        reply: reply.unwrap_or_default().to_owned(),
    })
}

fn entry(phase: &str, answer: &Value) -> Value {
    let of = |key: &str| answer.get(key).cloned().unwrap_or_default();
    json!({"phase": phase, "status": "completed", "summary": of("summary"), "open": of("open")})
}

fn read(id: &str) -> Move {
    Move::Call(vec![("get_workflow", json!({"workflow_id": id}))])
}

/// The workflow as it was read, unless it was changed by this tool since.
fn read_after(seen: &Seen<'_>, tool: &str) -> Option<Value> {
    let names: Vec<&str> = seen.names().collect();
    let last = |name: &str| names.iter().rposition(|one| *one == name);
    let read = last("get_workflow")?;
    if last(tool).is_some_and(|changed| changed > read) {
        return None;
    }
    seen.ok("get_workflow")?.get("workflow").cloned()
}

/// Whether values were set after the last call of this tool, or it was never called.
fn changed_after(seen: &Seen<'_>, tool: &str) -> bool {
    let names: Vec<&str> = seen.names().collect();
    let last = |name: &str| names.iter().rposition(|one| *one == name);
    last("update_node_parameters").is_some_and(|changed| last(tool).is_none_or(|at| at < changed))
}

/// What is other in the workflow than it was, line by line.
fn changes(before: Option<Workflow>, now: Option<Workflow>) -> Value {
    let (Some(before), Some(now)) = (before, now) else {
        return Value::Null;
    };
    let lines = agentctl_n8n::diff::changes(&before, &now).to_string();
    lines.lines().collect()
}
