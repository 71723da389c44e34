use super::super::compile::compile;
use super::super::read::{ReadContext, read};
use super::{Weight, unused};
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use serde_json::json;

fn flow(nodes: serde_json::Value) -> Workflow {
    Workflow::from_value(json!({"name": "w", "nodes": nodes, "connections": {}})).unwrap()
}

fn lost(request: &str, nodes: serde_json::Value) -> Vec<(String, Weight)> {
    unused(request, &[&flow(nodes)])
        .into_iter()
        .map(|u| (u.said, u.weight))
        .collect()
}

fn node(kind: &str, parameters: serde_json::Value) -> serde_json::Value {
    json!({"id": kind, "name": kind, "type": format!("n8n-nodes-base.{kind}"), "typeVersion": 1, "position": [0, 0], "parameters": parameters})
}

#[test]
fn what_no_node_holds_is_named() {
    let nodes = json!([
        node("webhook", json!({"path": "orders"})),
        node("slack", json!({"channelId": "#sales"})),
    ]);
    assert_eq!(
        lost(
            "On a webhook /orders above 500 EUR post to Slack #sales and #finance, and add a Trello card to the list 'Big deals' for 30 days",
            nodes
        ),
        [
            ("#finance".to_owned(), Weight::Part),
            ("Trello".to_owned(), Weight::Part),
            ("'Big deals'".to_owned(), Weight::Value),
            ("500 EUR".to_owned(), Weight::Value),
            ("30 days".to_owned(), Weight::Value),
        ]
    );
}

#[test]
fn other_forms_count_as_used() {
    let nodes = json!([
        node(
            "scheduleTrigger",
            json!({"rule": {"interval": [{"field": "cronExpression", "expression": "0 8 * * 1"}]}})
        ),
        node(
            "if",
            json!({"conditions": [{"leftValue": "={{ $json.total }}", "rightValue": 1500}]})
        ),
        node("wait", json!({"amount": 2, "unit": "days"})),
        node(
            "httpRequest",
            json!({"url": "=https://api.acme.io/v1/orders/{{ $json.id }}"})
        ),
        node(
            "gmail",
            json!({"sendTo": "a@b.io", "options": {"timeout": 172_800}})
        ),
    ]);
    assert_eq!(
        lost(
            "Every Monday at 8 get https://api.acme.io/v1/orders/{id}, if the total is above €1,500 wait 48 hours and mail a@b.io via Gmail, do not use Slack",
            nodes
        ),
        []
    );
}

#[test]
fn plain_requests_lose_nothing() {
    for request in [
        "Every Monday at 9 send the open Jira issues of project OPS to #dev in Slack",
        "When a form is submitted with name and budget, and the budget is over 10000, email sales@acme.com",
        "When a payment succeeds in Stripe, append it to the Google Sheet 'Revenue'",
    ] {
        let plan = read(request, &ReadContext::default()).plan;
        let built = compile(&plan, Catalog::embedded());
        assert_eq!(unused(request, &[&built.workflow]), [], "{request}");
    }
}
