//! The servers of a run: started at the first call, and each call only of a tool that is, at this moment and word for word, what
//! the user approved. Servers are kept apart by name: none can answer for another.

use super::client::{Called, McpClient, McpError};
use super::config::McpConfig;
use super::pins::{Pin, Pins, tool_hash};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tokio::sync::Mutex;

/// The longest name under which a tool of a server can be offered.
const MAX_NAME: usize = 120;

/// Whether a call may be repeated when its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEffect {
    Reads,
    Changes,
}

pub struct Servers {
    servers: BTreeMap<String, Mutex<Entry>>,
    pins: Pins,
}

struct Entry {
    client: McpClient,
    /// The tools as this connection listed them: name → hash. None: not listed since it was started.
    listed: Option<BTreeMap<String, String>>,
}

/// Why nothing was called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unserved {
    #[error("there is no server {server:?} in .mcp.json that is enabled")]
    NoServer { server: String },
    #[error("the user has not approved the tool {tool:?} of {server:?}")]
    NotApproved { server: String, tool: String },
    #[error(
        "the tool {tool:?} of {server:?} is not what the user approved: its description or its schema changed"
    )]
    Changed { server: String, tool: String },
    #[error("the server {server:?} no longer has the tool {tool:?}")]
    Gone { server: String, tool: String },
    #[error(transparent)]
    Down(#[from] McpError),
}

/// Whether `mcp__server__tool` says exactly one server and one tool, in letters that look like what they are.
pub fn can_be_named(server: &str, tool: &str) -> bool {
    let plain = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
    };
    plain(server)
        && plain(tool)
        && !server.contains("__")
        && !server.ends_with('_')
        && server.len() + tool.len() + "mcp____".len() <= MAX_NAME
}

impl Servers {
    pub fn new(config: &McpConfig, pins: Pins) -> Self {
        Self::with(config.servers.iter().map(McpClient::new), pins)
    }

    pub fn with(clients: impl IntoIterator<Item = McpClient>, pins: Pins) -> Self {
        let entry = |client: McpClient| {
            let name = client.name().to_owned();
            let listed = None;
            (name, Mutex::new(Entry { client, listed }))
        };
        Servers {
            servers: clients.into_iter().map(entry).collect(),
            pins,
        }
    }

    /// The tool as the user approved it; None when there is no such server, or no such word of the user's.
    pub fn approved(&self, server: &str, tool: &str) -> Option<&Pin> {
        if !self.servers.contains_key(server) || !can_be_named(server, tool) {
            return None;
        }
        self.pins.get(server, tool)
    }

    /// Calls the tool, once. One that only reads is called a second time when the server died before it answered, after its
    /// tools were looked at again.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: &Map<String, Value>,
        effect: CallEffect,
    ) -> Result<Called, Unserved> {
        let named = || (server.to_owned(), tool.to_owned());
        let Some(entry) = self.servers.get(server) else {
            let (server, _) = named();
            return Err(Unserved::NoServer { server });
        };
        let Some(pin) = self.approved(server, tool) else {
            let (server, tool) = named();
            return Err(Unserved::NotApproved { server, tool });
        };
        let mut entry = entry.lock().await;
        entry.check(server, tool, pin).await?;
        let called = entry.client.call(tool, arguments).await;
        match (called, effect) {
            (Called::Unknown(why), CallEffect::Reads) if entry.client.died() => {
                match entry.check(server, tool, pin).await {
                    Ok(()) => match entry.client.call(tool, arguments).await {
                        Called::Unknown(why) => Ok(Called::Failed(why)),
                        called => Ok(called),
                    },
                    Err(Unserved::Down(_)) => Ok(Called::Failed(why)),
                    Err(refused) => Err(refused),
                }
            }
            (Called::Unknown(why), CallEffect::Reads) => Ok(Called::Failed(why)),
            (called, _) => Ok(called),
        }
    }

    /// Ends all of them.
    pub async fn close(&self) {
        for entry in self.servers.values() {
            entry.lock().await.client.close().await;
        }
    }
}

impl Entry {
    /// Connects where needed, and looks at the tools wherever they may have changed.
    async fn check(&mut self, server: &str, tool: &str, pin: &Pin) -> Result<(), Unserved> {
        if self.client.take_tools_changed() {
            self.listed = None;
        }
        let listed = match &self.listed {
            Some(listed) => listed,
            None => {
                let tools = self.client.tools().await?;
                // What the server says of its tools while it lists them counts for the next look.
                let hashes = tools.iter().map(|t| (t.name.clone(), tool_hash(t)));
                self.listed.insert(hashes.collect())
            }
        };
        let (server, named) = (server.to_owned(), tool.to_owned());
        match listed.get(tool) {
            Some(hash) if *hash == pin.hash => Ok(()),
            Some(_) => Err(Unserved::Changed {
                server,
                tool: named,
            }),
            None => Err(Unserved::Gone {
                server,
                tool: named,
            }),
        }
    }
}
