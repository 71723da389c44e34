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
/// Searches of one call, and the node types that each of them gives.
const MOST_SEARCHES: usize = 24;
const HITS_OF_SEVERAL: usize = 3;

arguments! {
    SearchNodes {
        required query: String = text("a service, an action, or both, e.g. slack post message; several searches at once: a line each");
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
        let lines = self.args.query.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let found = match lines.as_slice() {
            [] | [_] => json!({"nodes": self.on.node_hits(&self.args.query, most)}),
            several => {
                let each = several.iter().take(MOST_SEARCHES);
                let each = each.map(|line| self.on.searched(line, most.min(HITS_OF_SEVERAL)));
                json!({"searches": each.collect::<Vec<Value>>()})
            }
        };
        Box::pin(std::future::ready(Ok(Outcome::Ok(found))))
    }
}

impl N8n {
    /// One search of several. The first hit has its resources and operations besides, so that no other call is needed to choose one.
    fn searched(&self, query: &str, most: usize) -> Value {
        let mut nodes = self.node_hits(query, most);
        if let Some(Value::Object(first)) = nodes.first_mut()
            && let Some(node_type) = first.get("node_type").and_then(Value::as_str)
            && let Lookup::Known(description) = self.catalog.lookup(node_type, None)
        {
            let each = description.operations().into_iter();
            let operations: Map<String, Value> = each
                .map(|(resource, list)| {
                    let names: Vec<String> = list.into_iter().map(|(value, _)| value).collect();
                    (
                        resource.unwrap_or_else(|| "-".to_owned()),
                        names.join("|").into(),
                    )
                })
                .collect();
            if !operations.is_empty() {
                first.insert("operations".into(), operations.into());
            }
        }
        json!({"query": query, "nodes": nodes})
    }

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
