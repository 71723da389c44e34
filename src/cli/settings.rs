//! Where settings come from: the project's `agentctl.toml` and the user's own file.

use super::error::CliError;
use crate::config::{self, Config};
use std::path::{Path, PathBuf};

/// The settings of a project, over the user's own.
pub fn of_project(root: &Path) -> Result<Config, CliError> {
    config::load(root, user_file().as_deref()).map_err(|error| match error {
        config::LoadError::Io { .. } => CliError::failed(error.to_string()),
        config::LoadError::Wrong { .. } => CliError::usage(error.to_string())
            .hint("what can stand there: docs/models.md ([models], [providers.NAME], [prices]) and docs/qa.md ([[qa.waiver]])"),
    })
}

/// `$AGENTCTL_CONFIG`, else `agentctl/config.toml` where the user's settings are.
pub fn user_file() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(file) = variable("AGENTCTL_CONFIG") {
        return Some(file.into());
    }
    let folder = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")))?;
    Some(folder.join("agentctl/config.toml"))
}
