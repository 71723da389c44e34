use super::Difference;
use crate::gateway::Redactor;
use agentctl_n8n::Workflow;
use serde_json::{Value, json};

fn workflow(parameters: Value) -> Workflow {
    Workflow::from_value(json!({
        "name": "Orders",
        "nodes": [{"id": "1", "name": "Call", "type": "test.any", "typeVersion": 1, "parameters": parameters}],
        "connections": {}
    }))
    .unwrap()
}

fn difference(old: Value, new: Value) -> Difference {
    let redactor = Redactor::new(["the-known-value".to_owned()]);
    Difference::of(&redactor, Some(&workflow(old)), Some(&workflow(new)))
}

#[test]
fn a_changed_secret_is_told_and_not_shown() {
    let old = json!({
        "password": "first-secret-1", "url": "https://a/?k=the-known-value",
        "headers": [{"name": "X-API-Key", "value": "header-secret-1"}]
    });
    let new = json!({
        "password": "second-secret-2", "url": "https://b/?k=the-known-value",
        "headers": [{"name": "X-API-Key", "value": "header-secret-2"}]
    });
    let found = difference(old, new);
    let pointers: Vec<&str> = found.changes.nodes_changed[0]
        .values
        .iter()
        .map(|v| v.pointer.as_str())
        .collect();
    assert_eq!(
        pointers,
        [
            "/parameters/password",
            "/parameters/url",
            "/parameters/headers/0/value"
        ]
    );
    let all = format!(
        "{}\n{}",
        found.changes,
        serde_json::to_string(&found).unwrap()
    );
    for secret in ["secret-1", "secret-2", "the-known-value"] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    assert!(found.diff.contains("https://b/"), "{}", found.diff);
    assert!(
        found.changes.to_string().contains("password"),
        "{}",
        found.changes
    );
}

#[test]
fn the_same_is_no_difference_and_nothing_against_something_is_all_of_it() {
    assert!(
        difference(json!({"a": 1}), json!({"a": 1.0}))
            .changes
            .is_empty()
    );
    let made = Difference::of(&Redactor::default(), None, Some(&workflow(json!({"a": 1}))));
    let names: Vec<&str> = made
        .changes
        .nodes_added
        .iter()
        .map(|n| n.name.as_str())
        .collect();
    assert_eq!(names, ["Call"]);
    assert!(Difference::of(&Redactor::default(), None, None).is_empty());
}
