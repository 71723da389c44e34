//! `agentctl tools call` and `tools test`: calls of tools outside of any run.

use super::{made, named};
use crate::cli::declared;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::runtime::block_on;
use crate::cli::session::load_pack;
use agentctl_base::counted::counted;
use agentctl_engine::nearest::nearest;
use agentctl_engine::pack::ToolKind;
use agentctl_host::home;
use agentctl_tools::{Came, Given, Tools};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::Path;

#[derive(Debug, Args)]
pub struct CallArgs {
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// An argument; may be given several times
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    args: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "args")]
    json: Option<String>,
    /// What the program would bind in a run; may be given several times
    #[arg(long = "bind", value_name = "NAME=VALUE")]
    bind: Vec<String>,
    /// An argument of the tool that must answer before; may be given several times
    #[arg(long = "after", value_name = "NAME=VALUE")]
    after: Vec<String>,
    /// Make it also where it changes something
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
pub struct TestArgs {
    /// One tool; without it all of the pack
    #[arg(value_name = "TOOL")]
    tool: Option<String>,
    /// Also make the calls that change something real
    #[arg(long)]
    yes: bool,
}

fn pairs(given: &[String]) -> Result<Map<String, Value>, CliError> {
    let pairs = given.iter().map(|pair| {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            CliError::usage(format!("{pair:?} is no NAME=VALUE"))
                .hint("for example --arg query=leave")
        })?;
        let is_json = value.starts_with(['{', '[', '"', '-'])
            || value.starts_with(|c: char| c.is_ascii_digit())
            || matches!(value, "true" | "false");
        let read = is_json.then(|| serde_json::from_str(value).ok()).flatten();
        Ok((name.to_owned(), read.unwrap_or_else(|| Value::from(value))))
    });
    pairs.collect()
}

