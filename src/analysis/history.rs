//! What became of a workflow outside of the runs: its executions and its versions, joined with what runs changed. Pure: what a
//! backend and the journals told in, values out; every statement names the executions and events that it rests on.

use super::evidence::{Claim, Evidence};
use agentctl_base::shell;
use agentctl_engine::store::Record;
use agentctl_engine::view::{self, By};
use agentctl_n8n::Workflow;
use agentctl_n8n_tools::backend::{ExecutionHead, VersionHead};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A message of an execution is cut here, in characters: services put whole pages into their errors.
const LONG: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Execution {
    pub id: String,
    /// n8n's word: success, error, waiting, running, canceled, crashed, new, unknown.
    pub status: String,
    pub started_at: Option<String>,
    pub stopped_at: Option<String>,
    /// Where it stopped, and with what.
    pub node: Option<String>,
    pub error: Option<String>,
}

impl Execution {
    /// What an execution says about its end, wherever n8n's interfaces put it. `clean` hides what nobody should read.
    pub fn of(head: &ExecutionHead, whole: &Value, clean: &dyn Fn(&str) -> String) -> Self {
        let at = |pointers: &[&str]| {
            let found = pointers.iter().find_map(|p| whole.pointer(p)?.as_str());
            found.map(|text| clean(&text.chars().take(LONG).collect::<String>()))
        };
        Execution {
            id: head.id.clone(),
            status: head.status.clone(),
            started_at: head.started_at.clone(),
            stopped_at: head.stopped_at.clone(),
            node: at(&[
                "/data/resultData/error/node/name",
                "/data/resultData/lastNodeExecuted",
                "/resultData/error/node/name",
                "/resultData/lastNodeExecuted",
                "/error/node/name",
            ]),
            error: at(&[
                "/data/resultData/error/message",
                "/resultData/error/message",
                "/error/message",
                "/error",
            ]),
        }
    }

    fn failed(&self) -> bool {
        matches!(self.status.as_str(), "error" | "crashed")
    }
}

/// A version that the backend kept, and what changed after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Version {
    pub id: String,
    pub number: u32,
    pub node_count: usize,
    pub graph_hash: String,
    /// Names of the nodes that the next version (or the workflow now) has otherwise; None: it was not read.
    pub changed: Option<Vec<String>>,
    /// The change of a run that replaced it: (run, event).
    pub replaced_by: Option<(String, u64)>,
}

/// A change that a run made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    pub run_id: String,
    pub event: u64,
    /// UTC, RFC 3339.
    pub at: String,
    pub tool: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The changes of this workflow that a journal holds.
pub fn changes(run_id: &str, workflow: &str, records: &[Record]) -> Vec<Changed> {
    let of_it = records.iter().filter_map(view::Changed::of);
    of_it
        .filter(|made| made.change.id() == workflow)
        .filter_map(|made| match made.by {
            By::Tool { tool, .. } => Some(Changed {
                run_id: run_id.to_owned(),
                event: made.seq,
                at: made.at,
                tool,
                before: made.change.before,
                after: made.change.after,
            }),
            By::Undo | By::Outside => None,
        })
        .collect()
}

