//! What all tools that edit have in common: their arguments come to a list of operations on the workflow that is there, and that is
//! planned, judged and made in one way. Which part of the workflow a tool may touch is a guard's to judge.

use super::created::fill_added_versions;
use super::n8n::N8n;
use super::replace::Edited;
use super::shown::searched_hidden;
use crate::backend::Stored;
use crate::guards;
use crate::tool::On;
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_engine::toolset::{Change, Cx, Fault, Outcome, Plan, Planning};
use agentctl_n8n::{EditOp, Node, NodeId, Workflow, edit};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashSet};
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

/// The arguments of a tool that edits a workflow.
pub(super) trait Edits {
    const PART: Part;

    fn workflow_id(&self) -> &str;

    /// The graph hash that the caller planned on.
    fn expect_hash(&self) -> Option<&str> {
        None
    }

    /// The operations, out of the workflow as it is; Err: why there are none, in words for the caller.
    fn operations(&self, now: &Workflow, on: &N8n) -> Result<Vec<EditOp>, String>;
}

impl<A: Edits + Send + Sync> Change for On<N8n, A> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(self.on.plan_edit(cx, &self.args, exact))
    }
}

impl N8n {
    async fn plan_edit<A: Edits>(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        asked: &A,
        exact: &Value,
    ) -> Planning {
        let before = match self.current(asked.workflow_id()).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let expected = asked.expect_hash();
        let made = asked.operations(&before.workflow, self).and_then(|ops| {
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
        let part = self.judge_part(cx, A::PART, &before, &after)?;
        let credentials = guards::credentials(Some(&before.workflow), &after);
        let attached = self
            .attach(cx, Some(&before.workflow), &mut after, exact)
            .await?;
        let mut notes = Map::new();
        if !attached.told.is_empty() {
            notes.insert("credentials".into(), Value::Array(attached.told));
        }
        if A::PART == Part::Structure {
            let free = hanging_free(&before.workflow, &after);
            if !free.is_empty() {
                notes.insert("hangs_free".into(), json!(free));
            }
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
    let (was, is) = (led_to(before), led_to(after));
    let nodes = after.nodes.iter().filter(|node| {
        let old = before.node(&node.id());
        old.is_some_and(|old| was.contains(old.name())) && !is.contains(node.name())
    });
    nodes.map(|node| node.name().to_owned()).collect()
}

fn led_to(workflow: &Workflow) -> HashSet<&str> {
    let main = workflow.edges().filter(|(_, kind, _, _)| *kind == "main");
    main.map(|(_, _, _, link)| link.node.as_str()).collect()
}
