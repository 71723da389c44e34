//! Between a server's bytes and rmcp: only answers to requests that are open, and pings, pass. Everything that a server
//! asks of us is refused here, in every phase; what nobody asked for is skipped, counted, and cut off when it does not stop.

use super::frame::{Cut, Judged, judge};
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// So many skipped lines and messages, and the connection is cut.
pub const MAX_SKIPPED: usize = 1_000;
/// So many notifications and pings since our last request, and the connection is cut.
pub const MAX_UNASKED: usize = 10_000;

pub(super) const CLOSED: &str = "the connection was closed";

/// The call was sent, or may have been, and its answer will not come.
pub(super) const LOST: i32 = -32_098;
/// The call did not reach the server.
pub(super) const NOT_SENT: i32 = -32_097;

/// How messages get to a server and back.
pub(super) trait Pipe: Send + 'static {
    fn send(
        &mut self,
        message: Outgoing,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static;
    /// The next thing from the server; can be cancelled and called again.
    fn next(&mut self) -> impl Future<Output = Result<Inbound, Cut>> + Send;
    /// The protocol version that was agreed on.
    fn agreed(&mut self, _version: &str) {}
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}

/// One message of ours.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub message: Value,
    /// Of a request.
    pub id: Option<RequestId>,
}

#[derive(Debug)]
pub(super) enum Inbound {
    /// One line, event or body.
    Bytes(Vec<u8>),
    /// This request gets no answer, if it is still open.
    NoAnswer {
        id: RequestId,
        code: i32,
        message: String,
    },
    Ended,
}

/// What a server did that it should not have, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Lines that are no messages.
    pub noise: usize,
    /// Answers to requests that are not open: wrong, repeated or made-up ids.
    pub unknown_ids: usize,
    /// Requests to us: sampling, elicitation, roots and whatever else.
    pub refused_requests: usize,
}

impl Oddities {
    fn total(&self) -> usize {
        self.noise + self.unknown_ids + self.refused_requests
    }

