//! `show_workflow`: a workflow as text for a person. For flows, which show it without asking a model.

use super::content::head;
use super::n8n::N8n;
use crate::arguments::{arguments, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_n8n::tree::tree;
use serde_json::Value;

arguments! {
    ShowWorkflow {
        required workflow_id: String = workflow_id();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<ShowWorkflow>(Head::new(
        "show_workflow",
        can::SHOW_WORKFLOW,
        "A workflow as a tree of text for a person. Returns its graph hash too.",
        ShowWorkflow::schema,
    ))
}

impl Read for On<N8n, ShowWorkflow> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let stored = self.on.stored(&self.args.workflow_id).await?;
            let mut content = head(&stored);
            let text = tree(&stored.workflow, Some(self.on.catalog));
            content.insert("tree".into(), Value::String(text));
            Ok(Outcome::Ok(Value::Object(content)))
        })
    }
}
