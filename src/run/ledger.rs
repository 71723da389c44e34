//! What the driver itself must remember of a journal: calls already answered, open questions, changes made, usage. Folded
//! from events, like the flow's log and the gateway's guards; pure.

use super::RunUsage;
use agentctl_base::{
    canonical::{canonical, sha256_hex},
    model::{ModelAnswer, ToolResult, ToolStatus},
    question::{AnsweredBy, Outcome, Question},
};
use agentctl_engine::store::{
    Event, Means, SnapshotRef,
    event::{Change, Counted, StepPath},
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    pub run_id: String,
    pub flow: String,
    pub pack_hash: String,
    pub input: Map<String, Value>,
    /// Set when the run is a session of another agent's tool calls: then no flow drives it.
    pub session: Option<SessionOf>,
    /// The number of the last activation, from 1.
    pub activation: u32,
    /// How the last activation ended; None: it runs, or was killed.
    pub activation_outcome: Option<Outcome>,
    /// What was said last about limits and models; None: nothing was.
    pub means: Option<Means>,
    pub ended: Option<Ended>,
    pub questions: Vec<Asked>,
    pub usage: RunUsage,
    /// The same by step.
    pub usage_of: BTreeMap<StepPath, RunUsage>,
    pub errors: Vec<Value>,
    /// Every successful mutation, in order.
    pub changes: Vec<Changed>,
    /// What was lost of each workflow with its last change, by id.
    pub losses: BTreeMap<String, Counted>,
    pub snapshots: Vec<SnapshotRef>,
    /// Workflows put back as they were before the run, by id.
    pub undone: Vec<String>,
    /// How often conversations of an agent were shortened.
    pub compactions: BTreeMap<String, u32>,
    /// The whole results that a line stands for in a conversation, by step and call.
    pub put_aside: BTreeMap<StepPath, IndexMap<String, ToolResult>>,
    /// The call that came back most often with the same arguments and the same result.
    pub most_repeated: Option<Repeated>,
    /// What the run may use of other servers' tools, as it was pinned.
    pub grants: Vec<Value>,
    /// By tool, arguments and result.
    repeats: BTreeMap<String, u64>,
    /// Steps that are under way.
    open: IndexMap<StepPath, Trace>,
}

/// Whose session a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOf {
    pub role: String,
    /// As the client named itself.
    pub client: String,
    pub client_version: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    pub tool: String,
    pub times: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub outcome: Outcome,
    pub exit_code: u8,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub step: StepPath,
    pub question: Question,
    pub answer: Option<(Value, AnsweredBy)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    pub step: StepPath,
    pub change: Change,
    /// As the tool's result names it.
    pub name: Option<String>,
    pub file: Option<String>,
}

/// What already happened in a step that is not finished.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// Answers by turn.
    pub answers: BTreeMap<u32, ModelAnswer>,
    /// The last intent of each call that was begun, by call id: a `ToolIntent` event.
    pub begun: IndexMap<String, Event>,
    /// Results by call id, in the order they came.
    pub results: IndexMap<String, ToolResult>,
    /// By turn: the calls whose results were shortened before it.
    pub shortened: BTreeMap<u32, Vec<String>>,
    /// The step's patch, when it was taken but the step not yet finished: it must not be applied twice.
    pub patched: Option<Map<String, Value>>,
}

