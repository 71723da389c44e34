//! A server on this machine that speaks the providers' wires from a script, and remembers what it was asked.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};

#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    /// The connection stays open, and nothing more comes.
    hangs: bool,
}

impl Reply {
    pub fn error(status: u16, message: &str) -> Self {
        Reply {
            status,
            headers: vec![("content-type", "application/json".into())],
            body: json!({"error": {"message": message, "type": "t"}}).to_string(),
            hangs: false,
        }
    }
    pub fn text(body: &str) -> Self {
        Reply {
            status: 200,
            headers: vec![("content-type", "text/html".into())],
            body: body.into(),
            hangs: false,
        }
    }
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.into()));
        self
    }
    pub fn hanging(mut self) -> Self {
        self.hangs = true;
        self
    }
    /// Only the first so many events of a stream.
    pub fn cut(mut self, events: usize) -> Self {
        let kept: Vec<&str> = self.body.split_inclusive("\n\n").take(events).collect();
        self.body = kept.concat();
        self
    }
    fn stream(events: impl IntoIterator<Item = (Option<&'static str>, String)>) -> Self {
        let lines = events.into_iter().map(|(name, data)| match name {
            Some(name) => format!("event: {name}\ndata: {data}\n\n"),
            None => format!("data: {data}\n\n"),
        });
        Reply {
            status: 200,
            headers: vec![("content-type", "text/event-stream".into())],
            body: lines.collect(),
            hangs: false,
        }
    }
}

/// What a model says, on any wire: words in pieces, then calls (name, arguments as text).
#[derive(Debug, Clone, Copy, Default)]
pub struct Says<'a> {
    pub words: &'a [&'a str],
    pub calls: &'a [(&'a str, &'a str)],
    /// In the wire's own word; None: as it should be.
    pub ends: Option<&'a str>,
}

/// 100 tokens in, 40 of them from the cache, 7 out, on all wires.
pub fn openai(says: Says<'_>) -> Reply {
    let chunk = |delta: Value, finish: Value| json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let mut events = Vec::new();
    for word in says.words {
        events.push(chunk(json!({"content": word}), Value::Null));
    }
    for (i, (name, arguments)) in says.calls.iter().enumerate() {
        let half = arguments.len() / 2;
        events.push(chunk(json!({"tool_calls": [{"index": i, "id": format!("call_{i}"), "type": "function", "function": {"name": name, "arguments": &arguments[..half]}}]}), Value::Null));
        events.push(chunk(
            json!({"tool_calls": [{"index": i, "function": {"arguments": &arguments[half..]}}]}),
            Value::Null,
        ));
    }
    let usual = if says.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    events.push(chunk(json!({}), json!(says.ends.unwrap_or(usual))));
    events.push(json!({"id": "c", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107, "prompt_tokens_details": {"cached_tokens": 40}}}));
    let mut lines: Vec<_> = events.into_iter().map(|e| (None, e.to_string())).collect();
    lines.push((None, "[DONE]".to_owned()));
    Reply::stream(lines)
}

pub fn anthropic(says: Says<'_>) -> Reply {
    let mut events = vec![(
        "message_start",
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 1}}}),
    )];
    let mut index = 0;
    let mut block = |events: &mut Vec<(&'static str, Value)>, start: Value, deltas: Vec<Value>| {
        events.push((
            "content_block_start",
            json!({"type": "content_block_start", "index": index, "content_block": start}),
        ));
        for delta in deltas {
            events.push((
                "content_block_delta",
                json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
        }
        events.push((
            "content_block_stop",
            json!({"type": "content_block_stop", "index": index}),
        ));
        index += 1;
    };
    if !says.words.is_empty() {
        let deltas = says
            .words
            .iter()
            .map(|w| json!({"type": "text_delta", "text": w}));
        block(
            &mut events,
            json!({"type": "text", "text": ""}),
            deltas.collect(),
        );
    }
    for (i, (name, arguments)) in says.calls.iter().enumerate() {
        let start =
            json!({"type": "tool_use", "id": format!("call_{i}"), "name": name, "input": {}});
        block(
            &mut events,
            start,
            vec![json!({"type": "input_json_delta", "partial_json": arguments})],
        );
    }
    let usual = if says.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    events.push(("message_delta", json!({"type": "message_delta", "delta": {"stop_reason": says.ends.unwrap_or(usual)}, "usage": {"output_tokens": 7}})));
    events.push(("message_stop", json!({"type": "message_stop"})));
    Reply::stream(
        events
            .into_iter()
            .map(|(name, e)| (Some(name), e.to_string())),
    )
}

pub fn gemini(says: Says<'_>) -> Reply {
    let chunk = |parts: Vec<Value>| json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}]});
    let mut events: Vec<Value> = says
        .words
        .iter()
        .map(|w| chunk(vec![json!({"text": w})]))
        .collect();
    for (name, arguments) in says.calls {
        let args: Value = serde_json::from_str(arguments).unwrap();
        events.push(chunk(vec![
            json!({"functionCall": {"name": name, "args": args}}),
        ]));
    }
    let mut last = chunk(vec![json!({"text": ""})]);
    last["candidates"][0]["finishReason"] = json!(says.ends.unwrap_or("STOP"));
    last["usageMetadata"] = json!({"promptTokenCount": 100, "candidatesTokenCount": 7, "totalTokenCount": 107, "cachedContentTokenCount": 40});
    events.push(last);
    Reply::stream(events.into_iter().map(|e| (None, e.to_string())))
}

pub fn responses(says: Says<'_>) -> Reply {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r"}})];
    let mut index = 0;
    if !says.words.is_empty() {
        events.push(json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}}));
        for word in says.words {
            events.push(json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": word}));
        }
        index += 1;
    }
    for (i, (name, arguments)) in says.calls.iter().enumerate() {
        let item = |arguments: &str| json!({"type": "function_call", "call_id": format!("call_{i}"), "name": name, "arguments": arguments});
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": item("")}),
        );
        events.push(json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": arguments}));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item(arguments)}));
        index += 1;
    }
    let status = says.ends.unwrap_or("completed");
    events.push(json!({"type": format!("response.{status}"), "response": {"id": "r", "status": status, "model": "m", "output": [],
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 107}}}));
    Reply::stream(events.into_iter().map(|e| (None, e.to_string())))
}

pub struct Server {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Dropped with the server: then hanging connections are let go.
    _open: mpsc::Sender<()>,
}

impl Server {
    /// Answers in order; when the script is at its end, with 418.
    pub fn new(script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let script = Arc::new(Mutex::new(VecDeque::from(script)));
        let (open, wait) = mpsc::channel::<()>();
        let wait = Arc::new(Mutex::new(wait));
        let heard = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, heard, wait) = (script.clone(), heard.clone(), wait.clone());
                std::thread::spawn(move || serve(stream, &script, &heard, &wait));
            }
        });
        Server {
            port,
            seen,
            _open: open,
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    script: &Mutex<VecDeque<Reply>>,
    heard: &Mutex<Vec<Seen>>,
    wait: &Mutex<mpsc::Receiver<()>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(n, _)| n == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, v)| v.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    heard.lock().unwrap().push(Seen {
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    });
    let reply = script.lock().unwrap().pop_front();
    let reply = reply.unwrap_or_else(|| Reply::error(418, "the script is at its end"));
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream
        .write_all(format!("{head}\r\n{}", reply.body).as_bytes())
        .ok()?;
    stream.flush().ok()?;
    if reply.hangs {
        // Until the sender is dropped.
        let _ = wait.lock().unwrap().recv();
    }
    Some(())
}
