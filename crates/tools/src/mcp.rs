//! `kind: mcp`: one tool of a server of `.mcp.json` under a name of the pack. The user approved the server's tool word for word, and what
//! is called is that tool or nothing; the file says what of it a model may fill in.

use crate::answer::{FAILED, TELL, TIMEOUT, late};
use crate::call::Call;
use crate::kind::{KindOfTool, Work};
use crate::places::{body, check_shape, only};
use crate::toolset::Surroundings;
use agentctl_base::BoxFuture;
use agentctl_base::shell;
use agentctl_base::yaml::Node;
use agentctl_engine::gateway::call_approved;
use agentctl_engine::toolset::Outcome;
use agentctl_engine::vocabulary::Faults;
use agentctl_mcp::{CallEffect, can_be_named};
use serde_json::{Map, Value};
use std::time::Duration;

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: NAME,
    check,
    make: |section| Box::new(Spec::of(section)),
};
/// The kind, for who has to know whether servers are needed.
pub const NAME: &str = "mcp";
const KEYS: [&str; 3] = ["server", "tool", "arguments"];

/// What the file says; it was checked when the pack was loaded.
struct Spec {
    server: String,
    tool: String,
    /// With places for values; None: the values as they are.
    arguments: Option<Value>,
}

impl Spec {
    fn of(section: &Value) -> Spec {
        let text = |key: &str| section.get(key).and_then(Value::as_str).unwrap_or_default();
        Spec {
            server: text("server").to_owned(),
            tool: text("tool").to_owned(),
            arguments: section.get("arguments").cloned(),
        }
    }

    fn arguments(&self, values: Map<String, Value>) -> Map<String, Value> {
        match &self.arguments {
            None => values,
            Some(shape) => match body(shape, &values) {
                Some(Value::Object(arguments)) => arguments,
                _ => Map::new(),
            },
        }
    }
}

impl Work for Spec {
    fn lacks(&self, of: &Surroundings) -> Option<String> {
        let (server, tool) = (&self.server, &self.tool);
        let servers = of.servers.as_ref();
        match servers.and_then(|servers| servers.approved(server, tool)) {
            Some(_) => None,
            None => Some(format!(
                "{tool} of the MCP server {server} is not approved (agentctl mcp approve {} {})",
                shell::word(server),
                shell::word(tool)
            )),
        }
    }

    fn work<'a>(
        &'a self,
        call: &'a Call,
        values: Map<String, Value>,
        changes: bool,
    ) -> BoxFuture<'a, Outcome> {
        let effect = match changes {
            true => CallEffect::Changes,
            false => CallEffect::Reads,
        };
        let arguments = self.arguments(values);
        let limit = Duration::from_secs(call.made.tool.limits.timeout_s);
        Box::pin(async move {
            let Some(servers) = &call.shared.surroundings.servers else {
                return Outcome::failed("there are no MCP servers", FAILED, TELL);
            };
            let named = (self.server.as_str(), self.tool.as_str());
            let called = call_approved(servers.as_ref(), named, &arguments, effect);
            match tokio::time::timeout(limit, called).await {
                Ok(outcome) => outcome,
                Err(_) => late(changes, TIMEOUT),
            }
        })
    }
}

fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    only(node, &KEYS, &mut faults);
    let text = |key: &str| node.get(key).and_then(Node::as_text).unwrap_or_default();
    if !can_be_named(text("server"), text("tool")) {
        let form = "mcp names the server of .mcp.json and its tool: {server: docs, tool: find}";
        faults.push((node.place, form.to_owned()));
    }
    if let Some(arguments) = node.get("arguments") {
        if arguments.as_map().is_none() {
            let form =
                "arguments is a map of the server's arguments, with {value} where a value stands";
            faults.push((arguments.place, form.to_owned()));
        }
        check_shape(arguments, values, &mut faults);
    }
    faults
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod mcp_tests;
