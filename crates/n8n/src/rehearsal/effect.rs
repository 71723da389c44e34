//! Whether a node runs for real in a test. Denied unless one of two facts holds: it only works on items by the compiled-in list, or
//! it reads an address that the user listed. No account, no command, no database, no other host, no code that is more than data.

use super::inside::{NotInside, base, inside, is_expression};
use super::reach::{Hosts, reads};
use super::why::Why;
use crate::Node;
use crate::catalog::{Catalog, NodeKind};
use serde_json::{Map, Value};

/// What a node does to the world, as far as a test cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Works on the items only.
    Inside,
    /// Fetches something from this host, which the user listed.
    Reads(String),
    /// It is simulated, for this reason.
    Simulated(Why),
}

/// What the user allowed for every test, and where n8n is.
#[derive(Debug, Clone, Default)]
pub struct Ground<'a> {
    /// Hosts that may be read.
    pub hosts: Hosts,
    /// The address of the n8n itself, which is never asked by a test.
    pub n8n: Option<&'a str>,
}

/// What the node itself does, its sub-nodes aside.
pub fn effect(node: &Node, ground: &Ground<'_>) -> Effect {
    if let Some(account) = account(node) {
        return Effect::Simulated(Why::Account(account));
    }
    match (inside(node), base(node)) {
        (Ok(()), _) => Effect::Inside,
        (Err(NotInside::Code(at, uses)), _) => Effect::Simulated(Why::Code { at, uses }),
        (Err(NotInside::Parameter(at)), _) => Effect::Simulated(Why::Parameter(at)),
        (Err(NotInside::Unlisted), Some("httpRequest")) => {
            match reads(node, &ground.hosts, ground.n8n) {
                Ok(host) => Effect::Reads(host),
                Err(why) => Effect::Simulated(why),
            }
        }
        (Err(NotInside::Unlisted), Some("wait" | "form")) => Effect::Simulated(Why::Waits),
        (Err(NotInside::Unlisted), _) => Effect::Simulated(outside(node)),
    }
}

/// A type of credential that the node has, whatever it is worth.
pub(super) fn account(node: &Node) -> Option<String> {
    match node.map().get("credentials")? {
        Value::Null => None,
        Value::Object(all) => all.keys().next().cloned(),
        _ => Some("unknown".to_owned()),
    }
}

/// What it would do, in the compiled-in catalog's words.
fn outside(node: &Node) -> Why {
    let known = Catalog::embedded()
        .lookup(node.node_type(), node.type_version())
        .known();
    let Some(description) = known else {
        return Why::Unknown;
    };
    if node.node_type().starts_with("@n8n/n8n-nodes-langchain.")
        && matches!(description.kind, NodeKind::Action)
    {
        // Agents, chains, stores: each asks a model, or an embedding, in its work.
        return Why::AsksModel;
    }
    let none = Map::new();
    let parameters = description.fill_defaults(node.parameters().unwrap_or(&none));
    let text = |key: &str| parameters.get(key).and_then(Value::as_str);
    // Vector stores and a few others call it `mode`.
    let Some(operation) = text("operation").or_else(|| text("mode")) else {
        return Why::Unknown;
    };
    if is_expression(operation) {
        return Why::Acts("a computed operation".to_owned());
    }
    Why::Acts(match text("resource") {
        Some(resource) if !is_expression(resource) => format!("{resource} {operation}"),
        _ => operation.to_owned(),
    })
}
