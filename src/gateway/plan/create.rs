//! A workflow that is not there yet.

use super::{Plan, Planned, Planning};
use crate::gateway::call::Reserved;
use crate::gateway::content::{Outcome, backend_failure};
use crate::gateway::created::built;
use crate::gateway::guards;
use crate::gateway::tools::CreateWorkflow;
use crate::gateway::{CallContext, Gateway};
use agentctl_engine::store::event::MutationExpectation;
use agentctl_n8n::Workflow;
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n_tools::backend::{BackendError, BackendErrorKind};
use serde_json::Value;

impl Gateway {
    pub(super) async fn plan_create(
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
        let attached = self.attach(cx, None, &mut after, exact).await?;
        let reserve = |decision, with: &str| {
            let what = || format!("create {:?}{with}", create.name);
            Reserved::new(decision, || (what(), exact.clone()))
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
        let created = self.creation(after, attached.told).await?;
        Ok(created.map(|planned| Planned {
            reserved,
            question: attached.question,
            ..planned
        }))
    }

    /// Where the document would be made and what it will be known by, with no guard's decision yet. `accounts`: which
    /// credentials were taken, and which are missing.
    pub(in crate::gateway) async fn creation(
        &self,
        after: Workflow,
        accounts: Vec<Value>,
    ) -> Planning {
        let place = async {
            let id = self.backend.reserve(after.name()).await?;
            let mark = match &id {
                Some(_) => None,
                None => Some(self.create_mark(&after).await?),
            };
            Ok::<_, BackendError>((id, mark))
        };
        let (id, mark) = match place.await {
            Ok(place) => place,
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                return Err(self.unavailable(error));
            }
            Err(error) => return Ok(Err(Outcome::Failed(backend_failure(&error)))),
        };
        let meant = graph_hash(&after);
        Ok(Ok(Planned {
            expect: Some(MutationExpectation {
                workflow_id: id.as_ref().map(|id| id.0.clone()),
                before: None,
                after: Some(meant.clone()),
                diff: None,
                rehearsal: None,
                created: mark.clone(),
                counted: None,
            }),
            plan: Plan::Create {
                id,
                after,
                meant,
                mark,
                accounts,
            },
            reserved: Vec::new(),
            question: None,
        }))
    }
}
