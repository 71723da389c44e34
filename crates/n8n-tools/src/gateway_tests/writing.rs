//! Changes: planned on our copy, guarded, kept in a snapshot, written, read back.

use super::*;
use crate::accepted::{Accepted, Base, NotKept, State, Step};
use crate::fixture::Lie;
use crate::noted::BaseHow;
use agentctl_engine::store::ResourceId;
use agentctl_engine::toolset::Fault;
use agentctl_n8n::WorkflowId;
use std::sync::Arc;

#[tokio::test]
async fn a_workflow_is_created_changed_checked_and_journaled() {
    let mut b = bench();
    let created = b
        .ok("writer", "create_workflow", two_nodes("My Orders"))
        .await;
    assert_eq!(created["id"], "my-orders");
    assert_eq!(created["node_count"], 2);
    assert_eq!(created["file"], "workflows/my-orders.json");
    let file = b.file("my-orders").unwrap();
    assert_eq!(
        created["graph_hash"],
        json!(agentctl_n8n::hash::graph_hash(&file))
    );
    assert!(
        file.nodes
            .iter()
            .all(|n| n.position().is_some() && !n.id().0.is_empty())
    );

    // What was just created need not be read first.
    let changed = b
        .ok(
            "writer",
            "update_workflow",
            set("my-orders", "End", json!(1)),
        )
        .await;
    assert_eq!(changed["changed"], true);
    assert_ne!(changed["graph_hash"], created["graph_hash"]);
    assert!(
        changed["snapshot"]
            .as_str()
            .unwrap()
            .starts_with("001-my-orders-")
    );
    let checked = b
        .ok(
            "checker",
            "validate_workflow",
            json!({"workflow_id": "my-orders"}),
        )
        .await;
    assert_eq!(checked["graph_hash"], changed["graph_hash"]);
    assert_eq!(
        b.names(),
        [
            "tool_intent",
            "tool_finished",
            "snapshot_taken",
            "tool_intent",
            "tool_finished",
            "tool_intent",
            "tool_finished",
        ]
    );
    let durable: Vec<bool> = b.desk.events.iter().map(|(_, durable)| *durable).collect();
    assert_eq!(durable, [true, true, false, true, true, false, false]);
    let Event::ToolIntent {
        expect, decision, ..
    } = &b.desk.events[0].0
    else {
        panic!()
    };
    assert_eq!(
        expect.as_ref().unwrap(),
        &MutationExpectation {
            resource: Some(ResourceId::new("workflow", "my-orders")),
            after: Some(created["graph_hash"].as_str().unwrap().into()),
            ..MutationExpectation::default()
        }
    );
    assert_eq!(decision.rule(), "writer: create-workflow");
}

#[tokio::test]
async fn what_a_call_leaves_out_is_filled_in() {
    let mut b = bench();
    let mut args = two_nodes("W");
    args["nodes"][0] =
        json!({"name": "Start", "type": "n8n-nodes-base.webhook", "parameters": {"path": "x"}});
    b.ok("writer", "create_workflow", args).await;
    b.ok(
        "writer",
        "update_workflow",
        json!({"workflow_id": "w", "ops": [
            {"op": "add_node", "node": {"name": "Slack", "type": "n8n-nodes-base.slack"}},
            {"op": "connect", "from": "End", "to": "Slack"},
        ]}),
    )
    .await;
    let file = b.file("w").unwrap();
    for node in &file.nodes {
        let version = node.type_version().unwrap();
        let known =
            agentctl_n8n::catalog::Catalog::embedded().lookup(node.node_type(), Some(version));
        assert!(known.known().is_some(), "{} {version}", node.node_type());
        assert!(node.position().is_some());
    }
    let places: BTreeSet<String> = file
        .nodes
        .iter()
        .map(|n| format!("{:?}", n.position()))
        .collect();
    assert_eq!(places.len(), 3, "no two nodes in one place");
}

#[tokio::test]
async fn what_this_run_has_not_read_it_may_not_change() {
    let mut b = bench().with_file("old", 4, false);
    assert_eq!(
        b.refused("writer", "update_workflow", set("old", "id-1", json!(7)))
            .await,
        guards::STALE
    );
    let read = b
        .ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    b.ok("writer", "update_workflow", set("old", "id-1", json!(7)))
        .await;
    // Somebody else edits the file.
    let mut other = b.file("old").unwrap();
    other.nodes[0].set("notes", json!("by hand"));
    std::fs::write(b.dir.path().join("workflows/old.json"), other.to_text()).unwrap();
    assert_eq!(
        b.refused("writer", "update_workflow", set("old", "id-1", json!(8)))
            .await,
        guards::STALE
    );
    let mut stale = set("old", "id-1", json!(8));
    stale["expect_hash"] = read["graph_hash"].clone();
    assert_eq!(
        b.refused("writer", "update_workflow", stale).await,
        guards::STALE
    );
    assert_eq!(b.file("old").unwrap(), other, "nothing was written");
    b.ok(
        "writer",
        "get_workflow",
        json!({"workflow_id": "old", "view": "summary"}),
    )
    .await;
    b.ok("writer", "update_workflow", set("old", "id-1", json!(8)))
        .await;
}

