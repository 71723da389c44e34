use super::*;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequest, ClientRequest};
use rmcp::service::PeerRequestOptions;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::Notify;

/// Answers without a project: `echo` gives its arguments back, `refuse` refuses, `wait` waits until it is cancelled or let go.
struct Fake {
    offer: Offer,
    host: Arc<FakeHost>,
}

#[derive(Default)]
struct FakeHost {
    clients: Mutex<Vec<Client>>,
    calls: Mutex<Vec<String>>,
    cancelled: Notify,
    go: Notify,
    closed: AtomicBool,
}

impl Fake {
    fn new() -> Arc<Fake> {
        let tool = |name: &str, hints| Offered {
            spec: ToolSpec {
                name: name.into(),
                description: format!("Does {name}."),
                parameters: json!({"type": "object", "properties": {"text": {"type": "string"}}}),
            },
            hints,
            returns: None,
        };
        let reads = Hints {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        };
        let changes = Hints {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: true,
        };
        Arc::new(Fake {
            offer: Offer {
                tools: vec![
                    tool("echo", reads),
                    tool("refuse", changes),
                    tool("wait", reads),
                ],
                instructions: "Be careful.".into(),
            },
            host: Arc::default(),
        })
    }
}

impl Hosts for Fake {
    fn offer(&self) -> &Offer {
        &self.offer
    }
    fn open(&self, client: Client) -> Arc<dyn Host> {
        self.host.clients.lock().unwrap().push(client);
        self.host.clone()
    }
}

impl Host for FakeHost {
    fn call(
        &self,
        name: String,
        arguments: String,
        cancelled: BoxFuture<'static, ()>,
    ) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            self.calls
                .lock()
                .unwrap()
                .push(format!("{name} {arguments}"));
            let (status, content) = match name.as_str() {
                "echo" => (ToolStatus::Ok, serde_json::from_str(&arguments).unwrap()),
                "wait" => tokio::select! {
                    () = cancelled => {
                        self.cancelled.notify_one();
                        (ToolStatus::Cancelled, json!({"error": "cancelled"}))
                    }
                    () = self.go.notified() => (ToolStatus::Ok, json!({"waited": true})),
                },
                _ => (
                    ToolStatus::Refused,
                    json!({"error": "not that", "rule": "guard.wipe", "hint": "edit in place"}),
                ),
            };
            ToolResult {
                call_id: String::new(),
                name,
                status,
                content,
            }
        })
    }
    fn close(&self) -> BoxFuture<'_, ()> {
        self.closed.store(true, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

fn serving(fake: &Arc<Fake>) -> (DuplexStream, tokio::task::JoinHandle<std::io::Result<()>>) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(theirs);
    let hosts = fake.clone();
    let served = tokio::spawn(stream::serve(hosts, input, output, std::future::pending()));
    (ours, served)
}

