//! The project that a command works on, with the user's own folder and key: found here, handed on as values.

use super::error::{CliError, Exit};
use super::journals;
use super::output::Output;
use super::settings;
use crate::config::Journals;
use agentctl_engine::store::Project;
use agentctl_host::home::{Home, HomeError, NoHome, variable};
use agentctl_host::key::Key;
use agentctl_mcp::{OLD_PINS, Pins, PinsError};
use agentctl_sessions::Schema;
use std::path::Path;

/// The user's folder; it must lie outside of the project.
pub fn home(root: &Path) -> Result<Home, NoHome> {
    Home::find(variable, root)
}

/// To look at its runs, also at those that other replicas share. Where the settings cannot be read, at what is in the folder: a command
/// that works by them says what is wrong with them.
pub fn open(root: &Path, out: &Output) -> Result<Project, CliError> {
    let project = open_here(root)?;
    match settings::journals(root, out) {
        Ok(named) => shared(project, named.as_ref(), out),
        Err(_) => Ok(project),
    }
}

/// Its runs are in the Postgres that the settings name for journals as well; None: they name none.
pub fn shared(
    project: Project,
    named: Option<&Journals>,
    out: &Output,
) -> Result<Project, CliError> {
    match named {
        Some(named) => Ok(project.with_ledger(journals::ledger(named, Schema::Refused, out)?)),
        None => Ok(project),
    }
}

/// To look at the runs in its folder. Without a folder of the user's own every run is another's.
pub fn open_here(root: &Path) -> Result<Project, CliError> {
    let project = Project::open(root).map_err(|e| CliError::failed(e.to_string()))?;
    let key = match home(root) {
        // To look at runs makes no key; where there is none yet, nothing was marked with it.
        Ok(home) => (home.known_key().map_err(|e| broken(&e))?).or_else(Key::nobodys),
        Err(fault @ NoHome::Fault { .. }) => return Err(CliError::failed(fault.to_string())),
        Err(_) => None,
    };
    Ok(project.with_key(key))
}

/// What else is missing where no folder is named at all.
const LOSS: &str = "; what is lost of a workflow is counted from the start of each run, not from what you accepted last";

/// To work in its folder: what is written is marked as the user's. Where no key can be kept this is said, and nothing is marked.
pub fn open_to_work(root: &Path, out: &Output) -> Result<Project, CliError> {
    let project = Project::open(root).map_err(|e| CliError::failed(e.to_string()))?;
    let key = match home(root) {
        // A key that is there and could not be read is no key that cannot be kept.
        Ok(home) => match home
            .known_key()
            .map_err(|e| broken(&e))?
            .map_or_else(|| home.key(), Ok)
        {
            Ok(key) => Ok(key),
            // Nor is one that the machine could not write just now: a run without a mark is never the user's again.
            Err(e) if e.is_of_machine() => return Err(broken(&e)),
            Err(e @ HomeError::Io { .. }) => Err((e.to_string(), "")),
            Err(e @ HomeError::Broken { .. }) => return Err(broken(&e)),
        },
        Err(fault @ NoHome::Fault { .. }) => return Err(CliError::failed(fault.to_string())),
        Err(none @ NoHome::Unnamed) => Err((none.to_string(), LOSS)),
        Err(none) => Err((none.to_string(), "")),
    };
    if let Err((why, loss)) = &key {
        out.note(&format!(
            "runs are not marked as yours, so none can be resumed, answered or undone by a later command{loss}: {why}"
        ));
    }
    Ok(project.with_key(key.ok()))
}

pub(super) fn broken(error: &HomeError) -> CliError {
    CliError::failed(error.to_string())
}

/// What the user approved of the servers' tools. Where there is no folder of the user's own nothing is approved.
pub fn pins(root: &Path, out: &Output) -> Result<Pins, CliError> {
    let pins = match home(root) {
        Ok(home) => Pins::read(&home, root).map_err(|e| no_pins(&e))?,
        Err(fault @ NoHome::Fault { .. }) => return Err(CliError::failed(fault.to_string())),
        Err(_) => Pins::default(),
    };
    if pins.is_empty() && root.join(OLD_PINS).symlink_metadata().is_ok() {
        out.note(&format!(
            "{OLD_PINS} counts for nothing: what you approve is kept in your own folder, not in the project; approve again with agentctl mcp approve SERVER"
        ));
    }
    Ok(pins)
}

pub fn no_pins(error: &PinsError) -> CliError {
    match error {
        PinsError::Home(error) => broken(error),
        PinsError::Broken { .. } => CliError::usage(error.to_string()),
    }
}

/// The user's folder, for what cannot be done without one.
pub fn home_for(root: &Path, what: &str) -> Result<Home, CliError> {
    home(root).map_err(|none| CliError::new(exit_without(&none), format!("{what}: {none}")))
}

/// How a command ends that cannot do without the folder: what the machine is at fault for, nobody refused.
pub fn exit_without(none: &NoHome) -> Exit {
    match none {
        NoHome::Fault { .. } => Exit::Failed,
        _ => Exit::Refused,
    }
}
