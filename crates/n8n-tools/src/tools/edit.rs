//! A list of operations on a workflow that is there, made by the arguments of a tool out of what is there now: what all tools that
//! edit have in common. Which part of the workflow a tool may touch is a guard's to judge.

use super::created::fill_added_versions;
use super::n8n::N8n;
use super::replace::Edited;
use super::shown::searched_hidden;
use crate::backend::Stored;
use crate::guards;
use agentctl_base::decision::Decision;
use agentctl_engine::toolset::{Cx, Fault, Outcome, Plan, Planning};
use agentctl_n8n::{EditOp, Node, NodeId, Workflow, edit};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What of a workflow a tool may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// Nodes and connections (`guard.structure_only`).
    Structure,
    /// Values of nodes that the turn is about (`guard.turn_scope`).
    Values,
}

/// What a tool is asked to edit.
pub(super) struct Edit<'a> {
    pub workflow_id: &'a str,
    pub expect_hash: Option<&'a str>,
    pub part: Part,
}

/// The operations, out of the workflow as it is; Err: why there are none, in words for the caller.
pub(super) type Operations<'a> = &'a (dyn Fn(&Workflow) -> Result<Vec<EditOp>, String> + Sync);

impl N8n {
    pub(super) async fn plan_edit(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        asked: Edit<'_>,
        operations: Operations<'_>,
        exact: &Value,
    ) -> Planning {
        let before = match self.current(asked.workflow_id).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let expected = asked.expect_hash;
        let made = operations(&before.workflow).and_then(|ops| {
            if let Some(refused) = searched_hidden(cx.redactor, &before.workflow, &ops) {
                return Ok(Err(refused));
            }
            edit::apply(&before.workflow, &ops, &mut || cx.recorder.new_id())
                .map(Ok)
                .map_err(|error| error.to_string())
        });
        let mut after = match made {
            Ok(Ok(after)) => after,
            Ok(Err(refused)) => return Ok(Err(Outcome::Refused(refused))),
            Err(why) => return Ok(Err(unfit(cx, &before, expected, why))),
        };
        fill_added_versions(&before.workflow, &mut after, self.catalog);
        let part = self.judge_part(cx, asked.part, &before, &after)?;
        let credentials = guards::credentials(Some(&before.workflow), &after);
        let attached = self
            .attach(cx, Some(&before.workflow), &mut after, exact)
            .await?;
        let mut notes = Map::new();
        if !attached.told.is_empty() {
            notes.insert("credentials".into(), Value::Array(attached.told));
        }
        let free = hanging_free(&before.workflow, &after);
        if asked.part == Part::Structure && !free.is_empty() {
            notes.insert("hangs_free".into(), json!(free));
        }
        let edited = Edited {
            after,
            notes,
            credentials,
            part,
        };
        let planned = self.plan_replace(cx, before, edited, expected, exact)?;
        Ok(planned.map(|planned| Plan {
            question: attached.question,
            ..planned
        }))
    }

    fn judge_part(
        &self,
        cx: &mut Cx<'_>,
        part: Part,
        before: &Stored,
        after: &Workflow,
    ) -> Result<Option<Decision>, Fault> {
        Ok(match part {
            Part::Whole => None,
            Part::Structure => Some(guards::structure_only(
                &before.workflow,
                after,
                self.catalog,
            )),
            Part::Values => {
                let changed: Vec<NodeId> = agentctl_n8n::diff::changes(&before.workflow, after)
                    .nodes_changed
                    .into_iter()
                    .map(|change| change.after.id)
                    .collect();
                let old = self.ids_at_start(cx, before)?;
                let is_new = |node: &Node| !old.contains(&node.id());
                let said = cx.guards.facts();
                Some(guards::turn_scope(
                    &changed,
                    &before.workflow,
                    &is_new,
                    said,
                ))
            }
        })
    }

    /// The nodes that the workflow had when the run began; none where the run made it.
    fn ids_at_start(&self, cx: &mut Cx<'_>, before: &Stored) -> Result<BTreeSet<NodeId>, Fault> {
        if cx.guards.log().made(&before.id.0) {
            return Ok(BTreeSet::new());
        }
        let ids = |workflow: &Workflow| workflow.nodes.iter().map(Node::id).collect();
        let found = self.found(cx, before)?;
        Ok(found.as_deref().map_or_else(|| ids(&before.workflow), ids))
    }

    /// The workflow as the run found it, where the run has changed it since; None: it did not, or that state cannot be read.
    pub(super) fn found(
        &self,
        cx: &mut Cx<'_>,
        now: &Stored,
    ) -> Result<Option<Arc<Workflow>>, Fault> {
        match cx.guards.log().snapshots(&now.id.0).first().cloned() {
            Some(mark) => self.snapshot_of(cx, &mark),
            None => Ok(None),
        }
    }
}

/// The operations do not fit the workflow; likely because it is not the one that the caller knows.
fn unfit(cx: &Cx<'_>, before: &Stored, expected: Option<&str>, why: String) -> Outcome {
    let seen = cx.guards.log().seen(&before.id.0);
    let stale = guards::stale(&before.graph_hash, seen, expected);
    match stale {
        Decision::Deny { .. } => Outcome::Refused(stale),
        _ => Outcome::failed(
            why,
            "edit",
            "nothing was changed; correct this operation and send the whole list again",
        ),
    }
}

/// The nodes that something led to before, and nothing does now.
fn hanging_free(before: &Workflow, after: &Workflow) -> Vec<String> {
    let led_to = |workflow: &Workflow, name: &str| {
        let mut edges = workflow.edges();
        edges.any(|(_, kind, _, link)| kind == "main" && link.node == name)
    };
    let nodes = after.nodes.iter().filter(|node| {
        let old = before.node(&node.id());
        old.is_some_and(|old| led_to(before, old.name())) && !led_to(after, node.name())
    });
    nodes.map(|node| node.name().to_owned()).collect()
}
