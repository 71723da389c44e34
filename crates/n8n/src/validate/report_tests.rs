use super::super::validate_value;
use crate::catalog::Catalog;
use serde_json::{Value, json};

fn node(name: &str, parameters: Value) -> Value {
    json!({"id": format!("id-{name}"), "name": name, "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [0, 0], "parameters": parameters})
}

/// Code and id of each finding about the node.
fn of_node(document: &Value, name: &str) -> Vec<(String, String)> {
    validate_value(document, Catalog::embedded())
        .into_iter()
        .filter(|f| f.node.as_deref() == Some(name))
        .map(|f| (f.code, f.id))
        .collect()
}

#[test]
fn a_node_added_in_front_changes_no_id() {
    let bare = || {
        let mut b = node("B", json!({"url": ""}));
        b["position"] = json!("here");
        b
    };
    let alone = json!({"nodes": [bare()], "connections": {}});
    let behind = json!({"nodes": [node("A", json!({})), bare()], "connections": {}});
    let before = of_node(&alone, "B");
    assert!(
        before.iter().any(|(code, _)| code == "n8n/structure")
            && before.iter().any(|(code, _)| code == "n8n/parameter"),
        "{before:?}"
    );
    assert_eq!(of_node(&behind, "B"), before);
}

#[test]
fn a_message_shows_no_key_that_somebody_wrote_into_the_workflow() {
    let key = "sk-proj-abcdefghijklmnopqrstuvwx0123456789";
    let document = json!({"nodes": [node("A", json!({"method": key, "url": format!("https://x.test/{key}")}))], "connections": {}});
    let findings = validate_value(&document, Catalog::embedded());
    assert!(
        findings
            .iter()
            .any(|f| f.code == "agentctl/option-value" && f.message.contains("[redacted:")),
        "{findings:?}"
    );
    assert!(
        findings.iter().all(|f| !f.message.contains(key)),
        "{findings:?}"
    );
}
