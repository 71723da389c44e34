//! Credentials by their type: one that fits is taken, of several none, and what a caller names is still the user's to allow.

use super::*;

fn slack(credentials: Value) -> Value {
    let mut node = json!({"name": "Tell", "type": "n8n-nodes-base.slack", "typeVersion": 2.3,
        "parameters": {"resource": "message", "operation": "post"}});
    if !credentials.is_null() {
        node["credentials"] = credentials;
    }
    json!({
        "name": "Orders",
        "nodes": [{"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}}, node],
        "connections": {"Start": {"main": [[{"node": "Tell", "type": "main", "index": 0}]]}},
    })
}

#[tokio::test]
async fn the_only_credential_of_the_type_is_taken_and_of_several_none() {
    let entry = |more: (&str, Value)| {
        let mut entry = json!({"node": "Tell", "type": "slackApi"});
        entry[more.0] = more.1;
        entry
    };
    for (known, taken, told) in [
        (vec![], None, entry(("missing", json!(true)))),
        (
            vec!["Sales"],
            Some("c0"),
            entry(("taken", json!({"id": "c0", "name": "Sales"}))),
        ),
        (
            vec!["Sales", "Ops"],
            None,
            entry((
                "candidates",
                json!([{"id": "c0", "name": "Sales"}, {"id": "c1", "name": "Ops"}]),
            )),
        ),
    ] {
        let (mut b, backend) = Bench::in_memory(Policy::load(POLICY, "policy.yaml").unwrap());
        for (at, name) in known.iter().enumerate() {
            backend.knows(&format!("c{at}"), name, "slackApi");
        }
        backend.knows("g", "Mail", "gmailOAuth2");
        let made = b.ok("writer", "create_workflow", slack(Value::Null)).await;
        let mut said = made["credentials"][0].clone();
        said.as_object_mut().unwrap().remove("label");
        assert_eq!(said, told);
        let held = backend.held("orders").unwrap();
        let id = held.nodes[1]
            .credentials()
            .map(|c| c["slackApi"]["id"].clone());
        assert_eq!(id, taken.map(|id| json!(id)));
    }
}

#[tokio::test]
async fn an_id_that_the_caller_names_is_asked_for() {
    let (mut b, backend) = Bench::in_memory(Policy::load(POLICY, "policy.yaml").unwrap());
    backend.knows("c0", "Sales", "slackApi");
    let named = slack(json!({"slackApi": {"id": "invented", "name": "Sales"}}));
    let question = b.asked("writer", "create_workflow", named).await;
    assert_eq!(question.proposal.unwrap().rule, guards::CREDENTIALS);
    assert_eq!(backend.ids(), Vec::<String>::new());
}
