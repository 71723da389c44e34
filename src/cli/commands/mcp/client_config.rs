//! What to paste into a client's configuration, so that it starts or reaches our server. Paths are whole: a client starts it from any
//! folder, and a window's programs know no PATH of a shell. The token is named by its variable, never written.

use super::serve::{McpServeArgs, TOKEN_VARIABLE};
use crate::cli::error::CliError;
use agentctl_base::shell;
use agentctl_mcp::serve::{SERVER_NAME as NAME, http};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::Path;

/// A client whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigFor {
    /// Claude Code: a command to run
    Claude,
    /// Codex: a part of config.toml
    Codex,
    /// goose: a part of config.yaml
    Goose,
    /// Cursor: .cursor/mcp.json
    Cursor,
    /// VS Code: .vscode/mcp.json
    Vscode,
    /// Clients that read "mcpServers", like Claude Code's .mcp.json
    Json,
}

/// How the client comes to the server.
enum Way {
    /// It starts it: the program and its words.
    Starts {
        program: String,
        words: Vec<String>,
    },
    Reaches {
        url: String,
    },
}

pub fn config(client: ConfigFor, root: &Path, args: &McpServeArgs) -> Result<String, CliError> {
    let way = way(root, args)?;
    Ok(match client {
        ConfigFor::Claude => claude(&way),
        ConfigFor::Codex => codex(&way),
        ConfigFor::Goose => goose(&way),
        ConfigFor::Cursor => document("mcpServers", entry(&way, None, "${env:", "}")),
        ConfigFor::Vscode => {
            let kind = match way {
                Way::Starts { .. } => "stdio",
                Way::Reaches { .. } => "http",
            };
            document("servers", entry(&way, Some(kind), "${env:", "}"))
        }
        ConfigFor::Json => {
            let kind = matches!(way, Way::Reaches { .. }).then_some("http");
            document("mcpServers", entry(&way, kind, "${", "}"))
        }
    })
}

fn way(root: &Path, args: &McpServeArgs) -> Result<Way, CliError> {
    match args.http {
        None => Ok(Way::Starts {
            program: program()?,
            words: words(root, args)?,
        }),
        Some(address) if address.port() == 0 => {
            Err(CliError::usage("a client must know the port")
                .hint("give one: --http 127.0.0.1:8137"))
        }
        Some(address) => Ok(Way::Reaches {
            url: format!("http://{address}{}", http::PATH),
        }),
    }
}

fn program() -> Result<String, CliError> {
    let found = std::env::current_exe();
    let found =
        found.map_err(|e| CliError::failed(format!("cannot tell where agentctl stands: {e}")))?;
    Ok(found.display().to_string())
}

fn words(root: &Path, args: &McpServeArgs) -> Result<Vec<String>, CliError> {
    let root = root
        .canonicalize()
        .map_err(|e| CliError::io("find", root, &e))?;
    let mut words = vec!["--project".to_owned(), root.display().to_string()];
    words.extend(["mcp", "serve", "--role", &args.role].map(str::to_owned));
    if let Some(workflow) = &args.workflow {
        words.extend(["--workflow".to_owned(), workflow.clone()]);
    }
    for node in &args.scope {
        words.extend(["--scope".to_owned(), node.clone()]);
    }
    Ok(words)
}

fn claude(way: &Way) -> String {
    match way {
        Way::Starts { program, words } => {
            let words: Vec<String> = words.iter().map(|word| shell::quoted(word)).collect();
            format!(
                "claude mcp add {NAME} -- {} {}\n",
                shell::quoted(program),
                words.join(" ")
            )
        }
        Way::Reaches { url } => format!(
            "claude mcp add --transport http {NAME} {url} --header \"Authorization: Bearer ${TOKEN_VARIABLE}\"\n"
        ),
    }
}

fn codex(way: &Way) -> String {
    match way {
        Way::Starts { program, words } => format!(
            "# ~/.codex/config.toml\n[mcp_servers.{NAME}]\ncommand = {}\nargs = {}\n",
            quoted(program),
            list(words)
        ),
        Way::Reaches { url } => format!(
            "# ~/.codex/config.toml\n[mcp_servers.{NAME}]\nurl = {url:?}\nbearer_token_env_var = {TOKEN_VARIABLE:?}\n"
        ),
    }
}

fn goose(way: &Way) -> String {
    match way {
        Way::Starts { program, words } => format!(
            "# ~/.config/goose/config.yaml\nextensions:\n  {NAME}:\n    enabled: true\n    type: stdio\n    name: {NAME}\n    cmd: {}\n    args: {}\n    timeout: 300\n",
            quoted(program),
            list(words)
        ),
        Way::Reaches { url } => format!(
            "# ~/.config/goose/config.yaml\nextensions:\n  {NAME}:\n    enabled: true\n    type: streamable_http\n    name: {NAME}\n    uri: {url:?}\n    env_keys: [{TOKEN_VARIABLE}]\n    headers:\n      Authorization: \"Bearer ${{{TOKEN_VARIABLE}}}\"\n    timeout: 300\n"
        ),
    }
}

/// A server's entry in a JSON file; a variable's value is named between `open` and `close`.
fn entry(way: &Way, kind: Option<&str>, open: &str, close: &str) -> Value {
    let mut entry = match way {
        Way::Starts { program, words } => json!({"command": program, "args": words}),
        Way::Reaches { url } => {
            let bearer = format!("Bearer {open}{TOKEN_VARIABLE}{close}");
            json!({"url": url, "headers": {"Authorization": bearer}})
        }
    };
    if let (Some(kind), Value::Object(map)) = (kind, &mut entry) {
        map.shift_insert(0, "type".to_owned(), kind.into());
    }
    entry
}

fn document(key: &str, entry: Value) -> String {
    let document = json!({key: {NAME: entry}});
    format!("{document:#}\n")
}

fn list(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", quoted.join(", "))
}

/// A text as JSON writes it, which TOML and YAML read too.
fn quoted(word: &str) -> String {
    Value::from(word).to_string()
}
