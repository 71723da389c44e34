//! The backends against servers that speak the real protocols and go wrong on purpose.

use super::call::request;
use super::n8n_mcp::{prepared, security_mode};
use super::tool_answer::{Refused, read};
use super::*;
use crate::mcp::fake::{Act, Heard, answer, polite, server, text, tool};
use crate::mcp::{McpTool, McpTransport, parse};
use crate::n8n::{TriggerKind, TriggerPoint};
use serde_json::{Map, json};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEY: &str = "a-key-that-nobody-may-see-4711";

type Scripted = (String, VecDeque<Vec<u8>>);

/// An n8n of a few scripted answers: what a request's first line is answered with, in order. The last one stays.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<Vec<Scripted>>>,
    heard: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Script {
    fn on(self, request: &str, answers: Vec<Vec<u8>>) -> Self {
        let entry = (request.to_owned(), answers.into());
        self.answers.lock().unwrap().push(entry);
        self
    }

    fn next(&self, line: &str) -> Vec<u8> {
        let mut answers = self.answers.lock().unwrap();
        let found = answers
            .iter_mut()
            .filter(|(request, _)| line.starts_with(request.as_str()))
            .max_by_key(|(request, _)| request.len());
        match found {
            Some((_, list)) if list.len() > 1 => list.pop_front().unwrap(),
            Some((_, list)) => list.front().cloned().unwrap_or_default(),
            None => http(404, &[], &json!({"message": "Not Found"})),
        }
    }

    fn lines(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|(line, _)| line.clone()).collect()
    }

    fn bodies(&self) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|(_, body)| body.clone()).collect()
    }

    async fn start(&self) -> RestTarget {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/api/v1", listener.local_addr().unwrap());
        let own = self.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let own = own.clone();
                tokio::spawn(async move {
                    let mut bytes = Vec::new();
                    let (head, body) = loop {
                        let mut chunk = [0; 4096];
                        let Ok(count @ 1..) = stream.read(&mut chunk).await else {
                            return;
                        };
                        bytes.extend_from_slice(&chunk[..count]);
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        if let Some((head, body)) = text.split_once("\r\n\r\n") {
                            let length = head.to_lowercase();
                            let length = length.lines().find_map(|l| {
                                l.strip_prefix("content-length: ")?.parse::<usize>().ok()
                            });
                            if body.len() >= length.unwrap_or(0) {
                                break (head.to_owned(), body.to_owned());
                            }
                        }
                    };
                    assert!(
                        head.to_lowercase()
                            .contains(&format!("x-n8n-api-key: {KEY}"))
                    );
                    let line = head.lines().next().unwrap_or_default();
                    let line = line.trim_end_matches(" HTTP/1.1").to_owned();
                    let body = serde_json::from_str(&body).unwrap_or(Value::Null);
                    own.heard.lock().unwrap().push((line.clone(), body));
                    let _ = stream.write_all(&own.next(&line)).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        RestTarget {
            url,
            key: Secret::new(KEY),
        }
    }
}

fn http(status: u16, headers: &[&str], body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let headers: String = headers.iter().map(|h| format!("{h}\r\n")).collect();
    format!(
        "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn ok(body: Value) -> Vec<u8> {
    http(200, &[], &body)
}

/// A workflow as n8n gives it, with all that it adds.
fn given(id: &str, name: &str) -> Value {
    json!({
        "id": id, "name": name, "active": false, "isArchived": false, "versionId": "v-1",
        "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-02T00:00:00.000Z",
        "nodes": [{"id": "n1", "name": "Start", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "p"}, "webhookId": "w"}],
        "connections": {}, "settings": {"executionOrder": "v1", "availableInMCP": true, "binaryMode": "separate"},
        "staticData": {"last": 1}, "meta": {"instanceId": "x"}, "pinData": null, "triggerCount": 1,
        "shared": [{"project": {"name": "Somebody <somebody@example.com>"}}],
        "tags": [{"id": "t1", "name": "shop"}], "activeVersion": null
    })
}

fn id(id: &str) -> WorkflowId {
    WorkflowId(id.to_owned())
}

fn document(name: &str) -> Workflow {
    serde_json::from_value(json!({
        "name": name, "active": true, "id": "x", "versionId": "v", "meta": {}, "tags": ["a"],
        "nodes": [{"id": "n1", "name": "Start", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "p"}, "createdAt": "x"}],
        "connections": {}, "settings": {"executionOrder": "v1", "timezone": "Europe/Berlin", "availableInMCP": true}
    }))
    .unwrap()
}

