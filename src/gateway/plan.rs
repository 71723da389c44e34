//! Mutations, before they happen: what a request would make of the workflow, on our copy, with the guards' decisions.
//! Nothing here reaches the backend's writing side.

use super::call::Reserved;
use super::content::{Outcome, backend_failure, counts, head};
use super::created::{built, fill_added_versions};
use super::guards::{self, deny};
use super::tools::{CreateWorkflow, Request, UpdateWorkflow};
use super::{CallContext, Gateway, GatewayError, untrusted};
use crate::backend::{BackendError, BackendErrorKind, Stored};
use crate::knowledge::NewLearning;
use crate::n8n::autofix::{self, Fixed};
use crate::n8n::diff::text_diff;
use crate::n8n::hash::graph_hash;
use crate::n8n::{Finding, Workflow, WorkflowId, edit};
use crate::policy::Decision;
use crate::store::SnapshotRef;
use crate::store::event::{Event, MutationExpectation};
use serde_json::{Map, Value, json};

/// What will be done.
pub(super) enum Plan {
    Create {
        id: Option<WorkflowId>,
        after: Workflow,
    },
    Replace {
        before: Box<Stored>,
        after: Workflow,
        /// Said in the answer besides what changed.
        notes: Map<String, Value>,
    },
    Delete(Box<Stored>),
    SetActive {
        id: WorkflowId,
        active: bool,
    },
    Trigger {
        id: WorkflowId,
        payload: Value,
    },
    WriteLearning(NewLearning),
}

pub(super) struct Planned {
    pub plan: Plan,
    /// The guards' decisions, with what each would ask.
    pub reserved: Vec<Reserved>,
    pub expect: Option<MutationExpectation>,
}

type Planning = Result<Result<Planned, Outcome>, GatewayError>;

impl Gateway {
    /// `exact` is the call itself, as approvals bind it. An inner Err is the call's result: nothing will be changed.
    pub(super) async fn plan(
        &self,
        cx: &mut CallContext<'_>,
        request: &Request,
        exact: &Value,
    ) -> Planning {
        match request {
            Request::CreateWorkflow(create) => self.plan_create(cx, create, exact).await,
            Request::UpdateWorkflow(update) => self.plan_update(cx, update, exact).await,
            Request::AutofixWorkflow(fix) => {
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
                let after = result.workflow;
                self.plan_replace(cx, before, after, fix.expect_hash.as_deref(), exact, notes)
            }
            Request::RollbackWorkflow(back) => {
                let before = match self.current(&back.workflow_id).await? {
                    Ok(stored) => stored,
                    Err(outcome) => return Ok(Err(outcome)),
                };
                self.plan_rollback(cx, before, back.snapshot.as_deref(), exact)
            }
            Request::DeleteWorkflow(delete) => {
                let before = match self.current(&delete.workflow_id).await? {
                    Ok(stored) => stored,
                    Err(outcome) => return Ok(Err(outcome)),
                };
                Ok(Ok(self.plan_delete(
                    cx,
                    before,
                    delete.expect_hash.as_deref(),
                    exact,
                )))
            }
            Request::ActivateWorkflow(_) | Request::DeactivateWorkflow(_)
                if !self.backend.can().activate =>
            {
                Ok(Err(self.unable("publish or unpublish workflows")))
            }
            Request::TriggerWorkflow(_) if !self.backend.can().execute => {
                Ok(Err(self.unable("execute workflows")))
            }
            Request::ActivateWorkflow(at) => self.plan_active(&at.workflow_id, true).await,
            Request::DeactivateWorkflow(at) => self.plan_active(&at.workflow_id, false).await,
            Request::TriggerWorkflow(trigger) => {
                let id = match self.current(&trigger.workflow_id).await? {
                    Ok(stored) => stored.id,
                    Err(outcome) => return Ok(Err(outcome)),
                };
                Ok(Ok(unguarded(Plan::Trigger {
                    id,
                    payload: Value::Object(trigger.payload.clone()),
                })))
            }
            Request::WriteLearning(entry) => {
                let date = cx.recorder.now().strftime("%Y-%m-%d").to_string();
                Ok(Ok(unguarded(Plan::WriteLearning(NewLearning {
                    date,
                    ..entry.clone().into_entry()
                }))))
            }
            _ => Ok(Err(Outcome::Refused(deny(
                "tools.unknown",
                "this call changes nothing, and was to be planned as a change",
            )))),
        }
    }

    /// Said before anybody is asked for permission: there is nothing to permit.
    fn unable(&self, what: &str) -> Outcome {
        let error = BackendError::unsupported(format!(
            "the {} backend cannot {what}: not executed",
            self.backend.name()
        ))
        .with_hint(
            "report it as not executed; import the file into n8n, or connect one, to run it",
        );
        Outcome::Failed(backend_failure(&error))
    }

