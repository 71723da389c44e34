//! `list_versions`: the kept earlier versions of a workflow.

use super::n8n::N8n;
use crate::arguments::{arguments, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use serde_json::json;

arguments! {
    ListVersions {
        required workflow_id: String = workflow_id();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<ListVersions>(Head::new(
        "list_versions",
        can::READ_VERSIONS,
        "List the kept earlier versions of a workflow, newest first.",
        ListVersions::schema,
    ))
}

impl Read for On<N8n, ListVersions> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            let id = self.on.backend.resolve(&self.args.workflow_id).await?;
            let versions = self.on.backend.versions(&id).await?;
            Ok(Outcome::Ok(json!({"id": id, "versions": versions})))
        })
    }
}
