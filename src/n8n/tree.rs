//! A workflow as a tree for a terminal: triggers at the roots, what follows below, branch labels, sub-nodes at their node.
//! A node that several ways reach is drawn once and pointed at (`↪`) from the others.

use super::workflow::{Node, Workflow};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The parameters that tell most about a node, in the order shown; the first few that are set are printed.
const TELLING: [&str; 17] = [
    "resource", "operation", "httpMethod", "method", "path", "url", "channelId", "user", "sendTo", "toEmail", "documentId", "sheetName", "table", "query", "model", "workflowId",
    "events",
];
/// Longest value shown, in characters.
const SHOWN: usize = 40;

/// The tree, one node a line, with a final newline. Control characters in names are made harmless.
pub fn tree(workflow: &Workflow) -> String {
    let mut drawing = Drawing { workflow, drawn: HashSet::new(), out: String::new() };
    let targets: HashSet<&str> = workflow.edges().filter(|(_, kind, ..)| *kind == "main").map(|(.., link)| link.node.as_str()).collect();
    let sub_nodes: HashSet<&str> = workflow.edges().filter(|(_, kind, ..)| *kind != "main").map(|(from, ..)| from).collect();
    let shown = |n: &&Node| !n.is_sticky() && !sub_nodes.contains(n.name());
    for node in workflow.nodes.iter().filter(shown).filter(|n| !targets.contains(n.name())) {
        drawing.node(node.name(), "", "", "");
    }
    // What is only reached from a circle has no root above it.
    for node in workflow.nodes.iter().filter(shown) {
        if !drawing.drawn.contains(node.name()) {
            drawing.node(node.name(), "", "", "");
        }
    }
    drawing.out
}

struct Drawing<'a> {
    workflow: &'a Workflow,
    drawn: HashSet<&'a str>,
    out: String,
}

impl<'a> Drawing<'a> {
    /// Draws a node and what follows. `first`: before its own line, `rest`: before the lines below it.
    fn node(&mut self, name: &'a str, first: &str, rest: &str, label: &str) {
        let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
        let Some(node) = self.workflow.node_by_name(name) else {
            self.out.push_str(&format!("{first}{label}{} (missing)\n", clean(name)));
            return;
        };
        if !self.drawn.insert(node.name()) {
            self.out.push_str(&format!("{first}{label}↪ {}\n", clean(name)));
            return;
        }
        let off = if node.disabled() { " (disabled)" } else { "" };
        self.out.push_str(&format!("{first}{label}{}{off}  [{}]\n", clean(name), about(node)));
        for (kind, sub) in self.sub_nodes(name) {
            self.drawn.insert(sub.name());
            self.out.push_str(&format!("{rest}   ⊂ {}: {}  [{}]\n", kind.trim_start_matches("ai_"), clean(sub.name()), about(sub)));
        }
        let ways = self.ways(node);
        let last = ways.len().saturating_sub(1);
        for (i, (label, target)) in ways.into_iter().enumerate() {
            let (branch, below) = if i == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            self.node(target, &format!("{rest}{branch}"), &format!("{rest}{below}"), &label);
        }
    }

    /// What hangs on a node by another connection than `main`, in the order of the file.
    fn sub_nodes(&self, name: &str) -> Vec<(&'a str, &'a Node)> {
        let edges = self.workflow.edges().filter(|(_, kind, _, link)| *kind != "main" && link.node == name);
        edges.filter_map(|(from, kind, ..)| Some((kind, self.workflow.node_by_name(from)?))).collect()
    }

    /// Main outputs with their labels; a label only where there is more than one output, or it is the error output.
    fn ways(&self, node: &'a Node) -> Vec<(String, &'a str)> {
        let Some(buckets) = self.workflow.connections.get(node.name()).and_then(|kinds| kinds.get("main")) else { return Vec::new() };
        let labels = labels(node, buckets.len());
        let ways = buckets.iter().enumerate().flat_map(|(i, links)| {
            let label = labels.get(i).cloned().unwrap_or_default();
            links.iter().flatten().map(move |link| (label.clone(), link.node.as_str()))
        });
        ways.collect()
    }
}

/// Names of a node's main outputs, as far as its type and parameters tell.
fn labels(node: &Node, outputs: usize) -> Vec<String> {
    let short = short_type(node.node_type());
    let named = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let mut labels: Vec<String> = match short {
        "if" => named(&["true", "false"]),
        "splitInBatches" => named(&["done", "loop"]),
        "switch" => switch_labels(node),
        "textClassifier" => list_names(node, "/categories/categories", "category"),
        "compareDatasets" => named(&["only in A", "same", "different", "only in B"]),
        _ => Vec::new(),
    };
    let error_output = node.0.get("onError").and_then(Value::as_str) == Some("continueErrorOutput");
    if labels.is_empty() && outputs > 1 {
        labels = (0..outputs).map(|i| format!("output {i}")).collect();
        if error_output {
            labels = vec![String::new(); outputs.saturating_sub(1)];
        }
    }
    if error_output {
        labels.truncate(outputs.saturating_sub(1));
        labels.push("on error".into());
    }
    labels
}