    /// In words, for a person; None when there were none.
    pub fn told(&self) -> Option<String> {
        let parts: Vec<String> = [
            (self.noise, "lines on its stdout that are no messages"),
            (self.unknown_ids, "answers to requests that were not open"),
            (self.refused_requests, "requests of its own, refused"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

#[derive(Debug, Default)]
struct State {
    open: HashSet<RequestId>,
    /// Nobody waits for these any more; an answer that comes late is no offence.
    given_up: HashSet<RequestId>,
    oddities: Oddities,
    unasked: usize,
    tools_changed: bool,
}

/// What the client sees of its wire.
#[derive(Debug, Clone)]
pub(super) struct WireEye {
    state: Arc<Mutex<State>>,
    ended: watch::Receiver<Option<String>>,
}

impl WireEye {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub fn oddities(&self) -> Oddities {
        self.state().oddities.clone()
    }
    /// True once after the server said that its tools changed.
    pub fn take_tools_changed(&self) -> bool {
        std::mem::take(&mut self.state().tools_changed)
    }
    /// Why the connection is over; None while it is not.
    pub fn why_ended(&self) -> Option<String> {
        self.ended.borrow().clone()
    }
    /// Waits for the connection to end.
    pub async fn ended(&mut self) -> String {
        match self.ended.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            Err(_) => CLOSED.to_owned(),
        }
    }
}

pub(super) struct Wire<P> {
    pipe: P,
    eye: WireEye,
    ended: watch::Sender<Option<String>>,
}

impl<P> Drop for Wire<P> {
    fn drop(&mut self) {
        self.ended.send_if_modified(|why| {
            let open = why.is_none();
            why.get_or_insert_with(|| CLOSED.to_owned());
            open
        });
    }
}

enum Taken {
    Pass(Box<ServerJsonRpcMessage>),
    Skip,
    Reply(Value),
}

impl<P: Pipe> Wire<P> {
    pub fn new(pipe: P) -> (Self, WireEye) {
        let (sender, receiver) = watch::channel(None);
        let eye = WireEye {
            state: Arc::default(),
            ended: receiver,
        };
        let wire = Wire {
            pipe,
            eye: eye.clone(),
            ended: sender,
        };
        (wire, eye)
    }

    fn take(&mut self, inbound: Inbound) -> Result<Taken, Cut> {
        let mut agreed = None;
        let mut state = self.eye.state();
        let taken = match inbound {
            Inbound::Ended => Err(Cut("the server closed the connection".to_owned())),
            Inbound::NoAnswer { id, code, message } => {
                if state.open.remove(&id) {
                    Ok(Taken::Pass(Box::new(failed(id, code, message))))
                } else {
                    Ok(Taken::Skip)
                }
            }
            Inbound::Bytes(bytes) => match judge(&bytes) {
                Judged::Empty => Ok(Taken::Skip),
                Judged::Noise => {
                    state.oddities.noise += 1;
                    Ok(Taken::Skip)
                }
                Judged::Broken(why) => Err(Cut(format!(
                    "the server sent a message that is not acceptable: {why}"
                ))),
                Judged::Message(message) => Ok(state.message(message, &mut agreed)),
            },
        }?;
        if state.oddities.total() > MAX_SKIPPED {
            return Err(Cut(format!(
                "the server sent more than {MAX_SKIPPED} lines and messages that had to be skipped ({})",
                state.oddities.told().unwrap_or_default()
            )));
        }
        if state.unasked > MAX_UNASKED {
            return Err(Cut(format!(
                "the server sent more than {MAX_UNASKED} messages that nobody asked for"
            )));
        }
        drop(state);
        if let Some(version) = agreed {
            self.pipe.agreed(&version);
        }
        Ok(taken)
    }
}

impl State {
    fn message(&mut self, message: Value, agreed: &mut Option<String>) -> Taken {
        let method = message.get("method").and_then(Value::as_str);
        let id = message.get("id").filter(|id| !id.is_null()).cloned();
        match (method, id) {
            (Some("ping"), Some(_)) => {
                self.unasked += 1;
                match serde_json::from_value(message) {
                    Ok(ping) => Taken::Pass(Box::new(ping)),
                    Err(_) => self.skipped_noise(),
                }
            }
            (Some(method), Some(id)) => {
                self.oddities.refused_requests += 1;
                if !(id.is_string() || id.is_number()) {
                    return Taken::Skip;
                }
                let shown: String = method.chars().take(60).collect();
                let why = format!("agentctl does not do {shown:?} for a server");
                Taken::Reply(json!({
                    "jsonrpc": "2.0",
                    "id": id,
                    "error": {"code": ErrorCode::METHOD_NOT_FOUND.0, "message": why},
                }))
            }
            (Some(method), None) => {
                self.unasked += 1;
                if method == "notifications/tools/list_changed" {
                    self.tools_changed = true;
                }
                Taken::Skip
            }
            (None, id) => {
                // Our own ids are numbers; a text that looks like one is another id.
                let id = id.as_ref().and_then(Value::as_i64).map(RequestId::Number);
                if id.as_ref().is_some_and(|id| self.given_up.remove(id)) {
                    return Taken::Skip;
                }
                let Some(id) = id.filter(|id| self.open.remove(id)) else {
                    self.oddities.unknown_ids += 1;
                    return Taken::Skip;
                };
                let result = serde_json::from_value::<ServerJsonRpcMessage>(message);
                match result {
                    Ok(message) => {
                        if let JsonRpcMessage::Response(response) = &message
                            && let ServerResult::InitializeResult(hello) = &response.result
                        {
                            *agreed = Some(hello.protocol_version.to_string());
                        }
                        Taken::Pass(Box::new(message))
                    }
                    Err(e) => Taken::Pass(Box::new(failed(
                        id,
                        LOST,
                        format!("the server's answer is none that MCP knows: {e}"),
                    ))),
                }
            }
        }
    }

    fn skipped_noise(&mut self) -> Taken {
        self.oddities.noise += 1;
        Taken::Skip
    }
}

fn failed(id: RequestId, code: i32, message: String) -> ServerJsonRpcMessage {
    JsonRpcMessage::error(ErrorData::new(ErrorCode(code), message, None), Some(id))
}

impl<P: Pipe> Transport<RoleClient> for Wire<P> {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let id = match &item {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        if let Some(id) = &id {
            let mut state = self.eye.state();
            if let JsonRpcMessage::Request(request) = &item
                && matches!(request.request, ClientRequest::InitializeRequest(_))
            {
                // The newer handshake got no answer in time: one that comes now must not be taken for this one's.
                let before = std::mem::take(&mut state.open);
                state.given_up.extend(before);
            }
            state.open.insert(id.clone());
            state.unasked = 0;
        }
        let sending = serde_json::to_value(&item)
            .map_err(std::io::Error::other)
            .map(|message| self.pipe.send(Outgoing { message, id }));
        async move { sending?.await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let taken = match self.pipe.next().await {
                Ok(inbound) => self.take(inbound),
                Err(cut) => Err(cut),
            };
            match taken {
                Ok(Taken::Pass(message)) => return Some(*message),
                Ok(Taken::Skip) => {}
                // On its own: a server that does not read must not hold up what it says.
                Ok(Taken::Reply(message)) => {
                    tokio::spawn(self.pipe.send(Outgoing { message, id: None }));
                }
                Err(cut) => {
                    self.ended.send_replace(Some(cut.0));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.pipe.close().await;
        Ok(())
    }
}
