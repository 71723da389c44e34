//! `agentctl mcp …`: the servers of `.mcp.json` and their tools, by hand. Never prints a secret of the file, and what a server
//! says only as harmless text.

use crate::cli::args::{McpCommand, McpSet};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::project;
use crate::cli::session;
use crate::cli::settings;
use crate::cli::trusting::{self, Before};
use crate::gateway::Redactor;
use crate::run::Cancel;
use crate::trust::Kind;
use agentctl_base::untrusted;
use agentctl_host::files::write_atomic;
use agentctl_host::home::variable;
use agentctl_mcp::{
    Called, McpClient, McpConfig, McpError, McpTool, McpTransport, PinChange, Pins, can_be_named,
};
use console::style;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub fn mcp(root: &Path, command: &McpCommand, out: &Output) -> Result<Exit, CliError> {
    match command {
        McpCommand::List => list(root, out),
        McpCommand::Serve(args) => super::mcp_serve::serve(root, args, out),
        McpCommand::Tools { server } => tools(root, server, out),
        McpCommand::Call {
            server,
            tool,
            arguments,
        } => call(root, server, tool, arguments.as_deref(), out),
        McpCommand::Approve { server, tool } => approve(root, server, tool.as_deref(), out),
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
    let may = trusting::in_force(root, out)?.servers();
    let config = agentctl_mcp::read(root, &may, &variable)
        .map_err(|e| {
            CliError::usage(e.to_string())
                .hint("mend the file; agentctl init writes examples beside it")
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
    let in_force = trusting::in_force(root, out)?;
    in_force.server(server).map_err(trusting::refused)?;
    let config = read(root, out)?;
    let Some(found) = config.servers.iter().find(|s| s.name == server) else {
        let known: Vec<&str> = config.servers.iter().map(|s| s.name.as_str()).collect();
        let error = CliError::usage(format!("there is no enabled server {server:?}"));
        return Err(if config.disabled.iter().any(|name| name == server) {
            error.hint(format!("it is disabled: agentctl mcp enable {server}"))
        } else {
            error.hint(format!("servers: {}", plain_long(&known.join(", "))))
        });
    };
    let environment = std::env::vars()
        .filter(|(name, _)| crate::gateway::redact::names_a_secret(name))
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
    let told = CliError::new(Exit::Backend, plain_long(&said));
    if error.hint.is_empty() {
        told
    } else {
        told.hint(error.hint.clone())
    }
}

/// A server's tools as they are now, and as they were approved.
struct Compared {
    listed: Vec<McpTool>,
    changes: BTreeMap<String, PinChange>,
    redactor: Redactor,
}

/// Starts the server and compares its tools with what was approved of them.
fn compared(root: &Path, server: &str, out: &Output) -> Result<Compared, CliError> {
    let (mut client, redactor) = client(root, server, out)?;
    let pins = project::pins(root, out)?;
    let listed = session::block_on(&Cancel::default(), async {
        let listed = client.tools().await;
        remark(&client, out);
        client.close().await;
        listed
    })?
    .map_err(|e| down(&e))?;
    let changes = pins.compare(server, &listed);
    Ok(Compared {
        listed,
        changes,
        redactor,
    })
}

fn remark(client: &McpClient, out: &Output) {
    if let Some(told) = client.oddities().told() {
        out.note(&format!(
            "warning: {} sent {told}",
            plain_long(client.name())
        ));
    }
}

fn tools(root: &Path, server: &str, out: &Output) -> Result<Exit, CliError> {
    let Compared {
        listed,
        changes,
        redactor,
        ..
    } = compared(root, server, out)?;
    let safe = |text: &str| untrusted::text(&redactor.text(text)).into_owned();
    let state = |change: &PinChange| match change {
        PinChange::Approved => "approved",
        PinChange::New { .. } => "new",
        PinChange::Changed { .. } => "changed",
        PinChange::Gone => "gone",
    };
    out.answer(
        Exit::Complete,
        || {
            let mut text = String::new();
            for (name, change) in &changes {
                let described = listed.iter().find(|tool| tool.name == *name);
                let first =
                    described.map_or("", |tool| tool.description.lines().next().unwrap_or(""));
                text.push_str(&format!(
                    "{} ({}) {}\n",
                    style(plain(name)).bold(),
                    state(change),
                    plain(&safe(first))
                ));
                if let PinChange::Changed { diff } = change {
                    text.push_str(&indented(&safe(diff)));
                }
            }
            if changes.values().any(|c| *c != PinChange::Approved) {
                text.push_str(&format!(
                    "approve what agents may call: agentctl mcp approve {server} [TOOL]\n"
                ));
            }
            text
        },
        || {
            let tools: Vec<Value> = changes
                .iter()
                .map(|(name, change)| {
                    let described = listed.iter().find(|tool| tool.name == *name);
                    let mut entry = json!({"name": safe(name), "state": state(change)});
                    if let (Some(tool), Some(map)) = (described, entry.as_object_mut()) {
                        map.insert("description".into(), json!(safe(&tool.description)));
                        map.insert(
                            "schema".into(),
                            untrusted::value(redactor.value(Value::Object(tool.schema.clone()))),
                        );
                    }
                    if let (PinChange::Changed { diff }, Some(map)) =
                        (change, entry.as_object_mut())
                    {
                        map.insert("diff".into(), json!(safe(diff)));
                    }
                    entry
                })
                .collect();
            json!({"server": server, "tools": tools})
        },
    )
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

fn approve(root: &Path, server: &str, tool: Option<&str>, out: &Output) -> Result<Exit, CliError> {
    let home = project::home_for(root, "what you approve cannot be kept")?;
    let Compared {
        listed,
        changes,
        redactor,
        ..
    } = compared(root, server, out)?;
    // Another approval may have been written while the server was asked; what is shown and what is written is one state.
    let _lock = home.lock().map_err(|e| CliError::failed(e.to_string()))?;
    let mut pins = Pins::read(&home, root).map_err(|e| project::no_pins(&e))?;
    if let Some(tool) = tool
        && !changes.contains_key(tool)
    {
        let known: Vec<&str> = changes.keys().map(String::as_str).collect();
        return Err(CliError::usage(format!("{server} has no tool {tool:?}"))
            .hint(format!("tools: {}", plain_long(&known.join(", ")))));
    }
    let now = jiff::Timestamp::now().to_string();
    let (mut approved, mut forgotten, mut unnamed) = (Vec::new(), Vec::new(), Vec::new());
    let mut text = String::new();
    let wanted = changes
        .iter()
        .filter(|(name, _)| tool.is_none_or(|only| only == name.as_str()));
    for (name, change) in wanted {
        let shown = match change {
            PinChange::Approved => continue,
            PinChange::Gone => {
                pins.forget(server, name);
                forgotten.push(plain(name));
                text.push_str(&format!("{} is gone\n", style(plain(name)).bold()));
                continue;
            }
            PinChange::New { text } => text,
            PinChange::Changed { diff } => diff,
        };
        if !can_be_named(server, name) {
            unnamed.push(plain(name));
            continue;
        }
        if let Some(tool) = listed.iter().find(|tool| tool.name == *name) {
            pins.approve(server, tool, &now);
            approved.push(plain(name));
            text.push_str(&format!(
                "{} approved\n{}",
                style(plain(name)).bold(),
                indented(&untrusted::text(&redactor.text(shown)))
            ));
        }
    }
    if !unnamed.is_empty() {
        out.note(&format!(
            "warning: agents cannot call {}: mcp__{server}__TOOL would be too long, or not say which server and tool is meant",
            unnamed.join(", ")
        ));
    }
    if !(approved.is_empty() && forgotten.is_empty()) {
        pins.write(&home, root).map_err(|e| project::no_pins(&e))?;
    }
    out.answer(
        Exit::Complete,
        || {
            if text.is_empty() {
                "nothing to approve: all tools are as they were approved\n".to_owned()
            } else {
                text
            }
        },
        || json!({"server": server, "approved": approved, "forgotten": forgotten, "cannot_be_named": unnamed}),
    )
}

fn call(
    root: &Path,
    server: &str,
    tool: &str,
    arguments: Option<&str>,
    out: &Output,
) -> Result<Exit, CliError> {
    let text = match arguments {
        Some("-") => session::read_stdin()?,
        Some(text) => text.to_owned(),
        None => String::new(),
    };
    let arguments: Map<String, Value> = agentctl_base::strict_json::object(&text)
        .map_err(|why| CliError::usage(why).hint("write the arguments as a JSON object"))?;
    let (mut client, redactor) = client(root, server, out)?;
    let called = session::block_on(&Cancel::default(), async {
        let called = match client.ready().await {
            Ok(()) => Ok(client.call(tool, &arguments).await),
            Err(error) => Err(error),
        };
        remark(&client, out);
        client.close().await;
        called
    })?
    .map_err(|e| down(&e))?;
    let (exit, status, content) = match called {
        Called::Answer {
            content,
            is_error: false,
        } => (Exit::Complete, "ok", content),
        Called::Answer { content, .. } => (Exit::Failed, "failed", content),
        Called::Failed(why) => return Err(CliError::failed(plain_long(&redactor.text(&why)))),
        Called::Unknown(why) => {
            let why = plain_long(&redactor.text(&why));
            return Err(
                CliError::new(Exit::Backend, format!("{why}; the call may have happened"))
                    .hint("look before you call it again"),
            );
        }
    };
    let content = untrusted::value(redactor.value(content));
    out.answer(
        exit,
        || {
            let blocks = content.get("content").and_then(Value::as_array);
            let texts: Vec<String> = blocks
                .into_iter()
                .flatten()
                .map(|block| match block.get("text").and_then(Value::as_str) {
                    Some(text) => text.to_owned(),
                    None => block.to_string(),
                })
                .collect();
            texts.join("\n")
        },
        || json!({"server": server, "tool": tool, "status": status, "result": content}),
    )
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
        let trusted = Before::of(root, out);
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
