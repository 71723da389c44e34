//! New values go where their kind stands, and nowhere else.

use super::modify;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{EditOp, Workflow};
use proptest::prelude::*;
use serde_json::{Value, json};

const NAMES: [&str; 5] = ["orders", "sales", "sales-eu", "leads", "support"];

fn node(id: usize, name: &str, kind: &str, parameters: Value) -> Value {
    json!({"id": format!("n{id}"), "name": name, "type": format!("n8n-nodes-base.{kind}"), "typeVersion": 2, "position": [id * 200, 0], "parameters": parameters})
}

fn slack(id: usize, channel: &str) -> Value {
    let channel = json!({"__rl": true, "mode": "name", "value": format!("#{channel}")});
    node(
        id,
        &format!("Say {id}"),
        "slack",
        json!({"channelId": channel, "text": "=New in #orders: {{ $json.id }}"}),
    )
}

fn sheet(id: usize, tab: &str) -> Value {
    let document = json!({"__rl": true, "mode": "id", "value": format!("1{tab}-x{tab}"), "cachedResultName": tab});
    let tab = json!({"__rl": true, "mode": "name", "value": tab});
    node(
        id,
        &format!("Row {id}"),
        "googleSheets",
        json!({"operation": "append", "documentId": document, "sheetName": tab}),
    )
}

/// One node behind the other.
fn chain(mut nodes: Vec<Value>) -> Workflow {
    let path = json!({"path": "orders", "httpMethod": "POST"});
    nodes.insert(0, node(99, "Hook", "webhook", path));
    let names: Vec<String> = nodes
        .iter()
        .map(|n| n["name"].as_str().unwrap().to_owned())
        .collect();
    let mut connections = serde_json::Map::new();
    for pair in names.windows(2) {
        connections.insert(
            pair[0].clone(),
            json!({"main": [[{"node": pair[1], "type": "main", "index": 0}]]}),
        );
    }
    Workflow::from_value(
        json!({"name": "w", "nodes": nodes, "connections": connections, "settings": {}}),
    )
    .unwrap()
}

fn touched(ops: &[EditOp]) -> Vec<(&str, &str)> {
    let named = ops.iter().map(|op| match op {
        EditOp::SetParameter { node, pointer, .. } => (node.as_str(), pointer.as_str()),
        other => panic!("nothing else is asked for: {other:?}"),
    });
    named.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_channel_is_put_where_the_old_one_stood_and_all_else_stays(
        channels in proptest::sample::subsequence(NAMES.to_vec(), 1..=4),
        tabs in proptest::collection::vec(proptest::sample::select(NAMES.to_vec()), 0..3),
        old in proptest::sample::select(NAMES.to_vec()),
        language in 0..4_usize,
    ) {
        let mut nodes: Vec<Value> = channels.iter().enumerate().map(|(i, c)| slack(i, c)).collect();
        nodes.extend(tabs.iter().enumerate().map(|(i, tab)| sheet(i + 10, tab)));
        let workflow = chain(nodes);
        let request = [
            format!("post to #team-rocket instead of #{old}"),
            format!("Bitte in #team-rocket statt in #{old} posten"),
            format!("publica en #team-rocket en lugar de #{old}"),
            format!("publie dans #team-rocket au lieu de #{old}"),
        ][language].clone();
        let change = modify(&workflow, &request, Catalog::embedded());
        let wanted: Vec<String> = (0..).zip(&channels).filter(|(_, c)| **c == old).map(|(i, _): (usize, _)| format!("Say {i}")).collect();
        let wanted: Vec<(&str, &str)> = wanted.iter().map(|name| (name.as_str(), "/channelId")).collect();
        // What is to be replaced is nowhere: it is asked.
        if wanted.is_empty() {
            prop_assert_eq!(touched(&change.ops), vec![]);
            prop_assert!(!change.questions.is_empty());
        } else {
            prop_assert_eq!(touched(&change.ops), wanted);
            prop_assert!(change.questions.is_empty());
        }
    }
}

#[test]
fn two_places_are_asked_about_and_the_answer_is_used() {
    let workflow = chain(vec![slack(0, "sales"), slack(1, "support")]);
    let asks = modify(&workflow, "post to #helpdesk instead", Catalog::embedded());
    assert_eq!(asks.ops, []);
    let options: Vec<&str> = asks.questions[0]
        .options
        .iter()
        .map(|o| o.label.as_str())
        .collect();
    assert_eq!((asks.questions.len(), options), (1, vec!["Say 0", "Say 1"]));
    let told = modify(
        &workflow,
        "post to #helpdesk instead. Use Say 1",
        Catalog::embedded(),
    );
    assert_eq!(touched(&told.ops), [("Say 1", "/channelId")]);
    assert_eq!(told.questions, []);
}

#[test]
fn what_comes_in_addition_takes_no_place() {
    let workflow = chain(vec![slack(0, "sales")]);
    for request in [
        "also post it to #marketing",
        "Bitte auch in #marketing posten",
        "publica también en #marketing",
        "publie aussi dans #marketing",
    ] {
        let change = modify(&workflow, request, Catalog::embedded());
        let kept = change
            .ops
            .iter()
            .all(|op| !matches!(op, EditOp::SetParameter { node, .. } if node == "Say 0"));
        assert!(kept, "{request}: {:?}", change.ops);
    }
}

#[test]
fn no_part_of_an_id_and_no_tab_is_exchanged_for_a_channel() {
    let workflow = chain(vec![slack(0, "orders"), sheet(1, "orders")]);
    let change = modify(
        &workflow,
        "post to #sales instead of #orders",
        Catalog::embedded(),
    );
    assert_eq!(touched(&change.ops), [("Say 0", "/channelId")]);
    let change = modify(
        &workflow,
        "use the tab \"archive\" for the rows",
        Catalog::embedded(),
    );
    assert_eq!(touched(&change.ops), [("Row 1", "/sheetName")]);
}

#[test]
fn a_value_that_several_nodes_hold_is_exchanged_in_each() {
    let before = chain(vec![slack(1, "news"), slack(2, "sales"), slack(3, "news")]);
    let request = "post to #fresh-news instead of #news";
    let done = modify(&before, request, Catalog::embedded());
    let place = "/channelId";
    assert_eq!(touched(&done.ops), [("Say 1", place), ("Say 3", place)]);
    assert_eq!(done.questions, []);
}