/// What the backend and the journals told about a workflow.
#[derive(Debug, Clone, Default)]
pub struct Told {
    pub workflow: String,
    /// Newest first; None: the backend has none.
    pub executions: Option<Vec<Execution>>,
    /// Newest first, with the document where it could be read; None: the backend keeps none.
    pub versions: Option<Vec<(VersionHead, Option<Workflow>)>>,
    pub now: Option<Workflow>,
    /// Of all runs, oldest first.
    pub changes: Vec<Changed>,
    /// What could not be read, and why.
    pub unread: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Happened {
    pub at: Option<String>,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<(String, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct History {
    pub workflow: String,
    pub executions: Option<Vec<Execution>>,
    pub versions: Option<Vec<Version>>,
    pub changes: Vec<Changed>,
    /// Why executions fail now; None: the last one did not fail, or there is none.
    pub root_cause: Option<Claim>,
    pub prevention: Vec<Claim>,
    pub timeline: Vec<Happened>,
    pub unread: Vec<String>,
}

pub fn history(told: Told) -> History {
    let versions = told.versions.as_deref().map(|list| {
        let mut newer = told.now.as_ref();
        let mut out = Vec::with_capacity(list.len());
        for (head, document) in list {
            out.push(Version {
                id: head.id.clone(),
                number: head.number,
                node_count: head.node_count,
                graph_hash: head.graph_hash.clone(),
                changed: document
                    .as_ref()
                    .zip(newer)
                    .map(|(old, new)| other_nodes(old, new)),
                replaced_by: told
                    .changes
                    .iter()
                    .rev()
                    .find(|c| c.before.as_deref() == Some(head.graph_hash.as_str()))
                    .map(|c| (c.run_id.clone(), c.event)),
            });
            newer = document.as_ref();
        }
        out
    });
    let executions = told.executions.as_deref().unwrap_or_default();
    let cause = why(
        &told.workflow,
        executions,
        &told.changes,
        versions.as_deref().unwrap_or_default(),
    );
    let (root_cause, prevention) = match cause {
        Some((cause, prevention)) => (Some(cause), vec![prevention]),
        None => (None, Vec::new()),
    };
    History {
        timeline: timeline(executions, &told.changes),
        workflow: told.workflow,
        executions: told.executions,
        versions,
        changes: told.changes,
        root_cause,
        prevention,
        unread: told.unread,
    }
}

fn when(at: Option<&str>) -> Option<jiff::Timestamp> {
    at?.parse().ok()
}

/// The failures since the last success, and the change that stands between the two.
fn why(
    workflow: &str,
    executions: &[Execution],
    changes: &[Changed],
    versions: &[Version],
) -> Option<(Claim, Claim)> {
    // Running and waiting ones tell nothing yet.
    let ended: Vec<&Execution> = executions
        .iter()
        .filter(|e| e.failed() || e.status == "success")
        .collect();
    let row: Vec<&Execution> = ended.iter().copied().take_while(|e| e.failed()).collect();
    let first = row.last()?;
    let before = ended.get(row.len()).copied();
    let node = first.node.as_deref();
    let same = row.iter().filter(|e| e.node == first.node).count();
    let at = node.map(|n| format!(" at {n:?}")).unwrap_or_default();
    let error = first.error.as_deref().unwrap_or("no message");
    let mut ids: Vec<String> = vec![first.id.clone()];
    ids.extend(before.map(|b| b.id.clone()));
    let between = when(first.started_at.as_deref()).and_then(|failed| {
        let from = before.and_then(|b| when(b.started_at.as_deref()));
        changes
            .iter()
            .rev()
            // What made the workflow broke nothing that had worked.
            .filter(|c| c.before.is_some())
            .filter(|c| {
                when(Some(&c.at)).is_some_and(|at| at <= failed && from.is_none_or(|f| at > f))
            })
            .find(|_| true)
    });
    let row_text = match row.len() {
        1 => format!("execution {} failed{at}: {error}", first.id),
        n => format!(
            "{n} executions in a row failed, the first is {}{at}: {error}; {same} of them at the same node",
            first.id
        ),
    };
    let (text, prevention, events) = match (between, before) {
        (Some(change), _) => {
            let touched = versions
                .iter()
                .find(|v| v.replaced_by.as_ref() == Some(&(change.run_id.clone(), change.event)))
                .and_then(|v| v.changed.as_ref());
            let what = match (touched, node) {
                (Some(list), Some(node)) if list.iter().any(|n| n == node) => {
                    format!("which changed {node:?} itself")
                }
                (Some(list), Some(_)) if !list.is_empty() => {
                    format!("which changed {}", list.join(", "))
                }
                _ => "which changed the workflow".to_owned(),
            };
            let after = before.map_or_else(
                || "no earlier one of these succeeded".to_owned(),
                |b| format!("execution {} before it succeeded", b.id),
            );
            (
                format!(
                    "{row_text}; {after}; in between stands event {} of run {}, {what}",
                    change.event, change.run_id
                ),
                format!(
                    "agentctl undo {} takes that change back; try it, then run once",
                    change.run_id
                ),
                vec![change.event],
            )
        }
        (None, Some(success)) => (
            format!(
                "{row_text}; execution {} before it succeeded, and no run changed the workflow in between",
                success.id
            ),
            "look outside the runs: the data, the credential, the service, or a change by hand"
                .to_owned(),
            Vec::new(),
        ),
        (None, None) => (
            format!("{row_text}; none of these executions succeeded"),
            format!(
                "agentctl build --workflow {} \"fix: it fails\" starts from the last of them; more of them: --executions N",
                shell::word(workflow)
            ),
            Vec::new(),
        ),
    };
    let evidence = Evidence {
        events,
        executions: ids,
        ..Evidence::default()
    };
    let claim = |text: String| Claim {
        text,
        evidence: evidence.clone(),
    };
    Some((claim(text), claim(prevention)))
}

fn timeline(executions: &[Execution], changes: &[Changed]) -> Vec<Happened> {
    let run = executions.iter().map(|e| Happened {
        at: e.started_at.clone(),
        text: match (&e.node, &e.error) {
            (Some(node), Some(error)) => format!("{} at {node:?}: {error}", e.status),
            (None, Some(error)) => format!("{}: {error}", e.status),
            _ => e.status.clone(),
        },
        event: None,
        execution: Some(e.id.clone()),
    });
    let changed = changes.iter().map(|c| Happened {
        at: Some(c.at.clone()),
        text: c.tool.clone(),
        event: Some((c.run_id.clone(), c.event)),
        execution: None,
    });
    let mut all: Vec<Happened> = changed.chain(run).collect();
    all.sort_by_key(|h| when(h.at.as_deref()));
    all
}

/// Names of the nodes that only one of the two has, or that differ in more than their place.
fn other_nodes(old: &Workflow, new: &Workflow) -> Vec<String> {
    let nodes = |workflow: &Workflow| -> BTreeMap<String, Value> {
        let with_links = |node: &agentctl_n8n::Node| {
            let mut map = node.map().clone();
            map.shift_remove("position");
            let links = workflow.connections.get(node.name());
            map.insert("connections".into(), serde_json::json!(links));
            (node.name().to_owned(), Value::Object(map))
        };
        workflow.nodes.iter().map(with_links).collect()
    };
    let (old, new) = (nodes(old), nodes(new));
    let mut names: Vec<String> = old
        .iter()
        .filter(|(name, node)| new.get(*name) != Some(node))
        .map(|(name, _)| name.clone())
        .chain(new.keys().filter(|name| !old.contains_key(*name)).cloned())
        .collect();
    names.sort();
    names.dedup();
    names
}
