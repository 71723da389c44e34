//! n8n-mcp: how it is started, what its tools are given, and what is done without them.

use super::super::n8n_mcp::{MOST_TEMPLATES, prepared, security_mode};
use super::*;
use agentctl_mcp::fake::{Act, Heard, answer, polite, server, text, tool};
use agentctl_mcp::{McpTool, McpTransport, parse};
use std::path::Path;

const TOOLS: [&str; 7] = [
    "n8n_create_workflow",
    "n8n_get_workflow",
    "n8n_update_full_workflow",
    "n8n_update_partial_workflow",
    "n8n_delete_workflow",
    "n8n_validate_workflow",
    "search_templates",
];

/// An n8n-mcp whose calls are answered by the script, in front of a scripted n8n.
async fn through_n8n_mcp(
    script: &Script,
    mut calls: impl FnMut(u32, &str) -> Option<Value> + Send + 'static,
) -> (LiveBackend, Heard, Asked) {
    let tools: Vec<McpTool> = TOOLS.iter().map(|name| tool(name, "")).collect();
    let (client, heard) = server("n8n", move |life, request| {
        if request["method"] != "tools/call" {
            return polite(request, &tools);
        }
        match calls(life, request["params"]["name"].as_str().unwrap()) {
            Some(told) => answer(&request["id"], text(&told.to_string())),
            None => vec![Act::Die],
        }
    });
    let (target, asked) = script.start().await;
    let backend = LiveBackend {
        name: "n8n-mcp",
        place: String::new(),
        wire: Wire::N8nMcp(N8nMcp::over(client)),
        rest: Some(target.open().unwrap()),
    };
    (backend, heard, asked)
}

