//! `list_executions`: what ran, newest first.

use super::n8n::N8n;
use crate::arguments::{arguments, limit, most, text, workflow_id};
use crate::backend::ExecutionQuery;
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use serde_json::json;

arguments! {
    ListExecutions {
        optional workflow_id: Option<String> = workflow_id();
        /// Only those that ended so: success, error, waiting, …
        optional status: Option<String> = text("only those that ended so: success, error, waiting, canceled, crashed");
        optional limit: Option<usize> = limit();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<ListExecutions>(Head::new(
        "list_executions",
        can::READ_EXECUTIONS,
        "List executions, newest first.",
        ListExecutions::schema,
    ))
}

impl Read for On<N8n, ListExecutions> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            let backend = self.on.backend();
            let id = match &self.args.workflow_id {
                Some(reference) => Some(backend.resolve(reference).await?),
                None => None,
            };
            let query = ExecutionQuery {
                workflow: id,
                status: self.args.status.clone(),
                limit: most(self.args.limit),
            };
            let list = backend.executions(&query).await?;
            Ok(Outcome::Ok(json!({"executions": list})))
        })
    }
}
