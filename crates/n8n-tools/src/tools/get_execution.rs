//! `get_execution`: one execution, as far as anybody needs it.

use super::n8n::N8n;
use crate::arguments::arguments;
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Read};
use serde_json::json;

arguments! {
    GetExecution {
        required execution_id: String = json!({"type": "string"});
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<GetExecution>(Head::new(
        "get_execution",
        can::READ_EXECUTIONS,
        "Read one execution: status, the node that failed, its error.",
        GetExecution::schema,
    ))
}

impl Read for On<N8n, GetExecution> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.told_execution(&self.args.execution_id))
    }
}
