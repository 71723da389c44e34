//! What a new node may not be called.

use super::*;
use agentctl_engine::gateway::ByUser;
use agentctl_n8n::{Workflow, WorkflowId};

#[tokio::test]
async fn no_new_node_has_a_name_that_every_javascript_object_has() {
    for name in ["__proto__", "constructor", "prototype"] {
        let mut b = bench().with_file("old", 4, false);
        b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
            .await;
        let node = json!({"name": name, "type": "n8n-nodes-base.noOp"});
        for (tool, args) in [
            ("create_workflow", json!({"name": "A", "nodes": [node]})),
            (
                "create_workflow",
                json!({"name": "A", "ops": [{"op": "add_node", "node": node}]}),
            ),
            (
                "update_workflow",
                json!({"workflow_id": "old", "ops": [{"op": "rename_node", "node": "id-1", "name": name}]}),
            ),
        ] {
            let result = b.call("writer", tool, args).await;
            let error = result.content["error"].as_str().unwrap();
            assert!(error.contains("use another name"), "{tool}: {error}");
        }
        // A file of the user's own: one that is new, and one over what is there.
        let mut after = b.file("old").unwrap();
        let now = agentctl_n8n::hash::graph_hash(&after);
        after.nodes[1].set("name", json!(name));
        for over in [None, Some((WorkflowId("old".into()), now))] {
            let refused = pushed(&mut b, &after, over).await;
            assert_eq!(refused.status, ToolStatus::Refused);
            let error = refused.content["error"].as_str().unwrap();
            assert!(error.contains("use another name"), "{error}");
        }
        assert_eq!(b.files(), 1);
        // What is named so already may be worked on.
        let path = b.dir.path().join("workflows/old.json");
        std::fs::write(&path, after.to_text()).unwrap();
        let now = agentctl_n8n::hash::graph_hash(&after);
        after.nodes[2].set("notes", json!("mended"));
        let over = Some((WorkflowId("old".into()), now));
        assert_eq!(pushed(&mut b, &after, over).await.status, ToolStatus::Ok);
    }
}

async fn pushed(b: &mut Bench, after: &Workflow, over: Option<(WorkflowId, String)>) -> ToolResult {
    let n8n = b.n8n();
    let push = Push {
        file: "new.json".into(),
        after: after.clone(),
        over,
        target: None,
    };
    let own = ByUser {
        command: "push",
        allowing: &str::to_owned,
        name: Push::NAME,
        arguments: push.arguments(),
        change: &*push.on(&n8n),
    };
    let (gateway, mut cx) = b.context("user");
    cx.can_ask = false;
    match gateway.by_user(&mut cx, &own).await.unwrap() {
        Settled::Done(result) => result,
        Settled::NeedsApproval(question) => panic!("asks: {question:?}"),
        Settled::Begun => panic!("began a flow"),
    }
}
