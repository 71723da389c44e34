//! Changes of connections, and what a change never takes along, in English and German at least.

use super::modify;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{EditOp, Workflow, edit};
use serde_json::{Value, json};

fn node(id: &str, name: &str, kind: &str, parameters: Value) -> Value {
    json!({"id": id, "name": name, "type": format!("n8n-nodes-base.{kind}"), "typeVersion": 2, "position": [0, 0], "parameters": parameters})
}

/// Hook → Big order? → (true) Tell sales, (false) Log order.
fn orders() -> Workflow {
    let condition = json!({"conditions": {"combinator": "and", "options": {}, "conditions": [
        {"id": "c", "leftValue": "={{ $json.total }}", "rightValue": 1000, "operator": {"type": "number", "operation": "gt"}}]}});
    let channel = json!({"__rl": true, "mode": "name", "value": "#sales"});
    Workflow::from_value(json!({
        "name": "Orders",
        "nodes": [
            node("a", "New order", "webhook", json!({"path": "orders", "httpMethod": "POST"})),
            node("b", "Big order?", "if", condition),
            node("c", "Tell sales", "slack", json!({"select": "channel", "channelId": channel, "text": "=Order {{ $json.id }}"})),
            node("d", "Log order", "googleSheets", json!({"operation": "append"})),
        ],
        "connections": {
            "New order": {"main": [[{"node": "Big order?", "type": "main", "index": 0}]]},
            "Big order?": {"main": [
                [{"node": "Tell sales", "type": "main", "index": 0}],
                [{"node": "Log order", "type": "main", "index": 0}]]},
        },
        "settings": {}
    }))
    .unwrap()
}

fn after(workflow: &Workflow, request: &str) -> Workflow {
    let change = modify(workflow, request, Catalog::embedded());
    assert!(!change.ops.is_empty(), "{request}: {:?}", change.questions);
    edit::apply(workflow, &change.ops, &mut || "new".to_owned()).unwrap()
}

fn edges(workflow: &Workflow) -> Vec<(String, u32, String)> {
    let edges = workflow.edges();
    let mut edges: Vec<_> = edges
        .map(|(from, _, output, link)| (from.to_owned(), output, link.node.clone()))
        .collect();
    edges.sort();
    edges
}

fn edge(from: &str, output: u32, to: &str) -> (String, u32, String) {
    (from.to_owned(), output, to.to_owned())
}

#[test]
fn connecting_and_disconnecting_touches_no_node() {
    let told = edge("Big order?", 0, "Tell sales");
    let begins = edge("New order", 0, "Big order?");
    let logged = edge("Big order?", 1, "Log order");
    for (request, wanted) in [
        ("Disconnect Log order.", vec![told.clone(), begins.clone()]),
        (
            "Trenne Log order von Big order? bitte.",
            vec![told.clone(), begins.clone()],
        ),
        (
            "Put Log order behind Tell sales.",
            vec![
                told.clone(),
                begins.clone(),
                edge("Tell sales", 0, "Log order"),
            ],
        ),
        (
            "Setz Log order hinter Tell sales.",
            vec![
                told.clone(),
                begins.clone(),
                edge("Tell sales", 0, "Log order"),
            ],
        ),
        (
            "Connect Tell sales to Log order.",
            vec![
                told.clone(),
                logged.clone(),
                begins.clone(),
                edge("Tell sales", 0, "Log order"),
            ],
        ),
        (
            "Verbinde Tell sales mit Log order.",
            vec![
                told.clone(),
                logged.clone(),
                begins.clone(),
                edge("Tell sales", 0, "Log order"),
            ],
        ),
    ] {
        let changed = after(&orders(), request);
        let mut wanted = wanted;
        wanted.sort();
        assert_eq!(edges(&changed), wanted, "{request}");
        assert_eq!(changed.nodes, orders().nodes, "{request}");
    }
}

#[test]
fn an_order_that_is_said_is_the_order_that_is_made() {
    let changed = after(
        &orders(),
        "Log it first and tell them after that: Big order?, then Log order, then Tell sales.",
    );
    let wanted = vec![
        edge("Big order?", 1, "Log order"),
        edge("Log order", 0, "Tell sales"),
        edge("New order", 0, "Big order?"),
    ];
    assert_eq!(edges(&changed), wanted);
}

#[test]
fn a_step_goes_alone_and_never_takes_the_trigger_along() {
    for request in [
        "Remove Log order, small orders need nothing.",
        "Entferne Log order.",
        "Lösch bitte Log order, kleine Bestellungen brauchen nichts.",
    ] {
        let change = modify(&orders(), request, Catalog::embedded());
        let gone: Vec<&str> = change
            .ops
            .iter()
            .filter_map(|op| match op {
                EditOp::RemoveNode { node } => Some(node.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(gone, ["Log order"], "{request}: {:?}", change.ops);
    }
}

#[test]
fn a_pronoun_is_no_address() {
    let change = modify(
        &orders(),
        "Send it instead of #sales to it.",
        Catalog::embedded(),
    );
    let written = format!("{:?}", change.ops);
    assert!(!written.contains("\"it\""), "{written}");
}

#[test]
fn several_values_of_one_sentence_go_to_their_places() {
    let mail = node(
        "e",
        "Send report",
        "gmail",
        json!({"resource": "message", "operation": "send", "sendTo": "old@x.example", "subject": "Old"}),
    );
    let hook = node("a", "Hook", "webhook", json!({"path": "x"}));
    let workflow = Workflow::from_value(json!({"name": "w", "nodes": [hook, mail],
        "connections": {"Hook": {"main": [[{"node": "Send report", "type": "main", "index": 0}]]}}, "settings": {}})).unwrap();
    let changed = after(
        &workflow,
        "Send report should go to new@x.example with the subject 'Read me'.",
    );
    let node = changed.node_by_name("Send report").unwrap();
    let parameters = node.parameters().unwrap();
    assert_eq!(
        (&parameters["sendTo"], &parameters["subject"]),
        (&json!("new@x.example"), &json!("Read me"))
    );
    assert_eq!(changed.nodes.len(), 2);
}

#[test]
fn a_time_alone_is_the_schedules() {
    let daily =
        json!({"rule": {"interval": [{"field": "cronExpression", "expression": "30 7 * * 1"}]}});
    let mut workflow = orders();
    workflow.nodes[0] = agentctl_n8n::Node::new(
        agentctl_n8n::NodeId("a".into()),
        "New order",
        "n8n-nodes-base.scheduleTrigger",
        1.2,
        daily.as_object().unwrap().clone(),
    );
    for request in ["Make it 6:45.", "Bitte erst um 6:45 Uhr."] {
        let changed = after(&workflow, request);
        let rule = changed.nodes[0].parameters().unwrap().clone();
        assert_eq!(
            rule["rule"]["interval"][0]["expression"],
            json!("45 6 * * 1"),
            "{request}"
        );
    }
}
