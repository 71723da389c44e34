//! `cargo run -p agentctl-planner --example turns`: reads one message a line, without the program around the planner, and answers each
//! with a line. In: `{message, workflow, undo, redo}`; out: `{case, workflow, reply, errors}` (`workflow` is null where nothing changes).
//! `tests/copilot/score --planner` plays its conversations so.

#![expect(clippy::disallowed_methods, reason = "its reader waits for each line")]

use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use agentctl_planner::explain;
use serde_json::{Value, json};
use std::io::{BufRead, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let before = match asked.get("workflow") {
            None | Some(Value::Null) => None,
            Some(document) => Some(Workflow::from_value(document.clone())?),
        };
        let may = |key: &str| asked.get(key).and_then(Value::as_bool) == Some(true);
        let message = asked.get("message").and_then(Value::as_str);
        let message = message.unwrap_or_default();
        let offers = [may("undo"), may("redo")];
        let turn = explain::turn(message, before.as_ref(), offers, Catalog::embedded())?;
        let after = turn.workflow.as_ref().or(before.as_ref());
        let answer = json!({
            "case": turn.case,
            "workflow": turn.workflow.as_ref().map(Workflow::to_value),
            "reply": turn.reply,
            "errors": after.map(|w| explain::errors(w, Catalog::embedded())).unwrap_or_default(),
        });
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