fn object(value: Option<&Value>) -> Map<String, Value> {
    value
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

pub(super) fn call(root: &Path, args: &CallArgs, out: &Output) -> Result<Exit, CliError> {
    let (pack, tools) = made(root, out)?;
    let tool = named(&pack, &args.tool)?;
    if matches!(tool.kind, ToolKind::Flow { .. }) {
        let message = format!("{} is a flow, which works only in a run", tool.id);
        return Err(CliError::usage(message).hint("agentctl chat PACK \"…\" has agents call it"));
    }
    let arguments = match &args.json {
        Some(text) => serde_json::from_str(text)
            .map_err(|e| CliError::usage(format!("--json is no JSON object: {e}")))?,
        None => pairs(&args.args)?,
    };
    let bound = pairs(&args.bind)?;
    if let Some(name) = bound.keys().find(|name| !tool.bind.contains_key(*name)) {
        let near = nearest(name, tool.bind.keys().map(String::as_str));
        let message = format!("{} binds no {name:?}{near}", tool.id);
        return Err(CliError::usage(message).hint("a parameter is given with --arg"));
    }
    let given = Given {
        args: arguments,
        bound,
        after: (!args.after.is_empty())
            .then(|| pairs(&args.after))
            .transpose()?,
    };
    if tools.would_change(tool.id, &given.args) == Some(true) && !args.yes {
        let message = format!("{} changes something, and nothing was sent", tool.id);
        let error = CliError::usage(message);
        return Err(match tools.are_mocks() {
            // The function is the program's own, and works on this machine.
            true => error.hint("--yes makes it"),
            false => error.hint("--yes sends it; AGENTCTL_TOOLS=mock answers from mock data"),
        });
    }
    let came = block_on(tools.directly(tool.id, &given))?;
    let came = came.ok_or_else(|| CliError::usage(format!("{} cannot be called", tool.id)))?;
    let exit = match came.status {
        "ok" => Exit::Complete,
        "refused" => Exit::Refused,
        _ => Exit::Failed,
    };
    out.answer(
        exit,
        || {
            format!(
                "{}\n{}\n",
                came.status,
                plain_long(&format!("{:#}", came.content))
            )
        },
        || json!({"tool": tool.id, "status": came.status, "content": came.content}),
    )
}

/// One call of a tests.yaml, and what of its expectations does not hold.
struct Played {
    tool: &'static str,
    name: String,
    /// None: it was left out.
    faults: Option<Vec<String>>,
}

pub(super) fn test(root: &Path, args: &TestArgs, out: &Output) -> Result<Exit, CliError> {
    let pack = load_pack(root, out)?;
    // Mock data, unless real tools are asked for.
    let tools = match home::variable(declared::TOOLS).as_deref() {
        Some("real") => made(root, out)?.1,
        _ => declared::mocks(&pack)
            .ok_or_else(|| CliError::usage("the pack has no tools of its own"))?,
    };
    if let Some(name) = &args.tool {
        named(&pack, name)?;
    }
    let chosen = pack
        .tools
        .values()
        .filter(|tool| args.tool.as_deref().is_none_or(|name| name == tool.id));
    let mut played = Vec::new();
    for tool in chosen {
        for test in &tool.tests {
            let faults = block_on(play(&tools, tool.id, test, args.yes))?;
            let name = test.get("name").and_then(Value::as_str).unwrap_or_default();
            played.push(Played {
                tool: tool.id,
                name: name.to_owned(),
                faults,
            });
        }
    }
    told(&played, out)
}

async fn play(tools: &Tools, tool: &str, test: &Value, yes: bool) -> Option<Vec<String>> {
    let given = Given {
        args: object(test.get("args")),
        bound: object(test.get("bind")),
        after: test.get("after").map(|after| object(Some(after))),
    };
    if tools.would_change(tool, &given.args) == Some(true) && !yes {
        return None;
    }
    let came = tools.directly(tool, &given).await;
    Some(match came {
        Some(came) => faults(&came, test.get("expect").unwrap_or(&Value::Null)),
        None => vec!["it cannot be called".to_owned()],
    })
}

/// What does not hold of `{status, rule, content, counts}`.
fn faults(came: &Came, expect: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let status = expect.get("status").and_then(Value::as_str).unwrap_or("ok");
    if status != came.status {
        faults.push(format!(
            "{} instead of {status}: {}",
            came.status, came.content
        ));
    }
    if let Some(rule) = expect.get("rule")
        && came.content.get("rule") != Some(rule)
    {
        faults.push(format!(
            "its rule is {}",
            came.content.get("rule").unwrap_or(&Value::Null)
        ));
    }
    if let Some(content) = expect.get("content") {
        lacking(content, &came.content, "content", &mut faults);
    }
    for (path, wanted) in object(expect.get("counts")) {
        let pointer = format!("/{}", path.replace('.', "/"));
        let found = came.content.pointer(&pointer);
        let count = match found {
            Some(Value::Array(items)) => Some(items.len()),
            Some(Value::Object(map)) => Some(map.len()),
            _ => None,
        };
        if count.map(Value::from).as_ref() != Some(&wanted) {
            let count = count.map_or("none".to_owned(), |n| n.to_string());
            faults.push(format!("{path} has {count} instead of {wanted}"));
        }
    }
    faults
}

/// What of `wanted` does not stand in `found`, key by key; a list is the whole list.
fn lacking(wanted: &Value, found: &Value, path: &str, faults: &mut Vec<String>) {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, value) in wanted {
                let place = format!("{path}.{key}");
                match found.get(key) {
                    Some(found) => lacking(value, found, &place, faults),
                    None => faults.push(format!("{place} is not there")),
                }
            }
        }
        (wanted, found) if wanted == found => {}
        (wanted, found) => faults.push(format!("{path} is {found} instead of {wanted}")),
    }
}

fn told(played: &[Played], out: &Output) -> Result<Exit, CliError> {
    let wrong = played
        .iter()
        .filter(|p| p.faults.as_ref().is_some_and(|f| !f.is_empty()))
        .count();
    let left_out = played.iter().filter(|p| p.faults.is_none()).count();
    let exit = if wrong == 0 {
        Exit::Complete
    } else {
        Exit::Failed
    };
    out.answer(
        exit,
        || {
            let mut text = String::new();
            for one in played {
                let word = match &one.faults {
                    None => "left out (it changes something; --yes makes it)",
                    Some(faults) if faults.is_empty() => "ok",
                    Some(_) => "WRONG",
                };
                text += &format!("{} · {}: {word}\n", one.tool, plain_long(&one.name));
                for fault in one.faults.iter().flatten() {
                    text += &format!("    {}\n", plain_long(fault));
                }
            }
            text + &format!("{}, {wrong} wrong, {left_out} left out\n", counted(played.len(), "call"))
        },
        || {
            let all = played.iter().map(|one| json!({"tool": one.tool, "name": one.name, "ok": one.faults.as_ref().map(Vec::is_empty), "faults": one.faults}));
            json!({"calls": all.collect::<Vec<_>>(), "wrong": wrong, "left_out": left_out})
        },
    )
}
