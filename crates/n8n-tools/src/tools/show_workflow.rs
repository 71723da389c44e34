//! `show_workflow`: a workflow as text for a person. For flows, which show it without asking a model.

use super::content::head;
use super::n8n::N8n;
use crate::arguments::{arguments, text, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_n8n::Workflow;
use agentctl_n8n::diff::changes;
use agentctl_n8n::tree::tree;
use serde_json::Value;

arguments! {
    ShowWorkflow {
        required workflow_id: String = workflow_id();
        optional since: Option<String> = text("a snapshot that this run took of it: also say what changed since");
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<ShowWorkflow>(Head::new(
        "show_workflow",
        can::SHOW_WORKFLOW,
        "A workflow as a tree of text for a person. Returns its graph hash too, and with `since` what changed, line by line.",
        ShowWorkflow::schema,
    ))
}

impl Read for On<N8n, ShowWorkflow> {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let stored = self.on.stored(&self.args.workflow_id).await?;
            let mut content = head(&stored);
            let text = tree(&stored.workflow, Some(self.on.catalog));
            content.insert("tree".into(), Value::String(text));
            if let Some(file) = &self.args.since {
                let before = match kept(cx, file) {
                    Ok(before) => before,
                    Err(why) => {
                        let why = format!("what changed cannot be told: {why}");
                        let hint = "name the snapshot of a change of this run";
                        return Ok(Outcome::failed(why, "snapshot", hint));
                    }
                };
                let lines = changes(&before, &stored.workflow).to_string();
                content.insert("changes".into(), lines.lines().collect());
            }
            Ok(Outcome::Ok(Value::Object(content)))
        })
    }
}

/// The workflow as this run kept it; Err: why it is not to be had.
fn kept(cx: &mut Cx<'_>, file: &str) -> Result<Workflow, String> {
    let text = cx.recorder.load_snapshot(file).map_err(|e| e.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}
