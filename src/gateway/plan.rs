//! Mutations, before they happen: what a request would make of the workflow, on our copy, with the guards' decisions.
//! Nothing here reaches the backend's writing side.

use super::call::Reserved;
use super::content::{Outcome, backend_failure, counts, head};
use super::created::{built, fill_added_versions, trigger_call};
use super::guards::{self, deny};
use super::rehearse::Rehearse;
use super::tools::{CreateWorkflow, Request, UpdateWorkflow};
use super::{CallContext, Gateway, GatewayError};
use crate::backend::{BackendError, BackendErrorKind, Stored, TriggerCall};
use crate::knowledge::NewLearning;
use crate::n8n::autofix::{self, Fixed};
use crate::n8n::catalog::Lookup;
use crate::n8n::hash::graph_hash;
use crate::n8n::{Finding, Node, Workflow, WorkflowId, edit};
use crate::policy::Decision;
use crate::store::SnapshotRef;
use crate::store::event::{Event, MutationExpectation};
use serde_json::{Map, Value, json};

/// What will be done.
pub(super) enum Plan {
    Create {
        id: Option<WorkflowId>,
        after: Workflow,
        /// Which credentials were taken, and which are missing.
        accounts: Vec<Value>,
    },
    Replace {
        before: Box<Stored>,
        after: Workflow,
        /// Said in the answer besides what changed.
        notes: Map<String, Value>,
        /// The scope that the change was judged by: what is read back is judged by it again.
        scope: Option<GivenScope>,
    },
    Delete(Box<Stored>),
    SetActive {
        at: Box<Stored>,
        active: bool,
    },
    Trigger {
        at: Box<Stored>,
        call: TriggerCall,
    },
    Rehearse(Box<Rehearse>),
    WriteLearning(NewLearning),
}

impl Plan {
    /// The workflow that is there already and that this is about.
    pub fn target(&self) -> Option<&Stored> {
        match self {
            Plan::Replace { before, .. } | Plan::Delete(before) => Some(before),
            Plan::SetActive { at, .. } | Plan::Trigger { at, .. } => Some(at),
            Plan::Rehearse(test) => Some(&test.at),
            Plan::Create { .. } | Plan::WriteLearning(_) => None,
        }
    }
}

pub(super) struct Planned {
    pub plan: Plan,
    /// The guards' decisions, with what each would ask.
    pub reserved: Vec<Reserved>,
    pub expect: Option<MutationExpectation>,
}

