use super::difference;
use agentctl_engine::redact::Redactor;
use agentctl_engine::toolset::Difference;
use agentctl_n8n::Workflow;
use agentctl_n8n::diff::WorkflowDiff;
use serde_json::{Value, json};

fn workflow(parameters: Value) -> Workflow {
    Workflow::from_value(json!({
        "name": "Orders",
        "nodes": [{"id": "1", "name": "Call", "type": "test.any", "typeVersion": 1, "parameters": parameters}],
        "connections": {}
    }))
    .unwrap()
}

fn between(old: Value, new: Value) -> Difference {
    let redactor = Redactor::new(["the-known-value".to_owned()]);
    difference(&redactor, Some(&workflow(old)), Some(&workflow(new)))
}

/// The command line's JSON is the typed one.
fn typed(found: &Difference) -> WorkflowDiff {
    serde_json::from_value(found.changes.clone()).unwrap()
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
    let found = between(old, new);
    let changes = typed(&found);
    let pointers: Vec<&str> = changes.nodes_changed[0]
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
        "{changes}\n{}\n{}",
        found.lines.join("\n"),
        serde_json::to_string(&found).unwrap()
    );
    for secret in ["secret-1", "secret-2", "the-known-value"] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    assert!(found.diff.contains("https://b/"), "{}", found.diff);
    assert_eq!(changes.to_string(), found.lines.join("\n") + "\n");
    assert!(changes.to_string().contains("password"), "{changes}");
}

#[test]
fn the_same_is_no_difference_and_nothing_against_something_is_all_of_it() {
    assert!(typed(&between(json!({"a": 1}), json!({"a": 1.0}))).is_empty());
    let made = difference(&Redactor::default(), None, Some(&workflow(json!({"a": 1}))));
    let changes = typed(&made);
    let names: Vec<&str> = changes
        .nodes_added
        .iter()
        .map(|n| n.name.as_str())
        .collect();
    assert_eq!(names, ["Call"]);
    assert!(difference(&Redactor::default(), None, None).is_empty());
}
