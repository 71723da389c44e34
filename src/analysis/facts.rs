//! What a run says, in the form in which causes are looked for: checks, changes, refusals, look-ups, questions.

use super::evidence::Known;
use super::uses::read_by;
use agentctl_base::model::ToolStatus;
use agentctl_base::question::{Outcome, Question};
use agentctl_engine::flow::{Flow, Reading};
use agentctl_engine::store::{Event, Record};
use agentctl_engine::view::{Asked as Put, Call, Returned, RunUsage, RunView};
use agentctl_n8n_tools::tools::WORKFLOW;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A call that a rule stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stopped {
    pub event: u64,
    pub rule: String,
    /// The tool, or the field of an answer.
    pub what: String,
    pub reason: String,
}

/// What was asked, and what was asked back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Asked {
    pub request: String,
    pub workflow: Option<String>,
    /// (question, answer; None: open)
    pub questions: Vec<(String, Option<Value>)>,
}

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

/// A call that was refused, or failed.
#[derive(Debug)]
pub(super) struct InVain {
    pub event: u64,
    pub refused: bool,
    pub tool: String,
    pub error: String,
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
    /// The call that returned last, when nothing came of it.
    pub in_vain: Option<InVain>,
    questions: Vec<Put>,
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

/// What is told of every run that rests.
pub(super) const GOES_ON: &str = "`agentctl resume` goes on with it";
/// The same of one with an open question.
const ANSWERS: &str = "`agentctl answer` goes on with it";

impl Facts {
    /// A run that nobody ended rests with what stopped it: the model that did not answer, an interruption, an open question.
    pub fn resting(mut self, records: &[Record]) -> Facts {
        if self.ended.is_some() {
            return self;
        }
        let (mut model, mut unanswered) = ("", None);
        for record in records {
            match &record.event {
                Event::ModelAsked { model: asked, .. } => model = asked,
                Event::ModelRetried { reason, .. } => unanswered = Some(reason),
                Event::ModelAnswered { .. } => unanswered = None,
                Event::ActivationStarted { .. } => self.ended = None,
                Event::ActivationEnded {
                    outcome, reason, ..
                } => {
                    let why = match (outcome, unanswered, reason) {
                        (Outcome::Failed, Some(reason), _) => {
                            format!("the model {model} did not answer: {reason}; ")
                        }
                        (_, _, Some(reason)) => format!("{reason}; "),
                        _ => String::new(),
                    };
                    let next = match outcome {
                        Outcome::Waiting => ANSWERS,
                        _ => GOES_ON,
                    };
                    let message = format!("{why}{next}");
                    self.ended = Some((record.seq, *outcome, message));
                }
                _ => {}
            }
        }
        self
    }

    /// `flow` says in which fields agents write about the cause.
    pub fn of(run: &RunView, flow: &Flow) -> Facts {
        let mut facts = Facts {
            run_id: run.run_id.clone(),
            input: run.input.clone(),
            ended: run
                .ended
                .as_ref()
                .map(|end| (end.at.seq, end.outcome, end.message.clone())),
            step_failures: run
                .failed
                .iter()
                .map(|failed| (failed.at.seq, failed.step.clone(), failed.error.clone()))
                .collect(),
            questions: run.questions.clone(),
            word: run
                .patches
                .iter()
                .rev()
                .find_map(|taken| Written::of(flow, taken.at.seq, &taken.agent, &taken.patch)),
            asked_models: run
                .usage_of
                .iter()
                .filter(|(_, usage)| usage.model_calls > 0)
                .map(|(step, usage)| (step.clone(), usage.model_calls))
                .collect(),
            cost: run.usage,
            last_event: run.last,
            ..Facts::default()
        };
        for (call, returned) in run.returned() {
            facts.returned(call, returned);
            let result = &returned.result;
            let error = result.content.get("error").and_then(Value::as_str);
            facts.in_vain = (result.status != ToolStatus::Ok).then(|| InVain {
                event: returned.at.seq,
                refused: result.status == ToolStatus::Refused,
                tool: result.name.clone(),
                error: error.unwrap_or_default().to_owned(),
            });
        }
        facts
            .stopped
            .extend(run.refused.iter().map(|refused| Stopped {
                event: refused.at.seq,
                rule: refused.rule.clone(),
                what: format!("{} in {}", refused.field, refused.step),
                reason: "the answer was refused and asked for again".to_owned(),
            }));
        facts.stopped.sort_by_key(|stopped| stopped.event);
        facts
    }

    /// What a call came to.
    fn returned(&mut self, call: &Call, returned: &Returned) {
        let (seq, result) = (returned.at.seq, &returned.result);
        let content = &result.content;
        let say = |key: &str| {
            let text = content.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        self.read.extend(read_by(result));
        self.note_types(content);
        match result.status {
            ToolStatus::Refused => self.stopped.push(Stopped {
                event: seq,
                rule: say("rule"),
                what: result.name.clone(),
                reason: say("error"),
            }),
            ToolStatus::Ok => {
                let args = call.arguments();
                self.looked(&result.name, &args, content);
                if result.name == "validate_workflow" {
                    self.checks.push(check(seq, content));
                }
                if let Some(change) = &returned.change {
                    let created = change.before.is_none();
                    self.changed(seq, &result.name, args, content, created);
                }
            }
            _ if call.mutates() => {
                let error = say("error");
                self.failed.push((seq, result.name.clone(), error));
            }
            _ => {}
        }
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
            workflow: text(WORKFLOW).map(str::to_owned),
            questions: self
                .questions
                .iter()
                .map(|asked| {
                    let answer = asked.answer.as_ref().map(|(value, _)| value.clone());
                    (asked.question.text.clone(), answer)
                })
                .collect(),
        }
    }

    /// Questions that nobody has answered, with their events.
    pub fn open_questions(&self) -> impl Iterator<Item = (u64, &Question)> {
        self.questions
            .iter()
            .filter(|asked| asked.question.required && asked.answer.is_none())
            .map(|asked| (asked.at.seq, &asked.question))
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
