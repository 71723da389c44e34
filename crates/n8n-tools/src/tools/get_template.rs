//! `get_template`: one template as a workflow.

use super::n8n::N8n;
use crate::arguments::arguments;
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use serde_json::json;

arguments! {
    GetTemplate {
        required template_id: String = json!({"type": "string"});
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<GetTemplate>(Head {
        open_world: true,
        ..Head::new(
            "get_template",
            can::SEARCH_TEMPLATES,
            "Read one template as a workflow.",
            GetTemplate::schema,
        )
    })
}

impl Read for On<N8n, GetTemplate> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            let id = &self.args.template_id;
            let workflow = self.on.backend.template(id).await?;
            Ok(Outcome::Ok(
                json!({"template_id": id, "workflow": workflow}),
            ))
        })
    }
}
