//! What a call shows: pages, marks for secrets, findings compared.

use super::*;
use crate::backend::{BackendErrorKind, ServerVerdict, TemplateHead};
use crate::fixture::Lie;

/// Every text of a value as it is, without the escapes of JSON.
fn strings(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(map) => {
            for (key, item) in map {
                out.push_str(key);
                strings(item, out);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn secrets_and_escapes_do_not_get_through() {
    let mut b = bench();
    let path = b.dir.path().join("workflows");
    std::fs::create_dir_all(&path).unwrap();
    let mut workflow = chain("old", 3);
    workflow.nodes[0].map_mut().insert(
        "parameters".into(),
        json!({"password": "hunter2hunter2", "h": "opaque-secret-value", "note": "a\u{1b}[31m\u{202e}b"}),
    );
    std::fs::write(path.join("old.json"), workflow.to_text()).unwrap();
    let read = b
        .ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    assert_eq!(
        read["workflow"]["nodes"][0]["parameters"],
        json!({"password": "[redacted:value]", "h": "[redacted:known]", "note": "a\u{fffd}[31m\u{fffd}b"})
    );
    // What was hidden cannot be written back over the real value.
    let back = json!({"workflow_id": "old", "ops": [{"op": "replace_parameters", "node": "id-0", "parameters": read["workflow"]["nodes"][0]["parameters"]}]});
    assert_eq!(
        b.refused("writer", "update_workflow", back).await,
        rules::REDACTED
    );
    b.ok(
        "writer",
        "update_workflow",
        set("old", "id-1", json!("opaque-secret-value")),
    )
    .await;
    // Nor in what a refusal quotes.
    b.refused(
        "writer",
        "list_workflows",
        json!({"query": {"opaque-secret-value": 1}}),
    )
    .await;
    b.refused(
        "writer",
        "get_workflow",
        json!({"workflow_id": "old", "view": "opaque-secret-value\u{1b}"}),
    )
    .await;
    let raw = "{\"workflow_id\": \"\u{1b}[2J opaque-secret-value";
    assert!(b.raw("writer", "get_workflow", raw).await.is_ok());
    let mut journal = String::new();
    for (event, _) in &b.desk.events {
        strings(&json!(event), &mut journal);
    }
    for secret in [
        "hunter2hunter2",
        "opaque-secret-value",
        "\u{1b}",
        "\u{202e}",
    ] {
        assert!(!journal.contains(secret), "{secret:?} is in the journal");
    }
    assert_eq!(
        b.file("old").unwrap().nodes[1].parameters().unwrap()["x"],
        "opaque-secret-value",
        "the call itself is made as it was meant"
    );
}

#[tokio::test]
async fn the_final_check_compares_with_the_one_before() {
    let mut b = bench();
    let mut args = two_nodes("W");
    args["nodes"][1]["type"] = json!("n8n-nodes-base.noSuchNode");
    b.ok("writer", "create_workflow", args).await;
    let first = b
        .ok("checker", "validate_workflow", json!({"workflow_id": "w"}))
        .await;
    assert_eq!(first["passed"], false);
    assert!(first.get("fixed").is_none());
    let bad = b.file("w").unwrap().node_by_name("End").unwrap().id();
    assert!(
        first["edit_scope"]
            .as_array()
            .unwrap()
            .contains(&json!(bad))
    );
    b.ok("writer", "update_workflow", json!({"workflow_id": "w", "ops": [
        {"op": "remove_node", "node": "End"},
        {"op": "add_node", "node": {"name": "End", "type": "n8n-nodes-base.noOp", "typeVersion": 1}},
        {"op": "connect", "from": "Start", "to": "End"},
    ]})).await;
    b.refold();
    let second = b
        .ok("checker", "validate_workflow", json!({"workflow_id": "w"}))
        .await;
    assert_eq!(second["passed"], true, "{second:#}");
    let ids = |v: &Value| -> BTreeSet<String> {
        v.as_array()
            .unwrap()
            .iter()
            .map(|i| i.as_str().unwrap().to_owned())
            .collect()
    };
    assert!(!ids(&second["fixed"]).is_empty());
    assert!(ids(&second["fixed"]).is_subset(&ids(&first["finding_ids"])));
    assert_eq!(
        memory(&b.guards).last_validation("w").unwrap().error_count,
        0
    );
}

#[tokio::test]
async fn a_large_workflow_comes_in_pages() {
    let mut b = bench();
    let path = b.dir.path().join("workflows");
    std::fs::create_dir_all(&path).unwrap();
    let mut workflow = chain("big", 40);
    for node in &mut workflow.nodes {
        node.set("notes", json!("n".repeat(10_000)));
    }
    std::fs::write(path.join("big.json"), workflow.to_text()).unwrap();
    let mut names = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let mut args = json!({"workflow_id": "big"});
        if !cursor.is_null() {
            args["cursor"] = cursor.clone();
        }
        let page = b.ok("writer", "get_workflow", args).await;
        assert!(page.to_string().len() < 130_000);
        assert_eq!(page["node_count"], 40);
        for node in page["workflow"]["nodes"].as_array().unwrap() {
            names.push(node["name"].as_str().unwrap().to_owned());
        }
        match page.get("next_cursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!(
        names,
        (0..40).map(|i| format!("Node {i}")).collect::<Vec<_>>()
    );
    let wrong = b
        .call(
            "writer",
            "get_workflow",
            json!({"workflow_id": "big", "cursor": "99"}),
        )
        .await;
    assert_eq!(wrong.content["rule"], "arguments");
}

/// Its rules are its own: what it says stands beside our verdict, which it cannot turn.
#[tokio::test]
async fn the_servers_word_stands_beside_the_verdict() {
    let (mut b, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    backend.put("old", chain("old", 3), false);
    let of_old = json!({"workflow_id": "old"});
    let ours = b.ok("checker", "validate_workflow", of_old.clone()).await;
    assert_eq!(ours.get("server"), None);
    backend.judges(ServerVerdict {
        server: "n8n-mcp".into(),
        valid: !ours["passed"].as_bool().unwrap(),
        errors: vec!["Node 1: no".into()],
        warnings: vec![],
    });
    let both = b.ok("checker", "validate_workflow", of_old.clone()).await;
    for key in ["passed", "error_count", "findings", "edit_scope"] {
        assert_eq!(both[key], ours[key], "{key}");
    }
    assert_eq!(
        both["server"],
        json!({"name": "n8n-mcp", "valid": !ours["passed"].as_bool().unwrap(), "error_count": 1, "errors": ["Node 1: no"], "warning_count": 0, "warnings": []})
    );
    // One that cannot be asked is said to be so; the check is made all the same.
    for kind in [BackendErrorKind::Unavailable, BackendErrorKind::Rejected] {
        let (mut b, backend) = Bench::in_memory(
            Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap(),
        );
        backend.put("old", chain("old", 3), false);
        backend.next("server_verdict", Lie::Fails(kind));
        let alone = b.ok("checker", "validate_workflow", of_old.clone()).await;
        assert_eq!(alone["passed"], ours["passed"]);
        assert_eq!(
            alone["server"],
            json!({"name": "memory", "failed": "told to fail"})
        );
    }
}

/// By the same points as a workflow of that name and those node types, best first.
#[tokio::test]
async fn templates_are_scored_as_workflows_are() {
    let (mut b, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    let types = ["n8n-nodes-base.webhook", "n8n-nodes-base.noOp"];
    for (id, name, count) in [("1", "Something", 1), ("2", "Orders", 2)] {
        backend.offers(TemplateHead {
            id: id.into(),
            name: name.into(),
            description: String::new(),
            node_types: types[..count].iter().map(|t| (*t).to_owned()).collect(),
            views: None,
        });
    }
    let wanted = json!({"node_types": [types[1]], "trigger_types": [types[0]], "words": ["orders"], "values": []});
    let asked = json!({"query": "orders", "wanted": wanted});
    let found = b.ok("reader", "search_templates", asked).await;
    let told: Vec<Value> = found["templates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| json!([t["id"], t["fit_score"]]))
        .collect();
    // 1: the trigger alone, 20 of 85 points.
    assert_eq!(told, [json!(["2", 100]), json!(["1", 24])]);
    let plain = b
        .ok("reader", "search_templates", json!({"query": "orders"}))
        .await;
    assert_eq!(plain["templates"][0].get("fit_score"), None);
}

#[tokio::test]
async fn of_many_workflows_those_that_fit_best_are_listed_and_the_others_counted() {
    let mut b = bench();
    for i in 0..60 {
        b = b.with_file(&format!("other-{i}"), 1, false);
    }
    b = b.with_file("orders", 2, false);
    let wanted = json!({"node_types": [], "trigger_types": [], "words": ["orders"], "values": []});
    let asked = json!({"wanted": wanted});
    let found = b.ok("writer", "list_workflows", asked).await;
    let listed = found["workflows"].as_array().unwrap();
    assert_eq!((listed.len(), &found["total"]), (40, &json!(61)));
    assert_eq!(listed[0]["id"], "orders");
    assert!(listed.iter().all(|one| one["fit_score"].is_u64()));
    assert_eq!(
        found["note"],
        "21 more fit less; without `wanted`, or with `query`, they are listed"
    );
    let all = b.ok("writer", "list_workflows", json!({})).await;
    assert_eq!(all["total"], 61);
    assert_eq!(all.get("note"), None);
}
