//! `agentctl learnings import FILE`: takes over a file that was written by hand.

use super::told::{today, told};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use agentctl_base::counted::counted;
use agentctl_knowledge::{Imported, Learnings};
use serde_json::{Value, json};
use std::path::Path;

/// No file of learnings is larger.
const MAX_IMPORT: u64 = 64 * 1024 * 1024;

pub fn import(learnings: &Learnings, file: &Path, out: &Output) -> Result<Exit, CliError> {
    let bytes = agentctl_host::files::read_given(file, MAX_IMPORT)
        .map_err(|e| CliError::io("read", file, &e))?;
    let source = String::from_utf8(bytes).map_err(|e| {
        CliError::failed(format!(
            "{} is not UTF-8 text: byte {} is none",
            file.display(),
            e.utf8_error().valid_up_to()
        ))
    })?;
    let name = file
        .file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let done = learnings
        .import(&source, &name, &today())
        .map_err(|e| told(&e))?;
    out.answer(
        Exit::Complete,
        || imported(file, &done),
        || imported_json(&done),
    )
}

fn imported(file: &Path, done: &Imported) -> String {
    let (known, new): (Vec<_>, Vec<_>) = done.entries.iter().partition(|e| e.known);
    let mut text = format!(
        "{} imported, {} there already\n",
        counted(new.len(), "entry"),
        known.len()
    );
    for entry in new {
        let was = entry
            .was
            .as_deref()
            .map(|was| format!(" (was {was})"))
            .unwrap_or_default();
        text.push_str(&format!("{}{was}: {}\n", entry.id, plain(&entry.title)));
    }
    if !done.unread.is_empty() {
        text.push_str(&format!(
            "\n{} to look at:\n",
            counted(done.unread.len(), "place")
        ));
    }
    for (line, what) in &done.unread {
        text.push_str(&format!("{}:{line}: {}\n", file.display(), plain(what)));
    }
    text
}

fn imported_json(done: &Imported) -> Value {
    let unread: Vec<Value> = done
        .unread
        .iter()
        .map(|(line, what)| json!({"line": line, "what": what}))
        .collect();
    json!({"entries": done.entries, "unread": unread})
}
