//! `agentctl init [DIR]`: sets up a project folder. It only adds: nothing that is there is changed, but for the lines
//! that `.gitignore` lacks.

use super::schema;
use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust::Before;
use crate::cli::output::Output;
use agentctl_base::shell;
use agentctl_engine::store::MEMORY_IGNORED;
use agentctl_host::files::FileError;
use agentctl_host::files::{
    Existing, Files, Within, create_dir, read_regular_text, tidy_here, within,
};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Set up a project folder: workflows/, memory/, .gitignore, .mcp.json.example
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  agentctl init my-automations")]
pub struct InitArgs {
    /// The folder to set up (made when it is not there); default: the project folder
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

const MCP_EXAMPLE: &str = include_str!("../../../.mcp.json.example");
const MCP_FULL_EXAMPLE: &str = include_str!("../../../.mcp.json.full.example");
/// Copies of `.mcp.json`, which may hold keys; `memory/` has a list of its own.
const IGNORED: [&str; 3] = [
    ".mcp.json.*",
    "!.mcp.json.example",
    "!.mcp.json.full.example",
];
/// The file itself is shared by a project's people, unless a key stands in it: those belong into variables.
const SERVERS: &str = agentctl_mcp::FILE;
const FOLDERS: [&str; 2] = ["workflows", "memory"];
const GIT_IGNORE: &str = ".gitignore";
/// No list of names is longer.
const MAX_IGNORE: u64 = 4 * 1024 * 1024;
const MEMORY_README: &str = include_str!("../../../memory/README.md");
const CONFIG: &str = "#:schema memory/schemas/settings.schema.json\n# Settings of agentctl for this project; everything has a default.\n\n# [models]\n# default = \"offline\"\n# opus = \"anthropic::claude-opus-4-6\"     # docs/models.md\n\n# [[qa.waiver]]\n# code = \"agentctl/unreachable-node\"\n# path = \"workflows/old/**\"\n# reason = \"kept until the move\"\n# expires = \"2030-01-31\"\n";

pub fn init(project: &Path, args: &InitArgs, out: &Output) -> Result<Exit, CliError> {
    let root = args.dir.as_deref().unwrap_or(project);
    let before = Before::of(root, out)?;
    let texts = [
        ("memory/README.md", MEMORY_README),
        ("memory/.gitignore", MEMORY_IGNORED),
        (".mcp.json.example", MCP_EXAMPLE),
        (".mcp.json.full.example", MCP_FULL_EXAMPLE),
        (crate::trust::SETTINGS, CONFIG),
    ];
    // All is looked at before anything is written.
    let names = texts.iter().map(|(name, _)| *name);
    for name in names.chain(FOLDERS).chain([GIT_IGNORE]) {
        refuse_link(root, name)?;
    }
    let ignored = ignore(root)?;
    create_dir(root).map_err(failed)?;
    tidy_here(root).map_err(failed)?;
    let files = Files::open(root).map_err(failed)?;
    let mut made = Vec::new();
    for folder in FOLDERS {
        make_folder(&root.join(folder), &mut made)?;
        tidy_here(&root.join(folder)).map_err(failed)?;
    }
    for (name, text) in texts {
        // One that was cut short left nothing in it.
        let empty = std::fs::symlink_metadata(root.join(name))
            .is_ok_and(|found| found.is_file() && found.len() == 0);
        let existing = match empty {
            true => Existing::Replace,
            false => Existing::Refuse,
        };
        match files.write(Path::new(name), text.as_bytes(), existing) {
            Ok(()) => made.push(root.join(name)),
            Err(FileError::Exists { .. }) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    made.extend(schema::put_beside(root, &["settings"])?);
    if let Some(text) = ignored {
        let written = files.write(Path::new(GIT_IGNORE), text.as_bytes(), Existing::Replace);
        written.map_err(failed)?;
        made.push(root.join(GIT_IGNORE));
    }
    before.keep_made()?;
    let shown: Vec<String> = made.iter().map(|p| p.display().to_string()).collect();
    out.answer(
        Exit::Complete,
        || {
            let mut text = if shown.is_empty() {
                format!("{} is set up already\n", root.display())
            } else {
                format!("set up {}:\n{}\n", root.display(), shown.iter().map(|p| format!("  {p}\n")).collect::<String>().trim_end())
            };
            let cd = if root == Path::new(".") { String::new() } else { format!("cd {} && ", shell::word(&root.display().to_string())) };
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
    create_dir(path).map_err(failed)?;
    made.push(path.to_owned());
    Ok(())
}

/// A link is written through by nothing here, and what it leads to may be anybody's.
fn refuse_link(root: &Path, name: &str) -> Result<(), CliError> {
    let path = root.join(name);
    if !path.is_symlink() {
        return Ok(());
    }
    let why = match within(root, Path::new(name)) {
        Ok(Within::Inside(_)) if name != GIT_IGNORE => return Ok(()),
        Ok(Within::Inside(_)) => "a link, through which nothing is written",
        Ok(Within::Missing) => "a link to nothing",
        Ok(Within::Outside) => "a link that leads out of the project",
        Err(_) => "a link that cannot be followed",
    };
    let told = format!("{} is {why}; nothing was set up", path.display());
    Err(CliError::usage(told).hint("remove it, or put a file or folder in its place"))
}

/// `.gitignore` with the lines that it lacks; what is there stays as it is. None: it lacks none.
fn ignore(root: &Path) -> Result<Option<String>, CliError> {
    let path = root.join(GIT_IGNORE);
    let before = match read_regular_text(&path, MAX_IGNORE) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(CliError::io("read", &path, &e)),
    };
    let kept_back = holds_a_secret(root)?.then_some(SERVERS);
    let missing: Vec<&str> = IGNORED
        .into_iter()
        .chain(kept_back)
        .filter(|line| !before.lines().any(|l| l.trim() == *line))
        .collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let mut text = before;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&missing.join("\n"));
    text.push('\n');
    Ok(Some(text))
}

/// Whether the project's `.mcp.json` does not belong in git; none that is not there.
fn holds_a_secret(root: &Path) -> Result<bool, CliError> {
    let path = root.join(SERVERS);
    match read_regular_text(&path, agentctl_mcp::MAX_BYTES) {
        Ok(text) => Ok(agentctl_mcp::holds_a_secret(&text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(CliError::io("read", &path, &e)),
    }
}

fn failed(error: FileError) -> CliError {
    CliError::failed(error.to_string())
}
