//! Journal events: what a run is made of. The journal is the truth; run_state.json and every resume are folded from it.
//! New variants and new optional fields may be added; a field's meaning never changes (see `JOURNAL_VERSION`).

mod change;
mod link;
mod shared;
pub(crate) mod v1;
#[cfg(test)]
mod v1_tests;

pub use change::{Change, MutationExpectation};
pub use link::{Link, Side};
pub use shared::Shared;

use super::ResourceId;

use crate::vocabulary::capability::Carries;
use agentctl_base::decision::Decision;
use agentctl_base::model::{ModelAnswer, ToolCall, ToolResult};
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Raised when an old reader could misread a new journal. A reader refuses a newer version by name. Records of version 1 are read
/// by `v1`; a run that was begun in version 1 and is taken up again has records of both.
pub const JOURNAL_VERSION: u32 = 2;

/// A path of step ids from the flow's root; a loop's iteration stands in brackets, from 1: `qa_loop[2]/validate`.
pub type StepPath = String;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    RunStarted {
        journal_version: u32,
        agentctl_version: String,
        run_id: String,
        flow: String,
        /// sha-256 of the pack as loaded: a resume under another pack is refused unless asked for.
        pack_hash: String,
        /// What the user typed, and the options that change the result.
        input: Map<String, Value>,
    },
    /// The run is a session of tool calls that another agent's client opened; no flow drives it.
    SessionOpened {
        role: String,
        /// The client, as it named itself: data, never trusted.
        client: String,
        client_version: String,
        /// `stdio` or `http`.
        transport: String,
        /// The one resource that the session may change; None: any that the role may.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<ResourceId>,
        /// The parts of it that the session may change, by id or name; None: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<Vec<String>>,
    },
    /// The conversation that the run is a turn of, as it was read; journaled before the first step.
    SessionLoaded {
        /// Its id. Under the name of a session it would be taken for a cookie's value and hidden.
        conversation: String,
        /// How often it was written.
        version: u64,
        /// The fields that it keeps.
        fields: Map<String, Value>,
        /// `{role, text}`, oldest first.
        messages: Vec<Value>,
    },
    ActivationStarted {
        activation: u32,
        kind: String,
        pid: u32,
        /// What the run works with from here on, when it is other than before; None: as before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        means: Option<Box<Means>>,
        /// The how-manieth time it is that somebody works in the project, over all its runs: only one does at a time. It tells
        /// which of two runs' changes came first, whatever the clock says. None: an older agentctl wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        order: Option<u64>,
        /// What the sender called the message that is answered with it; None: nothing, or an older agentctl wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heard: Option<String>,
    },
    ActivationEnded {
        activation: u32,
        outcome: Outcome,
        /// Why the run is not at its end, in words; None: it is, it waits, or an older agentctl wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    StageChanged {
        from: String,
        to: String,
    },
    StepStarted {
        step: StepPath,
    },
    /// A pure decision of the flow: `when` skipped, route case taken, loop continued or left, gate passed or not, set values.
    FlowDecided {
        step: StepPath,
        decision: String,
    },
    ModelAsked {
        step: StepPath,
        turn: u32,
        model: String,
        request_hash: String,
    },
    /// The call failed in a way that may pass; it is made again after `wait_ms`.
    ModelRetried {
        step: StepPath,
        turn: u32,
        /// The attempt that failed, from 1.
        attempt: u32,
        reason: String,
        wait_ms: u64,
    },
    ModelAnswered {
        step: StepPath,
        turn: u32,
        answer: Shared<ModelAnswer>,
    },
    /// Before the model is asked in this turn, old tool results of the step's conversation gave way to a line each.
    ConversationCompacted {
        step: StepPath,
        agent: String,
        turn: u32,
        /// The calls whose results they are.
        calls: Vec<String>,
        /// By the length of the text, four bytes each.
        tokens_before: u64,
        tokens_after: u64,
    },
    /// A role may use more of the pack's own tools than one step offers: those that fit best what is to be done, the best first, and those
    /// that the agent is not shown. What the step offers stays so when it is gone on with.
    ToolsOffered {
        step: StepPath,
        agent: String,
        tools: Vec<Weighed>,
        left_out: Vec<Weighed>,
    },
    /// Before a tool call reaches a backend. `decision` is the gateway's; `mutates` calls are synced before they run.
    ToolIntent {
        step: StepPath,
        role: String,
        call: Shared<ToolCall>,
        decision: Decision,
        mutates: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expect: Option<MutationExpectation>,
        /// Of a call of another server's tool that may be made; None: another call, or written by an agentctl that did not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carries: Option<Carries>,
    },
    ToolFinished {
        step: StepPath,
        role: String,
        result: Shared<ToolResult>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<Change>,
    },
    /// Calls that were refused unread since the run's limits were used up. They have no records of their own.
    CallsTurnedAway {
        role: String,
        /// The limit that refused the last of them.
        rule: String,
        /// All of them so far: it stands for every earlier record of this kind.
        count: u64,
    },
    SnapshotTaken {
        resource: ResourceId,
        file: String,
        revision: String,
        size: usize,
        /// Of the file; None: written by an agentctl that did not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
    QuestionAsked {
        step: StepPath,
        question: Question,
    },
    AnswerGiven {
        step: StepPath,
        question_id: String,
        value: Value,
        by: AnsweredBy,
    },
    /// An agent's patch, after the contract, ownership and merge rules were checked.
    StatePatched {
        step: StepPath,
        agent: String,
        patch: Map<String, Value>,
    },
    PatchRefused {
        step: StepPath,
        agent: String,
        field: String,
        rule: String,
    },
    /// A message of the run's reply, by the flow.
    Said {
        step: StepPath,
        text: String,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        data: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attachment: Option<String>,
    },
    /// The flow set fields back to their defaults, and forgot the conversation's messages if `messages`.
    Cleared {
        step: StepPath,
        fields: Vec<String>,
        messages: bool,
    },
    /// Branches of a step came together again; the patches of those that are done are merged here, in the order of the file.
    BranchesJoined {
        step: StepPath,
        /// Their ids, or the items' numbers.
        done: Vec<String>,
        output: Value,
    },
    StepFinished {
        step: StepPath,
        output: Value,
    },
    StepFailed {
        step: StepPath,
        error: String,
    },
    /// From here on the run may use these tools of other servers and no others; what is outside is asked for. Nothing of a
    /// tool's result was read before.
    GrantsPinned {
        /// `user`: the user's own file; `plan`: what a model read out of the user's words.
        by: String,
        grants: Value,
    },
    /// A resource was put back (by `undo` or a rollback).
    Undone {
        resource: ResourceId,
        /// Empty when there was no such resource then.
        to_snapshot: String,
        /// The change of this run after which the resource is again; 0: before the run. None: it is as no change of this run left it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<u32>,
        /// None: it was that already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<Change>,
    },
    RunEnded {
        outcome: Outcome,
        exit_code: u8,
        message: String,
    },
    /// Another run that this one belongs together with.
    Linked(Link),
    /// The user took the run over: from record `from` on it was not this user's agentctl that wrote it.
    Adopted {
        from: u64,
        /// The sha-256 of each snapshot as it was then, by its file's name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        snapshots: BTreeMap<String, String>,
    },
}

