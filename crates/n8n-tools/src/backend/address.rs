//! Ids and files of the embedded backend: `workflows/<id>.json`, or any other JSON file of the project by its path.
//! What may never be a workflow (hidden files, the runs' own records, anything outside) has no address.

use super::{BackendError, BackendResult};
use agentctl_n8n::WorkflowId;
use std::path::{Component, Path, PathBuf};

pub const FOLDER: &str = "workflows";
const MAX_ID: usize = 200;
/// Folders of a project whose files are never workflows, whatever they hold.
const RESERVED: [&str; 4] = ["memory", "agents", "skills", "docs/learning"];

pub fn looks_like_path(reference: &str) -> bool {
    reference.contains(['/', '\\']) || reference.ends_with(".json")
}

/// The path inside the project that a text means.
pub fn relative(root: &Path, reference: &str) -> BackendResult<PathBuf> {
    let outside = || {
        BackendError::rejected(format!("`{reference}` is not a file inside the project"))
            .with_hint("give an id, or a path below the project folder that ends in .json")
    };
    let text = reference.replace('\\', "/");
    let mut path = PathBuf::from(&text);
    if path.is_absolute() {
        let inside = path
            .strip_prefix(root)
            .map(Path::to_path_buf)
            .or_else(|_| {
                let real = root.canonicalize().map_err(|_| outside())?;
                path.strip_prefix(&real)
                    .map(Path::to_path_buf)
                    .map_err(|_| outside())
            })?;
        path = inside;
    }
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            _ => return Err(outside()),
        }
    }
    if clean.as_os_str().is_empty() {
        return Err(outside());
    }
    Ok(clean)
}

pub fn id_of_path(relative: &Path) -> WorkflowId {
    let text = relative
        .components()
        .map(|c| c.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/");
    let own = text
        .strip_prefix(FOLDER)
        .and_then(|rest| rest.strip_prefix('/'))
        .and_then(|name| name.strip_suffix(".json"))
        .filter(|stem| !looks_like_path(stem));
    WorkflowId(own.map_or(text.clone(), str::to_owned))
}

/// The file of an id. Refuses what may never be a workflow: other endings, hidden files, the run's own records.
pub fn path_of(id: &WorkflowId) -> BackendResult<PathBuf> {
    let refuse = |why: &str| {
        Err(BackendError::rejected(format!(
            "`{}` is not a workflow id: {why}",
            id.0.escape_debug()
        ))
        .with_hint(
            "an id is a workflow's own word; a path is relative to the project and ends in .json",
        ))
    };
    let text = id.0.as_str();
    if text.is_empty() {
        return refuse("it is empty");
    }
    if text.len() > MAX_ID {
        return refuse("it is too long");
    }
    if text.chars().any(char::is_control) {
        return refuse("it has control characters");
    }
    if !looks_like_path(text) {
        if text.starts_with('.') {
            return refuse("it names a hidden file");
        }
        return Ok(Path::new(FOLDER).join(format!("{text}.json")));
    }
    let mut path = PathBuf::new();
    for part in text.split('/') {
        let special = part.ends_with([' ', '.']) || part.contains(['\\', ':']);
        if part.is_empty() || part.starts_with('.') || special {
            return refuse("its path has an empty, hidden or special part");
        }
        path.push(part);
    }
    if !text.ends_with(".json") {
        return refuse("a path must end in .json");
    }
    let lower = text.to_lowercase();
    let within = |folder: &&str| {
        lower
            .strip_prefix(*folder)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    if RESERVED.iter().any(within) {
        return refuse(
            "that folder holds the runs' own records, or what agents are told and allowed",
        );
    }
    Ok(path)
}