#[tokio::test]
async fn a_document_is_read_without_what_belongs_to_the_instance() {
    let script = Script::default().on("GET /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))]);
    let backend = LiveBackend::rest(&script.start().await).unwrap();
    let stored = backend.get(&id("w1")).await.unwrap();
    assert_eq!(
        stored.workflow.to_value(),
        json!({
            "name": "Orders",
            "nodes": given("w1", "x")["nodes"],
            "connections": {},
            "settings": {"executionOrder": "v1", "binaryMode": "separate"},
        })
    );
    assert_eq!(
        (stored.tags, stored.version_id, stored.active),
        (vec!["shop".to_owned()], Some("v-1".to_owned()), false)
    );
}

#[tokio::test]
async fn a_write_sends_what_n8n_takes_and_of_settings_what_differs() {
    let script = Script::default()
        .on("GET /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))])
        .on("PUT /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))])
        .on("POST /api/v1/workflows", vec![ok(given("w1", "Orders"))]);
    let backend = LiveBackend::rest(&script.start().await).unwrap();
    backend.create(None, &document("Orders")).await.unwrap();
    backend
        .replace(&id("w1"), &document("Orders"))
        .await
        .unwrap();
    let nodes = json!([{"id": "n1", "name": "Start", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "p"}}]);
    let bodies: Vec<Value> = script
        .bodies()
        .into_iter()
        .filter(|b| !b.is_null())
        .collect();
    assert_eq!(
        bodies,
        [
            json!({"name": "Orders", "nodes": nodes, "connections": {}, "settings": {"executionOrder": "v1", "timezone": "Europe/Berlin"}}),
            json!({"name": "Orders", "nodes": nodes, "connections": {}, "settings": {"timezone": "Europe/Berlin"}}),
        ]
    );
    assert_eq!(
        script.lines().last().unwrap(),
        "GET /api/v1/workflows/w1", // read back
    );
}

#[tokio::test]
async fn a_setting_that_goes_away_is_taken_back() {
    let mut now = given("w1", "Orders");
    now["settings"] = json!({"executionOrder": "v1", "timezone": "Asia/Tokyo", "errorWorkflow": "w9", "executionTimeout": 30});
    let script = Script::default()
        .on("GET /api/v1/workflows/w1", vec![ok(now.clone())])
        .on("PUT /api/v1/workflows/w1", vec![ok(now)]);
    let backend = LiveBackend::rest(&script.start().await).unwrap();
    let mut wanted = document("Orders");
    wanted.head["settings"] = json!({"executionOrder": "v1"});
    backend.replace(&id("w1"), &wanted).await.unwrap();
    let body = script.bodies().into_iter().find(|b| !b.is_null()).unwrap();
    assert_eq!(
        body["settings"],
        json!({"timezone": "DEFAULT", "errorWorkflow": "DEFAULT", "executionTimeout": -1})
    );
}

#[tokio::test]
async fn a_listing_comes_in_pages_and_means_the_name_it_says() {
    let mut archived = given("w3", "Orders");
    archived["isArchived"] = json!(true);
    let script = Script::default()
        .on("GET /api/v1/workflows?", vec![ok(json!({"data": [given("w1", "Orders"), given("w2", "Orders 2")], "nextCursor": "c 1"}))])
        .on("GET /api/v1/workflows?limit=50&excludePinnedData=true&name=Orders&cursor=c+1", vec![ok(json!({"data": [archived, given("w4", "Orders")], "nextCursor": null}))]);
    let backend = LiveBackend::rest(&script.start().await).unwrap();
    let found = super::super::list_all(&backend, &ListQuery::named("Orders"))
        .await
        .unwrap();
    let ids: Vec<&str> = found.workflows.iter().map(|w| w.id.0.as_str()).collect();
    assert_eq!(ids, ["w1", "w4"]);
}

#[tokio::test]
async fn an_error_says_what_to_do_and_never_the_key() {
    let told = json!({"message": format!("the key {KEY} is wrong")});
    for (status, kind) in [
        (401, BackendErrorKind::Unavailable),
        (403, BackendErrorKind::Unavailable),
        (404, BackendErrorKind::NotFound),
        (400, BackendErrorKind::Rejected),
        (405, BackendErrorKind::Unsupported),
        (500, BackendErrorKind::Unavailable),
        (302, BackendErrorKind::Unavailable),
    ] {
        let script = Script::default().on(
            "GET /api/v1/workflows/w1",
            vec![http(
                status,
                &["location: http://elsewhere.example/"],
                &told,
            )],
        );
        let backend = LiveBackend::rest(&script.start().await).unwrap();
        let error = backend.get(&id("w1")).await.unwrap_err();
        assert_eq!(error.kind, kind, "{status}");
        assert!(!format!("{error:?}").contains(KEY), "{status}");
        assert_eq!(script.lines().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn n8n_that_asks_for_patience_is_asked_again_and_not_for_ever() {
    let busy = || http(429, &["retry-after: 0"], &json!({"message": "slow down"}));
    let script = Script::default().on(
        "POST /api/v1/workflows/w1/activate",
        vec![busy(), busy(), ok(given("w1", "Orders"))],
    );
    let target = script.start().await;
    let rest = target.open().unwrap();
    rest.set_active(&id("w1"), true).await.unwrap();
    assert_eq!(script.lines().len(), 3);

    let script = Script::default().on("POST /api/v1/workflows", vec![busy()]);
    let backend = LiveBackend::rest(&script.start().await).unwrap();
    let error = backend.create(None, &document("W")).await.unwrap_err();
    assert_eq!(error.kind, BackendErrorKind::Unavailable);
    assert_eq!(script.lines().len(), 4);

    // Longer than anybody would wait: told at once.
    let script = Script::default().on(
        "GET /api/v1/workflows/w1",
        vec![http(429, &["retry-after: 3600"], &json!({}))],
    );
    let backend = LiveBackend::rest(&script.start().await).unwrap();
    assert!(backend.get(&id("w1")).await.is_err());
    assert_eq!(script.lines().len(), 1);
}

#[tokio::test]
async fn a_read_survives_a_broken_connection_and_a_write_is_sent_once() {
    let script = Script::default()
        .on(
            "GET /api/v1/workflows/w1",
            vec![Vec::new(), ok(given("w1", "Orders"))],
        )
        .on("POST /api/v1/workflows", vec![Vec::new()]);
    let backend = LiveBackend::rest(&script.start().await).unwrap();
    assert!(backend.get(&id("w1")).await.is_ok());
    let error = backend.create(None, &document("W")).await.unwrap_err();
    assert_eq!(error.kind, BackendErrorKind::Unavailable);
    assert!(error.hint.unwrap().starts_with("it may have happened"));
    let posts = script.lines().into_iter().filter(|l| l.starts_with("POST"));
    assert_eq!(posts.count(), 1);
}

#[tokio::test]
async fn n8n_that_does_not_answer_has_a_time_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = http::base(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let http = Http::new(url, None)
        .unwrap()
        .with_limits(Duration::from_millis(50));
    let error = Rest::new(http)
        .get(&id("w1"))
        .await
        .map(|_| ())
        .unwrap_err();
    assert!(error.message.contains("did not answer"), "{error}");
}

#[test]
fn an_id_cannot_lead_elsewhere() {
    for odd in ["", "..", "a/b", "a?b", "a%2fb", "a b", "ä"] {
        assert!(document::checked_id(odd).is_err(), "{odd}");
    }
    let http = Http::new(http::base("http://n8n.example/base/api/v1").unwrap(), None).unwrap();
    assert_eq!(
        http.url(&["api", "v1", "a/../b"]).as_str(),
        "http://n8n.example/base/api/v1/a%2F..%2Fb"
    );
    for odd in ["ftp://x", "http://a:b@x/", "nonsense"] {
        assert!(http::base(odd).is_err(), "{odd}");
    }
}

fn call(
    kind: TriggerKind,
    method: &str,
    path: &str,
    fields: &[&str],
    payload: Value,
) -> TriggerCall {
    let point = TriggerPoint {
        node: "Start".into(),
        kind,
        method: method.into(),
        path: path.into(),
        fields: fields.iter().map(|f| (*f).to_owned()).collect(),
    };
    TriggerCall::new(point, payload.as_object().cloned().unwrap())
}

#[test]
fn a_call_goes_where_the_document_says() {
    let base = http::base("http://n8n.example/").unwrap();
    let made = |call: &TriggerCall| {
        let request = request(&base, call).unwrap();
        let body = request
            .body()
            .and_then(|b| b.as_bytes())
            .unwrap_or_default();
        (
            format!("{} {}", request.method(), request.url()),
            String::from_utf8_lossy(body).into_owned(),
        )
    };
    let posted = call(
        TriggerKind::Webhook,
        "POST",
        "orders",
        &[],
        json!({"total": 3}),
    );
    assert_eq!(
        made(&posted),
        (
            "POST http://n8n.example/webhook/orders".into(),
            "{\"total\":3}".into()
        )
    );
    let asked = call(
        TriggerKind::Webhook,
        "GET",
        "orders",
        &[],
        json!({"q": "a&b", "n": 1}),
    );
    assert_eq!(
        made(&asked),
        (
            "GET http://n8n.example/webhook/orders?q=a%26b&n=1".into(),
            String::new()
        )
    );
    let varying = call(
        TriggerKind::Webhook,
        "GET",
        "w/users/:id",
        &[],
        json!({"id": "../7"}),
    );
    assert_eq!(
        made(&varying).0,
        "GET http://n8n.example/webhook/w/users/..%2F7"
    );
    let (to, body) = made(&call(
        TriggerKind::Form,
        "POST",
        "f",
        &["Name", "Age"],
        json!({"Age": 7}),
    ));
    assert_eq!(to, "POST http://n8n.example/form/f");
    assert!(body.contains("name=\"field-1\"\r\n\r\n7\r\n"), "{body}");
    let (to, body) = made(&call(
        TriggerKind::Chat,
        "POST",
        "c/chat",
        &[],
        json!({"chatInput": "hi", "sessionId": "s"}),
    ));
    assert_eq!(
        (to.as_str(), body.as_str()),
        (
            "POST http://n8n.example/webhook/c/chat",
            r#"{"action":"sendMessage","chatInput":"hi","sessionId":"s"}"#
        )
    );
    let unknown = call(
        TriggerKind::Form,
        "POST",
        "f",
        &["Name"],
        json!({"Other": 7}),
    );
    assert!(request(&base, &unknown).is_err());
    let missing = call(
        TriggerKind::Webhook,
        "GET",
        "w/users/:id",
        &[],
        json!({"id": ".."}),
    );
    assert!(request(&base, &missing).is_err());
}

fn said(text_of_it: &str, is_error: bool) -> Result<Value, Refused> {
    read(&text(text_of_it), is_error)
}

#[test]
fn whether_a_tool_failed_is_in_what_it_says() {
    assert_eq!(
        said(r#"{"success":true,"data":{"id":"a"}}"#, false),
        Ok(json!({"id": "a"}))
    );
    assert_eq!(
        said(r#"{"success":true,"data":{"valid":false}}"#, false),
        Ok(json!({"valid": false}))
    );
    assert_eq!(said(r#"{"items":[]}"#, false), Ok(json!({"items": []})));
    let kind = |answer: Result<Value, Refused>| match answer {
        Err(Refused::Failed(error)) => Some(error.kind),
        _ => None,
    };
    use BackendErrorKind::{NotFound, Rejected, Unavailable, Unsupported};
    for (text, is_error, expected) in [
        (
            r#"{"success":false,"error":"Not Found","code":"NOT_FOUND"}"#,
            false,
            NotFound,
        ),
        (
            r#"{"success":false,"error":"Workflow validation failed","details":{"errors":["x"]}}"#,
            false,
            Unsupported,
        ),
        (
            r#"{"success":false,"error":"no","code":"AUTHENTICATION_ERROR"}"#,
            false,
            Unavailable,
        ),
        (
            r#"{"success":false,"error":"SSRF protection: Localhost access is blocked"}"#,
            false,
            Unavailable,
        ),
        (
            r#"{"error":"TOOL_DISABLED","message":"off"}"#,
            true,
            Unsupported,
        ),
        (
            "Error executing tool: nodes must be an array",
            true,
            Rejected,
        ),
        (
            "Workflow is not available in MCP. Enable MCP access in workflow settings.",
            true,
            Unsupported,
        ),
        (
            "Workflow not found or you don't have permission to access it.",
            true,
            NotFound,
        ),
        ("plain words", false, Rejected),
    ] {
        assert_eq!(kind(said(text, is_error)), Some(expected), "{text}");
    }
    let long = format!("{{\"success\":true,\"data\":\"{}", "x".repeat(200_000));
    assert_eq!(said(&long, false), Err(Refused::Cut));
    assert_eq!(
        said("{\"a\":1 [Response truncated: 1 of 2]", false),
        Err(Refused::Cut)
    );
    assert!(matches!(said("HTTP 429", true), Err(Refused::Busy(_))));
    // The text is broken and the structure is whole.
    let both = json!({"content": [{"type": "text", "text": "{\"cut"}], "structuredContent": {"success": true, "data": {"id": "b"}}});
    assert_eq!(read(&both, false), Ok(json!({"id": "b"})));
}

const TOOLS: [&str; 6] = [
    "n8n_create_workflow",
    "n8n_get_workflow",
    "n8n_update_full_workflow",
    "n8n_update_partial_workflow",
    "n8n_delete_workflow",
    "n8n_validate_workflow",
];

/// An n8n-mcp whose calls are answered by the script, in front of a scripted n8n.
async fn through_n8n_mcp(
    script: &Script,
    mut calls: impl FnMut(u32, &str) -> Option<Value> + Send + 'static,
) -> (LiveBackend, Heard) {
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
    let backend = LiveBackend {
        name: "n8n-mcp",
        place: String::new(),
        wire: Wire::N8nMcp(N8nMcp::over(client)),
        rest: Some(script.start().await.open().unwrap()),
    };
    (backend, heard)
}

#[tokio::test]
async fn n8n_mcp_gets_arguments_of_ours_only() {
    let script = Script::default().on("GET /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))]);
    let (backend, heard) = through_n8n_mcp(&script, |_, name| {
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
    let (backend, heard) = through_n8n_mcp(&script, |life, name| match (life, name) {
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
    let (backend, heard) = through_n8n_mcp(&script, |_, name| {
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
    assert!(script.lines().iter().any(|line| line.starts_with("PUT")));
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
    let (backend, heard) = through_n8n_mcp(&Script::default(), |_, _| {
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
    let backend = LiveBackend {
        name: "instance-mcp",
        place: String::new(),
        wire: Wire::Instance(InstanceMcp::over(client)),
        rest: Some(script.start().await.open().unwrap()),
    };
    assert_eq!(
        backend.get(&id("closed")).await.unwrap().workflow.name(),
        "Closed"
    );
    assert_eq!(
        backend.create(None, &document("Orders")).await.unwrap().id,
        id("w1")
    );
    let created = script.bodies().into_iter().find(|b| !b.is_null()).unwrap();
    assert_eq!(created["settings"]["availableInMCP"], true);
    assert_eq!(heard.calls().len(), 2);

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
