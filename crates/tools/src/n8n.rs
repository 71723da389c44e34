//! `kind: n8n`: a published workflow as a tool. How an n8n is reached is not known here: whoever has one hands in what can call its
//! workflows. What was called is believed only with the id of its execution.

use crate::answer::{FAILED, TELL, TIMEOUT, unknown};
use crate::call::Call;
use crate::kind::{KindOfTool, Work};
use crate::places::{Piece, body, check_shape, check_text, filled, only, pieces};
use crate::toolset::Surroundings;
use agentctl_base::BoxFuture;
use agentctl_base::yaml::Node;
use agentctl_engine::toolset::Outcome;
use agentctl_engine::vocabulary::Faults;
use serde_json::{Map, Value, json};
use std::time::Duration;

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: NAME,
    check,
    make: |section| Box::new(Spec::of(section)),
};
/// The kind, for who has to know whether an n8n is needed.
pub const NAME: &str = "n8n";
const KEYS: [&str; 5] = ["lists", "workflow", "tag", "node", "payload"];

/// Workflows of an n8n that can be called from outside.
pub trait Workflows: Send + Sync {
    /// What keeps them from being called, as a sentence without its end; None: nothing.
    fn lacks(&self) -> Option<String>;
    /// The published ones with this tag, each as `{id, name, description, parameters}` with a JSON Schema.
    fn listed<'a>(&'a self, tag: &'a str) -> BoxFuture<'a, Result<Vec<Value>, NotRun>>;
    /// Calls one, once.
    fn run<'a>(
        &'a self,
        which: &'a Which,
        payload: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Ran, NotRun>>;
}

/// Which workflow is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Which {
    /// Its id, or its whole name.
    pub workflow: String,
    /// It must have this tag.
    pub tag: Option<String>,
    /// The trigger node; None: the only one.
    pub node: Option<String>,
    /// How long its end is waited for.
    pub wait: Duration,
}

/// An execution that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    pub workflow: String,
    pub execution: String,
    /// n8n's word: success, error, running, waiting, …
    pub status: String,
    /// What the caller was answered.
    pub answer: Value,
    /// What of the call is still there and should not be, in words.
    pub left_behind: Option<String>,
}

/// Why there is no execution to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRun {
    /// Nothing was sent.
    Not { why: String },
    /// It was sent, and no execution was found.
    Lost { why: String },
}

/// What the file says; it was checked when the pack was loaded.
enum Spec {
    Lists(String),
    Runs {
        workflow: String,
        tag: Option<String>,
        node: Option<String>,
        /// With places for values; None: the values as they are.
        payload: Option<Value>,
    },
}

impl Spec {
    fn of(section: &Value) -> Spec {
        let text = |key: &str| section.get(key).and_then(Value::as_str).map(str::to_owned);
        match text("lists") {
            Some(tag) => Spec::Lists(tag),
            None => Spec::Runs {
                workflow: text("workflow").unwrap_or_default(),
                tag: text("tag"),
                node: text("node"),
                payload: section.get("payload").cloned(),
            },
        }
    }
}

const NONE: &str = "no n8n is connected (agentctl doctor says how)";

impl Work for Spec {
    fn lacks(&self, of: &Surroundings) -> Option<String> {
        match &of.workflows {
            None => Some(NONE.to_owned()),
            Some(workflows) => workflows.lacks(),
        }
    }

    fn work<'a>(
        &'a self,
        call: &'a Call,
        values: Map<String, Value>,
        changes: bool,
    ) -> BoxFuture<'a, Outcome> {
        let limits = call.made.tool.limits;
        Box::pin(async move {
            let Some(workflows) = &call.shared.surroundings.workflows else {
                return Outcome::failed(NONE, FAILED, TELL);
            };
            match self {
                Spec::Lists(tag) => match workflows.listed(tag).await {
                    Ok(tools) => Outcome::Ok(json!({"tools": tools})),
                    Err(NotRun::Not { why } | NotRun::Lost { why }) => {
                        Outcome::failed(why, FAILED, TELL)
                    }
                },
                Spec::Runs {
                    workflow,
                    tag,
                    node,
                    payload,
                } => {
                    let Some(workflow) = filled(workflow, &values) else {
                        return Outcome::failed("no workflow is named", FAILED, "name it");
                    };
                    let which = Which {
                        workflow,
                        tag: tag.clone(),
                        node: node.clone(),
                        wait: Duration::from_secs(limits.timeout_s),
                    };
                    let payload = match payload {
                        None => values,
                        Some(shape) => match body(shape, &values) {
                            Some(Value::Object(payload)) => payload,
                            _ => Map::new(),
                        },
                    };
                    let ran = workflows.run(&which, payload).await;
                    outcome(ran, changes, limits.max_bytes)
                }
            }
        })
    }
}

