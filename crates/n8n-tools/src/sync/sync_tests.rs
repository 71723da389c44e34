use super::*;

fn workflow(value: Value) -> Workflow {
    Workflow::from_value(value).unwrap()
}

fn stored(version: &str) -> Stored {
    let workflow = workflow(json!({
        "name": "Orders",
        "nodes": [
            {"parameters": {"path": "orders"}, "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "id": "a", "name": "Hook", "webhookId": "w"},
            {"parameters": {}, "type": "n8n-nodes-base.noOp", "typeVersion": 1, "position": [200, 0], "id": "b", "name": "End", "disabled": true},
        ],
        "connections": {"End": {"main": [[]]}, "Hook": {"main": [[{"node": "End", "type": "main", "index": 0}]]}},
        "pinData": {"Hook": [{"json": {"mail": "a@example.com"}}]},
        "settings": {"executionOrder": "v1"},
    }));
    Stored {
        id: WorkflowId("wf1".into()),
        graph_hash: graph_hash(&workflow),
        workflow,
        active: true,
        file: None,
        tags: vec!["shop".into()],
        todo: Vec::new(),
        version_id: Some(version.into()),
        updated_at: None,
    }
}

fn local(text: &str) -> Local {
    Local::read(serde_json::from_str(text).unwrap()).unwrap()
}

#[test]
fn a_pulled_file_holds_the_workflow_and_nothing_of_the_instance() {
    let now = stored("v1");
    let text = file(&now, false, None);
    let value: Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["id", "name", "settings", "nodes", "connections", "meta"]
    );
    let keys: Vec<&String> = value["nodes"][1].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "id",
            "name",
            "type",
            "typeVersion",
            "position",
            "disabled",
            "parameters"
        ]
    );
    let sources: Vec<&String> = value["connections"].as_object().unwrap().keys().collect();
    assert_eq!(sources, ["Hook", "End"]);
    assert_eq!(
        value["meta"]["agentctl"],
        json!({"graph_hash": now.graph_hash, "version": "v1"})
    );
    assert!(file(&now, true, None).contains("a@example.com"));

    let read = local(&text);
    assert_eq!(
        (read.id.clone(), read.is_changed()),
        (Some(WorkflowId("wf1".into())), Some(false))
    );
    assert_eq!(graph_hash(&read.workflow), now.graph_hash);
}

#[test]
fn the_order_in_which_the_instance_answers_does_not_show() {
    let now = stored("v1");
    let mut other = now.clone();
    other.workflow.connections.reverse();
    for node in &mut other.workflow.nodes {
        let pairs: Vec<_> = node.map().clone().into_iter().collect();
        *node.map_mut() = pairs.into_iter().rev().collect();
    }
    assert_eq!(file(&now, false, None), file(&other, false, None));
}

#[test]
fn stale_is_what_was_saved_with_another_graph() {
    let now = stored("v2");
    let base = |graph: &str, version: Option<&str>| Base {
        graph_hash: graph.into(),
        version: version.map(str::to_owned),
    };
    let same = now.graph_hash.as_str();
    assert_eq!(freshness(None, &now), Freshness::Unknown);
    assert_eq!(
        freshness(Some(&base("other", Some("v2"))), &now),
        Freshness::Same
    );
    assert_eq!(
        freshness(Some(&base(same, Some("v1"))), &now),
        Freshness::Same
    );
    assert_eq!(
        freshness(Some(&base("other", Some("v1"))), &now),
        Freshness::Changed
    );
    assert_eq!(
        freshness(Some(&base("other", None)), &now),
        Freshness::Changed
    );
}

#[test]
fn a_push_keeps_what_the_file_does_not_carry() {
    let now = stored("v1");
    let mut read = local(&file(&now, false, None));
    read.workflow.nodes[0].map_mut()["parameters"]["path"] = json!("orders-2");
    assert_eq!(read.is_changed(), Some(true));
    let after = pushed(&read.workflow, Some(&now.workflow));
    assert_eq!(after.head["pinData"], now.workflow.head["pinData"]);
    assert_eq!(after.head.get("meta"), None);
    assert_eq!(after.nodes, read.workflow.nodes);
    let new = pushed(&read.workflow, None);
    assert_eq!(
        (new.name(), new.head.get("pinData"), new.head.get("id")),
        ("Orders", None, None)
    );
}

