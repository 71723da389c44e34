//! An HTTP server for tests, on loopback: one request a connection, each answered byte for byte by a script.

use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// Method and target: `GET /path?query`.
    pub line: String,
    /// All lines before the body, in lower case.
    pub head: String,
    /// Null where it is no JSON.
    pub body: Value,
}

/// What was asked so far, in order.
#[derive(Clone, Default)]
pub struct Asked(Arc<Mutex<Vec<Request>>>);

impl Asked {
    pub fn all(&self) -> Vec<Request> {
        self.0.lock().unwrap().clone()
    }
    pub fn lines(&self) -> Vec<String> {
        self.all().into_iter().map(|r| r.line).collect()
    }
    pub fn bodies(&self) -> Vec<Value> {
        self.all().into_iter().map(|r| r.body).collect()
    }
}

/// Serves until the test is over. Gives the address, `http://127.0.0.1:PORT`. An empty answer is a connection that breaks.
pub async fn serve(
    script: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static,
) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Asked::default();
    let (log, script) = (asked.clone(), Arc::new(script));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (log, script) = (log.clone(), script.clone());
            tokio::spawn(async move { exchange(stream, &log, &*script).await });
        }
    });
    (address, asked)
}

async fn exchange(
    mut stream: TcpStream,
    log: &Asked,
    script: &(impl Fn(&Request) -> Vec<u8> + Sync),
) {
    let Some(request) = read(&mut stream).await else {
        return;
    };
    log.0.lock().unwrap().push(request.clone());
    let response = script(&request);
    // The client may have seen enough before the end.
    let _ = stream.write_all(&response).await;
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut chunk).await else {
            return None;
        };
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let lower = head.to_lowercase();
        let length = lower
            .lines()
            .find_map(|l| l.strip_prefix("content-length: "))
            .map_or(0, |n| n.parse().unwrap());
        if body.len() >= length {
            let line = head.lines().next().unwrap_or_default();
            return Some(Request {
                line: line.trim_end_matches(" HTTP/1.1").to_owned(),
                head: lower,
                body: serde_json::from_str(body).unwrap_or(Value::Null),
            });
        }
    }
}

/// `headers`: whole lines, each ended by `\r\n`.
pub fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
