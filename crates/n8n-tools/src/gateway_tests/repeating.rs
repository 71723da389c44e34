//! The same call, sent again because its answer never came.

use super::*;

/// An answer that got lost is asked for again with the same call. What it does to a text it must not do to its own result.
#[tokio::test]
async fn a_call_that_is_sent_twice_changes_nothing_twice() {
    let mut b = bench().with_file("old", 4, false);
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    b.ok(
        "writer",
        "update_workflow",
        set("old", "id-1", json!("say x")),
    )
    .await;
    let text = |b: &Bench| b.file("old").unwrap().nodes[1].parameters().unwrap()["x"].clone();
    let double = json!({"workflow_id": "old", "ops": [
        {"op": "replace_text", "node": "id-1", "pointer": "/x", "find": "x", "replace": "xx"}]});
    let made = b.ok("writer", "update_workflow", double.clone()).await;
    for resumed in [false, true] {
        if resumed {
            b.refold();
        }
        let again = b.call("writer", "update_workflow", double.clone()).await;
        assert_eq!(again.content["rule"], rules::REPEAT);
        // The engine says what happened, the toolset the way out.
        let reason = "this very call made the workflow what it is now";
        assert_eq!(again.content["error"], reason);
        let hint = again.content["hint"].as_str().unwrap();
        assert!(hint.contains("expect_hash"), "{hint}");
        assert_eq!(text(&b), json!("say xx"));
    }
    // Whoever says what it is to be made of means it.
    let mut again = double;
    again["expect_hash"] = made["graph_hash"].clone();
    b.ok("writer", "update_workflow", again.clone()).await;
    assert_eq!(text(&b), json!("say xxxx"));
    let rule = b.refused("writer", "update_workflow", again).await;
    assert_eq!(rule, guards::STALE);
    // A second rollback to the newest snapshot would undo the first.
    let back = json!({"workflow_id": "old"});
    b.ok("writer", "rollback_workflow", back.clone()).await;
    let rule = b.refused("writer", "rollback_workflow", back).await;
    assert_eq!(rule, rules::REPEAT);
    assert_eq!(text(&b), json!("say xx"));
    // What ends where it began may be said as often as one likes.
    let same = set("old", "id-2", json!(9));
    b.ok("writer", "update_workflow", same.clone()).await;
    let said = b.ok("writer", "update_workflow", same).await;
    assert_eq!(said["changed"], json!(false));
}