/// A tool, how well it fits, and what that is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weighed {
    pub tool: String,
    pub score: f64,
    pub why: String,
}

/// What a run may use and who thinks for it: said when it began, kept by every later activation that says nothing else.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Means {
    #[serde(default, skip_serializing_if = "Budgets::is_empty")]
    pub limits: Budgets,
    /// By agent: `provider::model`, or `offline`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, String>,
    /// `NAME`, or `NAME/FLOW` where another flow than the pack's own entry runs; None: the pack whose folder is the project itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// The orchestrator that was chosen: its name, or the path of a file of the user's; None: the pack's default, or it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orchestrator: Option<String>,
}

/// Limits of a whole run, and of single agents in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    #[serde(default, skip_serializing_if = "LimitOverrides::is_empty")]
    pub run: LimitOverrides,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, LimitOverrides>,
}

/// Limits that somebody set; they may only be lower than the policy's, or equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitOverrides {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_model_calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u64>,
    /// Input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Model calls in one step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// Work, in seconds; waiting for a person does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<u64>,
}

impl LimitOverrides {
    pub fn is_empty(&self) -> bool {
        *self == LimitOverrides::default()
    }

    /// The lower of both.
    #[must_use]
    pub fn lowest(self, other: LimitOverrides) -> Self {
        let lower = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        let cost = [self.max_cost_usd, other.max_cost_usd]
            .into_iter()
            .flatten();
        LimitOverrides {
            max_model_calls: lower(self.max_model_calls, other.max_model_calls),
            max_tool_calls: lower(self.max_tool_calls, other.max_tool_calls),
            max_tokens: lower(self.max_tokens, other.max_tokens),
            max_cost_usd: cost.reduce(f64::min),
            max_turns: lower(self.max_turns, other.max_turns),
            max_seconds: lower(self.max_seconds, other.max_seconds),
        }
    }

