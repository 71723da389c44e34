//! Which learnings runs read, and how those runs ended. The journals hold it; it is read from them whenever it is asked for,
//! so that no count can be lost or forged by editing a number.

use crate::store::{Event, Project, StoreError};
use agentctl_base::model::ToolStatus;
use agentctl_base::question::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What became of the runs that read an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Use {
    /// Runs that read it.
    pub read: u32,
    /// Of these, complete.
    pub passed: u32,
    /// Of these, blocked.
    pub blocked: u32,
}

/// Over all runs of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uses {
    pub runs: u32,
    /// By the entry's id.
    pub entries: BTreeMap<String, Use>,
}

impl Uses {
    pub fn of(&self, id: &str) -> Use {
        self.entries.get(id).copied().unwrap_or_default()
    }

    /// Adds a run: the entries that it read, and how it ended.
    pub fn add(&mut self, ids: &BTreeSet<String>, outcome: Option<Outcome>) {
        self.runs += 1;
        for id in ids {
            let of = self.entries.entry(id.clone()).or_default();
            of.read += 1;
            of.passed += u32::from(outcome == Some(Outcome::Complete));
            of.blocked += u32::from(outcome == Some(Outcome::Blocked));
        }
    }

    /// From the journals of a project. Only their lines about learnings and ends are looked at; chains are not verified here.
    pub fn read(project: &Project) -> Result<Uses, StoreError> {
        let mut uses = Uses::default();
        for run in project.run_ids()? {
            let path = project.run(&run)?.journal();
            let bytes = std::fs::read(&path).map_err(StoreError::io("read", path))?;
            let (ids, outcome) = of_journal(&String::from_utf8_lossy(&bytes));
            uses.add(&ids, outcome);
        }
        Ok(uses)
    }
}

#[derive(Deserialize)]
struct Line {
    event: Event,
}

fn of_journal(text: &str) -> (BTreeSet<String>, Option<Outcome>) {
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
pub fn read_by(event: &Event) -> Vec<String> {
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
