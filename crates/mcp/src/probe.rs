//! Starts or reaches a server, asks for its tools, and lets go of it: what `doctor` shows.

use super::client::{McpClient, McpError};
use super::config::{McpServer, McpTransport};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeOutcome {
    Ready {
        /// The server's own name and version.
        server: String,
        protocol: String,
        /// Sorted.
        tools: Vec<String>,
    },
    Failed(McpError),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    pub name: String,
    /// `stdio` or `http`.
    pub transport: &'static str,
    /// The command or address as the file has it.
    pub shown: String,
    pub required: bool,
    pub outcome: ProbeOutcome,
}

/// All of them at once; the answers in the file's order.
pub async fn probe_all(servers: &[McpServer]) -> Vec<ServerStatus> {
    let mut tasks = tokio::task::JoinSet::new();
    for (i, server) in servers.iter().cloned().enumerate() {
        tasks.spawn(async move { (i, probe(&server).await) });
    }
    let mut done: Vec<(usize, ServerStatus)> = Vec::new();
    while let Some(joined) = tasks.join_next().await {
        // A probe that panicked is a server without a status: the caller sees that one is missing.
        if let Ok(status) = joined {
            done.push(status);
        }
    }
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, status)| status).collect()
}

/// Never longer than the client's own limits for starting, listing and closing.
pub async fn probe(server: &McpServer) -> ServerStatus {
    let mut client = McpClient::new(server);
    let listed = client.tools().await;
    let outcome = match listed {
        Ok(tools) => {
            let (own, protocol) = client.identity().unwrap_or_default();
            ProbeOutcome::Ready {
                server: own.to_owned(),
                protocol: protocol.to_owned(),
                tools: tools.into_iter().map(|tool| tool.name).collect(),
            }
        }
        Err(error) => ProbeOutcome::Failed(error),
    };
    client.close().await;
    ServerStatus {
        name: server.name.clone(),
        transport: match server.transport {
            McpTransport::Stdio { .. } => "stdio",
            McpTransport::Http { .. } => "http",
        },
        shown: server.shown.clone(),
        required: server.required,
        outcome,
    }
}
