//! `agentctl mcp …`: the servers of `.mcp.json` and their tools, by hand. Never prints a secret of the file.

use crate::cli::args::McpCommand;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::mcp::{self, McpConfig, McpTransport};
use console::style;
use serde_json::{Value, json};
use std::path::Path;

pub fn mcp(root: &Path, command: &McpCommand, out: &Output) -> Result<Exit, CliError> {
    match command {
        McpCommand::List => list(root, out),
        McpCommand::Serve(args) => super::mcp_serve::serve(root, args, out),
    }
}

/// The project's `.mcp.json`; what is wrong with single servers goes to stderr.
fn read(root: &Path, out: &Output) -> Result<McpConfig, CliError> {
    let config = mcp::read(root, &|name| std::env::var(name).ok())
        .map_err(|e| {
            CliError::usage(e.to_string())
                .hint("mend the file; agentctl init writes examples beside it")
        })?
        .ok_or_else(|| {
            CliError::usage(format!("there is no {} in {}", mcp::FILE, root.display())).hint(
                format!(
                    "agentctl init writes {}.example; copy it to {} and fill it in",
                    mcp::FILE,
                    mcp::FILE
                ),
            )
        })?;
    for note in config.problems.iter().chain(&config.warnings) {
        out.note(&format!("warning: {}", plain_long(&note.to_string())));
    }
    Ok(config)
}

fn list(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let config = read(root, out)?;
    let enabled: Vec<Value> = config
        .servers
        .iter()
        .map(|server| {
            let transport = match server.transport {
                McpTransport::Stdio { .. } => "stdio",
                McpTransport::Http { .. } => "http",
            };
            json!({"name": server.name, "enabled": true, "transport": transport, "shown": server.shown, "required": server.required})
        })
        .collect();
    let disabled = config
        .disabled
        .iter()
        .map(|name| json!({"name": name, "enabled": false}));
    let all: Vec<Value> = enabled.into_iter().chain(disabled).collect();
    out.answer(
        Exit::Complete,
        || {
            let mut text = String::new();
            for server in &config.servers {
                let name = style(plain_long(&server.name)).bold();
                let required = if server.required { ", required" } else { "" };
                text.push_str(&format!(
                    "{name}: {}{required}\n",
                    plain_long(&server.shown)
                ));
            }
            for name in &config.disabled {
                text.push_str(&format!("{}: disabled\n", style(plain_long(name)).dim()));
            }
            if text.is_empty() {
                text.push_str("no servers\n");
            }
            text
        },
        || json!({"servers": all}),
    )
}
