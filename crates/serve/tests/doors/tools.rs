//! `/mcp`: the tools of a role for MCP clients that were let in. What the MCP server itself does is tried in `agentctl_mcp`.

use super::support::{Desk, Got, LONG, MANIFEST, OTHER, TOKEN, client, may};
use agentctl_base::BoxFuture;
use agentctl_base::model::{ToolResult, ToolSpec, ToolStatus};
use agentctl_mcp::serve::listen::Plain;
use agentctl_mcp::serve::{Client as Named, Hints, Host, Hosts, Offer, Offered};
use agentctl_serve::{Client, How, May, McpDoor};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// One tool, which gives its arguments back.
struct Echo {
    offer: Offer,
    opened: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    fn new() -> Echo {
        let hints = Hints {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        };
        let spec = ToolSpec {
            name: "echo".into(),
            description: "Gives its arguments back.".into(),
            parameters: json!({"type": "object"}),
        };
        Echo {
            offer: Offer {
                tools: vec![Offered {
                    spec,
                    hints,
                    returns: None,
                }],
                instructions: String::new(),
            },
            opened: Arc::default(),
        }
    }
}

impl Hosts for Echo {
    fn offer(&self) -> &Offer {
        &self.offer
    }
    fn open(&self, client: Named) -> Arc<dyn Host> {
        self.opened.lock().unwrap().push(client.name);
        Arc::new(Echoes)
    }
}

struct Echoes;

impl Host for Echoes {
    fn call(
        &self,
        name: String,
        arguments: String,
        _: BoxFuture<'static, ()>,
    ) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            ToolResult {
                call_id: String::new(),
                name,
                status: ToolStatus::Ok,
                content: serde_json::from_str(&arguments).unwrap(),
            }
        })
    }
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

async fn desk(clients: Vec<Client>) -> (Desk, Arc<Mutex<Vec<String>>>) {
    let echo = Echo::new();
    let opened = Arc::clone(&echo.opened);
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let more = |server: agentctl_serve::Server| {
        server.with_mcp(McpDoor::new("desk", "builder", Arc::new(echo)))
    };
    let desk = Desk::over(Plain, MANIFEST, folder, clients, |_| {}, more).await;
    (desk, opened)
}

async fn said(desk: &Desk, token: &str, more: &[(&str, &str)], message: Value) -> Got {
    let bearer = format!("Bearer {token}");
    let headers = [&[("authorization", bearer.as_str())], more].concat();
    desk.post_as(&headers, "/mcp", &message).await
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "probe", "version": "1"}}})
}

fn call() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "hi"}}})
}

#[tokio::test]
async fn a_session_is_its_clients_and_nobody_elses() {
    let clients = vec![
        client("one", How::bearer(TOKEN)),
        client("two", How::bearer(OTHER)),
    ];
    let (mut desk, opened) = desk(clients).await;
    let opening = said(&desk, TOKEN, &[], initialize()).await;
    assert_eq!(opening.status, 200, "{opening:?}");
    let session = [(
        "mcp-session-id",
        opening.header("mcp-session-id").unwrap().to_owned(),
    )];
    let session: Vec<(&str, &str)> = session.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let called = said(&desk, TOKEN, &session, call()).await;
    assert_eq!(
        called.json()["result"]["structuredContent"],
        json!({"text": "hi"})
    );
    // Another client's request looks like one for a session that never was, and does not end it.
    let foreign = said(&desk, OTHER, &session, call()).await;
    let never = said(&desk, OTHER, &[("mcp-session-id", "never")], call()).await;
    assert_eq!((foreign.status, &foreign.text), (404, &never.text));
    let bearer = format!("Bearer {OTHER}");
    let with = [&session[..], &[("authorization", bearer.as_str())]].concat();
    assert_eq!(desk.ask("DELETE", "/mcp", &with, b"").await.status, 404);
    assert_eq!(said(&desk, TOKEN, &session, call()).await.status, 200);
    assert_eq!(*opened.lock().unwrap(), ["probe of one"]);
    // The server's end waits for no session that is idle.
    tokio::time::timeout(LONG, desk.stop())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn who_may_not_take_turns_of_the_pack_does_not_come_in() {
    let mut reads = client("reads", How::bearer(TOKEN));
    reads.may = may(&[May::Read]);
    let mut elsewhere = client("elsewhere", How::bearer(OTHER));
    elsewhere.packs = Some(BTreeSet::from(["other".to_owned()]));
    let (desk, opened) = desk(vec![reads, elsewhere]).await;
    let got = said(&desk, TOKEN, &[], initialize()).await;
    assert_eq!(got.status, 403);
    assert!(got.text.contains("may not turn"), "{got:?}");
    let got = said(&desk, OTHER, &[], initialize()).await;
    assert_eq!(got.status, 403);
    assert!(got.text.contains("does not reach the pack"), "{got:?}");
    let got = said(&desk, "nobody", &[], initialize()).await;
    assert_eq!(got.status, 401);
    assert_eq!(*opened.lock().unwrap(), [] as [&str; 0]);
}

#[tokio::test]
async fn no_page_is_an_mcp_client_and_without_tools_there_is_no_such_door() {
    let mut page = client("page", How::bearer(TOKEN));
    page.origins = vec!["https://chat.example".to_owned()];
    let (desk, _) = desk(vec![page]).await;
    let origin = [("origin", "https://chat.example")];
    let got = said(&desk, TOKEN, &origin, initialize()).await;
    assert_eq!(got.status, 403, "{got:?}");
    assert_eq!(desk.get("/mcp").await.status, 405);

    let without = Desk::open().await;
    assert_eq!(said(&without, TOKEN, &[], initialize()).await.status, 404);
}
