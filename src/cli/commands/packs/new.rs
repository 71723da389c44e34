//! `agentctl packs new NAME`: a small pack to begin with, in the project. Nothing that is there is changed.

use crate::cli::commands::schema;
use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust::Before;
use crate::cli::output::Output;
use crate::cli::session;
use agentctl_engine::pack::{PACKS, is_name};
use agentctl_host::files::{Existing, FileError, Files};
use serde_json::json;
use std::path::Path;

/// What stands for the pack's name in the files, and in what they are about.
const NAME: &str = "NAME";

/// The files of the pack, below its folder.
const FILES: [(&str, &str); 8] = [
    ("pack.yaml", include_str!("template/pack.yaml")),
    (
        "agents/turn.flow.yaml",
        include_str!("template/agents/turn.flow.yaml"),
    ),
    (
        "agents/helper.md",
        include_str!("template/agents/helper.md"),
    ),
    (
        "agents/policy.yaml",
        include_str!("template/agents/policy.yaml"),
    ),
    (
        "agents/offline.yaml",
        include_str!("template/agents/offline.yaml"),
    ),
    ("data/texts.yaml", include_str!("template/data/texts.yaml")),
    (
        "skills/house-rules/SKILL.md",
        include_str!("template/skills/house-rules/SKILL.md"),
    ),
    (
        "tests/first.yaml",
        include_str!("template/tests/first.yaml"),
    ),
];

pub fn new(root: &Path, name: &str, out: &Output) -> Result<Exit, CliError> {
    if !is_name(name) {
        return Err(CliError::usage(format!("{name:?} is no name for a pack"))
            .hint("a name has small letters, digits and hyphens, and begins with a letter"));
    }
    let options = session::load_options(root, out)?;
    let folder = Path::new(PACKS).join(name);
    if crate::pack::names(root, &options)
        .iter()
        .any(|known| known == name)
        || root.join(&folder).exists()
    {
        return Err(CliError::usage(format!("there is a pack {name} already"))
            .hint("choose another name; a file of a built-in pack is changed by one of the same path in the project"));
    }
    let before = Before::of(root, out)?;
    let files = Files::open(root).map_err(failed)?;
    let mut made = Vec::new();
    schema::put_beside(root, &["pack", "flow", "policy"])?;
    for (path, text) in FILES {
        let of = of(path);
        let path = folder.join(path);
        let line = of.map_or_else(String::new, |of| schema::line_in(&path, of));
        let text = line + &text.replace(NAME, name);
        files
            .write(&path, text.as_bytes(), Existing::Refuse)
            .map_err(failed)?;
        made.push(path.display().to_string());
    }
    let trusted = before.keep_made()?;
    out.answer(
        Exit::Complete,
        || {
            let lines: String = made.iter().map(|path| format!("  {path}\n")).collect();
            let trust = match trusted {
                true => "",
                false => "agentctl trust, then ",
            };
            format!("a new pack:\n{lines}next: {trust}agentctl packs test {name}, agentctl chat {name}\n")
        },
        || json!({"pack": name, "made": made, "trusted": trusted}),
    )
}

/// The schema of a file, where it has one.
fn of(path: &str) -> Option<&'static str> {
    match path {
        "pack.yaml" => Some("pack"),
        "agents/policy.yaml" => Some("policy"),
        flow if flow.ends_with("flow.yaml") => Some("flow"),
        _ => None,
    }
}

fn failed(error: FileError) -> CliError {
    CliError::failed(error.to_string())
}