fn switch_labels(node: &Node) -> Vec<String> {
    let rules = node.0.get("parameters").and_then(|p| p.pointer("/rules/values").or_else(|| p.pointer("/rules/rules"))).and_then(Value::as_array);
    let mut labels: Vec<String> = rules
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(i, rule)| rule.get("outputKey").and_then(Value::as_str).filter(|k| !k.is_empty()).map_or_else(|| format!("case {i}"), clean))
        .collect();
    labels.push("otherwise".into());
    labels
}

fn list_names(node: &Node, pointer: &str, key: &str) -> Vec<String> {
    let list = node.0.get("parameters").and_then(|p| p.pointer(pointer)).and_then(Value::as_array);
    list.into_iter().flatten().map(|item| item.get(key).and_then(Value::as_str).map(clean).unwrap_or_default()).collect()
}

/// Short type and the most telling parameters.
fn about(node: &Node) -> String {
    let mut parts = vec![short_type(node.node_type()).to_owned()];
    if let Some(parameters) = node.parameters() {
        parts.extend(TELLING.iter().filter_map(|key| telling(parameters, key)).take(4));
    }
    parts.join(" ")
}

fn telling(parameters: &Map<String, Value>, key: &str) -> Option<String> {
    let value = parameters.get(key)?;
    let text = match value {
        Value::String(s) => s.clone(),
        Value::Object(locator) => {
            let name = locator.get("cachedResultName").and_then(Value::as_str).filter(|s| !s.is_empty());
            name.or_else(|| locator.get("value").and_then(Value::as_str))?.to_owned()
        }
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        _ => return None,
    };
    if text.is_empty() { None } else { Some(clean(&text)) }
}

/// `n8n-nodes-base.slack` → `slack`.
fn short_type(node_type: &str) -> &str {
    node_type.rsplit('.').next().unwrap_or(node_type)
}

/// One line, no control or direction characters, cut to [`SHOWN`].
fn clean(text: &str) -> String {
    let harmless = |c: char| if c.is_control() || ('\u{200b}'..='\u{200f}').contains(&c) || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c) { ' ' } else { c };
    let mut out: String = text.chars().map(harmless).take(SHOWN).collect();
    if text.chars().count() > SHOWN {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn workflow(value: Value) -> Workflow {
        Workflow::from_value(value).unwrap()
    }

    #[test]
    fn branches_sub_nodes_and_joins_are_drawn() {
        let node = |name: &str, kind: &str, parameters: Value| json!({"id": name, "name": name, "type": kind, "typeVersion": 1, "position": [0, 0], "parameters": parameters});
        let link = |name: &str| json!({"node": name, "type": "main", "index": 0});
        let drawn = tree(&workflow(json!({
            "name": "t",
            "nodes": [
                node("Hook", "n8n-nodes-base.webhook", json!({"path": "in", "httpMethod": "POST"})),
                node("Big?", "n8n-nodes-base.if", json!({})),
                node("Agent", "@n8n/n8n-nodes-langchain.agent", json!({})),
                node("Model", "@n8n/n8n-nodes-langchain.lmChatOpenAi", json!({"model": {"__rl": true, "mode": "list", "value": "gpt-x"}})),
                node("Post", "n8n-nodes-base.slack", json!({"operation": "post", "channelId": {"__rl": true, "mode": "name", "value": "#a"}})),
            ],
            "connections": {
                "Hook": {"main": [[link("Big?")]]},
                "Big?": {"main": [[link("Agent")], [link("Post")]]},
                "Agent": {"main": [[link("Post")]]},
                "Model": {"ai_languageModel": [[{"node": "Agent", "type": "ai_languageModel", "index": 0}]]},
            }
        })));
        insta::assert_snapshot!(drawn, @r"
        Hook  [webhook POST in]
        └─ Big?  [if]
           ├─ true: Agent  [agent]
           │     ⊂ languageModel: Model  [lmChatOpenAi gpt-x]
           │  └─ Post  [slack post #a]
           └─ false: ↪ Post
        ");
    }

    #[test]
    fn a_circle_without_a_root_and_a_missing_target_are_drawn_too() {
        let link = |name: &str| json!({"node": name, "type": "main", "index": 0});
        let drawn = tree(&workflow(json!({
            "nodes": [
                {"name": "A", "type": "x.a", "parameters": {}},
                {"name": "B\u{1b}[31m", "type": "x.b", "parameters": {}, "disabled": true},
            ],
            "connections": {"A": {"main": [[link("B\u{1b}[31m"), link("Gone")]]}, "B\u{1b}[31m": {"main": [[link("A")]]}}
        })));
        insta::assert_snapshot!(drawn, @r"
        A  [a]
        ├─ B [31m (disabled)  [b]
        │  └─ ↪ A
        └─ Gone (missing)
        ");
    }
}
