//! What a client writes to `mcp serve`: any bytes. The session ends with its input, every line of the answer is one JSON-RPC message,
//! and no request is answered twice.
#![no_main]

use agentctl_base::BoxFuture;
use agentctl_base::model::{ToolResult, ToolSpec, ToolStatus};
use agentctl_mcp::serve::{Client, Hints, Host, Hosts, Offer, Offered, stream};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};

static OFFER: LazyLock<Offer> = LazyLock::new(|| Offer {
    tools: vec![Offered {
        spec: ToolSpec {
            name: "look".into(),
            description: "Looks.".into(),
            parameters: json!({"type": "object"}),
        },
        hints: Hints {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        },
        returns: None,
    }],
    instructions: String::new(),
});

struct Echo;

impl Hosts for Echo {
    fn offer(&self) -> &Offer {
        &OFFER
    }
    fn open(&self, _: Client) -> Arc<dyn Host> {
        Arc::new(Echo)
    }
}

impl Host for Echo {
    fn call(
        &self,
        name: String,
        arguments: String,
        _: BoxFuture<'static, ()>,
    ) -> BoxFuture<'_, ToolResult> {
        let result = ToolResult {
            call_id: String::new(),
            name,
            status: ToolStatus::Ok,
            content: json!({"arguments": arguments}),
        };
        Box::pin(std::future::ready(result))
    }
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl tokio::io::AsyncWrite for Said {
    fn poll_write(
        self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.0.lock().expect("one writer").extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(
        self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(
        self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fuzz_target!(|data: &[u8]| {
    let said = Said::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let served = stream::serve(
        Arc::new(Echo),
        Cursor::new(data.to_vec()),
        said.clone(),
        std::future::pending(),
    );
    runtime.block_on(served).expect("the input ended");
    let said = said.0.lock().expect("it has ended");
    let mut answered: BTreeMap<String, usize> = BTreeMap::new();
    for line in said
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let message: Value = serde_json::from_slice(line).expect("one message a line");
        assert_eq!(message["jsonrpc"], "2.0");
        if !message["id"].is_null() {
            *answered.entry(message["id"].to_string()).or_default() += 1;
        }
    }
    // An id that is used again while its request is open is refused, which is an answer of its own.
    let asked = data.split(|byte| *byte == b'\n').count();
    assert!(
        answered.values().sum::<usize>() <= asked,
        "more answers than lines"
    );
});
