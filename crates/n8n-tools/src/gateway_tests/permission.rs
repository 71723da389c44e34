//! What a role may call, and what is refused before anything is planned.

use super::*;

#[tokio::test]
async fn a_role_has_its_tools_and_no_others() {
    let mut b = bench().with_file("old", 3, false);
    for (role, tool) in [
        ("reader", "create_workflow"),
        ("checker", "update_workflow"),
        ("checker", "autofix_workflow"),
        ("writer", "validate_workflow"),
        ("writer", "trigger_workflow"),
        ("writer", "write_learning"),
        ("nobody", "get_workflow"),
        // exact bytes only
        ("writer", "Create_workflow"),
        ("writer", " create_workflow"),
        ("writer", "create_workflow\u{200b}"),
        ("writer", "сreate_workflow"),
        ("writer", "n8n.create_workflow"),
        ("writer", "mcp__n8n__create_workflow"),
        ("writer", ""),
    ] {
        let result = b.call(role, tool, json!({})).await;
        assert_eq!(result.status, ToolStatus::Refused, "{role} {tool:?}");
    }
    assert_eq!(b.files(), 1);
    assert_eq!(
        b.names().len(),
        28,
        "each refusal is journaled, with its intent"
    );

    let listed: Vec<String> = heads()
        .iter()
        .chain(&crate::library::heads())
        .map(|t| t.name.to_owned())
        .collect();
    let of = |role: &str| -> Vec<String> {
        b.gateway
            .tools_for(role, &listed)
            .into_iter()
            .map(|t| t.name)
            .collect()
    };
    assert_eq!(of("nobody"), Vec::<String>::new());
    assert_eq!(
        of("checker"),
        [
            "activate_workflow",
            "deactivate_workflow",
            "get_execution",
            "get_workflow",
            "list_executions",
            "list_versions",
            "rehearse_workflow",
            "trigger_workflow",
            "validate_workflow",
        ]
    );
    assert_eq!(b.gateway.tools_for("writer", &[]), []);
}

#[tokio::test]
async fn a_tool_that_was_not_offered_is_refused() {
    let mut b = bench().with_file("old", 3, false);
    b.offered = Some(vec!["list_workflows".to_owned()]);
    let args = json!({"workflow_id": "old"});
    assert_eq!(
        b.refused("writer", "get_workflow", args).await,
        "tools.not_offered"
    );
}

