//! `delete_workflow`.

use super::n8n::{N8n, mark, reserve, resource};
use super::shown::{difference, emptied};
use crate::arguments::{arguments, expect_hash, workflow_id};
use crate::backend::Stored;
use crate::capability as can;
use crate::guards;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::redact::Redactor;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::store::event::MutationExpectation;
use agentctl_engine::toolset::{Act, Change, Cx, Head, Keep, Performed, Plan, Planning, Touches};
use serde_json::Value;
use std::sync::Arc;

arguments! {
    DeleteWorkflow {
        required workflow_id: String = workflow_id();
        optional expect_hash: Option<String> = expect_hash();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<DeleteWorkflow>(Head {
        makes_or_deletes: true,
        destructive: true,
        ..Head::new(
            "delete_workflow",
            can::DELETE_WORKFLOW,
            "Delete a workflow. One that this run did not create is deleted only with the user's word.",
            DeleteWorkflow::schema,
        )
    })
}

impl Change for On<N8n, DeleteWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let n8n = &self.on;
            match n8n.current(&self.args.workflow_id).await? {
                Ok(before) => n8n.plan_delete(cx, before, self.args.expect_hash.as_deref(), exact),
                Err(outcome) => Ok(Err(outcome)),
            }
        })
    }
}

struct Delete {
    n8n: Arc<N8n>,
    before: Stored,
}

impl Act for Delete {
    fn touches(&self) -> Touches {
        Touches::Deleted(mark(&self.before))
    }
    fn diff(&self, redactor: &Redactor) -> Option<String> {
        let before = &self.before.workflow;
        Some(difference(redactor, before, &emptied(before)))
    }
    fn keep(&self) -> Option<Keep> {
        Some(Keep {
            mark: mark(&self.before),
            text: self.before.workflow.to_text(),
        })
    }
    fn perform<'a>(&'a mut self, snapshot: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(self.n8n.remove(&self.before, snapshot))
    }
}

impl N8n {
    fn plan_delete(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        before: Stored,
        expected: Option<&str>,
        exact: &Value,
    ) -> Planning {
        let stale = guards::stale(
            &before.graph_hash,
            cx.guards.log().seen(&before.id.0),
            expected,
        );
        let own = cx.guards.log().owns(&before.id.0, &before.graph_hash);
        let owner = guards::owner(own, before.workflow.name());
        let mut reserved = vec![reserve(stale, &before, "delete", exact)];
        if let Some(scope) = self.given_scope(cx, &before)? {
            let decision = scope.judge(&before.workflow, &emptied(&before.workflow));
            reserved.push(reserve(decision, &before, "delete", exact));
        }
        reserved.push(reserve(owner, &before, "delete", exact));
        reserved.push(self.publish_reserve(cx, &before));
        let expect = MutationExpectation {
            resource: Some(resource(&before.id)),
            before: Some(before.graph_hash.clone()),
            ..MutationExpectation::default()
        };
        let act = Delete {
            n8n: Arc::clone(self),
            before,
        };
        Ok(Ok(Plan {
            act: Box::new(act),
            reserved,
            expect: Some(expect),
            question: None,
        }))
    }
}
