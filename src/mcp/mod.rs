//! MCP servers: what `.mcp.json` says, and whether a server answers. Wraps rmcp so that nothing above knows it.
//! Secrets of the file (environment, headers) never leave this module in a message or a debug print.

mod config;
mod health;
mod key_lines;
mod known;
mod probe;
mod secret;

pub use config::{FILE, McpConfig, McpConfigError, McpServer, McpTransport, Note, parse, read};
pub use health::{N8nHealth, n8n_health, n8n_urls};
pub use known::secrets;
pub use probe::{ProbeOutcome, ServerStatus, probe, probe_all};
pub use secret::Secret;

#[cfg(test)]
mod mcp_tests;
