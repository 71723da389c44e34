//! What a node does when it runs: whether it stays inside n8n, reads from outside, or acts on the outside world.
//! Decided from the catalog's facts and the node's own parameters; whatever cannot be told apart counts as acting.

use crate::n8n::Node;
use crate::n8n::catalog::{Catalog, NodeKind};
use regex::Regex;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// What a node does to the world, as far as a rehearsal cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Works on the items only.
    Inside,
    /// Fetches something and changes nothing there.
    Reads,
    /// Sends, writes, deletes, pays: the operation in the catalog's words.
    Acts(String),
    /// Asks a language model, which costs money.
    AsksModel,
    /// Stops until a time or an answer.
    Waits,
    /// Nobody can say, so it is taken to act.
    Unknown,
}

/// Types of the base package that only work on items.
const INSIDE: &[&str] = &[
    "aggregate",
    "compareDatasets",
    "compression",
    "convertToFile",
    "crypto",
    "dateTime",
    "editImage",
    "executionData",
    "extractFromFile",
    "filter",
    "html",
    "htmlExtract",
    "iCal",
    "if",
    "itemLists",
    "jwt",
    "limit",
    "markdown",
    "merge",
    "moveBinaryData",
    "noOp",
    "readPDF",
    "removeDuplicates",
    "renameKeys",
    "respondToWebhook",
    "set",
    "sort",
    "splitInBatches",
    "splitOut",
    "spreadsheetFile",
    "stopAndError",
    "summarize",
    "switch",
    "totp",
    "xml",
];

/// Types whose only work is a piece of code.
const CODE: &[&str] = &["code", "function", "functionItem", "aiTransform"];

/// What code needs to reach outside. Text that only looks like it counts too.
static REACHES_OUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?:helpers|XMLHttpRequest|WebSocket|EventSource|globalThis|constructor|axios|urllib\w*|httpx|socket|subprocess)\b|\b(?:fetch|require|import|eval|exec|open|Function|__import__)\s*\(|\b(?:process|requests|os)\s*\.|\bimport\s|\bthis\s*\[").ok()
});

/// An operation that begins like this reads …
const READS: &[&str] = &[
    "get",
    "list",
    "read",
    "search",
    "find",
    "lookup",
    "download",
    "count",
    "fetch",
    "retrieve",
    "select",
    "exists",
    "rowexists",
    "query",
    "keys",
    "info",
];
/// … unless one of these stands in it.
const YET_WRITES: &[&str] = &[
    "and", "create", "update", "delete", "remove", "replace", "send", "upsert", "mark", "move",
    "insert", "write", "clear", "ack", "pop",
];

/// The name of a type without its package.
pub(crate) fn short(node_type: &str) -> &str {
    node_type.rsplit('.').next().unwrap_or(node_type)
}

fn is_base(node_type: &str) -> bool {
    node_type.starts_with("n8n-nodes-base.")
}

/// A text that n8n evaluates: its value is not known before it runs.
pub(super) fn is_expression(text: &str) -> bool {
    text.starts_with('=')
}

/// What the node itself does, its sub-nodes aside.
pub fn effect(node: &Node, catalog: &Catalog) -> Effect {
    let Some(description) = catalog
        .lookup(node.node_type(), node.type_version())
        .known()
    else {
        return Effect::Unknown;
    };
    let none = Map::new();
    let given = node.parameters().unwrap_or(&none);
    let parameters = description.fill_defaults(given);
    let name = short(node.node_type());
    if is_base(node.node_type()) {
        if INSIDE.contains(&name) {
            return Effect::Inside;
        }
        if CODE.contains(&name) {
            return code(given);
        }
        match name {
            "wait" | "form" => return Effect::Waits,
            "rssFeedRead" | "readBinaryFile" | "readBinaryFiles" => return Effect::Reads,
            "httpRequest" => return request(&parameters),
            "graphql" => return graphql(&parameters),
            _ => {}
        }
    } else if node.node_type().starts_with("@n8n/n8n-nodes-langchain.")
        && matches!(description.kind, NodeKind::Action)
    {
        // Agents, chains, stores: each asks a model, or an embedding, in its work.
        return Effect::AsksModel;
    }
    by_operation(&parameters)
}

fn code(given: &Map<String, Value>) -> Effect {
    let reaches = |text: &str| REACHES_OUT.as_ref().is_none_or(|find| find.is_match(text));
    if given.values().filter_map(Value::as_str).any(reaches) {
        Effect::Acts("code that may reach outside".into())
    } else {
        Effect::Inside
    }
}

fn request(parameters: &Map<String, Value>) -> Effect {
    let method = parameters
        .get("method")
        .or_else(|| parameters.get("requestMethod"))
        .and_then(Value::as_str)
        .unwrap_or("");
    match method {
        "GET" | "HEAD" | "OPTIONS" => Effect::Reads,
        method if is_expression(method) => Effect::Acts("a request of a computed method".into()),
        method => Effect::Acts(format!("{method} request")),
    }
}

fn graphql(parameters: &Map<String, Value>) -> Effect {
    let query = parameters
        .get("query")
        .and_then(Value::as_str)
        .unwrap_or("");
    let start = query.trim_start();
    let reads = (start.starts_with("query") || start.starts_with('{'))
        && !query.contains("mutation")
        && !start.starts_with("{{");
    if reads {
        Effect::Reads
    } else {
        Effect::Acts("a GraphQL mutation, or what may be one".into())
    }
}

fn by_operation(parameters: &Map<String, Value>) -> Effect {
    let text = |key: &str| parameters.get(key).and_then(Value::as_str);
    // Vector stores and a few others call it `mode`.
    let Some(operation) = text("operation").or_else(|| text("mode")) else {
        return Effect::Unknown;
    };
    let said = match text("resource") {
        Some(resource) if !is_expression(resource) => format!("{resource} {operation}"),
        _ => operation.to_owned(),
    };
    if is_expression(operation) {
        return Effect::Acts("a computed operation".into());
    }
    if operation.eq_ignore_ascii_case("executeQuery") {
        let query = text("query").unwrap_or("");
        return if only_selects(query) {
            Effect::Reads
        } else {
            Effect::Acts("a query that may change something".into())
        };
    }
    let low = operation.to_lowercase();
    let reads = READS.iter().any(|verb| low.starts_with(verb))
        && !YET_WRITES.iter().any(|w| low.contains(w));
    if reads {
        Effect::Reads
    } else {
        Effect::Acts(said)
    }
}

/// One statement that selects. A statement that is computed as a whole does not count.
fn only_selects(query: &str) -> bool {
    static WRITES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:insert|update|delete|drop|alter|create|truncate|merge|replace|grant|revoke|call|exec|execute|do|copy|into|set|lock|vacuum|refresh|nextval|setval|pg_\w+|lo_\w+|dblink\w*)\b").ok()
    });
    let text = query
        .trim_start_matches(['=', ' ', '\n', '\t', '\r'])
        .trim_end();
    let body = text.strip_suffix(';').unwrap_or(text);
    body.get(..6)
        .is_some_and(|head| head.eq_ignore_ascii_case("select"))
        && !body.contains(';')
        && WRITES.as_ref().is_some_and(|writes| !writes.is_match(body))
}