#[tokio::test]
async fn no_change_without_its_snapshot_and_none_without_its_intent() {
    let mut b = bench().with_file("old", 4, false);
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    let before = b.file("old").unwrap();
    b.desk.no_snapshots = true;
    let args = set("old", "id-1", json!(7)).to_string();
    assert!(matches!(
        b.raw("writer", "update_workflow", &args).await,
        Err(agentctl_engine::toolset::Fault::Store(_))
    ));
    b.desk.no_snapshots = false;
    for room in 0..2 {
        // 0: no room for the snapshot's event; 1: none for the intent
        b.desk.fails_from = b.desk.events.len() + room;
        assert!(matches!(
            b.raw("writer", "update_workflow", &args).await,
            Err(agentctl_engine::toolset::Fault::Store(_))
        ));
        assert_eq!(b.file("old").unwrap(), before);
        b.desk.fails_from = usize::MAX;
    }
}

#[tokio::test]
async fn a_fix_stays_in_its_scope() {
    let mut b = bench().with_file("old", 5, false);
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    b.ok("writer", "update_workflow", set("old", "id-4", json!(1)))
        .await;
    b.scope(&["Node 2"]);
    assert_eq!(
        b.refused("writer", "update_workflow", set("old", "id-4", json!(2)))
            .await,
        guards::EDIT_SCOPE
    );
    b.ok("writer", "update_workflow", json!({"workflow_id": "old", "ops": [
        {"op": "rename_node", "node": "id-2", "name": "Renamed"},
        {"op": "add_node", "node": {"id": "n1", "name": "Extra", "type": "n8n-nodes-base.noOp", "typeVersion": 1}},
        {"op": "connect", "from": "id-2", "to": "n1"},
    ]})).await;
    b.refold();
    b.ok("writer", "update_workflow", set("old", "n1", json!(1)))
        .await;
    b.ok("writer", "update_workflow", set("old", "id-2", json!(1)))
        .await;
    assert_eq!(
        b.refused(
            "writer",
            "update_workflow",
            json!({"workflow_id": "old", "ops": [
                {"op": "rename_node", "node": "id-3", "name": "Node 2"},
            ]})
        )
        .await,
        guards::EDIT_SCOPE
    );
    b.scope(&[]);
    assert_eq!(
        b.refused("writer", "update_workflow", set("old", "id-2", json!(9)))
            .await,
        guards::EDIT_SCOPE
    );
    // A rollback is the way out of a bad fix, whatever the scope.
    b.ok("writer", "rollback_workflow", json!({"workflow_id": "old"}))
        .await;
}

#[tokio::test]
async fn a_rollback_goes_to_this_runs_own_snapshot() {
    let mut b = bench().with_file("old", 4, false);
    let before = b.file("old").unwrap();
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    let result = b
        .call("writer", "rollback_workflow", json!({"workflow_id": "old"}))
        .await;
    assert_eq!(result.content["rule"], "snapshot");
    let first = b
        .ok("writer", "update_workflow", set("old", "id-1", json!(7)))
        .await;
    b.ok("writer", "update_workflow", set("old", "id-1", json!(8)))
        .await;
    for file in ["../../../x", "other.json"] {
        let args = json!({"workflow_id": "old", "snapshot": file});
        assert_eq!(
            b.call("writer", "rollback_workflow", args).await.content["rule"],
            "snapshot"
        );
    }
    let args = json!({"workflow_id": "old", "snapshot": first["snapshot"]});
    let back = b.ok("writer", "rollback_workflow", args).await;
    assert_eq!(back["rolled_back_to"], first["snapshot"]);
    assert_eq!(b.file("old").unwrap(), before);
}

#[tokio::test]
async fn a_broken_file_is_left_alone() {
    let mut b = bench().with_file("old", 2, false);
    let path: &Path = &b.dir.path().join("workflows/cut.json");
    std::fs::write(path, "{\"nodes\": [").unwrap();
    let list = b.ok("writer", "list_workflows", json!({})).await;
    assert_eq!(list["total"], 1);
    assert_eq!(list["broken"][0]["file"], "workflows/cut.json");
    for (tool, args) in [
        ("get_workflow", json!({"workflow_id": "cut"})),
        ("update_workflow", set("cut", "a", json!(1))),
        ("delete_workflow", json!({"workflow_id": "cut"})),
    ] {
        let result = b.call("writer", tool, args).await;
        assert_eq!(result.content["rule"], "backend.rejected", "{tool}");
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), "{\"nodes\": [");
    let decision = guards::allow("x");
    assert!(matches!(decision, Decision::Allow { .. }));
}

