//! Which learnings runs read, and how those runs ended. The journals hold it; it is counted from them whenever it is asked for,
//! so that no count can be lost or forged by editing a number.

use agentctl_base::question::Outcome;
use serde::Serialize;
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
}
