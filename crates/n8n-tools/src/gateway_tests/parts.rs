//! The tools that touch a part of a workflow: who joins nodes sets no values, who sets values does it where the message says.

use super::*;
use std::collections::BTreeMap;

const PARTS: &str = "
roles:
  joiner: [get-workflow, edit-structure, validate-draft, validate-part]
  finder: [check-nodes]
  setter: [get-workflow, edit-parameters, read-parameters, validate-part]
limits: {max_tool_calls: 40, max_identical_calls: 3}
";

/// A run that begins on these words.
fn said(words: &str) -> Bench {
    let policy = Policy::load(PARTS, "policy.yaml", crate::vocabulary::n8n()).unwrap();
    let mut bench = Bench::embedded(policy);
    bench.guards.observe(&Event::RunStarted {
        journal_version: agentctl_engine::store::event::JOURNAL_VERSION,
        agentctl_version: "0".into(),
        run_id: "r".into(),
        flow: "f".into(),
        pack_hash: "p".into(),
        input: json!({"request": words}).as_object().unwrap().clone(),
    });
    bench
}

fn alerts() -> Value {
    json!({
        "name": "Alerts",
        "nodes": [
            {"name": "Every hour", "type": "n8n-nodes-base.scheduleTrigger", "typeVersion": 1.2, "parameters": {}},
            {"name": "Big?", "type": "n8n-nodes-base.if", "typeVersion": 2.2, "parameters": {"conditions": {"combinator": "and", "conditions": []}}},
            {"name": "Tell sales", "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "parameters": {"resource": "message", "operation": "post"}},
        ],
        "connections": {
            "Every hour": {"main": [[{"node": "Big?", "type": "main", "index": 0}]]},
            "Big?": {"main": [[{"node": "Tell sales", "type": "main", "index": 0}]]},
        },
    })
}

/// A file that was there before the run.
fn write(bench: &Bench, mut workflow: Value) {
    for (at, node) in workflow["nodes"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .enumerate()
    {
        node["id"] = json!(format!("id-{at}"));
        node["position"] = json!([at * 200, 0]);
    }
    let folder = bench.dir.path().join("workflows");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("alerts.json"), workflow.to_string()).unwrap();
}

fn links(bench: &Bench) -> Vec<String> {
    let workflow = bench.file("alerts").unwrap();
    let edges = workflow.edges();
    edges
        .map(|(from, kind, output, link)| format!("{from} -{kind}{output}-> {}", link.node))
        .collect()
}

#[tokio::test]
async fn who_joins_nodes_sets_no_values() {
    let mut b = said("tell sales every hour");
    let mut with_text = alerts();
    with_text["nodes"][2]["parameters"]["text"] = json!("hello");
    let refused = b.call("joiner", "new_workflow", with_text).await;
    assert_eq!(refused.content["rule"], "guard.structure_only");
    assert!(
        refused.content["error"]
            .as_str()
            .unwrap()
            .contains("\"Tell sales\": text")
    );
    assert_eq!(b.file("alerts"), None);

    b.ok("joiner", "new_workflow", alerts()).await;
    let before = b.file("alerts");
    let value =
        json!({"op": "set_parameter", "node": "Tell sales", "pointer": "/text", "value": "hello"});
    let setting =
        json!({"op": "set_node_settings", "node": "Tell sales", "settings": {"retryOnFail": true}});
    let hidden = json!({"op": "set_parameter", "node": "Tell sales", "pointer": "/otherOptions/mrkdwn", "value": true});
    for op in [value, setting, hidden] {
        let args = json!({"workflow_id": "alerts", "ops": [op]});
        assert_eq!(
            b.refused("joiner", "edit_structure", args).await,
            "guard.structure_only"
        );
    }
    let sneaked = json!({"workflow_id": "alerts", "nodes": [
        {"name": "Mail", "type": "n8n-nodes-base.gmail", "parameters": {"resource": "message", "operation": "send", "sendTo": "a@b.example"}}]});
    assert_eq!(
        b.refused("joiner", "add_nodes", sneaked).await,
        "guard.structure_only"
    );
    let values = json!({"workflow_id": "alerts", "nodes": [{"node": "Tell sales", "parameters": {"text": "hi"}}]});
    assert_eq!(
        b.call("joiner", "update_node_parameters", values)
            .await
            .status,
        ToolStatus::Refused
    );
    assert_eq!(b.file("alerts"), before);

    // A condition sorts items onto outputs; a name that changes takes the expressions along.
    let conditions = json!({"combinator": "and", "conditions": [{"leftValue": "={{ $json.a }}", "rightValue": 1, "operator": {"type": "number", "operation": "gt"}}]});
    let ops = json!([
        {"op": "set_parameter", "node": "Big?", "pointer": "/conditions", "value": conditions},
        {"op": "rename_node", "node": "Big?", "name": "Large?"},
        {"op": "disable_node", "node": "Tell sales"},
    ]);
    b.ok(
        "joiner",
        "edit_structure",
        json!({"workflow_id": "alerts", "ops": ops}),
    )
    .await;
}

#[tokio::test]
async fn the_type_of_a_connection_is_inferred_and_a_sub_node_may_be_named_second() {
    let mut b = said("");
    b.ok("joiner", "new_workflow", alerts()).await;
    let lc = "@n8n/n8n-nodes-langchain";
    let nodes = json!({"workflow_id": "alerts", "nodes": [
        {"name": "Helper", "type": format!("{lc}.agent")},
        {"name": "Model", "type": format!("{lc}.lmChatOpenAi")},
        {"name": "Memory", "type": format!("{lc}.memoryBufferWindow")},
    ]});
    b.ok("joiner", "add_nodes", nodes).await;
    let joins = json!({"workflow_id": "alerts", "connections": [
        {"from": "Big?", "to": "Helper", "output": 1},
        {"from": "Helper", "to": "Model"},
        {"from": "Memory", "to": "Helper"},
    ]});
    b.ok("joiner", "connect_nodes", joins).await;
    let links = links(&b);
    for wanted in [
        "Big? -main1-> Helper",
        "Model -ai_languageModel0-> Helper",
        "Memory -ai_memory0-> Helper",
    ] {
        assert!(
            links.iter().any(|link| link == wanted),
            "{wanted}: {links:#?}"
        );
    }
    let nothing =
        json!({"workflow_id": "alerts", "connections": [{"from": "Model", "to": "Memory"}]});
    let failed = b.call("joiner", "connect_nodes", nothing).await;
    assert_eq!(failed.status, ToolStatus::Failed);
    assert!(
        failed.content["error"]
            .as_str()
            .unwrap()
            .contains("puts out ai_languageModel")
    );
    let apart = json!({"workflow_id": "alerts", "from": "Helper", "to": "Model"});
    b.ok("joiner", "remove_connection", apart).await;
    assert!(!self::links(&b).iter().any(|link| link.starts_with("Model")));
}

#[tokio::test]
async fn a_node_that_goes_leaves_its_neighbours_connected_or_says_what_hangs_free() {
    let mut b = said("");
    b.ok("joiner", "new_workflow", alerts()).await;
    let gone = json!({"workflow_id": "alerts", "node": "Big?"});
    b.ok("joiner", "remove_node", gone).await;
    assert_eq!(links(&b), ["Every hour -main0-> Tell sales"]);
    let apart = json!({"workflow_id": "alerts", "from": "Every hour", "to": "Tell sales"});
    let done = b.ok("joiner", "remove_connection", apart).await;
    assert_eq!(done["hangs_free"], json!(["Tell sales"]));
}

#[tokio::test]
async fn values_change_where_the_message_says_and_in_what_is_new() {
    let mut b = said("Tell sales should say goodbye");
    write(&b, alerts());
    b.ok("setter", "get_workflow", json!({"workflow_id": "alerts"}))
        .await;
    let set = |node: &str| json!({"workflow_id": "alerts", "nodes": [{"node": node, "parameters": {"text": "goodbye"}}]});
    b.ok("setter", "update_node_parameters", set("Tell sales"))
        .await;
    let other = json!({"workflow_id": "alerts", "nodes": [{"node": "Every hour", "settings": {"retryOnFail": true}}]});
    assert_eq!(
        b.refused("setter", "update_node_parameters", other).await,
        "guard.turn_scope"
    );
    let read = json!({"workflow_id": "alerts", "node": "Tell sales", "parameter": "text"});
    assert_eq!(
        b.ok("setter", "get_node_parameter", read).await["value"],
        "goodbye"
    );
    let unknown = json!({"workflow_id": "alerts", "nodes": [{"node": "Tell sales", "settings": {"type": "x"}}]});
    assert_eq!(
        b.call("setter", "update_node_parameters", unknown)
            .await
            .status,
        ToolStatus::Failed
    );
}

#[tokio::test]
async fn a_name_within_a_longer_quoted_text_is_a_value() {
    let mut b = said("Set its text to 'Every hour – please look at this'");
    write(&b, alerts());
    b.ok("setter", "get_workflow", json!({"workflow_id": "alerts"}))
        .await;
    let text = json!({"text": "Every hour – please look at this"});
    let set =
        json!({"workflow_id": "alerts", "nodes": [{"node": "Tell sales", "parameters": text}]});
    b.ok("setter", "update_node_parameters", set).await;
    // The name by itself is a name, quoted or not.
    for named in [
        "Set the text of 'Every hour' to x",
        "Set x in Every hour",
        "Set the text of \"Every hour,\" to x",
        "Set the text of 'the Every hour node' to x",
    ] {
        let mut b = said(named);
        write(&b, alerts());
        b.ok("setter", "get_workflow", json!({"workflow_id": "alerts"}))
            .await;
        let set = json!({"workflow_id": "alerts", "nodes": [{"node": "Tell sales", "parameters": {"text": "x"}}]});
        assert_eq!(
            b.refused("setter", "update_node_parameters", set).await,
            "guard.turn_scope"
        );
    }
}

#[tokio::test]
async fn the_halves_of_a_check_make_the_whole_and_pass_over_what_was_wrong_before() {
    let mut b = said("");
    let mut broken = alerts();
    broken["nodes"][2]["type"] = json!("n8n-nodes-base.noSuchNode");
    broken["nodes"][1]["parameters"]["looseTypeValidation"] = json!("={{ $json.a ");
    write(&b, broken);
    let of = |content: &Value| -> BTreeMap<String, String> {
        let findings = content["findings"].as_array().unwrap();
        let row = |f: &Value| {
            (
                f["id"].as_str().unwrap().to_owned(),
                f["code"].as_str().unwrap().to_owned(),
            )
        };
        findings.iter().map(row).collect()
    };
    let args = json!({"workflow_id": "alerts"});
    let whole = of(&b.ok("joiner", "check_workflow", args.clone()).await);
    let structure = b.ok("joiner", "validate_structure", args.clone()).await;
    let values = b.ok("setter", "validate_configuration", args.clone()).await;
    assert!(structure["error_count"].as_u64().unwrap() > 0);
    assert_eq!(
        (&structure["passed"], &values["passed"]),
        (&json!(true), &json!(true))
    );
    let (one, other) = (of(&structure), of(&values));
    assert!(one.keys().all(|id| !other.contains_key(id)));
    assert_eq!(
        one.into_iter().chain(other).collect::<BTreeMap<_, _>>(),
        whole
    );

    // What the run itself makes wrong does not pass.
    b.ok("joiner", "get_workflow", args.clone()).await;
    let wrong = json!({"workflow_id": "alerts", "nodes": [{"name": "X", "type": "n8n-nodes-base.nor this"}]});
    b.ok("joiner", "add_nodes", wrong).await;
    let after = b.ok("joiner", "validate_structure", args).await;
    assert_eq!(
        (&after["passed"], &after["new_error_count"]),
        (&json!(false), &json!(1))
    );
}

#[tokio::test]
async fn what_was_found_is_held_against_the_catalog() {
    let mut b = said("");
    let one = |name: &str, version: Value, parameter: &str, values: Value| {
        json!({"nodes_found": [{"nodeName": name, "version": version, "reasoning": "r", "connectionChangingParameters": match parameter {
            "" => json!([]),
            name => json!([{"name": name, "possibleValues": values}]),
        }}]})
    };
    let store = "@n8n/n8n-nodes-langchain.vectorStoreInMemory";
    for args in [
        one("n8n-nodes-base.slack", json!(2.3), "", json!([])),
        one("n8n-nodes-base.slack", json!(null), "", json!([])),
        one(
            store,
            json!(null),
            "mode",
            json!(["insert", "retrieve-as-tool"]),
        ),
        one(
            "n8n-nodes-base.switch",
            json!(3.2),
            "numberOutputs",
            json!([2, 3]),
        ),
    ] {
        let done = b.ok("finder", "check_nodes", args.clone()).await;
        assert_eq!(done, args);
    }
    for (args, why) in [
        (
            one("n8n-nodes-base.slak", json!(1), "", json!([])),
            "no node type",
        ),
        (
            one("n8n-nodes-base.slack", json!(99), "", json!([])),
            "no version 99",
        ),
        (
            one("n8n-nodes-base.slack", json!(2.3), "text", json!(["a"])),
            "none of its parameters does",
        ),
        (
            one(store, json!(null), "memoryKey", json!(["a"])),
            "these do: mode",
        ),
    ] {
        let result = b.call("finder", "check_nodes", args).await;
        assert_eq!(result.status, ToolStatus::Failed);
        let error = result.content["error"].as_str().unwrap();
        assert!(error.contains(why), "{error}");
    }
}