fn outcome(ran: Result<Ran, NotRun>, changes: bool, max_bytes: u64) -> Outcome {
    let ran = match ran {
        Ok(ran) => ran,
        Err(NotRun::Lost { why }) if changes => return unknown(&why, None),
        Err(NotRun::Not { why } | NotRun::Lost { why }) => {
            return Outcome::failed(why, FAILED, TELL);
        }
    };
    let id = &ran.execution;
    let (why, rule) = match ran.status.as_str() {
        "success" => {
            let bytes = u64::try_from(ran.answer.to_string().len()).unwrap_or(u64::MAX);
            let result = match bytes <= max_bytes {
                true => ran.answer,
                false => json!({"left_out": format!("an answer of {bytes} bytes")}),
            };
            let execution = json!({"id": id, "workflow": ran.workflow, "status": ran.status});
            let mut content = json!({"result": result, "execution": execution});
            if let (Some(left), Some(content)) = (ran.left_behind, content.as_object_mut()) {
                content.insert("left_behind".into(), left.into());
            }
            return Outcome::Ok(content);
        }
        "new" | "running" | "waiting" | "unknown" => {
            (format!("the execution {id} has not ended yet"), TIMEOUT)
        }
        other => (format!("the execution {id} ended with: {other}"), FAILED),
    };
    // What it did before is not known.
    let mut outcome = match changes {
        true => unknown(&why, None),
        false => Outcome::failed(why, rule, TELL),
    };
    if let Outcome::Unknown(Value::Object(content)) | Outcome::Failed(Value::Object(content)) =
        &mut outcome
    {
        content.insert("execution".into(), id.as_str().into());
    }
    outcome
}

fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    only(node, &KEYS, &mut faults);
    let (lists, workflow) = (node.get("lists"), node.get("workflow"));
    let named = |of: Option<&Node>| {
        of.and_then(Node::as_text)
            .is_some_and(|text| !text.is_empty())
    };
    match (lists, workflow) {
        (Some(_), None) if named(lists) => {
            for key in ["tag", "node", "payload"] {
                if let Some(wrong) = node.get(key) {
                    faults.push((wrong.place, format!("a list of workflows has no {key}")));
                }
            }
        }
        (None, Some(workflow)) if named(Some(workflow)) => {
            check_text(workflow, values, &mut faults);
            let places = workflow.as_text().and_then(pieces).unwrap_or_default();
            let by_value = places.iter().any(|piece| matches!(piece, Piece::Value(_)));
            if by_value && !named(node.get("tag")) {
                let why = "a value names the workflow, so tag must say which ones it may name";
                faults.push((workflow.place, why.to_owned()));
            }
        }
        _ => {
            let form = "n8n names a tag whose workflows it lists ({lists: agent-tool}), or one workflow by its id or name ({workflow: Count tickets})";
            faults.push((node.place, form.to_owned()));
        }
    }
    if let Some(payload) = node.get("payload") {
        let is_place = payload.as_text().is_some_and(|text| {
            matches!(
                pieces(text).unwrap_or_default().as_slice(),
                [Piece::Value(_)]
            )
        });
        if payload.as_map().is_none() && !is_place {
            let form = "payload is a map of what is sent, or one {value} that is a map";
            faults.push((payload.place, form.to_owned()));
        }
        check_shape(payload, values, &mut faults);
    }
    faults
}

#[cfg(test)]
#[path = "n8n_tests.rs"]
mod n8n_tests;
