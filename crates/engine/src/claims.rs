//! What agents claim, against what a run's calls did.

use crate::store::event::Change;
use crate::vocabulary::capability::Capability;
use agentctl_base::model::ToolResult;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A successful change of the run's.
#[derive(Debug, Clone, Copy)]
pub struct DoneChange<'a> {
    pub change: &'a Change,
    /// As the tool's result names them.
    pub name: Option<&'a str>,
    pub file: Option<&'a str>,
}

/// The changes of a run so far, in order.
#[derive(Debug, Clone, Default)]
pub struct Changes<'a>(pub Vec<DoneChange<'a>>);

impl<'a> Changes<'a> {
    /// The last change of a resource; `id` None: of any.
    pub fn last(&self, id: Option<&str>) -> Option<&DoneChange<'a>> {
        let mut latest = self.0.iter().rev();
        latest.find(|done| id.is_none_or(|id| done.change.id() == id))
    }

    /// What was changed, in the order of its first change.
    pub fn ids(&self) -> Vec<&'a str> {
        let mut ids: Vec<&str> = Vec::new();
        for done in &self.0 {
            let id = done.change.id();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// The name that the run last saw for what it changed.
    pub fn name(&self, id: &str) -> Option<&'a str> {
        self.of(id).find_map(|done| done.name)
    }

    pub fn file(&self, id: &str) -> Option<&'a str> {
        self.of(id).find_map(|done| done.file)
    }

    /// Those of one resource, the last first.
    fn of<'s>(&'s self, id: &'s str) -> impl Iterator<Item = &'s DoneChange<'a>> {
        let latest = self.0.iter().rev();
        latest.filter(move |done| done.change.id() == id)
    }
}

/// What a claim is checked against.
pub struct Claim<'a> {
    pub changes: &'a Changes<'a>,
    /// This step's results so far, each with the capability of its tool.
    pub results: &'a [(&'a ToolResult, Option<Capability>)],
    /// What the state held in the field of a fact before this claim.
    pub state_of: &'a dyn Fn(&str) -> Option<&'a Value>,
}

/// What a toolset's sections of a run's report are made from.
pub struct Reported<'a> {
    pub changes: &'a Changes<'a>,
    /// What the state holds in the field of a section.
    pub state_of: &'a dyn Fn(&str) -> Option<&'a Value>,
    /// The run's input.
    pub input: &'a Map<String, Value>,
    /// What was put back as it was before the run, by id.
    pub undone: &'a [String],
    /// What the toolset noted of each resource that the run was about to change, by id.
    pub noted: &'a BTreeMap<String, Map<String, Value>>,
    /// The last iteration that a loop of the flow began.
    pub cycle: u32,
}
