//! Serving over a pair of pipes: one message a line, nothing else on the outgoing one. A client that does not read is not read
//! from either, once enough answers wait.

use super::frame::{self, Frame, MAX_MESSAGE, Refusal};
use super::pending::{NotTaken, Pending, answered};
use super::{Hosts, Session};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::Transport;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// Requests of a client that have no answer yet; with more, the next line waits.
const MAX_PENDING: usize = 64;
/// How long a client that stopped reading is waited for at the end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Serves one session until the client closes its end or `stop` is ready. Returns when the last change is done and journaled.
pub async fn serve<R, W>(
    hosts: Arc<dyn Hosts>,
    input: R,
    output: W,
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let host = Arc::new(OnceLock::new());
    let session = Session {
        hosts,
        transport: "stdio",
        caller: String::new(),
        host: Arc::clone(&host),
    };
    let (outbox, lines) = mpsc::channel(MAX_PENDING);
    let writer = tokio::spawn(write_lines(output, lines));
    let transport = Lines::new(input, outbox);
    let work = async {
        match serve_server(session, transport).await {
            Ok(running) => running
                .waiting()
                .await
                .map(|_| ())
                .map_err(io::Error::other),
            // It went before it began.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    };
    let ended = tokio::select! {
        ended = work => ended,
        () = stop => Ok(()),
    };
    if let Some(host) = host.get() {
        host.close().await;
    }
    // A client that is gone reads nothing: what could not be written is no failure of the session.
    let _ = tokio::time::timeout(LAST_WORDS, writer).await;
    ended
}

/// The one that writes, so that no line is ever cut short by a call that was given up.
async fn write_lines<W: AsyncWrite + Unpin>(
    mut output: W,
    mut lines: mpsc::Receiver<String>,
) -> io::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

struct Lines<R> {
    input: BufReader<R>,
    /// A line as far as it was read: `receive` may be dropped at any await.
    line: Vec<u8>,
    /// The line is too long; what is left of it is dropped.
    skipping: bool,
    opened: bool,
    outbox: mpsc::Sender<String>,
    /// A refusal that is still to be sent.
    refusal: Option<String>,
    pending: Arc<Pending<()>>,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
    fn new(input: R, outbox: mpsc::Sender<String>) -> Self {
        Lines {
            input: BufReader::new(input),
            line: Vec::new(),
            skipping: false,
            opened: false,
            outbox,
            refusal: None,
            pending: Arc::new(Pending::new(MAX_PENDING)),
        }
    }

    /// The next line without its end, an error for one that is too long; None at the end.
    async fn next_line(&mut self) -> Option<Result<Vec<u8>, Refusal>> {
        loop {
            let (used, ended) = {
                let buffer = self.input.fill_buf().await.ok()?;
                if buffer.is_empty() {
                    return None; // what has no line end was cut off: it is no message
                }
                let end = buffer.iter().position(|byte| *byte == b'\n');
                let chunk = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
                if self.line.len() + chunk.len() > MAX_MESSAGE {
                    self.skipping = true;
                    self.line = Vec::new();
                }
                if !self.skipping {
                    self.line.extend_from_slice(chunk);
                }
                (chunk.len() + usize::from(end.is_some()), end.is_some())
            };
            self.input.consume(used);
            if ended {
                let line = std::mem::take(&mut self.line);
                return Some(if std::mem::take(&mut self.skipping) {
                    Err(Refusal::too_long())
                } else {
                    Ok(line)
                });
            }
        }
    }

    /// The message of a line, when rmcp is to see it.
    fn admit(&mut self, line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
        let (id, message) = match frame::read(line)? {
            Frame::Initialize(id, message) => {
                self.opened = true;
                (id, message)
            }
            Frame::Request(id, message) if self.opened || frame::before_initialize(&message) => {
                (id, message)
            }
            Frame::Request(id, message) => return Err(frame::not_opened(id, &message)),
            Frame::Notification(cancels, message) => {
                // rmcp drops the answer of a cancelled request.
                if let Some(id) = cancels {
                    self.pending.remove(&id);
                }
                return Ok(self.opened.then_some(message));
            }
            Frame::Response => return Ok(None),
        };
        match self.pending.add(&id, ()) {
            Ok(()) => Ok(Some(message)),
            Err(NotTaken::Twice) => Err(Refusal::invalid(
                Some(id),
                "a request with this id has no answer yet",
            )),
            Err(NotTaken::Full) => Err(Refusal::invalid(Some(id), "too many requests at once")),
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outbox = self.outbox.clone();
        let pending = Arc::clone(&self.pending);
        async move {
            let text = serde_json::to_string(&message).map_err(io::Error::other)?;
            let sent = outbox.send(text).await;
            if let Some(id) = answered(&message) {
                pending.remove(id);
            }
            sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.refusal.is_some() {
                let place = self.outbox.reserve().await.ok()?;
                if let Some(refusal) = self.refusal.take() {
                    place.send(refusal);
                }
            }
            self.pending.room().await;
            let admitted = match self.next_line().await? {
                Ok(line) if line.iter().all(u8::is_ascii_whitespace) => continue,
                Ok(line) => self.admit(&line),
                Err(refusal) => Err(refusal),
            };
            match admitted {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) if refusal.answered => self.refusal = Some(refusal.text()),
                Err(_) => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
