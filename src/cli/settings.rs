//! Where settings come from: the project's `agentctl.toml` and the user's own file.

use super::error::{CliError, Exit};
use super::folder_trust;
use super::output::Output;
use crate::config::{self, Config, Journals};
use agentctl_engine::pack::Use;
use agentctl_host::home::lies_in;
use agentctl_qa::waiver::Waiver;
use std::path::{Path, PathBuf};

/// The settings of a project, as far as they count, over the user's own.
pub fn of_project(root: &Path, out: &Output) -> Result<Config, CliError> {
    let counts = folder_trust::in_force(root, out)?.settings();
    load(root, counts.map_err(folder_trust::refused)?)
}

/// Where the settings have journals shared. Where no file names a place for them, nothing is decided about the folder.
pub fn journals(root: &Path, out: &Output) -> Result<Option<Journals>, CliError> {
    match load(root, Use::Project)?.journal {
        Some(_) => Ok(of_project(root, out)?.journal),
        None => Ok(None),
    }
}

/// The waivers of a project, which are in force whether it is trusted or not.
pub fn waivers(root: &Path) -> Result<Vec<Waiver>, CliError> {
    Ok(load(root, Use::BuiltIn)?.waivers)
}

fn load(root: &Path, counts: Use) -> Result<Config, CliError> {
    let user = user_file();
    // A project that holds the user's own folder could write the user's settings.
    if let Some(file) = user.as_deref().filter(|file| lies_in(file, root))
        && file.symlink_metadata().is_ok()
    {
        return Err(CliError::new(
            Exit::Refused,
            format!(
                "your own settings {} lie inside the project, whose files could be anybody's",
                file.display()
            ),
        )
        .hint("move them out of the project, or name another file with AGENTCTL_CONFIG"));
    }
    config::load(root, user.as_deref(), counts).map_err(|error| match error {
        config::LoadError::Io { .. } => CliError::failed(error.to_string()),
        config::LoadError::Wrong { page, .. } => {
            let told = CliError::usage(error.to_string());
            told.hint(match page {
                Some(page) => format!("what can stand there: docs/{page}"),
                None => "which sections there are: agentctl schema settings".to_owned(),
            })
        }
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
