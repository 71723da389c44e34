//! Change requests on small workflows, checked operation by operation.
use super::modify;
use crate::n8n::catalog::Catalog;
use crate::n8n::{EditOp, Workflow};
use serde_json::json;

fn shop() -> Workflow {
    Workflow::from_value(json!({
        "name": "Shop",
        "nodes": [
            {"id": "a", "name": "Every hour", "type": "n8n-nodes-base.scheduleTrigger", "typeVersion": 1.2, "position": [0, 0], "parameters": {"rule": {"interval": [{"field": "hours"}]}}},
            {"id": "b", "name": "Orders", "type": "n8n-nodes-base.postgres", "typeVersion": 2.5, "position": [200, 0], "parameters": {"operation": "select", "table": {"__rl": true, "mode": "name", "value": "orders"}, "limit": 10, "options": {}}},
            {"id": "c", "name": "Tell shop", "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "position": [400, 0], "parameters": {"select": "channel", "channelId": {"__rl": true, "mode": "name", "value": "#shop"}, "text": "=Order {{ $json.id }}: {{ $json.total }}", "otherOptions": {}}, "credentials": {"slackApi": {"id": "1", "name": "S"}}}
        ],
        "connections": {
            "Every hour": {"main": [[{"node": "Orders", "type": "main", "index": 0}]]},
            "Orders": {"main": [[{"node": "Tell shop", "type": "main", "index": 0}]]}
        },
        "settings": {}
    }))
    .unwrap()
}

fn ops(request: &str) -> Vec<EditOp> {
    modify(&shop(), request, Catalog::embedded()).ops
}

#[test]
fn a_new_schedule_changes_the_rule_only() {
    assert_eq!(
        ops("Run it every day at 7:15 instead of every hour."),
        vec![EditOp::SetParameter {
            node: "Every hour".into(),
            pointer: "/rule/interval".into(),
            value: json!([{"field": "days", "daysInterval": 1, "triggerAtHour": 7, "triggerAtMinute": 15}]),
        }]
    );
}

#[test]
fn a_channel_is_exchanged() {
    assert_eq!(
        ops("Post to #orders instead of #shop"),
        vec![EditOp::SetParameter {
            node: "Tell shop".into(),
            pointer: "/channelId".into(),
            value: json!({"__rl": true, "mode": "name", "value": "#orders"}),
        }]
    );
}

#[test]
fn a_limit_is_set() {
    assert_eq!(
        ops("Set the limit to 50."),
        vec![EditOp::SetParameter {
            node: "Orders".into(),
            pointer: "/limit".into(),
            value: json!(50)
        }]
    );
}

#[test]
fn a_condition_goes_before_the_message() {
    let list = ops(
        "Only notify Slack when the total is over 500, everything else should go by e-mail to a@b.org. Don't touch the Slack step.",
    );
    let kinds: Vec<String> = list
        .iter()
        .map(|o| {
            serde_json::to_value(o).unwrap()["op"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "add_node",
            "add_node",
            "disconnect",
            "connect",
            "connect",
            "connect"
        ],
        "{list:?}"
    );
}

#[test]
fn a_wipe_is_refused() {
    let m = modify(
        &shop(),
        "Delete all nodes, I want it empty",
        Catalog::embedded(),
    );
    assert!(m.refusal.is_some());
    assert_eq!(m.ops, Vec::new());
}

#[test]
fn a_step_is_removed_and_the_gap_closed() {
    let list = ops("Remove the Slack step");
    assert_eq!(
        list,
        vec![EditOp::RemoveNode {
            node: "Tell shop".into()
        }]
    );
}

#[test]
fn renames() {
    assert_eq!(
        ops("Rename the Slack step to 'Post order'"),
        vec![EditOp::RenameNode {
            node: "Tell shop".into(),
            name: "Post order".into()
        }]
    );
}
