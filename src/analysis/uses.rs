//! Which learnings a run read, from its journal.

use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_base::question::Outcome;
use agentctl_engine::{store::Record, view::RunView};
use std::collections::BTreeSet;

/// The entries that a run read and how it ended, from its journal's text. Only lines about learnings and ends are looked at; the
/// chain is not verified here.
pub fn used_in(text: &str) -> (BTreeSet<String>, Option<Outcome>) {
    let lines = text
        .lines()
        .filter(|line| line.contains("\"read_learning\"") || line.contains("\"run_ended\""));
    let records: Vec<Record> = lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let run = RunView::of(&records);
    let results = run.calls.iter().filter_map(|call| call.result.as_ref());
    let ids = results.flat_map(|returned| read_by(&returned.result));
    (ids.collect(), run.ended.map(|end| end.outcome))
}

/// The entries that a result gave to an agent.
pub(super) fn read_by(result: &ToolResult) -> Vec<String> {
    if result.name != "read_learning" || result.status != ToolStatus::Ok {
        return Vec::new();
    }
    result
        .content
        .get("learnings")
        .and_then(serde_json::Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.get("id")?.as_str().map(str::to_owned))
        .collect()
}