pub(super) type Planning = Result<Result<Planned, Outcome>, GatewayError>;

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
                self.plan_delete(cx, before, delete.expect_hash.as_deref(), exact)
            }
            Request::ActivateWorkflow(_) | Request::DeactivateWorkflow(_)
                if !self.backend.can().activate =>
            {
                Ok(Err(self.unable("publish or unpublish workflows")))
            }
            Request::RehearseWorkflow(_)
                if !(self.backend.can().execute && self.backend.can().activate) =>
            {
                Ok(Err(self.unable("execute workflows")))
            }
            Request::RehearseWorkflow(test) => self.plan_rehearsal(cx, test, exact).await,
            Request::TriggerWorkflow(_) if !self.backend.can().execute => {
                Ok(Err(self.unable("execute workflows")))
            }
            Request::ActivateWorkflow(at) => {
                self.plan_active(cx, &at.workflow_id, true, exact).await
            }
            Request::DeactivateWorkflow(at) => {
                self.plan_active(cx, &at.workflow_id, false, exact).await
            }
            Request::TriggerWorkflow(trigger) => {
                let at = match self.current(&trigger.workflow_id).await? {
                    Ok(stored) => Box::new(stored),
                    Err(outcome) => return Ok(Err(outcome)),
                };
                match trigger_call(&at.workflow, trigger) {
                    Ok(call) => Ok(Ok(unguarded(Plan::Trigger { at, call }))),
                    Err(outcome) => Ok(Err(outcome)),
                }
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
        let mut after = match built(create, self.catalog, &mut || cx.recorder.new_id()) {
            Ok(after) => after,
            Err(outcome) => return Ok(Err(outcome)),
        };
        // What the caller names is the user's to allow; what the program takes by type is not.
        let named = guards::credentials(None, &after);
        let accounts = self.attach(None, &mut after).await?;
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
            rehearsal: None,
        };
        let reserve = |decision, what: &str| Reserved {
            decision,
            what: format!("create {:?}{what}", create.name),
            subject: exact.clone(),
            recommended: None,
        };
        let mut reserved = vec![reserve(named, " with credentials")];
        // In a fix cycle a second workflow would be a way round the scope.
        if let Some(entries) = cx.guards.edit_scope().filter(|_| cx.guards.has_worked()) {
            let none = Workflow::empty("");
            reserved.push(reserve(
                guards::edit_scope(entries, &none, &none, &after),
                "",
            ));
        }
        Ok(Ok(Planned {
            plan: Plan::Create {
                id,
                after,
                accounts,
            },
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
        let scope = self.given_scope(cx, &before)?;
        if let Some(scope) = &scope {
            let decision = scope.judge(&before.workflow, &after);
            reserved.push(reserve(decision, &before, "edit", exact));
        }
        reserved.push(reserve(
            guards::credentials(Some(&before.workflow), &after),
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
    fn plan_write(
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
        if !cx.guards.owns(&before.id) {
            let base = cx.guards.wipe_base(&before.id).cloned();
            let base = match base {
                Some(mark) => self.snapshot_of(cx, &mark.file)?,
                None => None,
            };
            let base = base.as_ref().unwrap_or(&before.workflow);
            reserved.push(reserve(
                guards::wipe(base, &after, &|node| self.may_start(node)),
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
            rehearsal: None,
        };
        Ok(Ok(Planned {
            plan: Plan::Replace {
                before: Box::new(before),
                after,
                notes,
                scope,
            },
            reserved,
            expect: Some(expect),
        }))
    }

    /// A trigger; a type that nobody knows may be one.
    fn may_start(&self, node: &Node) -> bool {
        match self.catalog.lookup(node.node_type(), None) {
            Lookup::Known(description) => description.trigger_like,
            _ => true,
        }
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
        let write = Write {
            after,
            notes,
            scope: None, // the way out of a bad fix
        };
        self.plan_write(cx, before, write, exact, reserved)
    }

    fn plan_delete(
        &self,
        cx: &mut CallContext<'_>,
        before: Stored,
        expected: Option<&str>,
        exact: &Value,
    ) -> Planning {
        let stale = guards::stale(&before.graph_hash, cx.guards.seen(&before.id), expected);
        let owner = guards::owner(cx.guards.owns(&before.id), before.workflow.name());
        let mut reserved = vec![reserve(stale, &before, "delete", exact)];
        if let Some(scope) = self.given_scope(cx, &before)? {
            let decision = scope.judge(&before.workflow, &emptied(&before.workflow));
            reserved.push(reserve(decision, &before, "delete", exact));
        }
        reserved.push(reserve(owner, &before, "delete", exact));
        reserved.push(self.publish_reserve(&before));
        let expect = MutationExpectation {
            workflow_id: Some(before.id.0.clone()),
            before: Some(before.graph_hash.clone()),
            after: None,
            diff: None,
            rehearsal: None,
        };
        Ok(Ok(Planned {
            plan: Plan::Delete(Box::new(before)),
            reserved,
            expect: Some(expect),
        }))
    }

    /// Publishing is the policy's to allow; taking somebody else's workflow out of service is asked like deleting it.
    async fn plan_active(
        &self,
        cx: &mut CallContext<'_>,
        reference: &str,
        active: bool,
        exact: &Value,
    ) -> Planning {
        let at = match self.current(reference).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let mut reserved = Vec::new();
        if !active {
            let owner = guards::owner(cx.guards.owns(&at.id), at.workflow.name());
            reserved.push(reserve(owner, &at, "unpublish", exact));
        }
        Ok(Ok(Planned {
            plan: Plan::SetActive {
                at: Box::new(at),
                active,
            },
            reserved,
            expect: None,
        }))
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

    /// The scope of this fix cycle, with the workflow as it was when the scope was given.
    fn given_scope(
        &self,
        cx: &mut CallContext<'_>,
        before: &Stored,
    ) -> Result<Option<GivenScope>, GatewayError> {
        let Some(entries) = cx.guards.edit_scope().map(<[String]>::to_vec) else {
            return Ok(None);
        };
        let changed_since = match cx.guards.scope_base(&before.id).cloned() {
            Some(mark) => self.snapshot_of(cx, &mark.file)?,
            None => None,
        };
        let given_on = changed_since.unwrap_or_else(|| before.workflow.clone());
        Ok(Some(GivenScope { entries, given_on }))
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

/// A scope, and the workflow whose nodes its entries name.
pub(super) struct GivenScope {
    entries: Vec<String>,
    given_on: Workflow,
}

impl GivenScope {
    pub fn judge(&self, before: &Workflow, after: &Workflow) -> Decision {
        guards::edit_scope(&self.entries, &self.given_on, before, after)
    }
}

/// A write over a workflow that is there.
struct Write {
    after: Workflow,
    notes: Map<String, Value>,
    scope: Option<GivenScope>,
}

/// The document without its graph.
pub(super) fn emptied(workflow: &Workflow) -> Workflow {
    Workflow {
        head: workflow.head.clone(),
        ..Workflow::empty("")
    }
}

/// An approval's subject: the exact call on the workflow as it is now.
pub(super) fn bound(exact: &Value, at: &Stored) -> Value {
    json!({"call": exact, "workflow": at.id, "graph": at.graph_hash})
}

fn unguarded(plan: Plan) -> Planned {
    Planned {
        plan,
        reserved: Vec::new(),
        expect: None,
    }
}

pub(super) fn reserve(decision: Decision, before: &Stored, verb: &str, exact: &Value) -> Reserved {
    Reserved {
        decision,
        what: format!("{verb} the workflow {:?}", before.workflow.name()),
        subject: bound(exact, before),
        recommended: None,
    }
}
