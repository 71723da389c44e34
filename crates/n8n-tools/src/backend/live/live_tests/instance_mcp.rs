//! n8n's own MCP server: used as far as it goes.

use super::*;
use agentctl_mcp::fake::{answer, polite, server, text, tool};
use serde_json::Map;

#[tokio::test]
async fn n8ns_own_server_is_used_as_far_as_it_goes() {
    let script = Script::default()
        .on(
            "GET /api/v1/workflows/closed",
            vec![ok(given("closed", "Closed"))],
        )
        .on("POST /api/v1/workflows", vec![ok(given("w1", "Orders"))]);
    let tools = [
        tool("get_workflow_details", ""),
        tool("execute_workflow", ""),
        tool("publish_workflow", ""),
    ];
    let (client, heard) = server("n8n", move |_, request| {
        if request["method"] != "tools/call" {
            return polite(request, &tools);
        }
        let arguments = &request["params"]["arguments"];
        if arguments["workflowId"] == "closed" {
            let mut told = text("Workflow is not available in MCP.");
            told["isError"] = json!(true);
            return answer(&request["id"], told);
        }
        answer(
            &request["id"],
            text(&json!({"workflow": given("w1", "Orders")}).to_string()),
        )
    });
    let (target, asked) = script.start().await;
    let backend = LiveBackend {
        name: "instance-mcp",
        place: String::new(),
        wire: Wire::Instance(InstanceMcp::over(client)),
        rest: Some(target.open().unwrap()),
    };
    assert_eq!(
        backend.get(&id("closed")).await.unwrap().workflow.name(),
        "Closed"
    );
    assert_eq!(
        backend.create(None, &document("Orders")).await.unwrap().id,
        id("w1")
    );
    let created = asked.bodies().into_iter().find(|b| !b.is_null()).unwrap();
    assert_eq!(created["settings"]["availableInMCP"], true);
    assert_eq!(heard.calls().len(), 2);

    // One that cannot publish shows the published state alone: what was written is read over the API.
    let script = Script::default().on("GET /api/v1/workflows/w1", vec![ok(given("w1", "Draft"))]);
    let (client, heard) = server("n8n", |_, request| {
        polite(request, &[tool("get_workflow_details", "")])
    });
    let (target, _asked) = script.start().await;
    let older = LiveBackend {
        name: "instance-mcp",
        place: String::new(),
        wire: Wire::Instance(InstanceMcp::over(client)),
        rest: Some(target.open().unwrap()),
    };
    assert_eq!(older.get(&id("w1")).await.unwrap().workflow.name(), "Draft");
    assert_eq!(heard.calls().len(), 0);

    // Without the API: it reads, and says what it cannot do.
    let (client, _) = server("n8n", |_, request| polite(request, &[]));
    let alone = LiveBackend {
        name: "instance-mcp",
        place: String::new(),
        wire: Wire::Instance(InstanceMcp::over(client)),
        rest: None,
    };
    let error = alone.create(None, &document("W")).await.unwrap_err();
    assert_eq!(error.kind, BackendErrorKind::Unsupported);
    assert!(error.hint.unwrap().contains("N8N_API_KEY"));
    let none = Map::new();
    let point = call(TriggerKind::Webhook, "POST", "p", &[], Value::Object(none));
    assert_eq!(
        alone.trigger(&id("w1"), &point).await.unwrap_err().kind,
        BackendErrorKind::Unsupported
    );
}
