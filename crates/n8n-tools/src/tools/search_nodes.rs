//! `search_nodes`: node types for a service or an action.

use super::n8n::N8n;
use crate::arguments::{MAX_LIMIT, arguments, limit, text};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_n8n::catalog::Lookup;
use serde_json::{Map, Value, json};

/// Node types that a search gives when no limit is asked for: the right one is among the first, or the words were wrong.
const DEFAULT_HITS: usize = 6;

arguments! {
    SearchNodes {
        required query: String = text("a service, an action, or both, e.g. slack post message");
        optional limit: Option<usize> = limit();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<SearchNodes>(Head::new(
        "search_nodes",
        can::SEARCH_NODES,
        "Find node types for a service or an action, best first, each with its newest version.",
        SearchNodes::schema,
    ))
}

impl Read for On<N8n, SearchNodes> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let most = self.args.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_LIMIT);
        let nodes = self.on.node_hits(&self.args.query, most);
        Box::pin(std::future::ready(Ok(Outcome::Ok(json!({"nodes": nodes})))))
    }
}

impl N8n {
    /// What a model chooses by, and no more.
    fn node_hits(&self, query: &str, most: usize) -> Vec<Value> {
        let as_tool = query
            .split_whitespace()
            .any(|w| w.eq_ignore_ascii_case("tool"));
        let hits = self.catalog.search(query, most).into_iter();
        hits.map(|hit| {
            let mut map = Map::new();
            map.insert("node_type".into(), json!(hit.node_type));
            if let Lookup::Known(description) = self.catalog.lookup(&hit.node_type, None) {
                map.insert("version".into(), json!(description.version));
            }
            map.insert("label".into(), json!(hit.label));
            if hit.is_trigger {
                map.insert("is_trigger".into(), json!(true));
            }
            // An agent's tool is a type of its own, which no search lists.
            let tool = format!("{}Tool", hit.node_type);
            if as_tool && matches!(self.catalog.lookup(&tool, None), Lookup::Known(_)) {
                map.insert("as_tool".into(), json!(tool));
            }
            Value::Object(map)
        })
        .collect()
    }
}
