//! `activate_workflow`, and what its counterpart shares with it. Publishing is the policy's to allow; taking somebody else's workflow
//! out of service is asked like deleting it.

use super::n8n::{N8n, mark, reserve};
use super::shown::{difference, emptied};
use crate::arguments::{arguments, workflow_id};
use crate::backend::Stored;
use crate::capability as can;
use crate::guards;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::redact::Redactor;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::toolset::{
    Act, Change, Cx, Head, Keep, Outcome, Performed, Plan, Planning, Touches,
};
use serde_json::{Value, json};
use std::sync::Arc;

arguments! {
    ActivateWorkflow {
        required workflow_id: String = workflow_id();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<ActivateWorkflow>(Head {
        repeatable: true,
        destructive: true,
        open_world: true,
        ..Head::new(
            "activate_workflow",
            can::ACTIVATE_WORKFLOW,
            "Publish a workflow, so that its trigger fires. Returns the state as read back.",
            ActivateWorkflow::schema,
        )
    })
}

impl Change for On<N8n, ActivateWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(self.on.plan_active(cx, &self.args.workflow_id, true, exact))
    }
}

/// A workflow that a command of the user's publishes or takes out of service.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    pub workflow_id: String,
    pub active: bool,
}

impl Published {
    /// What the journal calls it; no tool has this name.
    pub fn name(&self) -> &'static str {
        match self.active {
            true => "publish_workflow",
            false => "unpublish_workflow",
        }
    }

    /// As the journal has it.
    pub fn arguments(&self) -> Value {
        json!({"workflow_id": self.workflow_id})
    }

    pub fn on(self, n8n: &Arc<N8n>) -> Box<dyn Change> {
        Box::new(Publishing {
            n8n: Arc::clone(n8n),
            asked: self,
        })
    }
}

struct Publishing {
    n8n: Arc<N8n>,
    asked: Published,
}

impl Change for Publishing {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let Published {
                workflow_id,
                active,
            } = &self.asked;
            let at = match self.n8n.current(workflow_id).await? {
                Ok(stored) => stored,
                Err(outcome) => return Ok(Err(outcome)),
            };
            // For an agent the policy asks; nobody decides here but the person.
            let live = guards::goes_live(at.workflow.name());
            let live = active.then(|| reserve(live, &at, "publish", exact));
            let mut planned = self.n8n.plan_active_of(cx, at, *active, exact);
            if let Ok(plan) = &mut planned {
                plan.reserved.extend(live);
            }
            Ok(planned)
        })
    }
}

struct SetActive {
    n8n: Arc<N8n>,
    at: Stored,
    active: bool,
}

impl Act for SetActive {
    /// Its document stays.
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn touches(&self) -> Touches {
        Touches::Existing(mark(&self.at))
    }
    fn diff(&self, redactor: &Redactor) -> Option<String> {
        let state = |active: bool| {
            let mut workflow = emptied(&self.at.workflow);
            workflow.head.insert("active".into(), json!(active));
            workflow
        };
        Some(difference(
            redactor,
            &state(self.at.active),
            &state(self.active),
        ))
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(async {
            let (n8n, id) = (&self.n8n, &self.at.id);
            // What would be published is what was looked at.
            if let Some(refused) = n8n.moved_on(&self.at).await {
                return (refused, None);
            }
            let said = n8n.backend.set_active(id, self.active).await;
            (n8n.published(id, self.active, said.err()).await, None)
        })
    }
}

impl N8n {
    pub(super) async fn plan_active(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        reference: &str,
        active: bool,
        exact: &Value,
    ) -> Planning {
        Ok(match self.current(reference).await? {
            Ok(at) => self.plan_active_of(cx, at, active, exact),
            Err(outcome) => Err(outcome),
        })
    }

    fn plan_active_of(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        at: Stored,
        active: bool,
        exact: &Value,
    ) -> Result<Plan, Outcome> {
        if !self.backend.can().activate {
            return Err(self.unable("publish or unpublish workflows"));
        }
        let mut reserved = Vec::new();
        if !active {
            let own = cx.guards.log().owns(&at.id.0, &at.graph_hash);
            let owner = guards::owner(own, at.workflow.name());
            reserved.push(reserve(owner, &at, "unpublish", exact));
        }
        let act = SetActive {
            n8n: Arc::clone(self),
            at,
            active,
        };
        Ok(Plan {
            reserved,
            ..Plan::unguarded(Box::new(act))
        })
    }
}
