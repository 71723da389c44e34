//! MCP servers: what `.mcp.json` says, a client for each that bounds what a hostile one can do, and what the user approved of
//! their tools. Wraps rmcp so that nothing above knows it. Secrets of the file (environment, headers) never leave this module in
//! a message or a debug print.

mod child;
mod client;
mod config;
mod content;
mod edit;
mod entry;
mod frame;
mod ground;
mod health;
mod http;
mod identity;
mod in_force;
mod key_lines;
mod known;
mod launchers;
mod npx;
mod orphans;
mod pins;
mod probe;
mod reach;
mod runner;
mod runs;
mod secret;
pub mod serve;
mod servers;
mod variables;
mod wire;
mod written;

/// No `.mcp.json` is larger.
pub const MAX_BYTES: u64 = 4 * 1024 * 1024;

pub use client::{
    CALL_LIMIT, Called, Dial, LIST_LIMIT, McpClient, McpError, McpTool, Starting, tell_of_starts,
};
pub use config::{FILE, McpConfig, McpConfigError, McpServer, McpTransport, Note, parse, read};
pub use edit::{EditError, switched, switches};
pub use frame::{Judged, MAX_DEPTH, MAX_MESSAGE, judge};
pub use health::{N8nHealth, n8n_health, n8n_urls};
pub use identity::{ServerAddress, ServerIdentity, identities_in};
pub use in_force::ServersInForce;
pub use known::{holds_a_secret, secrets};
pub use pins::{OLD_FILE as OLD_PINS, Pin, PinChange, Pins, PinsError, tool_hash};
pub use probe::{ProbeOutcome, ServerStatus, probe, probe_all};
pub use secret::Secret;
pub use servers::{CallEffect, Servers, Unserved, can_be_named};
pub use wire::{MAX_SKIPPED, MAX_UNASKED, Oddities};

#[cfg(test)]
mod client_tests;
#[cfg(any(test, feature = "testkit"))]
pub mod fake;
#[cfg(test)]
mod http_tests;
#[cfg(test)]
mod mcp_tests;
#[cfg(test)]
mod orphans_tests;
#[cfg(test)]
mod servers_tests;
