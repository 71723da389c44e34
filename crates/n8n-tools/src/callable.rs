//! Workflows that the tools of a pack's files call: published ones, by their webhook, form or chat, or as other workflows call them.

mod sub_workflow;

use crate::backend::{
    Backend, BackendError, BackendErrorKind, ListQuery, Stored, TriggerCall, list_all,
};
use agentctl_base::BoxFuture;
use agentctl_n8n::{Node, TriggerKind, TriggerPoint, Workflow, trigger_points};
use agentctl_tools::{NotRun, Ran, Which, Workflows};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use sub_workflow::entry;

/// How many workflows of a tag are looked at.
const MOST: usize = 100;
/// Longer descriptions are cut, in characters.
const TOLD: usize = 1_000;

/// The workflows of an n8n, as tools see them.
pub struct Callable(pub Arc<dyn Backend>);

fn not(error: BackendError) -> NotRun {
    let why = match &error.hint {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    NotRun::Not { why }
}

fn refused(why: String) -> NotRun {
    NotRun::Not { why }
}

impl Callable {
    /// The published workflow with this id, or with this name where there is one only.
    async fn named(&self, which: &Which) -> Result<Stored, NotRun> {
        let name = &which.workflow;
        let by_id = match self.0.resolve(name).await {
            Ok(id) => self.0.get(&id).await,
            Err(error) => Err(error),
        };
        let stored = match by_id {
            Ok(stored) => stored,
            Err(error) if error.kind == BackendErrorKind::Unavailable => return Err(not(error)),
            // A name is no id, so n8n may say no to it in several ways.
            Err(_) => {
                let named = list_all(self.0.as_ref(), &ListQuery::named(name)).await;
                let mut named = named.map_err(not)?.workflows;
                let id = match (named.pop(), named.is_empty()) {
                    (Some(one), true) => one.id,
                    (Some(_), false) => {
                        return Err(refused(format!("several workflows are named {name:?}")));
                    }
                    (None, _) => return Err(refused(format!("there is no workflow {name:?}"))),
                };
                self.0.get(&id).await.map_err(not)?
            }
        };
        let tagged = |tag: &String| stored.tags.contains(tag);
        if !which.tag.as_ref().is_none_or(tagged) {
            return Err(refused(format!(
                "there is no workflow {name:?} with that tag"
            )));
        }
        if !stored.active {
            return Err(refused(format!("the workflow {name:?} is not published")));
        }
        Ok(stored)
    }

    async fn listed_now(&self, tag: &str) -> Result<Vec<Value>, NotRun> {
        let query = ListQuery {
            active: Some(true),
            ..ListQuery::tagged(tag)
        };
        let found = list_all(self.0.as_ref(), &query).await.map_err(not)?;
        let mut tools = Vec::new();
        for head in found.workflows.iter().take(MOST) {
            let stored = self.0.get(&head.id).await.map_err(not)?;
            let parameters = match trigger_points(&stored.workflow).as_slice() {
                [point] => Some(parameters(point)),
                [] => entry(&stored.workflow).map(|entry| entry.parameters()),
                _ => None,
            };
            if let Some(parameters) = parameters {
                tools.push(json!({
                    "id": stored.id,
                    "name": stored.workflow.name(),
                    "description": description(&stored.workflow),
                    "parameters": parameters,
                    "nodes": steps(&stored.workflow),
                }));
            }
        }
        Ok(tools)
    }

    async fn run_now(&self, which: &Which, payload: Map<String, Value>) -> Result<Ran, NotRun> {
        let stored = self.named(which).await?;
        let name = stored.workflow.name();
        let mut points = trigger_points(&stored.workflow);
        let entry = entry(&stored.workflow);
        let is_meant = match &which.node {
            Some(node) => entry.is_some_and(|entry| entry.node == *node),
            None => entry.is_some() && points.is_empty(),
        };
        if is_meant {
            return sub_workflow::call(self.0.as_ref(), &stored, payload, which.wait).await;
        }
        if let Some(node) = &which.node {
            points.retain(|point| point.node == *node);
        }
        let point = match (points.pop(), points.is_empty()) {
            (Some(point), true) => point,
            (Some(_), false) => {
                let why =
                    format!("{name:?} has several triggers: the tool's file names one as node");
                return Err(refused(why));
            }
            (None, _) => {
                let why = format!(
                    "{name:?} has no webhook, form, public chat or single sub-workflow trigger to call it by"
                );
                return Err(refused(why));
            }
        };
        let mut call = TriggerCall::new(point, payload);
        call.wait = which.wait;
        let run = match self.0.trigger(&stored.id, &call).await {
            Ok(run) => run,
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                return Err(NotRun::Lost {
                    why: error.to_string(),
                });
            }
            Err(error) => return Err(not(error)),
        };
        let Some(execution) = run.execution else {
            let why = format!("no execution of {name:?} was found after the call");
            return Err(NotRun::Lost { why });
        };
        Ok(Ran {
            workflow: stored.id.0,
            execution: execution.id,
            status: execution.status,
            answer: run.answer.unwrap_or_default(),
            left_behind: None,
        })
    }
}

impl Workflows for Callable {
    fn lacks(&self) -> Option<String> {
        (!self.0.can().execute).then(|| {
            format!(
                "the {} backend executes no workflows (agentctl doctor says how an n8n is connected)",
                self.0.name()
            )
        })
    }
    fn listed<'a>(&'a self, tag: &'a str) -> BoxFuture<'a, Result<Vec<Value>, NotRun>> {
        Box::pin(self.listed_now(tag))
    }
    fn run<'a>(
        &'a self,
        which: &'a Which,
        payload: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Ran, NotRun>> {
        Box::pin(self.run_now(which, payload))
    }
}

/// What its author says of it: the description that n8n keeps, else its first note.
fn description(workflow: &Workflow) -> String {
    let kept = workflow.head.get("description").and_then(Value::as_str);
    let note = || {
        let note = workflow.nodes.iter().find(|node| node.is_sticky())?;
        note.parameters()?.get("content")?.as_str()
    };
    let text = kept.filter(|text| !text.trim().is_empty()).or_else(note);
    text.unwrap_or_default().chars().take(TOLD).collect()
}

/// The names of its nodes that work, in the document's order: what it does, in short.
fn steps(workflow: &Workflow) -> Vec<&str> {
    let nodes = workflow.nodes.iter();
    let working = nodes.filter(|node| !node.is_sticky() && !node.disabled());
    working.map(Node::name).take(MOST).collect()
}

/// What a call is given, as a JSON Schema.
fn parameters(point: &TriggerPoint) -> Value {
    match point.kind {
        TriggerKind::Webhook => json!({"type": "object"}),
        TriggerKind::Chat => {
            json!({"type": "object", "required": ["chatInput"], "additionalProperties": false, "properties": {"chatInput": {"type": "string"}}})
        }
        TriggerKind::Form => {
            let field = |label: &String| {
                (
                    label.clone(),
                    json!({"type": ["string", "number", "boolean"]}),
                )
            };
            let fields: Map<String, Value> = point.fields.iter().map(field).collect();
            json!({"type": "object", "additionalProperties": false, "properties": fields})
        }
    }
}

#[cfg(test)]
#[path = "callable_tests.rs"]
mod callable_tests;
