//! A new state of a workflow that is there.

use super::{GivenScope, Plan, Planned, Planning, reserve};
use crate::gateway::call::Reserved;
use crate::gateway::content::{Outcome, counts, head};
use crate::gateway::created::fill_added_versions;
use crate::gateway::guards;
use crate::gateway::tools::{AutofixWorkflow, UpdateWorkflow};
use crate::gateway::{CallContext, Gateway, GatewayError};
use agentctl_base::decision::Decision;
use agentctl_engine::store::event::MutationExpectation;
use agentctl_n8n::autofix::{self, Fixed};
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::rehearsal::{Effect, Ground, effect};
use agentctl_n8n::{Finding, Node, Workflow, edit};
use agentctl_n8n_tools::backend::Stored;
use serde_json::{Map, Value, json};

/// A write over a workflow that is there.
pub(in crate::gateway) struct Write {
    pub after: Workflow,
    pub notes: Map<String, Value>,
    pub scope: Option<GivenScope>,
}

/// What an edit makes of a workflow.
struct Edited {
    after: Workflow,
    /// Said in the answer besides what changed.
    notes: Map<String, Value>,
    /// What the caller does to credentials; what the program takes by type is not the caller's doing.
    credentials: Decision,
}

impl Gateway {
    pub(super) async fn plan_update(
        &self,
        cx: &mut CallContext<'_>,
        update: &UpdateWorkflow,
        exact: &Value,
    ) -> Planning {
        let before = match self.current(&update.workflow_id).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        if let Some(refused) = self.searched_hidden(&before.workflow, &update.ops) {
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
                Ok(planned.map(|planned| Planned {
                    question: attached.question,
                    ..planned
                }))
            }
            Err(error) => {
                let stale = guards::stale(
                    &before.graph_hash,
                    cx.guards.seen(&before.id),
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

    pub(super) async fn plan_autofix(
        &self,
        cx: &mut CallContext<'_>,
        fix: &AutofixWorkflow,
        exact: &Value,
    ) -> Planning {
        let before = match self.current(&fix.workflow_id).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let only = fix.finding_ids.as_deref();
        let result = self.fixed(cx, &before, only)?;
        let (errors, warnings, _) = counts(&result.left);
        let left = json!({"error_count": errors, "warning_count": warnings});
        let ids = |list: &[&Finding]| json!(list.iter().map(|f| &f.id).collect::<Vec<_>>());
        let fixed: Vec<&Finding> = result.fixed.iter().collect();
        let mut notes =
            Map::from_iter([("fixed".to_owned(), ids(&fixed)), ("left".to_owned(), left)]);
        // Certain, and yet not done: outside the edit scope, or it would have made something worse.
        let not_applied: Vec<&Finding> = result
            .left
            .iter()
            .filter(|f| autofix::is_sure(f) && only.is_none_or(|ids| ids.contains(&f.id)))
            .collect();
        if !not_applied.is_empty() {
            notes.insert("not_applied".to_owned(), ids(&not_applied));
        }
        let edited = Edited {
            credentials: guards::credentials(Some(&before.workflow), &result.workflow),
            after: result.workflow,
            notes,
        };
        self.plan_replace(cx, before, edited, fix.expect_hash.as_deref(), exact)
    }

    /// The workflow with every certain fix applied that stays in the edit scope.
    fn fixed(
        &self,
        cx: &mut CallContext<'_>,
        before: &Stored,
        only: Option<&[String]>,
    ) -> Result<Fixed, GatewayError> {
        let scope = self.given_scope(cx, before)?;
        let allowed = |after: &Workflow| {
            scope.as_ref().is_none_or(|scope| {
                let decision = scope.judge(&before.workflow, after);
                !matches!(decision, Decision::Deny { .. })
            })
        };
        let rules = autofix::Rules {
            check: &|workflow| self.findings(workflow),
            wanted: &|finding| only.is_none_or(|ids| ids.contains(&finding.id)),
            allowed: &allowed,
        };
        Ok(autofix::fix(&before.workflow, &rules, &mut || {
            cx.recorder.new_id()
        }))
    }

    fn plan_replace(
        &self,
        cx: &mut CallContext<'_>,
        before: Stored,
        edited: Edited,
        expected: Option<&str>,
        exact: &Value,
    ) -> Planning {
        let Edited {
            after,
            notes,
            credentials,
        } = edited;
        let mut reserved = vec![reserve(
            guards::stale(&before.graph_hash, cx.guards.seen(&before.id), expected),
            &before,
            "write",
            exact,
        )];
        if after == before.workflow {
            if let Some(Decision::Deny { .. }) = reserved.first().map(|r| &r.decision) {
                return Ok(Err(Outcome::Refused(reserved.remove(0).decision)));
            }
            let mut content = head(&before);
            content.insert("changed".into(), Value::Bool(false));
            content.extend(notes);
            return Ok(Err(Outcome::Ok(Value::Object(content))));
        }
        let scope = self.given_scope(cx, &before)?;
        if let Some(scope) = &scope {
            let decision = scope.judge(&before.workflow, &after);
            reserved.push(reserve(decision, &before, "edit", exact));
            let stays = |node: &Node| effect(node, &Ground::default()) == Effect::Inside;
            let decision = scope.judge_data(&before.workflow, &after, &stays);
            let what = "let data from outside the scope into";
            reserved.push(reserve(decision, &before, what, exact));
        }
        reserved.push(reserve(
            credentials,
            &before,
            "change credentials in",
            exact,
        ));
        let write = Write {
            after,
            notes,
            scope,
        };
        self.plan_write(cx, before, write, exact, reserved)
    }

    /// The guards of every write over an existing workflow, whatever led to it.
    pub(in crate::gateway) fn plan_write(
        &self,
        cx: &mut CallContext<'_>,
        before: Stored,
        write: Write,
        exact: &Value,
        mut reserved: Vec<Reserved>,
    ) -> Planning {
        let Write {
            after,
            notes,
            scope,
        } = write;
        let losses = match self.losses(cx, &before, &after)? {
            Ok(losses) => losses,
            Err(refused) => return Ok(Err(refused)),
        };
        let counted = losses.map(|judged| {
            let reserve = reserve(judged.decision, &before, judged.what, exact);
            reserved.push(reserve);
            judged.counted
        });
        reserved.push(self.publish_reserve(&before));
        let meant = graph_hash(&after);
        let expect = MutationExpectation {
            workflow_id: Some(before.id.0.clone()),
            before: Some(before.graph_hash.clone()),
            after: Some(meant.clone()),
            diff: Some(self.shown_diff(&before.workflow, &after)),
            rehearsal: None,
            created: None,
            counted,
        };
        Ok(Ok(Planned {
            plan: Plan::Replace {
                before: Box::new(before),
                after,
                meant,
                notes,
                scope,
            },
            reserved,
            expect: Some(expect),
            question: None,
        }))
    }

    /// Bound to the workflow, not to the call: the user is asked once in a run.
    pub(super) fn publish_reserve(&self, before: &Stored) -> Reserved {
        let name = before.workflow.name();
        Reserved {
            // Where nothing is published by the write itself, `--yes` may go on.
            recommended: (!self.backend.can().activate).then(|| json!("approve")),
            ..Reserved::new(guards::publish(before.active, false, name), || {
                let what = format!("change the active workflow {name:?}");
                (what, json!({"workflow": before.id}))
            })
        }
    }
}
