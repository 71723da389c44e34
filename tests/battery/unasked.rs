//! What is the user's to say besides what is lost: a published workflow, the account a node uses, a value that is hidden. Cases
//! 34 and 79.

use crate::support::*;
use agentctl_engine::redact::MARK;
use agentctl_n8n::Workflow;
use serde_json::{Value, json};
use std::sync::Arc;

/// A bench whose builder has read `orders`, as it is here.
async fn reading(workflow: Workflow, active: bool) -> (Bench, Arc<MemoryBackend>) {
    let (mut bench, backend) = attacked();
    backend.put("orders", workflow, active);
    bench
        .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
        .await;
    (bench, backend)
}

/// The edit is a question of this topic, and a no where there is none; the workflow stays as it is either way.
fn is_asked(workflow: &Workflow, active: bool, op: &Value, topic: &str, rule: &str) {
    block_on(async {
        let args = json!({"workflow_id": "orders", "ops": [op]});
        let (mut bench, backend) = reading(workflow.clone(), active).await;
        let question = bench
            .asked("builder", "update_workflow", args.clone())
            .await;
        assert_eq!(question.topic, topic);
        bench.answer(&question, json!("refuse"));
        let refused = bench
            .refused("builder", "update_workflow", args.clone())
            .await;
        assert_eq!(refused, rule);
        let (mut bench, other) = reading(workflow.clone(), active).await;
        bench.can_ask = false;
        assert_eq!(
            bench.refused("builder", "update_workflow", args).await,
            rule
        );
        for backend in [backend, other] {
            assert_eq!(backend.held("orders").as_ref(), Some(workflow));
            assert_eq!(backend.writes(), Vec::<String>::new());
        }
    });
}

#[test]
fn case_034_a_published_workflow_is_not_changed_unasked() {
    let op = json!({"op": "set_parameter", "node": "id-1", "pointer": "/x", "value": 7});
    let workflow = chain("orders", 4);
    is_asked(&workflow, true, &op, "approve-publish", "guard.publish");
}

#[test]
fn case_034_the_account_that_a_node_uses_is_not_changed_unasked() {
    let mut workflow = chain("orders", 4);
    workflow.nodes[1].set(
        "credentials",
        json!({"slackApi": {"id": "ours", "name": "Sales"}}),
    );
    for node in ["id-1", "id-2"] {
        let op = json!({"op": "set_credential", "node": node, "credential_type": "slackApi", "id": "invented", "name": "Sales"});
        is_asked(
            &workflow,
            false,
            &op,
            "approve-credentials",
            "guard.credentials",
        );
    }
}

#[test]
fn case_079_a_hidden_value_is_neither_written_back_nor_searched() {
    let mut workflow = chain("orders", 4);
    workflow.nodes[1].edit_parameters(|p| p.insert("password".into(), json!(SECRET)));
    block_on(async {
        let (mut bench, backend) = reading(workflow.clone(), false).await;
        for op in [
            json!({"op": "set_parameter", "node": "id-1", "pointer": "/password", "value": format!("{MARK}known]")}),
            json!({"op": "replace_text", "node": "id-1", "pointer": "/password", "find": &SECRET[..3], "replace": ""}),
        ] {
            let args = json!({"workflow_id": "orders", "ops": [op]});
            assert_eq!(
                bench.refused("builder", "update_workflow", args).await,
                "guard.redacted"
            );
        }
        assert_eq!(backend.writes(), Vec::<String>::new());
        assert_eq!(backend.held("orders"), Some(workflow));
    });
}
