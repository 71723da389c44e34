//! `update_workflow`: a list of operations on a workflow, all or none.

use super::created::fill_added_versions;
use super::n8n::N8n;
use super::replace::Edited;
use super::shown::searched_hidden;
use crate::arguments::{arguments, expect_hash, ops, workflow_id};
use crate::capability as can;
use crate::guards;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_engine::toolset::{Change, Cx, Head, Outcome, Plan, Planning};
use agentctl_n8n::{EditOp, edit};
use serde_json::{Map, Value};
use std::sync::Arc;

arguments! {
    UpdateWorkflow {
        required workflow_id: String = workflow_id();
        required ops: Vec<EditOp> = ops("applied in order, all or none");
        /// The graph hash that the caller planned on.
        optional expect_hash: Option<String> = expect_hash();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<UpdateWorkflow>(Head {
        destructive: true,
        idempotent: false,
        ..Head::new(
            "update_workflow",
            can::UPDATE_WORKFLOW,
            "Change a workflow by a list of operations, all or none. Returns what changed and the graph hash, as read back, and what a check says of it.",
            UpdateWorkflow::schema,
        )
    })
}

impl Change for On<N8n, UpdateWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(self.on.plan_update(cx, &self.args, exact))
    }
}

impl N8n {
    async fn plan_update(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        update: &UpdateWorkflow,
        exact: &Value,
    ) -> Planning {
        let before = match self.current(&update.workflow_id).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        if let Some(refused) = searched_hidden(cx.redactor, &before.workflow, &update.ops) {
            return Ok(Err(Outcome::Refused(refused)));
        }
        let edited = edit::apply(&before.workflow, &update.ops, &mut || cx.recorder.new_id());
        match edited {
            Ok(mut after) => {
                fill_added_versions(&before.workflow, &mut after, self.catalog);
                let expected = update.expect_hash.as_deref();
                let credentials = guards::credentials(Some(&before.workflow), &after);
                let attached = self
                    .attach(cx, Some(&before.workflow), &mut after, exact)
                    .await?;
                let mut notes = Map::new();
                if !attached.told.is_empty() {
                    notes.insert("credentials".into(), Value::Array(attached.told));
                }
                let edited = Edited {
                    after,
                    notes,
                    credentials,
                };
                let planned = self.plan_replace(cx, before, edited, expected, exact)?;
                Ok(planned.map(|planned| Plan {
                    question: attached.question,
                    ..planned
                }))
            }
            Err(error) => {
                let stale = guards::stale(
                    &before.graph_hash,
                    cx.guards.log().seen(&before.id.0),
                    update.expect_hash.as_deref(),
                );
                if matches!(stale, Decision::Deny { .. }) {
                    return Ok(Err(Outcome::Refused(stale))); // the likely reason that it does not fit
                }
                Ok(Err(Outcome::failed(
                    error.to_string(),
                    "edit",
                    "nothing was changed; correct this operation and send the whole list again",
                )))
            }
        }
    }
}
