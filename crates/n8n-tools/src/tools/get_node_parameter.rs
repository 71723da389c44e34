//! `get_node_parameter`: one value of a node, or all of them.

use super::content::head;
use super::n8n::N8n;
use crate::arguments::{arguments, text, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_n8n::edit;
use serde_json::{Map, Value};

arguments! {
    GetNodeParameter {
        required workflow_id: String = workflow_id();
        required node: String = text("its id or name");
        optional parameter: Option<String> = text("its name, or a JSON pointer below the parameters; default: all of them");
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<GetNodeParameter>(Head::new(
        "get_node_parameter",
        can::READ_PARAMETERS,
        "A parameter of one node as it is now, or all of them.",
        GetNodeParameter::schema,
    ))
}

impl Read for On<N8n, GetNodeParameter> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let args = &self.args;
            let stored = self.on.stored(&args.workflow_id).await?;
            let node = match edit::meant(&stored.workflow, &args.node) {
                Ok(node) => node,
                Err(why) => return Ok(Outcome::failed(why, "node", "name it by its id")),
            };
            let parameters = node.parameters().cloned().unwrap_or_default();
            let mut content = head(&stored);
            content.insert("node".into(), Value::String(node.name().to_owned()));
            let value = match args.parameter.as_deref() {
                None => Value::Object(parameters),
                Some(asked) => of(parameters, asked),
            };
            content.insert("value".into(), value);
            Ok(Outcome::Ok(Value::Object(content)))
        })
    }
}

/// Null where it is not set: the node's default holds.
fn of(mut parameters: Map<String, Value>, asked: &str) -> Value {
    match asked.starts_with('/') {
        true => Value::Object(parameters)
            .pointer(asked)
            .cloned()
            .unwrap_or_default(),
        false => parameters.shift_remove(asked).unwrap_or_default(),
    }
}
