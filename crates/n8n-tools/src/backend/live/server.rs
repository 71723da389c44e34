//! An MCP server as a backend uses it: started once and, when it died, once more; calls one after the other; arguments made here
//! from typed values; what it says read with suspicion. A write whose answer was lost is settled by whoever reads it back.

use super::http::Effect;
use super::tool_answer::{self, Refused};
use crate::backend::{BackendError, BackendResult};
use agentctl_mcp::{Called, McpClient, McpError};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::Mutex;

/// How long is waited, in all, when n8n is asked too often.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
];

pub(super) struct ToolServer {
    inside: Mutex<Inside>,
}

struct Inside {
    client: McpClient,
    /// As this server listed them; a started-again server is the same one.
    tools: Option<BTreeSet<String>>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Got {
    Answer(Value),
    /// It was done, as far as the server says, and the answer is too long to be whole.
    Cut,
    /// This server has no such tool.
    NoTool,
}

impl ToolServer {
    pub fn new(client: McpClient) -> Self {
        ToolServer {
            inside: Mutex::new(Inside {
                client,
                tools: None,
            }),
        }
    }

    /// The server's own name and version, once it is there, and how many tools it has.
    pub async fn identity(&self) -> BackendResult<(String, usize)> {
        let mut inside = self.inside.lock().await;
        let tools = inside.tools().await?.len();
        let (server, protocol) = inside.client.identity().unwrap_or_default();
        Ok((format!("{server}, protocol {protocol}"), tools))
    }

    pub async fn has(&self, tool: &str) -> BackendResult<bool> {
        let mut inside = self.inside.lock().await;
        Ok(inside.tools().await?.contains(tool))
    }

    /// One call. `arguments` is a value of ours: nothing that a model wrote reaches a server but inside of it.
    pub async fn call(
        &self,
        tool: &str,
        arguments: &impl Serialize,
        effect: Effect,
    ) -> BackendResult<Got> {
        let arguments = match serde_json::to_value(arguments) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let mut inside = self.inside.lock().await;
        if !inside.tools().await?.contains(tool) {
            return Ok(Got::NoTool);
        }
        let mut pauses = PAUSES.into_iter();
        let mut again = true;
        loop {
            inside.client.ready().await.map_err(down)?;
            let (content, is_error) = match inside.client.call(tool, &arguments).await {
                Called::Answer { content, is_error } => (content, is_error),
                Called::Failed(why) => match tool_answer::read(&said(&why), true) {
                    Err(Refused::Busy(error)) => {
                        wait(&mut pauses, error).await?;
                        continue;
                    }
                    // It was not made: the server had died before.
                    _ if again && inside.client.died() => {
                        again = false;
                        continue;
                    }
                    Err(Refused::Failed(error)) => return Err(error),
                    _ => return Err(BackendError::unavailable(why)),
                },
                Called::Unknown(_) if again && effect == Effect::Reads => {
                    // A read may be made again; a server that died is started again by it.
                    again = false;
                    continue;
                }
                Called::Unknown(why) => {
                    let name = inside.client.name();
                    return Err(BackendError::unavailable(format!(
                        "the MCP server {name:?} did not answer: {why}"
                    ))
                    .with_hint(
                        "it may have happened: read the workflow back before anything else",
                    ));
                }
            };
            match tool_answer::read(&content, is_error) {
                Ok(value) => return Ok(Got::Answer(value)),
                Err(Refused::Cut) => return Ok(Got::Cut),
                Err(Refused::Busy(error)) => wait(&mut pauses, error).await?,
                Err(Refused::Failed(error)) => return Err(error),
            }
        }
    }

    pub async fn close(&self) {
        self.inside.lock().await.client.close().await;
    }
}

async fn wait(
    pauses: &mut impl Iterator<Item = Duration>,
    error: BackendError,
) -> BackendResult<()> {
    let pause = pauses.next().ok_or(error)?;
    tokio::time::sleep(pause).await;
    Ok(())
}

/// A refusal of the protocol, as if a tool had said it.
fn said(why: &str) -> Value {
    serde_json::json!({"content": [{"type": "text", "text": why}]})
}

impl Inside {
    async fn tools(&mut self) -> BackendResult<&BTreeSet<String>> {
        let tools = match self.tools.take() {
            Some(tools) => tools,
            None => {
                let listed = self.client.tools().await.map_err(down)?;
                listed.into_iter().map(|tool| tool.name).collect()
            }
        };
        Ok(self.tools.insert(tools))
    }
}

fn down(error: McpError) -> BackendError {
    let told = format!("{error}{}", error.last_words());
    match error.machine {
        true => BackendError::of_machine(told),
        false => BackendError::unavailable(told).with_hint(error.hint),
    }
}
