//! A server in the same process that does what its script says: the real protocol over a pipe in memory, without a process and
//! without waiting. For the client's own tests and for the battery of attacks, each of which takes this file in.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a script of a test"
)]

use crate::{Dial, McpClient, McpTool};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

/// What a server does next.
#[derive(Debug, Clone)]
pub enum Act {
    Say(Value),
    Bytes(Vec<u8>),
    /// So many bytes of a line that has not ended, in small pieces.
    Flood(usize),
    /// These bytes, one a second.
    Drip(Vec<u8>),
    /// Never answers this, goes on reading.
    Nothing,
    /// Closes the pipe.
    Die,
}

/// What a server was sent, in order, over all of its lives.
#[derive(Clone, Default)]
pub struct Heard(Arc<Mutex<Vec<Value>>>);

impl Heard {
    pub fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }
    /// The arguments of the calls.
    pub fn calls(&self) -> Vec<Value> {
        self.of("tools/call")
            .iter()
            .map(|request| request["params"]["arguments"].clone())
            .collect()
    }
    pub fn of(&self, method: &str) -> Vec<Value> {
        let all = self.all();
        all.into_iter().filter(|m| m["method"] == method).collect()
    }
}

/// A client of a scripted server. `script` gets which life it is (1, 2, …) and each message; null when a life begins.
pub fn server(
    name: &str,
    script: impl FnMut(u32, &Value) -> Vec<Act> + Send + 'static,
) -> (McpClient, Heard) {
    let heard = Heard::default();
    let script = Arc::new(tokio::sync::Mutex::new(script));
    let (log, mut life) = (heard.clone(), 0);
    let dial: Dial = Box::new(move || {
        life += 1;
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let (script, log, number) = (script.clone(), log.clone(), life);
        tokio::spawn(async move {
            let mut script = script.lock().await;
            live(reader, writer, log, |message| script(number, message)).await;
        });
        let (reader, writer) = tokio::io::split(ours);
        Ok((Box::new(reader), Box::new(writer)))
    });
    (McpClient::over(name, dial), heard)
}

async fn live(
    reader: ReadHalf<DuplexStream>,
    mut writer: WriteHalf<DuplexStream>,
    heard: Heard,
    mut script: impl FnMut(&Value) -> Vec<Act>,
) {
    let mut lines = BufReader::new(reader).lines();
    let mut acts = script(&Value::Null);
    loop {
        for act in acts {
            let done = match act {
                Act::Say(message) => writer.write_all(format!("{message}\n").as_bytes()).await,
                Act::Bytes(bytes) => writer.write_all(&bytes).await,
                Act::Flood(count) => flood(&mut writer, count).await,
                Act::Drip(bytes) => drip(&mut writer, &bytes).await,
                Act::Nothing => Ok(()),
                Act::Die => return,
            };
            if done.is_err() {
                return;
            }
        }
        let Ok(Some(line)) = lines.next_line().await else {
            return;
        };
        let message: Value = serde_json::from_str(&line).unwrap();
        heard.0.lock().unwrap().push(message.clone());
        acts = script(&message);
    }
}

async fn flood(writer: &mut WriteHalf<DuplexStream>, count: usize) -> std::io::Result<()> {
    let chunk = [b'x'; 64 * 1024];
    let mut left = count;
    while left > 0 {
        let now = left.min(chunk.len());
        writer.write_all(&chunk[..now]).await?;
        left -= now;
    }
    Ok(())
}

async fn drip(writer: &mut WriteHalf<DuplexStream>, bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes {
        tokio::time::sleep(Duration::from_secs(1)).await;
        writer.write_all(&[*byte]).await?;
    }
    Ok(())
}

/// What a server that means well answers: it starts a session and lists these tools; a call gives `done`.
pub fn polite(request: &Value, tools: &[McpTool]) -> Vec<Act> {
    let id = &request["id"];
    match request["method"].as_str() {
        Some("initialize") => answer(
            id,
            json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "1"}}),
        ),
        Some("tools/list") => {
            let list: Vec<Value> = tools
                .iter()
                .map(|t| json!({"name": t.name, "description": t.description, "inputSchema": t.schema}))
                .collect();
            answer(id, json!({"tools": list}))
        }
        Some("tools/call") => answer(id, text("done")),
        Some(_) if !id.is_null() => vec![Act::Say(
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}}),
        )],
        _ => Vec::new(),
    }
}

pub fn answer(id: &Value, result: Value) -> Vec<Act> {
    vec![Act::Say(
        json!({"jsonrpc": "2.0", "id": id, "result": result}),
    )]
}

/// A tool's result of one text.
pub fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// A tool with one text argument, `q`.
pub fn tool(name: &str, description: &str) -> McpTool {
    McpTool {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: object(json!({
            "type": "object",
            "properties": {"q": {"type": "string"}},
            "required": ["q"],
            "additionalProperties": false,
        })),
    }
}

pub fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}