#[tokio::test]
async fn n8n_mcp_gets_arguments_of_ours_only() {
    let script = Script::default().on("GET /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))]);
    let (backend, heard, _) = through_n8n_mcp(&script, |_, name| {
        Some(match name {
            "n8n_get_workflow" => json!({"success": true, "data": given("w1", "Orders")}),
            _ => json!({"success": true, "data": {"id": "w1"}}),
        })
    })
    .await;
    let mut wanted = document("Orders");
    // What would replace all arguments, were it ever to stand beside them.
    wanted
        .head
        .insert("output".into(), json!("{\"id\":\"other\"}"));
    backend.create(None, &wanted).await.unwrap();
    backend.replace(&id("w1"), &wanted).await.unwrap();
    backend.set_active(&id("w1"), true).await.unwrap();
    backend.delete(&id("w1")).await.unwrap();
    let sent: Vec<(String, Vec<String>)> = heard
        .of("tools/call")
        .iter()
        .map(|call| {
            let arguments = call["params"]["arguments"].as_object().unwrap();
            let keys = arguments.keys().cloned().collect();
            (call["params"]["name"].as_str().unwrap().to_owned(), keys)
        })
        .collect();
    let sent: Vec<(&str, String)> = sent
        .iter()
        .map(|(n, keys)| (n.as_str(), keys.join(" ")))
        .collect();
    assert_eq!(
        sent,
        [
            (
                "n8n_create_workflow",
                "name nodes connections settings".to_owned()
            ),
            ("n8n_get_workflow", "id mode".to_owned()),
            (
                "n8n_update_full_workflow",
                "name nodes connections settings id".to_owned()
            ),
            ("n8n_get_workflow", "id mode".to_owned()),
            ("n8n_update_partial_workflow", "id operations".to_owned()),
            ("n8n_get_workflow", "id mode".to_owned()),
            ("n8n_delete_workflow", "id".to_owned()),
        ]
    );
    assert_eq!(
        heard.calls()[4]["operations"],
        json!([{"type": "activateWorkflow"}])
    );
}

#[tokio::test]
async fn a_server_that_dies_is_started_once_more_and_a_write_is_not_made_twice() {
    let script = Script::default();
    let (backend, heard, _) = through_n8n_mcp(&script, |life, name| match (life, name) {
        (1, _) => None,
        (_, "n8n_get_workflow") => Some(json!({"success": true, "data": given("w1", "Orders")})),
        _ => None,
    })
    .await;
    assert!(backend.get(&id("w1")).await.is_ok());
    let error = backend.create(None, &document("W")).await.unwrap_err();
    assert_eq!(error.kind, BackendErrorKind::Unavailable);
    let creates = heard.of("tools/call").into_iter();
    let creates = creates.filter(|c| c["params"]["name"] == "n8n_create_workflow");
    assert_eq!(creates.count(), 1);
    // Dead for the second time: it is not started again and again.
    assert!(backend.get(&id("w1")).await.is_err());
}

#[tokio::test]
async fn what_n8n_mcp_cuts_or_refuses_by_rules_of_its_own_goes_to_n8n_itself() {
    let script = Script::default()
        .on("GET /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))])
        .on("PUT /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))])
        .on("POST /api/v1/workflows", vec![ok(given("w1", "Orders"))]);
    let (backend, heard, asked) = through_n8n_mcp(&script, |_, name| {
        Some(match name {
            "n8n_get_workflow" => json!("x [Response truncated]"),
            _ => json!({"success": false, "error": "Workflow validation failed", "details": {"errors": ["a single node"]}}),
        })
    })
    .await;
    assert_eq!(
        backend.create(None, &document("Orders")).await.unwrap().id,
        id("w1")
    );
    assert_eq!(
        backend
            .replace(&id("w1"), &document("Orders"))
            .await
            .unwrap()
            .id,
        id("w1")
    );
    assert!(asked.lines().iter().any(|line| line.starts_with("PUT")));
    // What its tools would drop is not given to them.
    let before = heard.calls().len();
    let mut pinned = document("Orders");
    pinned
        .head
        .insert("pinData".into(), json!({"Start": [{"json": {}}]}));
    backend.create(None, &pinned).await.unwrap();
    let sent = heard.of("tools/call");
    let sent = sent
        .iter()
        .skip(before)
        .map(|c| c["params"]["name"].clone());
    assert_eq!(sent.collect::<Vec<_>>(), ["n8n_get_workflow"]);
}

#[tokio::test]
async fn the_servers_verdict_is_asked_with_fixed_options() {
    let (backend, heard, _) = through_n8n_mcp(&Script::default(), |_, _| {
        Some(json!({"success": true, "data": {"valid": false, "errors": [{"node": "If", "message": "no"}]}}))
    })
    .await;
    let verdict = backend.server_verdict(&id("w1")).await.unwrap().unwrap();
    assert_eq!(
        (verdict.valid, verdict.errors),
        (false, vec!["If: no".to_owned()])
    );
    assert_eq!(
        heard.calls(),
        [
            json!({"id": "w1", "options": {"validateNodes": true, "validateConnections": true, "validateExpressions": true, "profile": "runtime"}})
        ]
    );
}

#[tokio::test]
async fn templates_come_in_small_pages_and_name_each_node_type_once() {
    let (backend, heard, _) = through_n8n_mcp(&Script::default(), |_, _| {
        Some(json!({"items": [{"id": 7, "name": "T", "description": "d", "nodes": ["b.x", "b.a", "b.x"], "views": 3}]}))
    })
    .await;
    let found = backend.search_templates("x", 500).await.unwrap();
    assert_eq!(found[0].node_types, ["b.a", "b.x"]);
    assert_eq!(
        heard.calls(),
        [
            json!({"searchMode": "keyword", "query": "x", "limit": MOST_TEMPLATES, "fields": ["id", "name", "description", "nodes", "views"]})
        ]
    );
}

#[test]
fn the_server_is_started_quiet_and_without_the_tools_that_nobody_uses() {
    let file = r#"{"mcpServers": {"n8n": {"command": "npx", "args": ["-y", "n8n-mcp"], "env": {
        "N8N_API_URL": "http://localhost:5678", "N8N_API_KEY": "k", "N8N_MCP_TELEMETRY_DISABLED": "false",
        "DISABLED_TOOLS": "get_node", "N8N_MCP_ACCESS_TOKEN": "t", "NODE_DB_PATH": "/x.db"}}}}"#;
    let config = parse(file, Path::new("f"), &|_| None).unwrap();
    let url = url::Url::parse("http://localhost:5678/").unwrap();
    let McpTransport::Stdio { env, .. } = prepared(&config.servers[0], &url).transport else {
        panic!()
    };
    let value = |name: &str| env.get(name).map(|v| v.expose().to_owned());
    assert_eq!(value("N8N_MCP_TELEMETRY_DISABLED").unwrap(), "true");
    assert_eq!(value("WEBHOOK_SECURITY_MODE").unwrap(), "moderate");
    assert_eq!(value("NODE_DB_PATH").unwrap(), "/x.db");
    assert_eq!(value("N8N_MCP_ACCESS_TOKEN"), None);
    assert!(
        value("DISABLED_TOOLS")
            .unwrap()
            .starts_with("get_node,n8n_autofix_workflow,")
    );
    assert_eq!(
        value("DISABLED_TOOL_OPERATIONS").unwrap(),
        "n8n_executions:delete"
    );
    for (address, mode) in [
        ("http://127.0.0.1:1/", "moderate"),
        ("http://[::1]:1/", "moderate"),
        ("http://192.168.1.2/", "permissive"),
        ("http://n8n:5678/", "permissive"),
        ("https://n8n.example.com/", "strict"),
    ] {
        assert_eq!(
            security_mode(&url::Url::parse(address).unwrap()),
            mode,
            "{address}"
        );
    }
}
