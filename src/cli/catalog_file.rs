//! The catalog that a project works with: its own file, when `agentctl catalog sync` made one, in front of the compiled-in facts.

use super::error::CliError;
use crate::n8n::catalog::Catalog;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Beside `agentctl.toml`: meant to be committed, so that everybody checks against the same n8n.
pub const FILE: &str = "n8n-catalog.bin";

pub fn path(project: &Path) -> PathBuf {
    project.join(FILE)
}

/// Read once a process: every command works in one project.
pub fn of(project: &Path) -> Result<&'static Catalog, CliError> {
    static OWN: OnceLock<Catalog> = OnceLock::new();
    if let Some(known) = OWN.get() {
        return Ok(known);
    }
    let file = path(project);
    if !file.is_file() {
        return Ok(Catalog::embedded());
    }
    let own = read(&file)?.over(Catalog::embedded());
    Ok(OWN.get_or_init(|| own))
}

/// A catalog file that `catalog build` or `catalog sync` wrote.
pub fn read(file: &Path) -> Result<Catalog, CliError> {
    let bytes = std::fs::read(file).map_err(|e| CliError::io("read", file, &e))?;
    Catalog::from_bytes(&bytes).map_err(|e| {
        CliError::usage(format!("{}: {e}", file.display()))
            .hint("make it again with `agentctl catalog sync`, or remove the file to use the compiled-in catalog")
    })
}
