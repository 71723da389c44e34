//! The note of what is still to do, beside a workflow.

use super::super::fixture::MemoryBackend;
use super::*;
use crate::backend::Backend as _;
use agentctl_n8n::WorkflowId;
use std::sync::Arc;

fn live() -> (Bench, Arc<MemoryBackend>) {
    let policy = POLICY.replace("node-schema]", "node-schema, note-todo]");
    Bench::in_memory(Policy::load(&policy, "policy.yaml", crate::vocabulary::n8n()).unwrap())
}

/// What the note of a workflow says, line by line.
async fn says(backend: &MemoryBackend, id: &str) -> Vec<String> {
    let stored = backend.get(&WorkflowId(id.to_owned())).await.unwrap();
    let items = stored.todo.into_iter();
    items.map(|i| format!("{}: {}", i.node, i.text)).collect()
}

async fn note(b: &mut Bench, id: &str, todo: Value) -> Value {
    let args = json!({"workflow_id": id, "todo": todo});
    b.ok("writer", "note_todo", args).await
}

#[tokio::test]
async fn a_new_workflow_is_told_with_what_it_lacks_and_stays_the_same_document() {
    let (mut b, backend) = live();
    let slack = json!({"name": "Post", "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "parameters": {"select": "channel", "text": "x"}});
    let start = json!({"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}});
    let create = json!({"name": "Orders", "nodes": [start, slack], "connections": {"Start": {"main": [[{"node": "Post", "type": "main", "index": 0}]]}}});
    b.ok("writer", "create_workflow", create).await;
    let before = backend.held("orders").unwrap();
    let changes = b.guards.log().snapshots("orders").len();
    let todo = json!([{"kind": "id", "node": "Post", "text": "choose \"Channel\""}, "Post: connect a credential: Slack API", "ask Ann"]);
    assert_eq!(
        note(&mut b, "orders", todo.clone()).await,
        json!({"todo": 3, "changed": true})
    );
    let wanted = [
        "Post: choose \"Channel\"",
        ": ask Ann",
        "Post: connect a credential: Slack API",
    ];
    assert_eq!(says(&backend, "orders").await, wanted);
    assert_eq!(backend.held("orders").unwrap(), before);
    assert_eq!(
        b.guards.log().snapshots("orders").len(),
        changes,
        "nothing to take back"
    );
    // Nothing new: nothing is written.
    let wrote = backend.wire().len();
    assert_eq!(
        note(&mut b, "orders", todo).await,
        json!({"todo": 3, "changed": false})
    );
    let more = &backend.wire()[wrote..];
    assert!(
        more.iter().all(|call| !call.starts_with("note_todo")),
        "{more:?}"
    );
}

#[tokio::test]
async fn nothing_is_asked_of_what_was_there_and_what_was_done_goes_from_the_note() {
    let (mut b, backend) = live();
    let mut old = chain("Old", 3);
    for node in &mut old.nodes {
        node.set("type", json!("n8n-nodes-base.slack"));
    }
    let names: Vec<String> = old.nodes.iter().map(|n| n.name().to_owned()).collect();
    backend.put("old", old, false);
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    assert_eq!(note(&mut b, "old", json!([])).await["changed"], false);
    b.ok("writer", "update_workflow", set("old", &names[1], json!(7)))
        .await;
    note(&mut b, "old", json!([])).await;
    let connect = format!("{}: connect a credential: Slack API", names[1]);
    assert_eq!(says(&backend, "old").await, [connect]);
    let mut done = backend.held("old").unwrap();
    done.nodes[1].set(
        "credentials",
        json!({"slackApi": {"id": "1", "name": "Ours"}}),
    );
    backend.put("old", done, false);
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    note(&mut b, "old", json!([])).await;
    assert_eq!(says(&backend, "old").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_note_that_somebody_wrote_in_is_theirs_and_nothing_is_written() {
    let (mut b, backend) = live();
    let mut old = chain("Old", 2);
    let sticky = &mut old.nodes[1];
    sticky.set("type", json!("n8n-nodes-base.stickyNote"));
    sticky.set("name", json!("To do (agentctl)"));
    sticky.set("parameters", json!({"content": "## To do\nAnn: call Bob"}));
    backend.put("old", old, false);
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    let said = note(&mut b, "old", json!(["fill in the channel"])).await;
    assert_eq!(said["changed"], false, "{said}");
    assert!(said["why"].as_str().unwrap().contains("theirs"), "{said}");
    let wrote = backend
        .wire()
        .iter()
        .any(|call| call.starts_with("note_todo"));
    assert!(!wrote);
}

#[tokio::test]
async fn who_is_not_granted_it_notes_nothing() {
    let (mut b, backend) = live();
    backend.put("old", chain("Old", 2), false);
    let args = json!({"workflow_id": "old", "todo": ["x"]});
    let refused = b.call("reader", "note_todo", args).await;
    assert_eq!(refused.status, ToolStatus::Refused);
    assert_eq!(says(&backend, "old").await, Vec::<String>::new());
}
