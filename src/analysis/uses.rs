//! Which learnings a run read, from its journal.

use agentctl_base::model::ToolStatus;
use agentctl_base::question::Outcome;
use agentctl_engine::store::Event;
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct Line {
    event: Event,
}

/// The entries that a run read and how it ended, from its journal's text. Only lines about learnings and ends are looked at; the
/// chain is not verified here.
pub fn used_in(text: &str) -> (BTreeSet<String>, Option<Outcome>) {
    let mut ids = BTreeSet::new();
    let mut outcome = None;
    for line in text.lines() {
        if !(line.contains("\"read_learning\"") || line.contains("\"run_ended\"")) {
            continue;
        }
        let Ok(line) = serde_json::from_str::<Line>(line) else {
            continue;
        };
        match line.event {
            Event::RunEnded { outcome: end, .. } => outcome = Some(end),
            event => ids.extend(read_by(&event)),
        }
    }
    (ids, outcome)
}

/// The entries that an event gave to an agent.
pub(super) fn read_by(event: &Event) -> Vec<String> {
    let Event::ToolFinished { result, .. } = event else {
        return Vec::new();
    };
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