#[tokio::test]
async fn certain_fixes_are_applied_and_nothing_else() {
    let mut b = bench();
    let mut args = two_nodes("W");
    args["nodes"][1] = json!({
        "name": "End", "type": "n8n-nodes-base.set", "typeVersion": 3.4,
        "parameters": {"assignments": {"assignments": [{"id": "a", "name": "x", "type": "string", "value": "{{ $json.total }}"}]}},
    });
    b.ok("writer", "create_workflow", args).await;
    let before = b.file("w").unwrap();
    let none = b
        .ok(
            "writer",
            "autofix_workflow",
            json!({"workflow_id": "w", "finding_ids": ["no-such"]}),
        )
        .await;
    assert_eq!(
        (&none["changed"], &none["fixed"]),
        (&json!(false), &json!([]))
    );
    assert_eq!(b.file("w").unwrap(), before);
    let fixed = b
        .ok("writer", "autofix_workflow", json!({"workflow_id": "w"}))
        .await;
    assert_eq!(fixed["changed"], true);
    assert_eq!(fixed["fixed"].as_array().unwrap().len(), 1);
    assert_eq!(fixed["left"]["error_count"], 0);
    let node = b.file("w").unwrap().node_by_name("End").unwrap().clone();
    assert_eq!(
        node.parameters().unwrap()["assignments"]["assignments"][0]["value"],
        "={{ $json.total }}"
    );
    assert_eq!(b.guards.log().snapshots("w").len(), 1);
}

#[tokio::test]
async fn certain_fixes_outside_the_scope_are_left_and_named() {
    let mut b = bench();
    let mut args = two_nodes("W");
    let set = |name: &str| {
        json!({
            "id": name, "name": name, "type": "n8n-nodes-base.set", "typeVersion": 3.4,
            "parameters": {"assignments": {"assignments": [{"id": "a", "name": "x", "type": "string", "value": "{{ $json.total }}"}]}},
        })
    };
    args["nodes"][1] = set("End");
    args["nodes"].as_array_mut().unwrap().push(set("Other"));
    b.ok("writer", "create_workflow", args).await;
    b.scope(&["End"]);
    let fixed = b
        .ok("writer", "autofix_workflow", json!({"workflow_id": "w"}))
        .await;
    assert_eq!(fixed["fixed"].as_array().unwrap().len(), 1);
    assert_eq!(fixed["not_applied"].as_array().unwrap().len(), 1);
    let value = |b: &Bench, name: &str| {
        let node = b.file("w").unwrap().node_by_name(name).unwrap().clone();
        node.parameters().unwrap()["assignments"]["assignments"][0]["value"].clone()
    };
    assert_eq!(value(&b, "End"), "={{ $json.total }}");
    assert_eq!(value(&b, "Other"), "{{ $json.total }}");
}

#[tokio::test]
async fn a_backend_that_is_gone_while_a_change_is_planned_is_the_calls_one_result() {
    let policy = Policy::load(
        "roles:\n  writer: [get-workflow, update-workflow]\n",
        "policy.yaml",
        crate::vocabulary::n8n(),
    );
    let (mut b, backend) = Bench::in_memory(policy.unwrap());
    backend.put("w", chain("w", 3), false);
    b.ok("writer", "get_workflow", json!({"workflow_id": "w"}))
        .await;
    let gone = crate::backend::BackendErrorKind::Unavailable;
    backend.next("get", Lie::Fails(gone));
    let args = set("w", "id-1", json!(7)).to_string();
    let stopped = b.raw("writer", "update_workflow", &args).await;
    assert!(
        matches!(
            stopped,
            Err(agentctl_engine::toolset::Fault::Backend { .. })
        ),
        "{stopped:?}"
    );
    assert_eq!(
        b.names(),
        [
            "tool_intent",
            "tool_finished",
            "tool_intent",
            "tool_finished"
        ]
    );
    let (Event::ToolIntent { mutates, call, .. }, Event::ToolFinished { result, change, .. }) =
        (&b.desk.events[2].0, &b.desk.events[3].0)
    else {
        panic!()
    };
    assert_eq!((*mutates, &result.call_id), (false, &call.id));
    assert_eq!(result.status, ToolStatus::Failed);
    assert_eq!(result.content["rule"], "backend.unavailable");
    assert_eq!((change, backend.writes()), (&None, vec![]));
    // Nothing is settled or held against the next call.
    b.ok("writer", "update_workflow", set("w", "id-1", json!(7)))
        .await;
}

