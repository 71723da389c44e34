//! Where settings come from: the project's `agentctl.toml` and the user's own file.

use super::error::CliError;
use super::output::Output;
use super::trusting;
use crate::config::{self, Config};
use crate::qa::waiver::Waiver;
use crate::trust::Use;
use std::path::{Path, PathBuf};

/// The settings of a project, as far as they count, over the user's own.
pub fn of_project(root: &Path, out: &Output) -> Result<Config, CliError> {
    let counts = trusting::in_force(root, out)?.settings();
    load(root, counts.map_err(trusting::refused)?)
}

/// The waivers of a project, which are in force whether it is trusted or not.
pub fn waivers(root: &Path) -> Result<Vec<Waiver>, CliError> {
    Ok(load(root, Use::BuiltIn)?.waivers)
}

fn load(root: &Path, counts: Use) -> Result<Config, CliError> {
    config::load(root, user_file().as_deref(), counts).map_err(|error| match error {
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