#[tokio::test]
async fn arguments_are_taken_literally_or_not_at_all() {
    let mut b = bench().with_file("old", 3, false);
    for (tool, text) in [
        (
            "get_workflow",
            r#"{"workflow_id":"old","workflow_id":"other"}"#,
        ),
        ("get_workflow", r#"{"workflow_id":["old"]}"#),
        ("get_workflow", r#"{"workflow_id":"old","extra":1}"#),
        (
            "get_workflow",
            r#"{"workflow_id":"old","view":"everything"}"#,
        ),
        ("get_workflow", "{}"),
        ("get_workflow", "[]"),
        ("get_workflow", "not json"),
        (
            "update_workflow",
            r#"{"workflow_id":"old","ops":{"op":"set_name","name":"x"}}"#,
        ),
        (
            "update_workflow",
            r#"{"workflow_id":"old","ops":[{"op":"set_name","name":"x","extra":1}]}"#,
        ),
        (
            "update_workflow",
            r#"{"workflow_id":"old","ops":[{"op":"activate"}]}"#,
        ),
        (
            "update_workflow",
            r#"{"workflow_id":"old","ops":[],"validateOnly":"false"}"#,
        ),
        (
            "create_workflow",
            r#"{"name":"x","nodes":[{"name":"a","type":"b","parameters":{},"onerror":"x"}]}"#,
        ),
        ("create_workflow", r#"{"nodes":[]}"#),
    ] {
        let Settled::Done(result) = b.raw("writer", tool, text).await.unwrap() else {
            panic!()
        };
        assert_eq!(result.status, ToolStatus::Refused, "{text}");
        assert_eq!(result.content["rule"], "arguments", "{text}");
    }
    for args in [
        json!({"name": "x", "nodes": []}),
        json!({"name": " ", "nodes": [{"name": "a", "type": "b", "parameters": {}}]}),
        json!({"name": "x", "nodes": [{"name": "a", "type": "b", "parameters": {}}, {"name": "a", "type": "b", "parameters": {}}]}),
        json!({"name": "x", "nodes": [{"name": "a", "type": "b", "parameters": {}}], "connections": {"a": {"main": [[{"node": "c", "type": "main", "index": 0}]]}}}),
    ] {
        assert_eq!(
            b.call("writer", "create_workflow", args.clone())
                .await
                .status,
            ToolStatus::Failed,
            "{args}"
        );
    }
    assert_eq!(b.files(), 1);
}

#[tokio::test]
async fn what_the_backend_cannot_do_is_said_and_nobody_is_asked() {
    let mut b = bench().with_file("old", 2, false);
    for (tool, args) in [
        ("rehearse_workflow", json!({"workflow_id": "old"})),
        ("trigger_workflow", json!({"workflow_id": "old"})),
        ("activate_workflow", json!({"workflow_id": "old"})),
        ("list_executions", json!({})),
        ("get_execution", json!({"execution_id": "1"})),
    ] {
        let result = b.call("checker", tool, args).await;
        assert_eq!(result.status, ToolStatus::Failed, "{tool}");
        assert_eq!(result.content["rule"], "backend.unsupported");
        assert_eq!(result.content["executed"], false);
    }
    let found = b
        .ok("reader", "search_templates", json!({"query": "slack"}))
        .await;
    assert_eq!(
        found,
        json!({"templates": [], "note": "the embedded backend has no templates"})
    );
}

#[tokio::test]
async fn a_run_has_a_budget_of_calls() {
    let mut b = bench().with_file("old", 2, false);
    let list = json!({});
    for _ in 0..3 {
        b.ok("writer", "list_workflows", list.clone()).await;
    }
    assert_eq!(
        b.refused("writer", "list_workflows", list.clone()).await,
        rules::IDENTICAL_CALLS
    );
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    b.ok("writer", "update_workflow", set("old", "id-1", json!(5)))
        .await;
    b.ok("writer", "list_workflows", list).await; // something changed in between
    for i in 0..40 {
        let args = json!({"query": format!("q{i}")});
        if b.guards.tool_calls() < 40 {
            b.ok("writer", "list_workflows", args).await;
        } else {
            assert_eq!(
                b.refused("writer", "list_workflows", args).await,
                rules::TOOL_CALLS
            );
        }
    }
}

#[tokio::test]
async fn nodes_skills_and_learnings_are_read_through_the_same_door() {
    let mut b = bench();
    let found = b
        .ok(
            "reader",
            "search_nodes",
            json!({"query": "slack", "limit": 3}),
        )
        .await;
    assert_eq!(found["nodes"][0]["node_type"], "n8n-nodes-base.slack");
    let node = b
        .ok("writer", "get_node", json!({"node_type": "n8n-nodes-base.slack", "resource": "message", "operation": "post"}))
        .await;
    let recipe = node["recipe"].as_str().unwrap();
    assert!(
        recipe.contains("\n- channelId* resourceLocator"),
        "{recipe}"
    );
    let part = json!({"node_type": "n8n-nodes-base.githubTrigger", "parameter": "events"});
    let events = b.ok("writer", "get_node", part).await;
    assert!(events["parameter"].as_str().unwrap().contains("|push|"));
    for (args, rule) in [
        (json!({"node_type": "n8n-nodes-base.slak"}), "catalog.type"),
        (
            json!({"node_type": "n8n-nodes-base.slack", "version": 99}),
            "catalog.version",
        ),
        (
            json!({"node_type": "n8n-nodes-base.slack", "parameter": "options.none"}),
            "catalog.parameter",
        ),
    ] {
        let result = b.call("writer", "get_node", args).await;
        assert_eq!(result.content["rule"], rule);
    }
    assert_eq!(
        b.call("reader", "load_skill", json!({"name": "none"}))
            .await
            .content["rule"],
        "knowledge.not_found"
    );
    let entry =
        json!({"title": "T", "problem": "p", "cause": "c", "solution": "s", "evidence": "e"});
    let id = b.ok("reader", "write_learning", entry).await;
    assert_eq!(id, json!({"learning_id": "L-001", "title": "T"}));
    let read = b
        .ok(
            "reader",
            "read_learning",
            json!({"ids": ["L-001", "L-002"]}),
        )
        .await;
    assert!(
        read["learnings"][0]["body"]
            .as_str()
            .unwrap()
            .starts_with("- date: 2026-01-02\n")
    );
    assert_eq!(read["missing"], json!(["L-002"]));
    // The index first; then lines; the whole file never.
    let index = b
        .ok("reader", "search_learnings", json!({"query": ""}))
        .await;
    assert!(index["index"].as_str().unwrap().contains("- L-001 T"));
    let about = json!({"query": "", "findings": [{"code": "n8n/parameter", "message": "m"}]});
    let about = b.ok("reader", "search_learnings", about).await;
    assert_eq!(about, json!({"learnings": []}));
    let ids: Vec<String> = (1..=21).map(|n| format!("L-{n}")).collect();
    let all = b.call("reader", "read_learning", json!({"ids": ids})).await;
    assert_eq!(all.content["rule"], "arguments");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Whatever a model says, a role without the capability leaves the project as it was, and each call has one result.
    #[test]
    fn no_text_gets_past_the_matrix(
        calls in proptest::collection::vec(
            (
                proptest::sample::select(vec!["reader", "checker", "nobody", "writer "]),
                proptest::sample::select(vec![
                    "create_workflow", "update_workflow", "delete_workflow", "autofix_workflow", "rollback_workflow",
                    "create_workflow ", "UPDATE_WORKFLOW", "mcp__n8n__n8n_delete_workflow",
                ]),
                proptest::prop_oneof![
                    proptest::strategy::Just(r#"{"workflow_id":"old"}"#.to_owned()),
                    proptest::strategy::Just(r#"{"workflow_id":"old","ops":[{"op":"remove_node","node":"id-0"}]}"#.to_owned()),
                    proptest::strategy::Just(two_nodes("X").to_string()),
                    "\\PC{0,40}",
                ],
            ),
            1..6,
        )
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut b = bench().with_file("old", 3, false);
            let before = b.file("old");
            for (role, tool, text) in &calls {
                let Settled::Done(result) = b.raw(role, tool, text).await.unwrap() else { panic!() };
                assert_eq!(result.status, ToolStatus::Refused, "{role} {tool} {text}");
            }
            assert_eq!(b.file("old"), before);
            assert_eq!(b.files(), 1);
            assert_eq!(b.names(), ["tool_intent", "tool_finished"].repeat(calls.len()));
        });
    }
}
