//! Why a run went as it did, from its journal alone: what happened, the first cause, why each repair failed, what would have
//! prevented it, and what can be learned. Pure: records in, values out; every statement carries its evidence.
//! It knows tools, findings and changes, no agent and no stage of a pack. It changes nothing and judges no permission.

mod attempts;
mod cause;
mod evidence;
mod explain;
mod facts;
mod history;
mod markdown;
mod propose;
mod timeline;
mod trends;
mod uses;
mod word;

pub use attempts::{Attempt, Effect};
pub use cause::{Cause, Gap, Kind};
pub use evidence::{Claim, Evidence, Known};
pub use explain::{Explained, contract, kept, material};
pub use facts::{Asked, Stopped};
pub use history::{Changed, Execution, Happened, History, Told, Version, changes, history};
pub use markdown::{explained_markdown, history_markdown, markdown, trends_markdown};
pub use propose::{Proposal, grown, patterns_with};
pub use timeline::Moment;
pub use trends::{Counting, Trends, Week};
pub use uses::used_in;
pub use word::Word;

use agentctl_base::question::Outcome;
use agentctl_engine::flow::Flow;
use agentctl_engine::store::Record;
use agentctl_engine::view::{RunUsage, RunView};
use facts::Facts;
use serde::Serialize;

/// `analyze RUN` as JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    pub run_id: String,
    pub outcome: Option<Outcome>,
    pub message: String,
    pub asked: Asked,
    /// None: nothing went wrong.
    pub root_cause: Option<Cause>,
    /// Findings that follow from the first cause.
    pub followed: Vec<Claim>,
    pub attempts: Vec<Attempt>,
    pub prevention: Vec<Claim>,
    pub stopped: Vec<Stopped>,
    /// Node types that were used though nobody looked them up.
    pub gaps: Vec<Gap>,
    /// What an agent wrote about the cause, as far as it names evidence.
    pub word: Option<Word>,
    /// Learnings that agents read in this run.
    pub read: Vec<String>,
    pub proposals: Vec<Proposal>,
    pub cost: RunUsage,
    pub timeline: Vec<Moment>,
    /// What may stand as evidence.
    #[serde(skip)]
    pub known: Known,
}

/// The analysis of a whole journal. `flow` says in which fields agents write about the cause; `date` (YYYY-MM-DD) is that of the
/// proposals.
pub fn analyze(records: &[Record], flow: &Flow, date: &str) -> Analysis {
    let run = RunView::of(records);
    let facts = Facts::of(&run, flow).resting(records);
    let root_cause = cause::root(&facts);
    let attempts = attempts::of(&facts);
    let mut message = facts.message();
    if run.is_taken_back() {
        message.push_str("; an undo took back what it changed");
    }
    Analysis {
        run_id: facts.run_id.clone(),
        outcome: facts.outcome(),
        message,
        asked: facts.asked(),
        followed: cause::followed(&facts, root_cause.as_ref()),
        prevention: cause::prevention(&facts, root_cause.as_ref()),
        stopped: facts.stopped.clone(),
        gaps: cause::gaps(&facts),
        word: word::of(&facts),
        read: facts.read.iter().cloned().collect(),
        proposals: propose::of(&facts, root_cause.as_ref(), &attempts, date),
        cost: facts.cost,
        timeline: timeline::of(&run),
        known: facts.known(),
        root_cause,
        attempts,
    }
}

#[cfg(test)]
mod analysis_tests;
#[cfg(test)]
mod evidence_tests;
