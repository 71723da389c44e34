//! Small workflows and executions, as n8n writes them.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "for tests only"
)]

use super::{Part, Rehearsal, Trace, Tried, Verdict, Wishes, judge, rehearse};
use crate::catalog::Catalog;
use crate::{Finding, Node, Workflow};
use indexmap::IndexMap;
use serde_json::{Value, json};

pub fn node(name: &str, kind: &str, version: f64, parameters: Value) -> Value {
    json!({"id": format!("id-{name}"), "name": name, "type": kind, "typeVersion": version, "position": [0, 0], "parameters": parameters})
}

pub fn chain(nodes: Vec<Value>) -> Workflow {
    let mut workflow = Workflow::empty("Orders");
    for node in nodes {
        workflow
            .nodes
            .push(serde_json::from_value::<Node>(node).unwrap());
    }
    let names: Vec<String> = workflow.nodes.iter().map(|n| n.name().to_owned()).collect();
    for pair in names.windows(2) {
        workflow.connect(&pair[0], "main", 0, &pair[1], 0);
    }
    workflow
}

pub fn webhook(path: &str) -> Value {
    node(
        "Webhook",
        "n8n-nodes-base.webhook",
        2.0,
        json!({"httpMethod": "POST", "path": path, "responseMode": "lastNode", "options": {}}),
    )
}

pub fn set(name: &str, field: &str, value: &str) -> Value {
    node(
        name,
        "n8n-nodes-base.set",
        3.4,
        json!({"assignments": {"assignments": [
        {"id": "1", "name": field, "value": value, "type": "string"}]}, "options": {}}),
    )
}

pub fn slack() -> Value {
    node(
        "Tell sales",
        "n8n-nodes-base.slack",
        2.3,
        json!({"resource": "message", "operation": "post", "select": "channel",
        "channelId": {"__rl": true, "mode": "name", "value": "#sales"}, "text": "={{ $json.body.customer.name }}"}),
    )
}

pub fn tried(workflow: &Workflow) -> Rehearsal {
    rehearse(
        workflow,
        Catalog::embedded(),
        &Wishes {
            path: "k3",
            ..Wishes::default()
        },
    )
    .unwrap()
}

/// A run of a test in which simulated nodes would have sent nothing that is known.
pub fn seen(workflow: &Workflow, trace: &Trace, checked: &[Finding]) -> Verdict {
    let tried = Tried {
        rehearsal: &tried(workflow),
        sent: &IndexMap::new(),
        is_given: false,
    };
    judge(workflow, tried, trace, checked)
}

pub fn part<'r>(rehearsal: &'r Rehearsal, name: &str) -> &'r Part {
    &rehearsal
        .parts
        .iter()
        .find(|p| p.node == name)
        .unwrap()
        .part
}

pub fn run(node: &str, from: Option<&str>, items: Value, error: Value) -> (String, Value) {
    let outputs: Vec<Value> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|i| json!({"json": i}))
        .collect();
    let source = from.map_or(json!([]), |from| json!([{"previousNode": from}]));
    let mut run = json!({"startTime": 1, "executionStatus": "success", "source": source, "data": {"main": [outputs]}});
    if !error.is_null() {
        run["error"] = error;
    }
    (node.to_owned(), json!([run]))
}

pub fn execution(status: &str, runs: Vec<(String, Value)>) -> Value {
    let runs: serde_json::Map<String, Value> = runs.into_iter().collect();
    json!({"id": "77", "status": status, "workflowId": "w1", "data": {"resultData": {"runData": runs}}})
}