#[tokio::test]
async fn a_client_learns_who_serves_and_what() {
    let fake = Fake::new();
    let (pipe, served) = serving(&fake);
    let client = ().serve(pipe).await.unwrap();
    let server = client.peer_info().unwrap();
    let info = server.server_info.clone().unwrap();
    assert_eq!(
        (info.name.as_str(), info.version.as_str()),
        ("agentctl", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(server.instructions.as_deref(), Some("Be careful."));
    assert!(server.capabilities.tools.is_some() && server.capabilities.prompts.is_none());
    let tools = client.list_all_tools().await.unwrap();
    let shown: Vec<Value> = tools.iter().map(|tool| json!(tool)).collect();
    assert_eq!(
        shown[1],
        json!({
            "name": "refuse",
            "description": "Does refuse.",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
            "annotations": {"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true},
        })
    );
    assert_eq!(shown[0]["annotations"]["readOnlyHint"], true);
    client.cancel().await.unwrap();
    served.await.unwrap().unwrap();
    assert!(fake.host.closed.load(Ordering::SeqCst));
    assert_eq!(fake.host.clients.lock().unwrap()[0].transport, "stdio");
}

#[tokio::test]
async fn a_result_comes_as_a_value_and_as_text_and_a_refusal_says_its_rule() {
    let fake = Fake::new();
    let (pipe, _served) = serving(&fake);
    let client = ().serve(pipe).await.unwrap();
    let call = |name: &'static str| {
        let args = json!({"text": "hello"}).as_object().unwrap().clone();
        client.call_tool(CallToolRequestParams::new(name).with_arguments(args))
    };
    let result = json!(call("echo").await.unwrap());
    assert_eq!(
        result,
        json!({"content": [{"type": "text", "text": "{\"text\":\"hello\"}"}], "structuredContent": {"text": "hello"}, "isError": false})
    );
    let result = json!(call("refuse").await.unwrap());
    assert_eq!(
        result,
        json!({
            "content": [{"type": "text", "text": "refused: not that\nrule: guard.wipe\nwhat to do: edit in place"}],
            "structuredContent": {"status": "refused", "error": "not that", "rule": "guard.wipe", "hint": "edit in place"},
            "isError": true,
        })
    );
    // A name that no one offers goes to the host as well: it refuses, and journals that it did.
    assert_eq!(json!(call("who_knows").await.unwrap())["isError"], true);
    assert_eq!(fake.host.calls.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_cancelled_call_reaches_the_host_as_cancelled() {
    let fake = Fake::new();
    let (pipe, _served) = serving(&fake);
    let client = ().serve(pipe).await.unwrap();
    let request = CallToolRequest::new(CallToolRequestParams::new("wait"));
    let asked = client
        .send_request_with_option(
            ClientRequest::CallToolRequest(request),
            PeerRequestOptions::no_options(),
        )
        .await
        .unwrap();
    asked.cancel(Some("changed my mind".into())).await.unwrap();
    fake.host.cancelled.notified().await;
    // The session goes on.
    assert_eq!(client.list_all_tools().await.unwrap().len(), 3);
}

/// Lines to and from a server, by hand.
struct Raw {
    pipe: BufReader<DuplexStream>,
}

impl Raw {
    async fn send(&mut self, text: &str) {
        let line = format!("{text}\n");
        self.pipe
            .get_mut()
            .write_all(line.as_bytes())
            .await
            .unwrap();
    }
    async fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.pipe.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{line:?}: {e}"))
    }
    async fn ask(&mut self, message: Value) -> Value {
        self.send(&message.to_string()).await;
        self.answer().await
    }
    async fn initialize(&mut self, version: &str) -> Value {
        self.ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}}))
            .await
    }
}

fn raw(fake: &Arc<Fake>) -> (Raw, tokio::task::JoinHandle<std::io::Result<()>>) {
    let (pipe, served) = serving(fake);
    (
        Raw {
            pipe: BufReader::new(pipe),
        },
        served,
    )
}

#[tokio::test]
async fn every_version_that_opens_with_initialize_is_spoken_and_the_newest_is_offered_else() {
    for (asked, spoken) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let (mut raw, _served) = raw(&Fake::new());
        let answer = raw.initialize(asked).await;
        assert_eq!(answer["result"]["protocolVersion"], spoken, "{asked}");
        assert_eq!(
            raw.ask(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
                .await["result"],
            json!({})
        );
    }
}

