//! `agentctl init [DIR]`: sets up a project folder. It only adds: nothing that is there is changed, but for the lines
//! that `.gitignore` lacks.

use crate::cli::args::InitArgs;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::trusting::Before;
use serde_json::json;
use std::path::{Path, PathBuf};

const MCP_EXAMPLE: &str = include_str!("../../../.mcp.json.example");
const MCP_FULL_EXAMPLE: &str = include_str!("../../../.mcp.json.full.example");
/// Runs hold requests and workflow data, `.mcp.json` holds keys: neither belongs in git.
const IGNORED: [&str; 5] = [
    "memory/*",
    "!memory/README.md",
    ".mcp.json*",
    "!.mcp.json.example",
    "!.mcp.json.full.example",
];
const MEMORY_README: &str = include_str!("../../../memory/README.md");
const CONFIG: &str = "# Settings of agentctl for this project; everything has a default.\n\n# [models]\n# default = \"offline\"\n# opus = \"anthropic::claude-opus-4-6\"     # docs/models.md\n\n# [[qa.waiver]]\n# code = \"agentctl/unreachable-node\"\n# path = \"workflows/old/**\"\n# reason = \"kept until the move\"\n# expires = \"2030-01-31\"\n";

pub fn init(project: &Path, args: &InitArgs, out: &Output) -> Result<Exit, CliError> {
    let root = args.dir.as_deref().unwrap_or(project);
    let before = Before::of(root, out);
    let mut made = Vec::new();
    for folder in ["workflows", "memory"] {
        make_folder(&root.join(folder), &mut made)?;
    }
    for (name, text) in [
        ("memory/README.md", MEMORY_README),
        (".mcp.json.example", MCP_EXAMPLE),
        (".mcp.json.full.example", MCP_FULL_EXAMPLE),
        ("agentctl.toml", CONFIG),
    ] {
        let path = root.join(name);
        if !path.exists() {
            std::fs::write(&path, text).map_err(|e| CliError::io("write", &path, &e))?;
            made.push(path);
        }
    }
    ignore(&root.join(".gitignore"), &mut made)?;
    before.keep(|_| true)?;
    let shown: Vec<String> = made.iter().map(|p| p.display().to_string()).collect();
    out.answer(
        Exit::Complete,
        || {
            let mut text = if shown.is_empty() {
                format!("{} is set up already\n", root.display())
            } else {
                format!("set up {}:\n{}\n", root.display(), shown.iter().map(|p| format!("  {p}\n")).collect::<String>().trim_end())
            };
            let cd = if root == Path::new(".") { String::new() } else { format!("cd {} && ", root.display()) };
            text.push_str(&format!("next: {cd}agentctl build \"Every day at 9:00 post the open Jira bugs to Slack #dev\"\n"));
            text
        },
        || json!({"project": root.display().to_string(), "made": shown}),
    )
}

fn make_folder(path: &Path, made: &mut Vec<PathBuf>) -> Result<(), CliError> {
    if path.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(path).map_err(|e| CliError::io("make the folder", path, &e))?;
    made.push(path.to_owned());
    Ok(())
}

/// Adds the missing lines to `.gitignore`; what is there stays as it is.
fn ignore(path: &Path, made: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let before = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(CliError::io("read", path, &e)),
    };
    let missing: Vec<&str> = IGNORED
        .into_iter()
        .filter(|line| !before.lines().any(|l| l.trim() == *line))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut text = before;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&missing.join("\n"));
    text.push('\n');
    std::fs::write(path, text).map_err(|e| CliError::io("write", path, &e))?;
    made.push(path.to_owned());
    Ok(())
}
