//! Rehearsals: the temporary copy on which a workflow is tried out, and what a run of it showed. Pure: the caller gives the
//! random path, and does the running. Nothing leaves n8n by default: a node runs on a copy only when it works on items alone by
//! compiled-in facts, reads a host that the user listed, or was allowed by its name.

mod case;
mod case_words;
mod copy;
mod differences;
pub mod effect;
mod faults;
mod headers;
mod inside;
mod made_up;
mod missing;
mod parts;
mod payload;
mod plain;
mod reach;
mod reads;
mod replay;
mod sample;
mod shadow;
mod trace;
mod verdict;
mod why;

pub use case::{AtNode, Case, CaseOutcome, CaseVerdict, Check, Expect, Seen, judge_case};
pub use copy::{is_copy, rehearse};
pub use effect::{Effect, Ground, effect};
pub use headers::without_headers;
pub use payload::payload;
pub use reach::{Hosts, NoHost};
pub use reads::branches;
pub use replay::{NoReplay, Replay, comes_through};
pub use shadow::{Shadow, sent};
pub use trace::{Fault, NodeRun, Trace};
pub use verdict::{NodeVerdict, Tried, Verdict, evidence, judge, not_loaded};
pub use why::Why;

use super::workflow::Workflow;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What the names of all copies begin with; the tag that they carry, too.
pub const COPY: &str = "agentctl-rehearsal";

/// How the caller wants it tried.
#[derive(Debug, Clone, Default)]
pub struct Wishes<'a> {
    /// Unguessable and unused: the copy's webhook listens there.
    pub path: &'a str,
    /// The trigger to start from; None: the one from which most nodes can be reached.
    pub start: Option<&'a str>,
    /// Names of nodes that may act on the outside world, by the user's word.
    pub allowed: BTreeSet<String>,
    /// What the user allowed besides, and where n8n is.
    pub ground: Ground<'a>,
    /// The items that nodes hand on in the place of what they would, by name.
    pub mocks: IndexMap<String, Vec<Item>>,
    /// The items that nodes hand on where they are simulated anyway, by name.
    pub answers: IndexMap<String, Vec<Item>>,
    /// Several items (or none) that the trigger hands on in the place of what is sent to the copy.
    pub items: Option<Vec<Item>>,
    /// Which branch each condition shall take of what is made for this test, from 0.
    pub branch: usize,
    /// Type and id of each credential that the n8n has; None: not known, then a node's own word counts.
    pub credentials: Option<BTreeSet<(String, String)>>,
}

/// How a node that runs for real leaves n8n.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Leaves {
    /// A GET to a host that the user listed.
    Host { host: String },
    /// As the node likes: the user let it act by its name.
    LetAct {
        #[serde(rename = "type")]
        node_type: String,
    },
}

/// Several reasons as one sentence.
pub(super) fn sentence(why: &[Why]) -> String {
    let reasons: Vec<String> = why.iter().map(ToString::to_string).collect();
    reasons.join("; ")
}

/// What becomes of one node of the workflow.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Part {
    /// It runs as it is.
    Run,
    /// It starts the run: a node that hands on the test's data in the trigger's place.
    Start,
    /// In its place a node of the same name hands on this item (None: whatever comes in).
    Simulated {
        why: Vec<Why>,
        /// The reasons as a sentence.
        because: String,
        /// A list: the items that the test gives.
        hands_on: Option<Value>,
    },
    /// It is not on the copy.
    LeftOut { because: String },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodePart {
    pub node: String,
    #[serde(skip)]
    pub id: String,
    #[serde(flatten)]
    pub part: Part,
    /// None: nothing of it leaves n8n.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Leaves>,
}

/// How the run is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Start {
    /// The trigger of the workflow that the run begins at.
    pub node: String,
    /// Of a trigger that is a webhook: the HTTP method that it takes.
    #[serde(skip)]
    pub method: Option<String>,
    /// The copy's own webhook: what is posted to it becomes the trigger's item.
    #[serde(skip)]
    pub entry: String,
}

/// The copy and what it differs in.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    pub copy: Workflow,
    pub start: Start,
    /// Every node of the workflow, in its order.
    pub parts: Vec<NodePart>,
    /// What works out what simulated nodes would send.
    pub shadows: Vec<Shadow>,
    /// Nodes before which the copy has a helper that holds the items which the test gives for them, with its name there.
    pub(super) helpers: Vec<(String, String)>,
    /// What the copy changes besides the simulated nodes, in words.
    pub changes: Vec<String>,
}

impl Rehearsal {
    pub fn simulated(&self) -> impl Iterator<Item = &NodePart> {
        let simulated = |part: &&NodePart| matches!(part.part, Part::Simulated { .. });
        self.parts.iter().filter(simulated)
    }
}

/// Why there is no copy to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRehearsal {
    #[error("the workflow has no trigger, so nothing can start it; add one")]
    NothingStarts,
    #[error("the workflow has no trigger named {0:?}; name one of its triggers, or none")]
    NoSuchTrigger(String),
    #[error(
        "the node {0:?} hands nothing on in this test, so no items can be given for it; give them for a node of the main line"
    )]
    NoMock(String),
    #[error(
        "the workflow has no node named {0:?}, so it cannot be let act; use the node's exact name"
    )]
    NoSuchNode(String),
}

/// An item, as an n8n workflow hands it on.
pub type Item = Map<String, Value>;

#[cfg(any(test, feature = "testkit"))]
pub mod fixture;
#[cfg(test)]
mod rehearsal_tests;
#[cfg(test)]
mod verdict_tests;
