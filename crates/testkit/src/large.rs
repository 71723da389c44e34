//! Workflows of any number of nodes, as an n8n would export them: a start, a chain of requests, fields and filters, a message at
//! the end. The same number gives the same workflow.

use serde_json::{Map, Value, json};

/// `count` nodes, at least two; node `i` between the first and the last is named `Fetch part i`, `Note part i` or `Keep part i`.
pub fn workflow(count: usize) -> Value {
    let last = count.max(2) - 1;
    let nodes: Vec<Value> = (0..=last).map(|i| node(i, last)).collect();
    let mut connections = Map::new();
    for pair in nodes.windows(2) {
        let (from, to) = (pair[0]["name"].as_str().unwrap(), &pair[1]["name"]);
        let link = json!({"main": [[{"node": to, "type": "main", "index": 0}]]});
        connections.insert(from.to_owned(), link);
    }
    json!({
        "name": "Parts",
        "nodes": nodes,
        "connections": connections,
        "settings": {"executionOrder": "v1"},
        "active": false,
    })
}

fn node(i: usize, last: usize) -> Value {
    let (name, kind, version, parameters) = match i {
        0 => (
            "Every morning".to_owned(),
            "scheduleTrigger",
            1.2,
            json!({"rule": {"interval": [{"field": "days", "triggerAtHour": 9}]}}),
        ),
        _ if i == last => (
            "Tell the team".to_owned(),
            "slack",
            2.3,
            json!({"select": "channel", "channelId": {"__rl": true, "mode": "name", "value": "#parts"}, "text": "All parts are in", "otherOptions": {}}),
        ),
        _ => match i % 3 {
            1 => (
                format!("Fetch part {i}"),
                "httpRequest",
                4.2,
                json!({"method": "GET", "url": format!("https://api.example.com/parts/{i}"), "options": {}}),
            ),
            2 => (
                format!("Note part {i}"),
                "set",
                3.4,
                json!({"assignments": {"assignments": [{"id": i.to_string(), "name": "part", "value": format!("part {i}"), "type": "string"}]}, "options": {}}),
            ),
            _ => (
                format!("Keep part {i}"),
                "filter",
                2.2,
                json!({"conditions": {"options": {"caseSensitive": true, "leftValue": "", "typeValidation": "strict", "version": 2}, "conditions": [{"id": format!("c{i}"), "leftValue": "={{ $json.total }}", "rightValue": i, "operator": {"type": "number", "operation": "gt"}}], "combinator": "and"}, "options": {}}),
            ),
        },
    };
    json!({
        "id": format!("00000000-0000-4000-8000-{i:012x}"),
        "name": name,
        "type": format!("n8n-nodes-base.{kind}"),
        "typeVersion": version,
        "position": [(i % 50) * 220, (i / 50) * 160],
        "parameters": parameters,
    })
}