    /// The workflow that a text of the model names, as the backend holds it now.
    pub(super) async fn current(
        &self,
        reference: &str,
    ) -> Result<Result<Stored, Outcome>, GatewayError> {
        let found = match self.backend.resolve(reference).await {
            Ok(id) => self.backend.get(&id).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(stored) => Ok(Ok(stored)),
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                Err(self.unavailable(error))
            }
            Err(error) => Ok(Err(Outcome::Failed(backend_failure(&error)))),
        }
    }

    async fn plan_create(
        &self,
        cx: &mut CallContext<'_>,
        create: &CreateWorkflow,
        exact: &Value,
    ) -> Planning {
        let after = match built(create, self.catalog, &mut || cx.recorder.new_id()) {
            Ok(after) => after,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let id = match self.backend.reserve(&create.name).await {
            Ok(id) => id,
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                return Err(self.unavailable(error));
            }
            Err(error) => return Ok(Err(Outcome::Failed(backend_failure(&error)))),
        };
        let expect = MutationExpectation {
            workflow_id: id.as_ref().map(|id| id.0.clone()),
            before: None,
            after: Some(graph_hash(&after)),
            diff: None,
        };
        let reserved = vec![Reserved {
            decision: guards::credentials(None, &after),
            what: format!("create {:?} with credentials", create.name),
            subject: exact.clone(),
            recommended: None,
        }];
        Ok(Ok(Planned {
            plan: Plan::Create { id, after },
            reserved,
            expect: Some(expect),
        }))
    }

    async fn plan_update(
        &self,
        cx: &mut CallContext<'_>,
        update: &UpdateWorkflow,
        exact: &Value,
    ) -> Planning {
        let before = match self.current(&update.workflow_id).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let edited = edit::apply(&before.workflow, &update.ops, &mut || cx.recorder.new_id());
        match edited {
            Ok(mut after) => {
                fill_added_versions(&before.workflow, &mut after, self.catalog);
                let expected = update.expect_hash.as_deref();
                self.plan_replace(cx, before, after, expected, exact, Map::new())
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

    fn plan_replace(
        &self,
        cx: &mut CallContext<'_>,
        before: Stored,
        after: Workflow,
        expected: Option<&str>,
        exact: &Value,
        notes: Map<String, Value>,
    ) -> Planning {
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
        if let Some(entries) = cx.guards.edit_scope().map(<[String]>::to_vec) {
            let base = self.scope_base(cx, &before)?;
            reserved.push(reserve(
                guards::edit_scope(
                    &entries,
                    base.as_ref().unwrap_or(&before.workflow),
                    &before.workflow,
                    &after,
                ),
                &before,
                "edit",
                exact,
            ));
        }
        reserved.push(reserve(
            guards::credentials(Some(&before.workflow), &after),
            &before,
            "change credentials in",
            exact,
        ));
        self.plan_write(cx, before, after, exact, notes, reserved)
    }

    /// The guards of every write over an existing workflow, whatever led to it.
    fn plan_write(
        &self,
        cx: &mut CallContext<'_>,
        before: Stored,
        after: Workflow,
        exact: &Value,
        notes: Map<String, Value>,
        mut reserved: Vec<Reserved>,
    ) -> Planning {
        if !cx.guards.owns(&before.id) {
            let base = cx.guards.wipe_base(&before.id).cloned();
            let base = match base {
                Some(mark) => self.snapshot_of(cx, &mark.file)?,
                None => None,
            };
            let base = base.as_ref().unwrap_or(&before.workflow);
            reserved.push(reserve(
                guards::wipe(base, &after),
                &before,
                "take most of the nodes out of",
                exact,
            ));
        }
        reserved.push(self.publish_reserve(&before));
        let expect = MutationExpectation {
            workflow_id: Some(before.id.0.clone()),
            before: Some(before.graph_hash.clone()),
            after: Some(graph_hash(&after)),
            diff: Some(self.shown_diff(&before.workflow, &after)),
        };
        Ok(Ok(Planned {
            plan: Plan::Replace {
                before: Box::new(before),
                after,
                notes,
            },
            reserved,
            expect: Some(expect),
        }))
    }

    /// What the user sees before the change is written.
    fn shown_diff(&self, before: &Workflow, after: &Workflow) -> String {
        let diff = self.redactor.text(&text_diff(before, after));
        untrusted::text(&diff).into_owned()
    }

    /// Bound to the workflow, not to the call: the user is asked once in a run.
    fn publish_reserve(&self, before: &Stored) -> Reserved {
        Reserved {
            decision: guards::publish(before.active, false, before.workflow.name()),
            what: format!("change the active workflow {:?}", before.workflow.name()),
            subject: json!({"workflow": before.id}),
            // Where nothing is published by the write itself, `--yes` may go on.
            recommended: (!self.backend.can().activate).then(|| json!("approve")),
        }
    }

    fn plan_rollback(
        &self,
        cx: &mut CallContext<'_>,
        before: Stored,
        snapshot: Option<&str>,
        exact: &Value,
    ) -> Planning {
        let marks = cx.guards.snapshots(&before.id);
        let mark = match snapshot {
            Some(file) => marks.iter().find(|mark| mark.file == file),
            None => marks.last(),
        };
        let Some(mark) = mark.cloned() else {
            let known: Vec<&str> = marks.iter().map(|mark| mark.file.as_str()).collect();
            let error = match snapshot {
                Some(file) => format!("this run took no snapshot {file:?} of `{}`", before.id),
                None => format!("this run took no snapshot of `{}`", before.id),
            };
            return Ok(Err(Outcome::failed(
                error,
                "snapshot",
                &format!("this run's snapshots of it: {}", known.join(", ")),
            )));
        };
        let Some(after) = self.snapshot_of(cx, &mark.file)? else {
            return Ok(Err(Outcome::failed(
                format!("the snapshot {:?} cannot be read as a workflow", mark.file),
                "snapshot",
                "name another snapshot",
            )));
        };
        let stale = guards::stale(&before.graph_hash, cx.guards.seen(&before.id), None);
        let reserved = vec![reserve(stale, &before, "roll back", exact)];
        let notes = Map::from_iter([("rolled_back_to".to_owned(), json!(mark.file))]);
        self.plan_write(cx, before, after, exact, notes, reserved)
    }

    fn plan_delete(
        &self,
        cx: &CallContext<'_>,
        before: Stored,
        expected: Option<&str>,
        exact: &Value,
    ) -> Planned {
        let stale = guards::stale(&before.graph_hash, cx.guards.seen(&before.id), expected);
        let owner = guards::owner(cx.guards.owns(&before.id), before.workflow.name());
        let reserved = vec![
            reserve(stale, &before, "delete", exact),
            reserve(owner, &before, "delete", exact),
            self.publish_reserve(&before),
        ];
        let expect = MutationExpectation {
            workflow_id: Some(before.id.0.clone()),
            before: Some(before.graph_hash.clone()),
            after: None,
            diff: None,
        };
        Planned {
            plan: Plan::Delete(Box::new(before)),
            reserved,
            expect: Some(expect),
        }
    }

    async fn plan_active(&self, reference: &str, active: bool) -> Planning {
        Ok(match self.current(reference).await? {
            Ok(stored) => Ok(unguarded(Plan::SetActive {
                id: stored.id,
                active,
            })),
            Err(outcome) => Err(outcome),
        })
    }

    /// The workflow with every certain fix applied that stays in the edit scope.
    fn fixed(
        &self,
        cx: &mut CallContext<'_>,
        before: &Stored,
        only: Option<&[String]>,
    ) -> Result<Fixed, GatewayError> {
        let scope = cx.guards.edit_scope().map(<[String]>::to_vec);
        let base = self.scope_base(cx, before)?;
        let allowed = |after: &Workflow| {
            scope.as_ref().is_none_or(|entries| {
                let given_on = base.as_ref().unwrap_or(&before.workflow);
                let decision = guards::edit_scope(entries, given_on, &before.workflow, after);
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

    /// The workflow as it was when the scope of this fix cycle was given, if it has been changed since.
    fn scope_base(
        &self,
        cx: &mut CallContext<'_>,
        before: &Stored,
    ) -> Result<Option<Workflow>, GatewayError> {
        match cx.guards.scope_base(&before.id).cloned() {
            Some(mark) => self.snapshot_of(cx, &mark.file),
            None => Ok(None),
        }
    }

    /// A snapshot of this run as a workflow; None when its text is none.
    fn snapshot_of(
        &self,
        cx: &mut CallContext<'_>,
        file: &str,
    ) -> Result<Option<Workflow>, GatewayError> {
        let text = cx.recorder.load_snapshot(file)?;
        Ok(serde_json::from_str(&text).ok())
    }

    /// Writes the state before the change to disk and journals it. A failure stops the run: no change without its snapshot.
    pub(super) fn snapshot(
        &self,
        cx: &mut CallContext<'_>,
        plan: &Plan,
    ) -> Result<Option<SnapshotRef>, GatewayError> {
        let before = match plan {
            Plan::Replace { before, .. } | Plan::Delete(before) => before,
            _ => return Ok(None),
        };
        let taken = cx
            .recorder
            .snapshot(&before.id, &before.workflow, &before.graph_hash)?;
        cx.record(
            Event::SnapshotTaken {
                workflow_id: before.id.0.clone(),
                file: taken.file.clone(),
                graph_hash: before.graph_hash.clone(),
                node_count: before.workflow.nodes.len(),
            },
            false, // the file is on the disk; the durable intent that follows takes this line with it
        )?;
        Ok(Some(taken))
    }
}

fn unguarded(plan: Plan) -> Planned {
    Planned {
        plan,
        reserved: Vec::new(),
        expect: None,
    }
}

/// Bound to the exact call on the workflow as it is now.
fn reserve(decision: Decision, before: &Stored, verb: &str, exact: &Value) -> Reserved {
    Reserved {
        decision,
        what: format!("{verb} the workflow {:?}", before.workflow.name()),
        subject: json!({"call": exact, "workflow": before.id, "graph": before.graph_hash}),
        recommended: None,
    }
}
