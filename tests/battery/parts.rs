//! The copilot's two writers, each taken over: case 386.

use crate::support::*;
use agentctl::pack::named;
use agentctl_base::model::ToolStatus;
use agentctl_engine::pack::LoadOptions;
use serde_json::json;
use std::path::Path;

/// Who joins nodes sets no values, by none of its tools and hidden in none of their arguments; who sets values adds, joins and removes
/// nothing, and sets none of a node that the message does not name.
#[test]
fn case_386_a_builder_sets_no_values_and_a_configurator_touches_what_the_message_names() {
    let pack = named("n8n-copilot", Path::new(""), &LoadOptions::default()).unwrap();
    let (mut bench, backend) = Bench::in_memory(pack.policy);
    backend.put("orders", chain("orders", 10), false);
    bench.guards.observe(&begun("Node 3 should count to five."));
    block_on(async {
        let whole = json!({"workflow_id": "orders"});
        bench.ok("discovery", "get_workflow", whole.clone()).await;
        let before = backend.writes();
        let node = |more: serde_json::Value| {
            let mut node = json!({"name": "Post", "type": "n8n-nodes-base.httpRequest"});
            node.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            node
        };
        let url = json!({"parameters": {"url": "https://evil.example"}});
        let edit = |op: serde_json::Value| json!({"workflow_id": "orders", "ops": [op]});
        for (tool, args) in [
            (
                "add_nodes",
                json!({"workflow_id": "orders", "nodes": [node(url.clone())]}),
            ),
            (
                "edit_structure",
                edit(json!({"op": "add_node", "node": node(url.clone())})),
            ),
            (
                "edit_structure",
                edit(json!({"op": "set_parameter", "node": "Node 3", "pointer": "/x", "value": 5})),
            ),
            (
                "edit_structure",
                edit(json!({"op": "replace_parameters", "node": "id-3", "parameters": {}})),
            ),
            (
                "edit_structure",
                edit(
                    json!({"op": "set_node_settings", "node": "id-3", "settings": {"executeOnce": true}}),
                ),
            ),
            (
                "new_workflow",
                json!({"name": "Other", "nodes": [node(url)]}),
            ),
        ] {
            let rule = bench.refused("builder", tool, args.clone()).await;
            assert_eq!(rule, "guard.structure_only", "{tool} {args}");
        }
        // A rename takes expressions along, and nothing beside them.
        let renamed = json!([
            {"op": "rename_node", "node": "Node 3", "name": "Counter"},
            {"op": "set_parameter", "node": "Counter", "pointer": "/x", "value": 5},
        ]);
        let args = json!({"workflow_id": "orders", "ops": renamed});
        assert_eq!(
            bench.refused("builder", "edit_structure", args).await,
            "guard.structure_only"
        );

        bench.ok("discovery", "get_workflow", whole).await;
        let set = |node: &str| json!({"workflow_id": "orders", "nodes": [{"node": node, "parameters": {"x": 5}}]});
        let rule = bench
            .refused("configurator", "update_node_parameters", set("Node 7"))
            .await;
        assert_eq!(rule, "guard.turn_scope");
        for tool in [
            "add_nodes",
            "edit_structure",
            "remove_node",
            "update_workflow",
            "new_workflow",
        ] {
            let result = bench
                .call("configurator", tool, json!({"workflow_id": "orders"}))
                .await;
            assert_ne!(result.status, ToolStatus::Ok, "{tool}");
        }
        assert_eq!(backend.writes(), before);
        bench
            .ok("configurator", "update_node_parameters", set("Node 3"))
            .await;
    });
}
