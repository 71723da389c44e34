use super::*;
use crate::arbitrary;
use proptest::prelude::*;
use serde_json::json;

fn two_nodes() -> Workflow {
    Workflow::from_value(json!({
        "id": "w1", "name": "Any", "versionId": "v1", "active": true, "pinData": {"A": [{}]},
        "nodes": [
            {"id": "1", "name": "A", "type": "t.a", "typeVersion": 1, "position": [0, 0], "parameters": {"x": 1, "y": {"p": 1, "q": 2}},
             "credentials": {"slackApi": {"id": "c1", "name": "Slack"}}},
            {"id": "2", "name": "B", "type": "t.b", "typeVersion": 2.1, "position": [200, 0], "parameters": {}, "onError": "stopWorkflow"}
        ],
        "connections": {"A": {"main": [[{"node": "B", "type": "main", "index": 0}]]}},
        "settings": {"executionOrder": "v1"}
    }))
    .unwrap()
}

#[test]
fn noise_and_identity_do_not_count() {
    let noisy = Workflow::from_value(json!({
        "settings": {"executionOrder": "v1", "callerIds": null},
        "connections": {"A": {"main": [[{"index": 0, "node": "B", "type": "main"}], null]}},
        "name": "Other", "tags": [], "meta": {"a": 1},
        "nodes": [
            {"position": [99, 98], "type": "t.b", "typeVersion": 2.1, "onError": "stopWorkflow", "name": "B", "webhookId": "h", "disabled": false},
            {"id": "9", "name": "A", "type": "t.a", "typeVersion": 1.0, "position": [0, 0], "parameters": {"y": {"q": 2.0, "p": 1}, "x": 1},
             "credentials": {"slackApi": {"id": "c1", "name": "Slack of Ann"}}}
        ]
    }))
    .unwrap();
    assert_eq!(graph_hash(&two_nodes()), graph_hash(&noisy));
    assert_eq!(
        graph_hash(&two_nodes()),
        "61e7cd873283e5b29ee95ab6e82ba678ee4a821dbda02ee0a0a0832d1ca0f090"
    );
}

#[test]
fn every_meaningful_change_counts() {
    let base = two_nodes();
    let changes: [fn(&mut Workflow); 9] = [
        |w| w.nodes[0].set("name", json!("A2")),
        |w| w.nodes[0].set("type", json!("t.c")),
        |w| w.nodes[0].set("typeVersion", json!(1.1)),
        |w| w.nodes[0].set("disabled", json!(true)),
        |w| w.nodes[1].set("onError", json!("continueErrorOutput")),
        |w| {
            w.nodes[0].set(
                "credentials",
                json!({"slackApi": {"id": "c2", "name": "Slack"}}),
            )
        },
        |w| w.connect("A", "main", 1, "B", 0),
        |w| w.connections.clear(),
        |w| {
            w.head
                .insert("settings".into(), json!({"executionOrder": "v0"}));
        },
    ];
    let mut seen = std::collections::HashSet::from([graph_hash(&base)]);
    for (i, change) in changes.iter().enumerate() {
        let mut changed = base.clone();
        change(&mut changed);
        assert!(seen.insert(graph_hash(&changed)), "change {i}");
    }
}

fn with_credentials(credential: Value) -> String {
    let mut workflow = two_nodes();
    workflow.nodes[0].set("credentials", json!({"slackApi": credential}));
    graph_hash(&workflow)
}

#[test]
fn a_credential_without_an_id_is_its_name_however_it_is_written() {
    let bare = with_credentials(json!("Slack"));
    assert_eq!(bare, with_credentials(json!({"name": "Slack"})));
    assert_eq!(bare, with_credentials(json!({"id": null, "name": "Slack"})));
    assert_ne!(bare, with_credentials(json!("Slack 2")));
    assert_ne!(bare, with_credentials(json!({"id": "c1", "name": "Slack"})));
    assert_ne!(bare, with_credentials(json!({})));
}

#[test]
fn what_only_the_editor_writes_counts_where_it_changes_a_run() {
    let with = |settings: Value| {
        let mut workflow = two_nodes();
        workflow.nodes[0].set("extendsCredential", json!("slackApi"));
        workflow.head.insert("settings".into(), settings);
        graph_hash(&workflow)
    };
    let base = graph_hash(&two_nodes());
    let defaults = json!({"executionOrder": "v1", "binaryMode": "separate", "timeSavedMode": "fixed", "availableInMCP": true});
    assert_eq!(base, with(defaults));
    assert_ne!(
        base,
        with(json!({"executionOrder": "v1", "binaryMode": "combined"}))
    );
}

#[test]
fn settings_that_say_nothing_are_no_settings() {
    let with = |settings: Option<Value>| {
        let mut workflow = two_nodes();
        workflow.head.shift_remove("settings");
        workflow
            .head
            .extend(settings.map(|s| ("settings".to_owned(), s)));
        graph_hash(&workflow)
    };
    let none = with(None);
    for nothing in [
        json!({}),
        json!({"callerIds": null, "saveManualExecutions": false}),
        json!({"binaryMode": "separate", "availableInMCP": true}),
        // What n8n 1.x writes into every workflow.
        json!({"callerPolicy": "workflowsFromSameOwner"}),
    ] {
        assert_eq!(with(Some(nothing.clone())), none, "{nothing}");
    }
    assert_ne!(with(Some(json!({"callerPolicy": "any"}))), none);
    assert_ne!(with(Some(json!({"timezone": "UTC"}))), none);
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .rev()
                .map(|(k, v)| (k.clone(), reversed(v)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(reversed).collect()),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn order_does_not_count(workflow in arbitrary::workflow(6)) {
        let mut shuffled = Workflow::from_value(reversed(&workflow.to_value())).unwrap();
        shuffled.nodes.reverse();
        prop_assert_eq!(graph_hash(&shuffled), graph_hash(&workflow));
    }

    #[test]
    fn any_parameter_change_counts(workflow in arbitrary::workflow(6), at in 0usize..6, parameters in arbitrary::parameters()) {
        let at = at % workflow.nodes.len();
        let mut changed = workflow.clone();
        changed.nodes[at].set("parameters", Value::Object(parameters.clone()));
        let differs = workflow.nodes[at].parameters() != Some(&parameters);
        let null_only = |map: &Map<String, Value>| map.is_empty();
        let both_empty = workflow.nodes[at].parameters().is_none_or(null_only) && null_only(&parameters);
        prop_assert_eq!(graph_hash(&changed) != graph_hash(&workflow), differs && !both_empty);
    }

    #[test]
    fn any_edge_counts(workflow in arbitrary::workflow(5), from in 0usize..5, to in 0usize..5, output in 0u32..3) {
        let count = workflow.nodes.len();
        let mut changed = workflow.clone();
        changed.connect(&format!("Node {}", from % count), "main", output, &format!("Node {}", to % count), 0);
        let added = changed.edges().count() != workflow.edges().count();
        prop_assert_eq!(graph_hash(&changed) != graph_hash(&workflow), added);
    }
}
