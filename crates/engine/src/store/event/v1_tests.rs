//! Each event of version 1 that said it otherwise, against what is written today: the same event is read from both.

use super::Event;
use super::v1::{in_words_of_today, seen_by_flows};
use super::{Change, ResourceId};
use serde_json::{Value, json};

/// As version 1 wrote it, and as it is written now.
fn pairs() -> Vec<(Value, Value)> {
    let orders = json!({"kind": "workflow", "id": "orders"});
    let call = json!({"id": "c", "name": "update_workflow", "arguments": "{}"});
    let decision = json!({"decision": "allow", "rule": "r"});
    let result = json!({"call_id": "c", "name": "update_workflow", "status": "ok", "content": {"workflow_id": "orders"}});
    let intent = |expect: Value| json!({"type": "tool_intent", "step": "s", "role": "builder", "call": call, "decision": decision, "mutates": true, "expect": expect});
    let finished = |change: Value| json!({"type": "tool_finished", "step": "s", "role": "builder", "result": result, "change": change});
    let change_then = json!({"workflow_id": "orders", "before": "a", "after": "b", "node_count": 3, "snapshot": "001.json"});
    let change_now =
        json!({"resource": orders, "before": "a", "after": "b", "size": 3, "snapshot": "001.json"});
    let counted =
        json!({"how": "accepted", "since": "2026-01-01T00:00:00Z", "lost": 1, "total": 2});
    let created = json!({"name": "Orders", "known": ["k"], "nodes": ["n"]});
    let rehearsal = json!({"copy": "c", "activates": true});
    vec![
        (
            json!({"type": "session_opened", "role": "qa", "client": "x", "client_version": "1", "transport": "stdio", "workflow": "orders", "edit_scope": ["n"]}),
            json!({"type": "session_opened", "role": "qa", "client": "x", "client_version": "1", "transport": "stdio", "only": orders, "scope": ["n"]}),
        ),
        (
            json!({"type": "session_opened", "role": "qa", "client": "x", "client_version": "1", "transport": "stdio"}),
            json!({"type": "session_opened", "role": "qa", "client": "x", "client_version": "1", "transport": "stdio"}),
        ),
        (
            intent(
                json!({"workflow_id": "orders", "before": "a", "after": "b", "diff": "+", "counted": counted}),
            ),
            intent(
                json!({"resource": orders, "before": "a", "after": "b", "diff": "+", "counted": counted}),
            ),
        ),
        (
            intent(json!({"workflow_id": null, "before": null, "after": "b", "created": created})),
            intent(json!({"resource": null, "before": null, "after": "b", "created": created})),
        ),
        (
            intent(
                json!({"workflow_id": "orders", "before": "a", "after": "a", "rehearsal": rehearsal}),
            ),
            intent(
                json!({"resource": orders, "before": "a", "after": "a", "rehearsal": rehearsal}),
            ),
        ),
        (finished(change_then.clone()), finished(change_now.clone())),
        (
            json!({"type": "snapshot_taken", "workflow_id": "orders", "file": "f", "graph_hash": "a", "node_count": 3, "sha256": "s"}),
            json!({"type": "snapshot_taken", "resource": orders, "file": "f", "revision": "a", "size": 3, "sha256": "s"}),
        ),
        (
            json!({"type": "undone", "workflow_id": "orders", "to_snapshot": "f", "to": 0, "change": change_then}),
            json!({"type": "undone", "resource": orders, "to_snapshot": "f", "to": 0, "change": change_now}),
        ),
    ]
}

fn read(event: &Value) -> Event {
    serde_json::from_value(in_words_of_today(event.clone())).unwrap()
}

#[test]
fn what_version_1_wrote_is_read_as_what_is_written_today() {
    for (then, now) in pairs() {
        let event = read(&then);
        assert_eq!(event, read(&now), "{then}");
        assert_eq!(serde_json::to_value(&event).unwrap(), now);
        // What is written today is read as it stands.
        assert_eq!(in_words_of_today(now.clone()), now);
    }
}

#[test]
fn what_is_of_the_wrong_type_is_still_refused() {
    let taken = |id: Value| json!({"type": "snapshot_taken", "workflow_id": id, "file": "f", "graph_hash": "a", "node_count": 3});
    for id in [json!(7), json!(null), json!({"kind": "workflow"})] {
        let read = serde_json::from_value::<Event>(in_words_of_today(taken(id)));
        assert!(read.is_err());
    }
    // The words of version 1 count only where it wrote them.
    let plan = json!({"type": "tool_intent", "expect": {"resource": null, "graph_hash": "x", "workflow_id": "y"}});
    assert_eq!(in_words_of_today(plan.clone()), plan);
    let odd = json!({"type": "snapshot_taken", "resource": "orders", "file": "f", "revision": "a", "size": 3});
    assert_eq!(in_words_of_today(odd.clone()), odd);
    assert_eq!(in_words_of_today(json!("text")), json!("text"));
}

#[test]
fn a_flow_sees_a_change_in_the_words_of_both_versions() {
    let change = |kind: &str| Change {
        resource: ResourceId::new(kind, "orders"),
        before: None,
        after: Some("a".into()),
        size: 3,
        snapshot: None,
    };
    let seen = json!({"kind": "task", "id": "orders", "before": null, "after": "a", "size": 3, "snapshot": null});
    assert_eq!(seen_by_flows(&change("task")), seen);
    let mut both = seen;
    both["kind"] = json!("workflow");
    both["workflow_id"] = json!("orders");
    both["node_count"] = json!(3);
    assert_eq!(seen_by_flows(&change("workflow")), both);
}