#[test]
fn a_pushed_file_follows_what_was_left() {
    let now = stored("v9");
    let own = json!({"name": "Orders", "nodes": [], "connections": {}, "meta": {"templateId": "7"}, "tags": ["x"]});
    let own = Local::read(own).unwrap();
    let after: Value = serde_json::from_str(&followed(&own, None, &now)).unwrap();
    assert_eq!(
        after,
        json!({"id": "wf1", "name": "Orders", "nodes": [], "connections": {}, "tags": ["x"],
               "meta": {"templateId": "7", "agentctl": {"graph_hash": now.graph_hash, "version": "v9"}}})
    );
}

/// Each n8n has its own id for it; the one that the file follows keeps its place.
#[test]
fn a_file_knows_what_it_is_on_each_target() {
    let (here, mut there) = (stored("v1"), stored("p1"));
    there.id = WorkflowId("prod7".into());
    let pulled = file(&here, false, None);
    let mut read = local(&pulled);
    assert_eq!(read.place(Some("prod")), (None, None));
    let text = followed(&read, Some("prod"), &there);
    read = local(&text);
    assert_eq!(read.place(None), (Some(&here.id), Some(&Base::of(&here))));
    assert_eq!(
        read.place(Some("prod")),
        (Some(&there.id), Some(&Base::of(&there)))
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value["meta"]["agentctl"]["targets"],
        json!({"prod": {"id": "prod7", "graph_hash": there.graph_hash, "version": "p1"}})
    );
    // A later pull of the one and a push to the one leave the other.
    assert_eq!(file(&here, false, Some(&read)), text);
    assert_eq!(followed(&read, None, &here), text);
}

#[test]
fn a_file_that_is_on_a_target_alone_has_no_id() {
    let own = Local::read(json!({"name": "Orders", "nodes": [], "connections": {}})).unwrap();
    let text = followed(&own, Some("prod"), &stored("p1"));
    let read = local(&text);
    assert_eq!((read.id.clone(), read.base.clone()), (None, None));
    assert_eq!(
        read.place(Some("prod")).0.map(|id| id.0.as_str()),
        Some("wf1")
    );
}

/// n8n 1.x does.
#[test]
fn a_setting_that_the_n8n_wrote_by_itself_is_no_difference() {
    let own = Local::read(json!({"name": "Orders", "nodes": [], "connections": {}, "settings": {"executionOrder": "v1"}})).unwrap();
    let mut now = own.workflow.clone();
    let policy = |says: &str| json!({"executionOrder": "v1", "callerPolicy": says});
    now.head
        .insert("settings".into(), policy("workflowsFromSameOwner"));
    assert_eq!(pushed(&own.workflow, Some(&now)), now);
    // Somebody's own word is one.
    now.head.insert("settings".into(), policy("any"));
    assert_eq!(
        pushed(&own.workflow, Some(&now)).head["settings"],
        json!({"executionOrder": "v1"})
    );
}

/// n8n gives a new one to each node that comes without it: a chat's public address would be another one with each push.
#[test]
fn a_pushed_file_keeps_the_address_that_n8n_gave() {
    let now = stored("v1").workflow;
    let mut own = now.clone();
    for node in &mut own.nodes {
        let mut value = json!(node);
        value.as_object_mut().unwrap().shift_remove("webhookId");
        *node = serde_json::from_value(value).unwrap();
    }
    assert_ne!(own.nodes, now.nodes);
    assert_eq!(pushed(&own, Some(&now)).nodes, now.nodes);
    // The file's own address counts, and another node's is none of its own.
    let mut moved = now.clone();
    moved.nodes[0].set("webhookId", json!("mine"));
    assert_eq!(
        pushed(&moved, Some(&now)).nodes[0].map()["webhookId"],
        "mine"
    );
    own.nodes[0].set("id", json!("new"));
    assert!(
        !pushed(&own, Some(&now)).nodes[0]
            .map()
            .contains_key("webhookId")
    );
}
