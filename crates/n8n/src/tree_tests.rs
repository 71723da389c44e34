use super::*;
use crate::arbitrary;
use proptest::prelude::*;
use serde_json::json;

fn sample() -> Workflow {
    let node = |name: &str, node_type: &str, version: f64, parameters: Value| json!({"id": name, "name": name, "type": node_type, "typeVersion": version, "position": [0, 0], "parameters": parameters});
    let link = |to: &str, index: u32| json!({"node": to, "type": "main", "index": index});
    let serves = |to: &str, kind: &str| json!({(kind): [[{"node": to, "type": kind, "index": 0}]]});
    let mut off = node(
        "Archive",
        "n8n-nodes-base.googleSheets",
        4.6,
        json!({"operation": "append", "documentId": {"__rl": true, "mode": "list", "value": "1x", "cachedResultName": "Orders"}}),
    );
    off["disabled"] = json!(true);
    Workflow::from_value(json!({
        "name": "Orders",
        "nodes": [
            node("Hook", "n8n-nodes-base.webhook", 2.0, json!({"httpMethod": "POST", "path": "orders"})),
            node("Loop", "n8n-nodes-base.splitInBatches", 3.0, json!({})),
            node("Check", "n8n-nodes-base.if", 2.2, json!({})),
            node("Agent", "@n8n/n8n-nodes-langchain.agent", 2.0, json!({"text": "Say\n something   very long about this order and all others"})),
            node("Model", "@n8n/n8n-nodes-langchain.lmChatOpenAi", 1.2, json!({"model": {"__rl": true, "mode": "list", "value": "gpt-4o"}})),
            node("Merge", "n8n-nodes-base.merge", 3.0, json!({})),
            off,
            {"id": "s", "name": "Note", "type": "n8n-nodes-base.stickyNote", "typeVersion": 1, "position": [0, 0], "parameters": {}}
        ],
        "connections": {
            "Hook": {"main": [[link("Loop", 0)]]},
            "Loop": {"main": [[link("Archive", 0)], [link("Check", 0)]]},
            "Check": {"main": [[link("Agent", 0)], [link("Merge", 1)]]},
            "Agent": {"main": [[link("Merge", 0)]]},
            "Merge": {"main": [[link("Loop", 0)]]},
            "Model": serves("Agent", "ai_languageModel")
        }
    }))
    .unwrap()
}

#[test]
fn branches_loops_merges_and_sub_nodes() {
    insta::assert_snapshot!(tree(&sample(), Some(Catalog::embedded())), @r#"
    Hook · webhook (POST, orders)
    └─ Loop · splitInBatches
       ├─ done → Archive · googleSheets (append, Orders) [disabled]
       └─ loop → Check · if
          ├─ true → Agent · agent (Say something very long about this …)
          │  ├─ ⊂ ai_languageModel: Model · lmChatOpenAi (gpt-4o)
          │  └─ Merge · merge
          │     └─ ↪ Loop
          └─ false → ↪ Merge at input 1
    "#);
    assert_eq!(
        tree(&sample(), None),
        tree(&sample(), Some(Catalog::embedded()))
    );
}

proptest! {
    #[test]
    fn every_node_is_written_once(workflow in arbitrary::workflow(10)) {
        let text = tree(&workflow, None);
        for node in &workflow.nodes {
            let own = format!("{} · any", node.name());
            prop_assert_eq!(text.matches(&own).count(), 1, "{}", text);
        }
    }
}

#[test]
fn of_a_large_workflow_the_beginning_is_written_and_the_rest_counted() {
    let mut workflow = Workflow::empty("Long");
    for i in 0..1_000 {
        let id = crate::NodeId(format!("id-{i}"));
        let node = Node::new(
            id,
            format!("N {i}"),
            "n8n-nodes-base.noOp",
            1.0,
            Default::default(),
        );
        workflow.nodes.push(node);
        if i > 0 {
            workflow.connect(&format!("N {}", i - 1), "main", 0, &format!("N {i}"), 0);
        }
    }
    let text = tree(&workflow, None);
    assert_eq!(text.lines().count(), MOST_LINES + 1);
    assert_eq!(text.lines().last(), Some("… and 800 more nodes"));
}