#[tokio::test]
async fn an_error_has_the_code_of_its_kind_and_the_session_goes_on() {
    let (mut raw, _served) = raw(&Fake::new());
    let request = |id: u64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let code = |answer: &Value| (answer["id"].clone(), answer["error"]["code"].clone());
    // Before it is opened: only a ping, and the probe of a newer protocol is told that there is none.
    assert_eq!(
        raw.ask(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
            .await["result"],
        json!({})
    );
    assert_eq!(
        code(&raw.ask(request(2, "tools/list", json!({}))).await),
        (json!(2), json!(-32600))
    );
    assert_eq!(
        code(&raw.ask(request(3, "server/discover", json!({}))).await),
        (json!(3), json!(-32601))
    );
    raw.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    assert!(raw.initialize("2025-06-18").await["result"].is_object());
    for method in [
        "no/such",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "completion/complete",
        "logging/setLevel",
        "sampling/createMessage",
    ] {
        let params = match method {
            "completion/complete" => {
                json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}})
            }
            "logging/setLevel" => json!({"level": "debug"}),
            _ => json!({}),
        };
        assert_eq!(
            code(&raw.ask(request(4, method, params)).await),
            (json!(4), json!(-32601)),
            "{method}"
        );
    }
    assert_eq!(
        code(
            &raw.ask(request(5, "tools/list", json!({"cursor": "x"})))
                .await
        ),
        (json!(5), json!(-32602))
    );
    assert_eq!(
        code(&raw.ask(request(6, "tools/call", json!([]))).await),
        (json!(6), json!(-32602))
    );
    assert_eq!(
        code(&raw.initialize("2025-06-18").await),
        (json!(0), json!(-32600))
    );
    raw.send("").await;
    raw.send(r#"{"jsonrpc":"2.0","method":"nothing/known"}"#)
        .await;
    raw.send("not json").await;
    assert_eq!(code(&raw.answer().await), (Value::Null, json!(-32700)));
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(frame::MAX_MESSAGE));
    raw.send(&long).await;
    assert_eq!(code(&raw.answer().await), (Value::Null, json!(-32600)));
    assert_eq!(raw.ask(request(7, "ping", json!({}))).await["id"], 7);
}

#[tokio::test]
async fn one_id_is_one_request_until_it_is_answered() {
    let fake = Fake::new();
    let (mut raw, _served) = raw(&fake);
    raw.initialize("2025-06-18").await;
    let wait =
        json!({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": {"name": "wait"}});
    raw.send(&wait.to_string()).await;
    let twice = raw.ask(wait.clone()).await;
    assert_eq!(
        (&twice["id"], &twice["error"]["code"]),
        (&json!("w"), &json!(-32600))
    );
    fake.host.go.notify_one();
    assert_eq!(
        raw.answer().await["result"]["structuredContent"],
        json!({"waited": true})
    );
    assert_eq!(fake.host.calls.lock().unwrap().len(), 1);
    // A cancelled one gets no answer, and its id is free again.
    raw.send(&wait.to_string()).await;
    raw.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}"#)
        .await;
    fake.host.cancelled.notified().await;
    let echo = json!({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": {"name": "echo", "arguments": {"a": 1}}});
    assert_eq!(
        raw.ask(echo).await["result"]["structuredContent"],
        json!({"a": 1})
    );
}

#[tokio::test]
async fn what_was_asked_before_the_end_is_answered_after_it() {
    let fake = Fake::new();
    let (mut raw, served) = raw(&fake);
    raw.initialize("2025-06-18").await;
    raw.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}"#).await;
    raw.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call""#.trim_end_matches('\n'))
        .await;
    raw.pipe.get_mut().shutdown().await.unwrap();
    assert_eq!(raw.answer().await["error"]["code"], -32700);
    assert_eq!(
        raw.answer().await["result"]["structuredContent"],
        json!({"a": 1})
    );
    served.await.unwrap().unwrap();
    assert!(fake.host.closed.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_stop_ends_a_session_whose_client_stays() {
    let fake = Fake::new();
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(theirs);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let hosts = fake.clone();
    let served = tokio::spawn(stream::serve(hosts, input, output, async {
        let _ = stopped.await;
    }));
    let mut raw = Raw {
        pipe: BufReader::new(ours),
    };
    raw.initialize("2025-06-18").await;
    stop.send(()).unwrap();
    served.await.unwrap().unwrap();
    assert!(fake.host.closed.load(Ordering::SeqCst));
}
