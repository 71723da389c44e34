//! What a journal says, in the form in which causes are looked for: checks, changes, refusals, look-ups, questions.

use super::uses::read_by;
use super::{Asked, Known, Stopped};
use crate::gateway::report::WORKFLOW_INPUT;
use crate::run::RunUsage;
use agentctl_base::model::{ToolCall, ToolStatus};
use agentctl_base::question::{Outcome, Question};
use agentctl_engine::flow::{Flow, Reading};
use agentctl_engine::store::{Event, Record};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A finding, as a check gave it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub id: String,
    pub code: String,
    pub node: Option<String>,
    pub node_id: Option<String>,
    pub message: String,
    /// `sure`, `likely`, or no fix.
    pub confidence: Option<String>,
    pub fix_title: Option<String>,
}

/// A final check that succeeded: its errors.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    pub event: u64,
    pub errors: Vec<Found>,
}

/// A call that changed a workflow.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub event: u64,
    pub tool: String,
    pub args: Value,
    /// What the tool answered.
    pub content: Value,
    pub created: bool,
}

/// What an agent wrote about the cause, with the learnings that it proposed beside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Written {
    pub event: u64,
    pub agent: String,
    pub cause: Value,
    pub learnings: Vec<Value>,
}

impl Written {
    /// Out of a patch to the state; None: nothing stands there about the cause.
    fn of(flow: &Flow, event: u64, agent: &str, patch: &Map<String, Value>) -> Option<Written> {
        let read = |reading| patch.get(flow.read_field(reading)?);
        let learnings = read(Reading::Learnings).and_then(Value::as_array);
        Some(Written {
            event,
            agent: agent.to_owned(),
            cause: read(Reading::Cause)?.clone(),
            learnings: learnings.cloned().unwrap_or_default(),
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Facts {
    pub run_id: String,
    input: Map<String, Value>,
    pub ended: Option<(u64, Outcome, String)>,
    pub checks: Vec<Check>,
    pub changes: Vec<Change>,
    pub stopped: Vec<Stopped>,
    /// Calls that would have changed something and failed: event, tool, error.
    pub failed: Vec<(u64, String, String)>,
    pub step_failures: Vec<(u64, String, String)>,
    questions: Vec<(u64, Question)>,
    answers: BTreeMap<String, Value>,
    /// Node types whose description somebody looked up, or found by a search.
    pub looked_up: BTreeSet<String>,
    /// Node types that agents wrote into a workflow, with the event.
    pub used: BTreeMap<String, u64>,
    /// A node's type, by its name and by its id.
    types: BTreeMap<String, String>,
    /// Names and ids of nodes that this run made.
    pub made: BTreeSet<String>,
    pub read: BTreeSet<String>,
    /// Ids of executions that a tool showed.
    pub executions: BTreeSet<String>,
    /// What an agent wrote last about the cause.
    pub word: Option<Written>,
    /// Model calls by step.
    pub asked_models: BTreeMap<String, u64>,
    pub cost: RunUsage,
    pub last_event: u64,
}

impl Facts {
    /// `flow` says in which fields agents write about the cause.
    pub fn of(records: &[Record], flow: &Flow) -> Facts {
        let mut facts = Facts::default();
        let mut open: BTreeMap<(&str, &str), (&ToolCall, bool)> = BTreeMap::new();
        for record in records {
            let seq = record.seq;
            facts.last_event = seq;
            facts.read.extend(read_by(&record.event));
            match &record.event {
                Event::RunStarted { run_id, input, .. } => {
                    facts.run_id.clone_from(run_id);
                    facts.input.clone_from(input);
                }
                Event::ModelAnswered { step, answer, .. } => {
                    facts.cost.add_answer(&answer.usage);
                    *facts.asked_models.entry(step.clone()).or_default() += 1;
                }
                Event::ToolIntent {
                    step,
                    call,
                    mutates,
                    ..
                } => {
                    facts.cost.tool_calls += 1;
                    open.insert((step, &call.id), (call, *mutates));
                }
                Event::ToolFinished {
                    step,
                    result,
                    change,
                    ..
                } => {
                    let call = open.remove(&(step.as_str(), result.call_id.as_str()));
                    let args = call
                        .and_then(|(call, _)| serde_json::from_str(&call.arguments).ok())
                        .unwrap_or(Value::Null);
                    let content = &result.content;
                    let say = |key: &str| {
                        let text = content.get(key).and_then(Value::as_str);
                        text.unwrap_or_default().to_owned()
                    };
                    facts.note_types(content);
                    match result.status {
                        ToolStatus::Refused => facts.stopped.push(Stopped {
                            event: seq,
                            rule: say("rule"),
                            what: result.name.clone(),
                            reason: say("error"),
                        }),
                        ToolStatus::Ok => {
                            facts.looked(&result.name, &args, content);
                            if result.name == "validate_workflow" {
                                facts.checks.push(check(seq, content));
                            }
                            if let Some(change) = change {
                                let created = change.before.is_none();
                                facts.changed(seq, &result.name, args, content, created);
                            }
                        }
                        _ if call.is_some_and(|(_, mutates)| mutates) => {
                            facts.failed.push((seq, result.name.clone(), say("error")));
                        }
                        _ => {}
                    }
                }
                Event::PatchRefused {
                    step, field, rule, ..
                } => facts.stopped.push(Stopped {
                    event: seq,
                    rule: rule.clone(),
                    what: format!("{field} in {step}"),
                    reason: "the answer was refused and asked for again".to_owned(),
                }),
                Event::QuestionAsked { question, .. } => {
                    facts.questions.push((seq, question.clone()));
                }
                Event::AnswerGiven {
                    question_id, value, ..
                } => _ = facts.answers.insert(question_id.clone(), value.clone()),
                Event::StatePatched { agent, patch, .. } => {
                    facts.word = Written::of(flow, seq, agent, patch).or(facts.word);
                }
                Event::StepFailed { step, error } => {
                    facts.step_failures.push((seq, step.clone(), error.clone()));
                }
                Event::RunEnded {
                    outcome, message, ..
                } => facts.ended = Some((seq, *outcome, message.clone())),
                _ => {}
            }
        }
        facts
    }

    /// What may stand as evidence.
    pub fn known(&self) -> Known {
        let errors = self.checks.iter().flat_map(|check| &check.errors);
        Known {
            last_event: self.last_event,
            findings: errors.map(|found| found.id.clone()).collect(),
            executions: self.executions.clone(),
        }
    }

    fn looked(&mut self, tool: &str, args: &Value, content: &Value) {
        let types = |value: Option<&Value>| -> Vec<String> {
            let list = value.and_then(Value::as_array).into_iter().flatten();
            list.filter_map(|hit| Some(hit.get("node_type")?.as_str()?.to_owned()))
                .collect()
        };
        match tool {
            "get_node" => self.looked_up.extend(
                args.get("node_type")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            ),
            "list_executions" => {
                let list = content.get("executions").and_then(Value::as_array);
                let ids = list.into_iter().flatten().filter_map(|e| e.get("id"));
                self.executions.extend(ids.filter_map(id_text));
            }
            "get_execution" => self
                .executions
                .extend(args.get("execution_id").and_then(id_text)),
            "trigger_workflow" => {
                let id = content.pointer("/execution/id").or(content.get("id"));
                self.executions.extend(id.and_then(id_text));
            }
            "search_nodes" => self.looked_up.extend(types(content.get("nodes"))),
            _ => {}
        }
    }

    fn changed(&mut self, event: u64, tool: &str, args: Value, content: &Value, created: bool) {
        let added = args
            .get("ops")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let added = added.filter_map(|op| op.get("node").filter(|node| node.is_object()));
        let nodes = args
            .get("nodes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        for node in nodes.chain(added) {
            for key in ["name", "id"] {
                self.made
                    .extend(node.get(key).and_then(Value::as_str).map(str::to_owned));
            }
            if let Some(kind) = node.get("type").and_then(Value::as_str) {
                self.used.entry(kind.to_owned()).or_insert(event);
            }
        }
        self.note_types(&args);
        self.changes.push(Change {
            event,
            tool: tool.to_owned(),
            content: content.clone(),
            args,
            created,
        });
    }

    /// Remembers the type of every node that the value shows.
    fn note_types(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                if let (Some(Value::String(name)), Some(Value::String(kind))) =
                    (map.get("name"), map.get("type"))
                {
                    self.types.insert(name.clone(), kind.clone());
                    if let Some(Value::String(id)) = map.get("id") {
                        self.types.insert(id.clone(), kind.clone());
                    }
                }
                map.values().for_each(|inner| self.note_types(inner));
            }
            Value::Array(items) => items.iter().for_each(|inner| self.note_types(inner)),
            _ => {}
        }
    }

    /// The type of the node that a finding is about.
    pub fn type_of(&self, found: &Found) -> Option<&str> {
        [&found.node_id, &found.node]
            .into_iter()
            .flatten()
            .find_map(|key| self.types.get(key))
            .map(String::as_str)
    }

    pub fn outcome(&self) -> Option<Outcome> {
        self.ended.as_ref().map(|(_, outcome, _)| *outcome)
    }

    pub fn message(&self) -> String {
        self.ended
            .as_ref()
            .map(|(_, _, m)| m.clone())
            .unwrap_or_default()
    }

    pub fn asked(&self) -> Asked {
        let text = |key: &str| self.input.get(key).and_then(Value::as_str);
        Asked {
            request: text("request").unwrap_or_default().to_owned(),
            workflow: text(WORKFLOW_INPUT).map(str::to_owned),
            questions: self
                .questions
                .iter()
                .map(|(_, q)| (q.text.clone(), self.answers.get(&q.id).cloned()))
                .collect(),
        }
    }

    /// Questions that nobody has answered, with their events.
    pub fn open_questions(&self) -> impl Iterator<Item = (u64, &Question)> {
        self.questions
            .iter()
            .filter(|(_, q)| q.required && !self.answers.contains_key(&q.id))
            .map(|(event, q)| (*event, q))
    }

    /// The errors that the last check found.
    pub fn left(&self) -> &[Found] {
        self.checks
            .last()
            .map_or(&[], |check| check.errors.as_slice())
    }

    /// The first check that had this finding.
    pub fn first_seen(&self, id: &str) -> Option<&Check> {
        self.checks
            .iter()
            .find(|check| check.errors.iter().any(|f| f.id == id))
    }
}

/// n8n numbers its executions; interfaces give them as text or as a number. Compared without case.
fn id_text(id: &Value) -> Option<String> {
    match id {
        Value::String(text) => Some(text.to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn check(event: u64, content: &Value) -> Check {
    let findings = content.get("findings").and_then(Value::as_array);
    let errors = findings
        .into_iter()
        .flatten()
        .filter(|f| f.get("severity").and_then(Value::as_str) == Some("error"))
        .filter_map(found)
        .collect();
    Check { event, errors }
}

fn found(finding: &Value) -> Option<Found> {
    let text = |pointer: &str| finding.pointer(pointer)?.as_str().map(str::to_owned);
    Some(Found {
        id: text("/id")?,
        code: text("/code").unwrap_or_default(),
        node: text("/node"),
        node_id: text("/node_id"),
        message: text("/message").unwrap_or_default(),
        confidence: text("/fix/confidence"),
        fix_title: text("/fix/title"),
    })
}
