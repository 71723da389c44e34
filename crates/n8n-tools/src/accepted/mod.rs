//! The last state of each workflow that a person accepted: what losses are counted from, whichever run, session or client caused
//! them. The port, and a shelf in memory; the one in the user's folder is in `shelf`.
//!
//! A state counts as accepted when agentctl first comes to the workflow, when the user said so (`agentctl accept`, a push, an undo,
//! a yes to a change that takes most of it away), and when it is none that agentctl left: then somebody edited it outside.
//! What agentctl is about to write is noted before it writes, so that a crash never makes its own change look like an outside edit.
//! Only so many notes are kept. Once one had to be forgotten, an unknown state is no longer taken for somebody's edit: it may be
//! agentctl's own, so the accepted state stands until a person says otherwise.
//! What cannot be read or written is an error, and the change is not made.

mod shelf;

pub use shelf::HomeShelf;

use crate::guards::{self, Outline, deny};
use crate::noted::BaseHow;
use agentctl_base::decision::Decision;
use agentctl_engine::toolset::{BackendError, Fault};
use agentctl_n8n::WorkflowId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Why the losses of a workflow cannot be counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what the losses of this workflow are counted from cannot be kept: {why}")]
pub struct NotKept {
    pub why: String,
    /// A file could not be read or written for want of something of the machine's: that says nothing of what stands in it.
    pub machine: bool,
}

impl NotKept {
    pub fn new(why: impl Into<String>) -> Self {
        NotKept {
            why: why.into(),
            machine: false,
        }
    }

    /// What a call comes to when a guard cannot count: it is refused; what the machine lacks stops the run.
    pub fn refusal(self) -> Result<Decision, Fault> {
        match self.machine {
            true => Err(self.into()),
            false => Ok(deny(guards::WIPE, self.to_string())),
        }
    }
}

impl From<NotKept> for Fault {
    fn from(why: NotKept) -> Self {
        match why.machine {
            true => Fault::Backend {
                backend: "your own folder".to_owned(),
                error: BackendError::of_machine(why.to_string()),
            },
            false => Fault::Kept(why.to_string()),
        }
    }
}

/// A state that a person accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Base {
    pub how: BaseHow,
    /// UTC, RFC 3339.
    pub since: String,
    pub outline: Outline,
}

/// A workflow as it is now.
pub struct State<'a> {
    pub graph_hash: &'a str,
    pub now: jiff::Timestamp,
    pub outline: &'a dyn Fn() -> Outline,
}

impl State<'_> {
    fn base(&self, how: BaseHow) -> Arc<Base> {
        Arc::new(Base {
            how,
            since: self.now.to_string(),
            outline: (self.outline)(),
        })
    }
}

/// A change that is about to be made, by the graph hashes around it.
pub struct Step<'a> {
    pub before: &'a str,
    pub after: &'a str,
    /// Something of the base is lost with it, so the note must outlive a failing machine.
    pub lossy: bool,
}

/// Where the accepted states of one n8n's workflows are kept.
pub trait Accepted: Send + Sync {
    /// The state that losses are counted from. With no record, or when the workflow is as agentctl never left it, that is how it
    /// is now.
    fn base(&self, id: &WorkflowId, state: &State<'_>) -> Result<Arc<Base>, NotKept>;
    /// The record, as it is kept; None: there is none.
    fn known(&self, id: &WorkflowId) -> Result<Option<Arc<Base>>, NotKept>;
    /// From now on losses count from this state.
    fn accept(&self, id: &WorkflowId, how: BaseHow, state: &State<'_>) -> Result<(), NotKept>;
    /// Notes what a change is about to leave.
    fn leave(&self, id: &WorkflowId, step: &Step<'_>) -> Result<(), NotKept>;
    /// There is no such workflow any more, or another one is about to have its id.
    fn forget(&self, id: &WorkflowId) -> Result<(), NotKept>;
}

/// What is kept of one workflow.
#[derive(Debug, Clone)]
struct Record {
    base: Arc<Base>,
    /// The graph hashes that agentctl found or left since.
    left: BTreeSet<String>,
    /// There were more of them than are kept, so one that is not known may have been left by agentctl.
    cut: bool,
}

impl Record {
    fn new(base: Arc<Base>, graph_hash: &str) -> Record {
        Record {
            base,
            left: BTreeSet::from([graph_hash.to_owned()]),
            cut: false,
        }
    }

    /// Whether the workflow may be as agentctl left it: then the base stands.
    fn may_have_left(&self, graph_hash: &str) -> bool {
        self.cut || self.left.contains(graph_hash)
    }
}

/// The state as the base: None when the record stands.
fn moved(record: Option<&Record>, state: &State<'_>) -> Option<Record> {
    let how = match record {
        Some(record) if record.may_have_left(state.graph_hash) => return None,
        Some(_) => BaseHow::Edited,
        None => BaseHow::FirstSeen,
    };
    Some(Record::new(state.base(how), state.graph_hash))
}

/// Kept as long as the process lives.
#[derive(Default)]
pub struct MemoryShelf(Mutex<BTreeMap<String, Record>>);

impl MemoryShelf {
    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<String, Record>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Accepted for MemoryShelf {
    fn base(&self, id: &WorkflowId, state: &State<'_>) -> Result<Arc<Base>, NotKept> {
        self.with(|records| {
            if let Some(moved) = moved(records.get(&id.0), state) {
                records.insert(id.0.clone(), moved);
            }
            let kept = records.get(&id.0).map(|record| Arc::clone(&record.base));
            kept.ok_or_else(|| NotKept::new("it was not kept"))
        })
    }
    fn known(&self, id: &WorkflowId) -> Result<Option<Arc<Base>>, NotKept> {
        Ok(self.with(|records| records.get(&id.0).map(|r| Arc::clone(&r.base))))
    }
    fn accept(&self, id: &WorkflowId, how: BaseHow, state: &State<'_>) -> Result<(), NotKept> {
        let record = Record::new(state.base(how), state.graph_hash);
        self.with(|records| records.insert(id.0.clone(), record));
        Ok(())
    }
    fn leave(&self, id: &WorkflowId, step: &Step<'_>) -> Result<(), NotKept> {
        self.with(|records| {
            if let Some(record) = records.get_mut(&id.0) {
                record.left.insert(step.after.to_owned());
            }
        });
        Ok(())
    }
    fn forget(&self, id: &WorkflowId) -> Result<(), NotKept> {
        self.with(|records| records.remove(&id.0));
        Ok(())
    }
}

/// There is a folder of the user's that cannot be used, so nothing that may lose something is done.
pub struct NoShelf(pub NotKept);

impl NoShelf {
    fn why(&self) -> NotKept {
        self.0.clone()
    }
}

impl Accepted for NoShelf {
    fn base(&self, _: &WorkflowId, _: &State<'_>) -> Result<Arc<Base>, NotKept> {
        Err(self.why())
    }
    fn known(&self, _: &WorkflowId) -> Result<Option<Arc<Base>>, NotKept> {
        Err(self.why())
    }
    fn accept(&self, _: &WorkflowId, _: BaseHow, _: &State<'_>) -> Result<(), NotKept> {
        Err(self.why())
    }
    fn leave(&self, _: &WorkflowId, _: &Step<'_>) -> Result<(), NotKept> {
        Err(self.why())
    }
    fn forget(&self, _: &WorkflowId) -> Result<(), NotKept> {
        Err(self.why())
    }
}

#[cfg(test)]
mod tests;
