//! `agentctl mcp …`: the servers of `.mcp.json` and their tools, by hand. Never prints a secret of the file, and what a server
//! says only as harmless text.

mod client_config;
mod serve;
mod tools;

use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust::Before;
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::{folder_trust, settings};
use crate::trust::Kind;
use agentctl_base::shell;
use agentctl_engine::redact::Redactor;
use agentctl_host::files::write_atomic;
use agentctl_host::home::variable;
use agentctl_mcp::{McpClient, McpConfig, McpError, McpTransport};
use clap::{Subcommand, ValueEnum};
use console::style;
use serde_json::{Value, json};
use std::path::Path;

/// The MCP servers of .mcp.json: what they are, their tools, calls by hand
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl mcp list")]
pub enum McpCommand {
    /// The servers of .mcp.json, started or not; none is started for this
    #[command(after_help = "Example:\n  agentctl mcp list")]
    List,
    Serve(serve::McpServeArgs),
    /// Start a server and show its tools: approved, new, or changed since they were approved
    #[command(after_help = "Example:\n  agentctl mcp tools context7")]
    Tools {
        #[arg(value_name = "SERVER")]
        server: String,
    },
    /// Call a tool yourself: no agent, no policy, but the same limits; secrets are hidden
    #[command(
        after_help = "Examples:\n  agentctl mcp call n8n-mcp search_nodes '{\"query\":\"slack\"}'\n  agentctl mcp call n8n-mcp n8n_health_check"
    )]
    Call {
        #[arg(value_name = "SERVER")]
        server: String,
        #[arg(value_name = "TOOL")]
        tool: String,
        /// The arguments as a JSON object (`-`: stdin); default: none
        #[arg(value_name = "JSON")]
        arguments: Option<String>,
    },
    /// Approve a server's tools as they are described now; agents can call no other
    #[command(
        after_help = "Examples:\n  agentctl mcp approve context7\n  agentctl mcp approve context7 get-library-docs\n\nWhat is approved is shown. A tool whose description or schema changes later needs approval again."
    )]
    Approve {
        #[arg(value_name = "SERVER")]
        server: String,
        /// Only this tool; default: all of them
        #[arg(value_name = "TOOL")]
        tool: Option<String>,
    },
    /// Switch a server on in .mcp.json
    #[command(after_help = "Example:\n  agentctl mcp enable github")]
    Enable {
        #[arg(value_name = "SERVER")]
        server: String,
    },
    /// Switch a server off in .mcp.json; it stays in the file
    #[command(after_help = "Example:\n  agentctl mcp disable github")]
    Disable {
        #[arg(value_name = "SERVER")]
        server: String,
    },
    /// Switch between the servers of n8n only and all servers
    #[command(after_help = "Example:\n  agentctl mcp switch minimal")]
    Switch {
        #[arg(value_name = "WHICH")]
        to: McpSet,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum McpSet {
    /// The servers of n8n; all others are switched off
    Minimal,
    /// All servers of the file
    Full,
}

pub fn mcp(root: &Path, command: &McpCommand, out: &Output) -> Result<Exit, CliError> {
    match command {
        McpCommand::List => list(root, out),
        McpCommand::Serve(args) => serve::serve(root, args, out),
        McpCommand::Tools { server } => tools::tools(root, server, out),
        McpCommand::Call {
            server,
            tool,
            arguments,
        } => tools::call(root, server, tool, arguments.as_deref(), out),
        McpCommand::Approve { server, tool } => tools::approve(root, server, tool.as_deref(), out),
        McpCommand::Enable { server } => switch(root, out, |_| vec![(server.clone(), true)]),
        McpCommand::Disable { server } => switch(root, out, |_| vec![(server.clone(), false)]),
        McpCommand::Switch { to } => switch(root, out, |all| {
            let on = |n8n: bool| *to == McpSet::Full || n8n;
            all.iter()
                .map(|(name, _, n8n)| (name.clone(), on(*n8n)))
                .collect()
        }),
    }
}

/// The project's `.mcp.json`; what is wrong with single servers goes to stderr.
fn read(root: &Path, out: &Output) -> Result<McpConfig, CliError> {
    let may = folder_trust::in_force(root, out)?.servers();
    let config = agentctl_mcp::read(root, &may, &variable)
        .map_err(|e| {
            CliError::of_servers(&e).hint("mend the file; agentctl init writes examples beside it")
        })?
        .ok_or_else(|| no_file(root))?;
    for note in config.problems.iter().chain(&config.warnings) {
        out.note(&format!("warning: {}", plain_long(&note.to_string())));
    }
    Ok(config)
}

fn no_file(root: &Path) -> CliError {
    let file = agentctl_mcp::FILE;
    CliError::usage(format!("there is no {file} in {}", root.display())).hint(format!(
        "agentctl init writes {file}.example; copy it to {file} and fill it in"
    ))
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
    let withheld = config.withheld.iter().map(
        |(name, shown)| json!({"name": name, "enabled": true, "trusted": false, "shown": shown}),
    );
    let all: Vec<Value> = enabled
        .into_iter()
        .chain(withheld)
        .chain(disabled)
        .collect();
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
            for (name, shown) in &config.withheld {
                let name = style(plain_long(name)).bold();
                text.push_str(&format!("{name}: {}, not trusted\n", plain_long(shown)));
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

/// One server of the file, not started yet, and what hides the file's secrets.
fn client(root: &Path, server: &str, out: &Output) -> Result<(McpClient, Redactor), CliError> {
    let in_force = folder_trust::in_force(root, out)?;
    in_force.server(server).map_err(folder_trust::refused)?;
    let config = read(root, out)?;
    let Some(found) = config.servers.iter().find(|s| s.name == server) else {
        let known: Vec<&str> = config.servers.iter().map(|s| s.name.as_str()).collect();
        let error = CliError::usage(format!("there is no enabled server {server:?}"));
        return Err(if config.disabled.iter().any(|name| name == server) {
            error.hint(format!(
                "it is disabled: agentctl mcp enable {}",
                shell::word(server)
            ))
        } else {
            error.hint(format!("servers: {}", plain_long(&known.join(", "))))
        });
    };
    let environment = std::env::vars()
        .filter(|(name, _)| agentctl_engine::redact::names_a_secret(name))
        .map(|(_, value)| value);
    let redactor = Redactor::new(environment.chain(config.secrets()));
    let settings = settings::of_project(root, out)?;
    let found = found.clone().with_plain_http(&settings.plain_http);
    found.may_be_reached().map_err(|refused| {
        CliError::new(Exit::Refused, refused.to_string()).hint(refused.hint())
    })?;
    Ok((McpClient::new(&found), redactor))
}

fn down(error: &McpError) -> CliError {
    let said = format!("{error}{}", error.last_words());
    let exit = match error.machine {
        true => Exit::Failed,
        false => Exit::Backend,
    };
    let told = CliError::new(exit, plain_long(&said));
    if error.hint.is_empty() {
        told
    } else {
        told.hint(error.hint.clone())
    }
}

/// Changes the switches of `.mcp.json` and shows the difference; what the file holds besides stays as it is.
fn switch(
    root: &Path,
    out: &Output,
    wanted: impl FnOnce(&[(String, bool, bool)]) -> Vec<(String, bool)>,
) -> Result<Exit, CliError> {
    let path = root.join(agentctl_mcp::FILE);
    let before = match agentctl_host::files::read_regular_text(&path, agentctl_mcp::MAX_BYTES) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(no_file(root)),
        Err(e) => return Err(CliError::io("read", &path, &e)),
    };
    let unusable =
        |e: agentctl_mcp::EditError| CliError::usage(format!("{}: {e}", agentctl_mcp::FILE));
    let now = agentctl_mcp::switches(&before).map_err(unusable)?;
    let wanted = wanted(&now);
    if !wanted.iter().any(|(_, on)| *on) && wanted.len() > 1 {
        return Err(
            CliError::usage("no server of the file speaks to n8n: nothing would be left")
                .hint("name the servers one by one: agentctl mcp disable NAME"),
        );
    }
    let after = agentctl_mcp::switched(&before, &wanted).map_err(unusable)?;
    let changed: Vec<&(String, bool)> = wanted
        .iter()
        .filter(|(name, on)| now.iter().any(|(known, was, _)| known == name && was != on))
        .collect();
    if after != before {
        let trusted = Before::of(root, out)?;
        write_atomic(&path, after.as_bytes()).map_err(|e| CliError::failed(e.to_string()))?;
        trusted.keep(|kind| kind == Kind::Server)?;
    }
    out.answer(
        Exit::Complete,
        || {
            if changed.is_empty() {
                return "nothing to change\n".to_owned();
            }
            changed
                .iter()
                .map(|(name, on)| {
                    format!(
                        "{} {}\n",
                        if *on { "enabled" } else { "disabled" },
                        plain_long(name)
                    )
                })
                .collect()
        },
        || {
            let of = |wanted: bool| -> Vec<&str> {
                changed
                    .iter()
                    .filter(|(_, on)| *on == wanted)
                    .map(|(name, _)| name.as_str())
                    .collect()
            };
            json!({"enabled": of(true), "disabled": of(false)})
        },
    )
}
