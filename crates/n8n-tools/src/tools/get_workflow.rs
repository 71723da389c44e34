//! `get_workflow`: a workflow, whole or in short.

use super::content::{bad_cursor, head, summary};
use super::memory::GET_WORKFLOW;
use super::n8n::N8n;
use crate::arguments::{arguments, cursor, workflow_id};
use crate::backend::BackendError;
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read, page};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    Summary,
    #[default]
    Full,
}

arguments! {
    GetWorkflow {
        required workflow_id: String = workflow_id();
        #[serde(default)]
        optional view: View = json!({"type": "string", "enum": ["full", "summary"], "default": "full"});
        optional cursor: Option<String> = cursor();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<GetWorkflow>(Head::new(
        GET_WORKFLOW,
        can::GET_WORKFLOW,
        "Read a workflow. view `full` (default): the document, node by node; `summary`: names, types and connections. Returns its graph hash, which later edits are checked against.",
        GetWorkflow::schema,
    ))
}

impl Read for On<N8n, GetWorkflow> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.get_workflow(&self.args))
    }
}

impl N8n {
    async fn get_workflow(&self, get: &GetWorkflow) -> Answer {
        let stored = self.stored(&get.workflow_id).await?;
        let mut content = head(&stored);
        if get.view == View::Summary {
            let (nodes, connections) = summary(&stored.workflow);
            let page = match page(nodes, get.cursor.as_deref()) {
                Ok(page) => page,
                Err(why) => return Ok(bad_cursor(why)),
            };
            content.insert("nodes".into(), Value::Array(page.items));
            content.insert("connections".into(), json!(connections));
            if let Some(next) = page.next {
                content.insert("next_cursor".into(), json!(next));
            }
            return Ok(Outcome::Ok(Value::Object(content)));
        }
        let Value::Object(mut document) = stored.workflow.into_value() else {
            return Err(BackendError::rejected("the workflow is no document"));
        };
        let nodes = match document.get_mut("nodes").map(Value::take) {
            Some(Value::Array(nodes)) => nodes,
            _ => Vec::new(),
        };
        let page = match page(nodes, get.cursor.as_deref()) {
            Ok(page) => page,
            Err(why) => return Ok(bad_cursor(why)),
        };
        document.insert("nodes".into(), Value::Array(page.items));
        content.insert("workflow".into(), Value::Object(document));
        if let Some(next) = page.next {
            content.insert("next_cursor".into(), json!(next));
        }
        Ok(Outcome::Ok(Value::Object(content)))
    }
}
