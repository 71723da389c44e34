//! `agentctl mcp tools|call|approve`: the tools of a server, by hand.

use super::{client, down};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::{project, runtime, session};
use agentctl_base::shell;
use agentctl_base::untrusted;
use agentctl_engine::redact::Redactor;
use agentctl_mcp::{Called, McpClient, McpTool, PinChange, Pins, can_be_named};
use console::style;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

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
    let listed = runtime::block_on(async {
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

pub fn tools(root: &Path, server: &str, out: &Output) -> Result<Exit, CliError> {
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
                    "approve what agents may call: agentctl mcp approve {} [TOOL]\n",
                    shell::word(server)
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

pub fn approve(
    root: &Path,
    server: &str,
    tool: Option<&str>,
    out: &Output,
) -> Result<Exit, CliError> {
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

pub fn call(
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
    let called = runtime::block_on(async {
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
