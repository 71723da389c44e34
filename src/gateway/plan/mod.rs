//! Mutations, before they happen: what a request would make of the workflow, on our copy, with the guards' decisions.
//! Nothing here reaches the backend's writing side.

mod base;
mod create;
mod past;
mod withdraw;
mod write;

pub(super) use base::{allowed_a_wipe, start_of};
pub(super) use past::GivenScope;
pub(super) use withdraw::emptied;
pub(super) use write::Write;

use super::call::Reserved;
use super::content::{Outcome, backend_failure};
use super::created::trigger_call;
use super::guards::deny;
use super::rehearse::Rehearse;
use super::tools::Request;
use super::{CallContext, Gateway, GatewayError};
use agentctl_base::decision::Decision;
use agentctl_base::question::Question;
use agentctl_engine::store::event::{CreateMark, MutationExpectation};
use agentctl_knowledge::NewLearning;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::{BackendError, BackendErrorKind, Stored, TriggerCall};
use serde_json::{Map, Value, json};

/// What will be done.
pub(super) enum Plan {
    Create {
        id: Option<WorkflowId>,
        after: Workflow,
        /// The graph hash of `after`.
        meant: String,
        /// Where the backend chooses the id.
        mark: Option<CreateMark>,
        /// Which credentials were taken, and which are missing.
        accounts: Vec<Value>,
    },
    Replace {
        before: Box<Stored>,
        after: Workflow,
        meant: String,
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
    /// What the user has to choose before, when everything is allowed.
    pub question: Option<Box<Question>>,
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
            Request::AutofixWorkflow(fix) => self.plan_autofix(cx, fix, exact).await,
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
        question: None,
    }
}

pub(super) fn reserve(decision: Decision, before: &Stored, verb: &str, exact: &Value) -> Reserved {
    Reserved::new(decision, || {
        let what = format!("{verb} the workflow {:?}", before.workflow.name());
        (what, bound(exact, before))
    })
}
