//! An MCP server over HTTP with nothing behind it that could be harmed, and a caller that writes its bytes by hand.

use agentctl_base::BoxFuture;
use agentctl_base::model::{ToolResult, ToolSpec, ToolStatus};
use agentctl_mcp::serve::http::{self, HttpLimits};
use agentctl_mcp::serve::{Client, Hints, Host, Hosts, Offer, Offered, Token};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// What stands behind the server in these tests. It remembers what reached it.
pub struct Behind {
    offer: Offer,
    pub reached: Arc<Reached>,
}

#[derive(Default)]
pub struct Reached {
    calls: Mutex<Vec<String>>,
    pub begun: tokio::sync::Notify,
    pub go: tokio::sync::Notify,
}

impl Reached {
    pub fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

impl Behind {
    pub fn new() -> (Arc<Behind>, Arc<Reached>) {
        let reached = Arc::new(Reached::default());
        let spec = ToolSpec {
            name: "big".into(),
            description: "Answers at length.".into(),
            parameters: json!({"type": "object"}),
        };
        let hints = Hints {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        };
        let behind = Behind {
            offer: Offer {
                tools: vec![Offered {
                    spec,
                    hints,
                    returns: None,
                }],
                instructions: String::new(),
            },
            reached: Arc::clone(&reached),
        };
        (Arc::new(behind), reached)
    }
}

impl Hosts for Behind {
    fn offer(&self) -> &Offer {
        &self.offer
    }
    fn open(&self, _: Client) -> Arc<dyn Host> {
        self.reached.clone()
    }
}

impl Host for Reached {
    fn call(
        &self,
        name: String,
        _: String,
        cancelled: BoxFuture<'static, ()>,
    ) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            self.calls.lock().unwrap().push(name.clone());
            let mut status = ToolStatus::Ok;
            let content = match name.as_str() {
                "big" => json!({"text": "x".repeat(12 * 1024 * 1024)}),
                "wait" => {
                    self.begun.notify_one();
                    tokio::select! {
                        () = cancelled => status = ToolStatus::Cancelled,
                        () = self.go.notified() => {}
                    }
                    json!({"waited": true})
                }
                _ => json!({"done": true}),
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
        Box::pin(std::future::ready(()))
    }
}

/// Short, so that what must end, ends while one looks.
pub fn limits() -> HttpLimits {
    HttpLimits {
        head: Duration::from_millis(300),
        body: Duration::from_millis(300),
        write: Duration::from_millis(300),
        ..HttpLimits::default()
    }
}

#[derive(Clone)]
pub struct Server {
    pub address: SocketAddr,
    pub reached: Arc<Reached>,
}

impl Server {
    pub async fn start(limits: HttpLimits) -> Server {
        Self::until(limits, std::future::pending()).await.0
    }

    /// And the task that ends when the server has.
    pub async fn until(
        limits: HttpLimits,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> (Server, tokio::task::JoinHandle<std::io::Result<()>>) {
        let (hosts, reached) = Behind::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let token = Token::new(TOKEN).unwrap();
        let served = tokio::spawn(http::serve(listener, hosts, token, limits, stop));
        (Server { address, reached }, served)
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A request's head with everything in order, and these lines more.
    pub fn head(&self, method: &str, more: &[&str]) -> String {
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n",
            self.address
        );
        for line in more {
            head.push_str(line);
            head.push_str("\r\n");
        }
        head
    }

    pub async fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect().await;
        // A server that has refused already may have stopped reading.
        let _ = stream.write_all(bytes).await;
        Reply::read(stream).await
    }

    pub async fn post(&self, body: &str, more: &[&str]) -> Reply {
        let head = self.head("POST", more);
        let length = body.len();
        let text = format!(
            "{head}content-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.raw(text.as_bytes()).await
    }

    /// A session, as the header that names it.
    pub async fn session(&self) -> String {
        let reply = self.post(&initialize(), &[]).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let id = reply.header("mcp-session-id").unwrap();
        assert!(id.len() >= 32, "{id}");
        format!("mcp-session-id: {id}")
    }
}

#[derive(Debug)]
pub struct Reply {
    /// 0: the connection ended without an answer.
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub async fn read(mut stream: TcpStream) -> Reply {
        let mut bytes = Vec::new();
        // A reset after the answer is an end too.
        let _ = stream.read_to_end(&mut bytes).await;
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|s| s.parse().ok())
            .unwrap_or(0);
        Reply {
            status,
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

pub fn initialize() -> String {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "attacker", "version": "1"}}})
    .to_string()
}

pub fn call(id: u64, name: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name}})
        .to_string()
}