impl Ledger {
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::RunStarted {
                run_id,
                flow,
                pack_hash,
                input,
                ..
            } => {
                self.run_id.clone_from(run_id);
                self.flow.clone_from(flow);
                self.pack_hash.clone_from(pack_hash);
                self.input.clone_from(input);
            }
            Event::SessionOpened {
                role,
                client,
                client_version,
                ..
            } => {
                self.session = Some(SessionOf {
                    role: role.clone(),
                    client: client.clone(),
                    client_version: client_version.clone(),
                });
            }
            Event::ActivationStarted {
                activation, means, ..
            } => {
                self.activation = *activation;
                self.activation_outcome = None;
                if let Some(means) = means {
                    self.means = Some((**means).clone());
                }
            }
            Event::ActivationEnded { outcome, .. } => self.activation_outcome = Some(*outcome),
            Event::ModelAnswered { step, turn, answer } => {
                self.usage.add_answer(&answer.usage);
                let of_step = self.usage_of.entry(step.clone()).or_default();
                of_step.add_answer(&answer.usage);
                let trace = self.open.entry(step.clone()).or_default();
                trace.answers.insert(*turn, answer.clone());
            }
            Event::ConversationCompacted {
                step,
                agent,
                turn,
                calls,
                ..
            } => {
                *self.compactions.entry(agent.clone()).or_default() += 1;
                let trace = self.open.entry(step.clone()).or_default();
                trace.shortened.insert(*turn, calls.clone());
                let results = calls
                    .iter()
                    .filter_map(|id| trace.results.get_key_value(id));
                let aside = self.put_aside.entry(step.clone()).or_default();
                aside.extend(results.map(|(id, result)| (id.clone(), result.clone())));
            }
            Event::ToolIntent {
                step, call, expect, ..
            } => {
                if let Some(expect) = expect
                    && let (Some(id), Some(counted)) = (&expect.workflow_id, &expect.counted)
                {
                    self.losses.insert(id.clone(), counted.clone());
                }
                let trace = self.open.entry(step.clone()).or_default();
                trace.begun.insert(call.id.clone(), event.clone());
            }
            Event::ToolFinished {
                step,
                result,
                change,
                ..
            } => {
                self.usage.tool_calls += 1;
                self.usage_of.entry(step.clone()).or_default().tool_calls += 1;
                self.count_repeats(step, result);
                if let Some(change) = change.as_ref().filter(|_| result.status == ToolStatus::Ok) {
                    self.changes.push(Changed {
                        step: step.clone(),
                        change: change.clone(),
                        name: text_at(&result.content, &["/name", "/workflow/name"]),
                        file: text_at(&result.content, &["/file", "/workflow/file"]),
                    });
                }
                let trace = self.open.entry(step.clone()).or_default();
                trace.results.insert(result.call_id.clone(), result.clone());
            }
            Event::SnapshotTaken {
                workflow_id,
                file,
                graph_hash,
                node_count,
                sha256,
            } => self.snapshots.push(SnapshotRef {
                workflow_id: workflow_id.clone(),
                file: file.clone(),
                graph_hash: graph_hash.clone(),
                node_count: *node_count,
                sha256: sha256.clone(),
            }),
            Event::Adopted { snapshots, .. } => {
                for taken in &mut self.snapshots {
                    // What was said when it was taken holds; the user's word is for what was not said.
                    if taken.sha256.is_none() {
                        taken.sha256 = snapshots.get(&taken.file).cloned();
                    }
                }
            }
            Event::QuestionAsked { step, question } => self.questions.push(Asked {
                step: step.clone(),
                question: question.clone(),
                answer: None,
            }),
            Event::AnswerGiven {
                step,
                question_id,
                value,
                by,
            } => {
                let asked = self
                    .questions
                    .iter_mut()
                    .rev()
                    .find(|a| a.step == *step && a.question.id == *question_id);
                if let Some(asked) = asked {
                    asked.answer = Some((value.clone(), *by));
                }
            }
            Event::StatePatched { step, patch, .. } => {
                let trace = self.open.entry(step.clone()).or_default();
                trace.patched = Some(patch.clone());
            }
            Event::StepFailed { step, error } => {
                self.open.shift_remove(step);
                self.errors
                    .push(serde_json::json!({"step": step, "error": error}));
            }
            Event::StepFinished { step, .. } => {
                self.open.shift_remove(step);
            }
            Event::Undone {
                workflow_id,
                to,
                change,
                ..
            } => {
                self.undone.retain(|id| id != workflow_id);
                match (to, change) {
                    // An undo of an undo, or a part of the run's changes, leaves a workflow of this run.
                    (Some(1..), change) => {
                        self.changes.extend(change.clone().map(|change| Changed {
                            step: "undo".into(),
                            change,
                            name: None,
                            file: None,
                        }))
                    }
                    _ => self.undone.push(workflow_id.clone()),
                }
            }
            Event::RunEnded {
                outcome,
                exit_code,
                message,
            } => {
                self.ended = Some(Ended {
                    outcome: *outcome,
                    exit_code: *exit_code,
                    message: message.clone(),
                });
            }
            Event::StageChanged { .. }
            | Event::StepStarted { .. }
            | Event::FlowDecided { .. }
            | Event::ModelAsked { .. }
            | Event::ModelRetried { .. }
            | Event::PatchRefused { .. } => {}
            Event::GrantsPinned { grants, .. } => self.grants.push(grants.clone()),
        }
    }

    fn count_repeats(&mut self, step: &str, result: &ToolResult) {
        let begun = self
            .open
            .get(step)
            .and_then(|t| t.begun.get(&result.call_id));
        let Some(Event::ToolIntent { call, .. }) = begun else {
            return;
        };
        let arguments = serde_json::from_str::<Value>(&call.arguments)
            .map_or_else(|_| call.arguments.clone(), |value| canonical(&value));
        let key = [call.name.as_str(), &arguments, &canonical(&result.content)].join("\n");
        let times = self.repeats.entry(sha256_hex(key.as_bytes())).or_default();
        *times += 1;
        if self
            .most_repeated
            .as_ref()
            .is_none_or(|most| *times > most.times)
        {
            self.most_repeated = Some(Repeated {
                tool: call.name.clone(),
                times: *times,
            });
        }
    }

    /// What already happened in a step; empty when nothing did.
    pub fn trace(&self, step: &str) -> Option<&Trace> {
        self.open.get(step)
    }

    /// Changes that were begun and have no result: a killed process may or may not have made them.
    pub fn unsettled(&self) -> Vec<Event> {
        let open = |trace: &Trace| -> Vec<Event> {
            let begun = trace.begun.iter();
            begun
                .filter(|(id, _)| !trace.results.contains_key(*id))
                .map(|(_, intent)| intent.clone())
                .collect()
        };
        self.open
            .values()
            .flat_map(open)
            .filter(|intent| matches!(intent, Event::ToolIntent { mutates: true, .. }))
            .collect()
    }

    pub fn open_questions(&self) -> impl Iterator<Item = &Asked> {
        self.questions.iter().filter(|a| a.answer.is_none())
    }

    /// The snapshot of this name, as the journal tells of it.
    pub fn snapshot(&self, file: &str) -> Option<&SnapshotRef> {
        self.snapshots.iter().rev().find(|taken| taken.file == file)
    }

    /// Ids of the workflows that this run changed, in the order of their first change.
    pub fn changed_workflows(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for changed in &self.changes {
            let id = changed.change.workflow_id.as_str();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }
}

fn text_at(content: &Value, pointers: &[&str]) -> Option<String> {
    pointers
        .iter()
        .find_map(|p| content.pointer(p)?.as_str())
        .map(str::to_owned)
}