#[tokio::test]
async fn losses_are_not_counted_from_a_snapshot_that_was_tampered_with() {
    let mut b = bench().with_file("big", 9, false);
    b.ok("writer", "get_workflow", json!({"workflow_id": "big"}))
        .await;
    let remove = |ids: &[usize]| {
        let ops: Vec<Value> = ids
            .iter()
            .map(|id| json!({"op": "remove_node", "node": format!("id-{id}")}))
            .collect();
        json!({"workflow_id": "big", "ops": ops})
    };
    let done = b.ok("writer", "update_workflow", remove(&[8, 7, 6])).await;
    let taken = b
        .dir
        .path()
        .join("memory/runs/r/snapshots")
        .join(done["snapshot"].as_str().unwrap());
    for text in [chain("big", 6).to_text(), "{}".to_owned()] {
        std::fs::write(&taken, text).unwrap();
        b.refold();
        let rule = b
            .refused("writer", "update_workflow", remove(&[5, 4]))
            .await;
        assert_eq!(rule, "guard.wipe");
    }
    std::fs::write(&taken, chain("big", 9).to_text()).unwrap();
    b.refold();
    let question = b.asked("writer", "update_workflow", remove(&[5, 4])).await;
    assert_eq!(question.proposal.unwrap().rule, "guard.wipe");
}

/// Found or not found is an answer too: a hidden value would be guessed letter by letter.
#[tokio::test]
async fn a_hidden_value_is_not_searched() {
    let mut b = bench();
    let mut create = two_nodes("Login");
    create["nodes"][1]["parameters"] = json!({"password": "hunter2hunter2", "note": "hunter"});
    b.ok("writer", "create_workflow", create).await;
    let search = |pointer: &str, find: &str| json!({"workflow_id": "login", "ops": [{"op": "replace_text", "node": "End", "pointer": pointer, "find": find, "replace": find}]});
    for tool in ["update_workflow", "check_workflow"] {
        for find in ["hunter", "no such text"] {
            assert_eq!(
                b.refused("writer", tool, search("/password", find)).await,
                "guard.redacted"
            );
        }
        b.ok("writer", tool, search("/note", "hunter")).await;
    }
    // Nor under a name that the list itself gives.
    let renamed = json!({"workflow_id": "login", "ops": [
        {"op": "rename_node", "node": "End", "name": "Last"},
        {"op": "replace_text", "node": "Last", "pointer": "/password", "find": "h", "replace": "h"}]});
    assert_eq!(
        b.refused("writer", "update_workflow", renamed).await,
        "guard.redacted"
    );
}

/// Nothing can be opened just now.
struct Short;

fn short<T>() -> Result<T, NotKept> {
    Err(NotKept {
        why: "cannot read it: Too many open files".to_owned(),
        machine: true,
    })
}

impl Accepted for Short {
    fn base(&self, _: &WorkflowId, _: &State<'_>) -> Result<Arc<Base>, NotKept> {
        short()
    }
    fn known(&self, _: &WorkflowId) -> Result<Option<Arc<Base>>, NotKept> {
        short()
    }
    fn accept(&self, _: &WorkflowId, _: BaseHow, _: &State<'_>) -> Result<(), NotKept> {
        short()
    }
    fn leave(&self, _: &WorkflowId, _: &Step<'_>) -> Result<(), NotKept> {
        short()
    }
    fn forget(&self, _: &WorkflowId) -> Result<(), NotKept> {
        short()
    }
}

/// What the machine lacks is nothing that a model could mend, and no refusal: the run stops with the reason, and nothing was done.
#[tokio::test]
async fn too_few_handles_for_the_accepted_states_stop_the_run() {
    let mut b = bench()
        .with_file("old", 3, false)
        .accepting(Arc::new(Short));
    for (tool, args) in [
        ("create_workflow", two_nodes("New")),
        ("update_workflow", set("old", "Node 1", json!(9))),
    ] {
        b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
            .await;
        let stopped = b.raw("writer", tool, &args.to_string()).await;
        let Err(Fault::Backend { error, .. }) = stopped else {
            panic!("{tool}: {stopped:?}");
        };
        assert!(error.machine, "{tool}");
        assert!(
            error.message.ends_with("Too many open files"),
            "{}",
            error.message
        );
    }
    assert_eq!(b.files(), 1);
    assert_eq!(b.file("old").unwrap(), chain("old", 3));
}
