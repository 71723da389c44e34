//! Which learnings a run read, from its journal.

use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_base::question::Outcome;
use agentctl_engine::{store::Record, view::RunView};
use memchr::memmem;
use std::collections::BTreeSet;

/// The tool by which an agent reads entries, as a journal names it.
const READS: &str = "\"read_learning\"";

/// The entries that a run read and how it ended, from its journal's bytes. Only lines about learnings and ends are looked at; the
/// chain is not verified here. Of a run that read none nothing is looked at: how it ended counts for no entry.
pub fn used_in(journal: &[u8]) -> (BTreeSet<String>, Option<Outcome>) {
    if memmem::find(journal, READS.as_bytes()).is_none() {
        return (BTreeSet::new(), None);
    }
    let text = String::from_utf8_lossy(journal);
    let lines = text
        .lines()
        .filter(|line| line.contains(READS) || line.contains("\"run_ended\""));
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