    /// What is set here, else what is set there.
    #[must_use]
    pub fn over(self, base: LimitOverrides) -> Self {
        LimitOverrides {
            max_model_calls: self.max_model_calls.or(base.max_model_calls),
            max_tool_calls: self.max_tool_calls.or(base.max_tool_calls),
            max_tokens: self.max_tokens.or(base.max_tokens),
            max_cost_usd: self.max_cost_usd.or(base.max_cost_usd),
            max_turns: self.max_turns.or(base.max_turns),
            max_seconds: self.max_seconds.or(base.max_seconds),
        }
    }
}

impl Budgets {
    pub fn is_empty(&self) -> bool {
        *self == Budgets::default()
    }

    /// The lower of both.
    #[must_use]
    pub fn lowest(mut self, other: Budgets) -> Self {
        self.run = self.run.lowest(other.run);
        for (agent, limits) in other.agents {
            let own = self.agents.entry(agent).or_default();
            *own = own.lowest(limits);
        }
        self
    }

    /// What is set here, else what is set there.
    #[must_use]
    pub fn over(mut self, base: &Budgets) -> Self {
        self.run = self.run.over(base.run);
        for (agent, limits) in &base.agents {
            let own = self.agents.entry(agent.clone()).or_default();
            *own = own.over(*limits);
        }
        self
    }
}

impl From<LimitOverrides> for Budgets {
    fn from(run: LimitOverrides) -> Self {
        Budgets {
            run,
            agents: BTreeMap::new(),
        }
    }
}

/// One line of journal.jsonl. `hash` = sha-256 (hex) over `prev`, `seq`, `at` and the event's canonical JSON. In the file `mark`
/// stands beside it: whose record it is (see `Marks`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// From 1, without gaps.
    pub seq: u64,
    /// UTC, RFC 3339.
    pub at: String,
    pub prev: String,
    pub hash: String,
    pub event: Event,
}

impl Record {
    /// As a line for a reader: `type` with dots, `seq`, `at` and the event's own fields (docs/events.md).
    pub fn line(&self) -> Value {
        let mut event = match serde_json::to_value(&self.event) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let kind = event
            .shift_remove("type")
            .and_then(|t| t.as_str().map(|t| t.replacen('_', ".", 1)))
            .unwrap_or_default();
        let mut line = Map::new();
        line.insert("type".into(), kind.into());
        line.insert("seq".into(), self.seq.into());
        line.insert("at".into(), self.at.clone().into());
        line.append(&mut event);
        Value::Object(line)
    }
}
