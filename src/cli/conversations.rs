//! Where the project's conversations are kept, and how what goes wrong with one is told.

use super::error::{CliError, Exit};
use super::output::Output;
use super::project::{broken, home};
use super::session::{Session, run_error};
use super::settings;
use agentctl_engine::run::{Budgets, RunError};
use agentctl_host::home::{HomeError, NoHome, variable};
use agentctl_sessions::{
    Marks, PostgresSessions, Schema, SessionError, SessionKey, Sessions, SqliteSessions,
};
use agentctl_turns::{self as turns, Host, TurnError};
use std::path::Path;

/// The tenant and the user of whoever sits at this terminal.
const LOCAL: &str = "local";

/// The key of a conversation that is held from here.
pub fn local_key(pack: &str, conversation: &str) -> SessionKey {
    SessionKey {
        pack: pack.to_owned(),
        tenant: LOCAL.to_owned(),
        user: LOCAL.to_owned(),
        conversation: conversation.to_owned(),
    }
}

/// The address in the variable that a section's `url_env` names. Error: it is not set; `without` says what a user has who takes the setting
/// out.
pub fn address(
    section: &str,
    named: &str,
    without: &str,
    out: &Output,
) -> Result<String, CliError> {
    let Some(url) = variable(named) else {
        return Err(CliError::usage(format!(
            "[{section}] url_env names the variable {named}, which is not set"
        ))
        .hint(format!("set it to the address of the database, postgres://user@host:5432/database with its password, or take the setting out: {without}")));
    };
    out.hide([url.clone()]);
    Ok(url)
}

/// The variable that holds the address of the Postgres of the settings, and the address; None: they name none. Error: it is not set.
fn named(root: &Path, out: &Output) -> Result<Option<(String, String)>, CliError> {
    let Some(named) = settings::of_project(root, out)?.sessions_url_env else {
        return Ok(None);
    };
    let without = "sessions are then kept in memory/agentctl.db";
    let url = address("sessions", &named, without, out)?;
    Ok(Some((named, url)))
}

/// Where the project's conversations are kept, in words; nothing is opened. Error: as of [`store`], as far as that is known now.
pub fn place(root: &Path, out: &Output) -> Result<String, CliError> {
    Ok(match named(root, out)? {
        Some((named, _)) => format!("in the Postgres that {named} names"),
        None => "in memory/agentctl.db".to_owned(),
    })
}

/// The Postgres that the settings name; None: they name none.
pub async fn postgres(root: &Path, out: &Output) -> Result<Option<PostgresSessions>, CliError> {
    let Some((_, url)) = named(root, out)? else {
        return Ok(None);
    };
    let opened = PostgresSessions::open(&url).await;
    opened.map(Some).map_err(|e| session_error(&e))
}

/// Brings the tables of that Postgres to this version; nothing where the settings name none.
pub async fn migrate(root: &Path, out: &Output) -> Result<(), CliError> {
    let Some((_, url)) = named(root, out)? else {
        return Ok(());
    };
    let migrated = PostgresSessions::open_as(&url, Schema::Migrated).await;
    migrated.map(drop).map_err(|e| session_error(&e))
}

/// The store of this project: the Postgres of the settings, else a file in `memory/`.
pub async fn store(root: &Path, out: &Output) -> Result<Box<dyn Sessions>, CliError> {
    if let Some(store) = postgres(root, out).await? {
        return Ok(Box::new(store));
    }
    let real = root
        .canonicalize()
        .map_err(|e| CliError::io("open the project", root, &e))?;
    let home = home(root).map_err(|none| {
        let why = format!(
            "conversations are kept with your mark, and there is nowhere to keep its key: {none}"
        );
        match none {
            NoHome::Fault { .. } => CliError::failed(why),
            _ => CliError::new(Exit::Refused, why)
                .hint("set AGENTCTL_HOME to a folder of your own, outside of the project"),
        }
    })?;
    let key = home.key().map_err(|error| match &error {
        HomeError::Broken { .. } => broken(&error),
        HomeError::Io { .. } => CliError::failed(error.to_string()),
    })?;
    let marks = Marks::of(Some(key), &real);
    let store = SqliteSessions::open(&real.join("memory"), marks).await;
    let store = store.map_err(|e| session_error(&e))?;
    Ok(Box::new(store))
}

/// Who takes a turn from here.
pub fn host<'a>(session: &'a Session, sessions: &'a dyn Sessions, limits: Budgets) -> Host<'a> {
    Host {
        project: &session.project,
        pack: &session.pack,
        gateway: &session.gateway,
        models: &session.models,
        effects: &session.effects,
        cancel: &session.cancel,
        sessions,
        limits,
        wait: turns::WAIT,
    }
}

pub fn session_error(error: &SessionError) -> CliError {
    use SessionError as E;
    let exit = match error {
        E::Unreachable { .. } | E::Busy { .. } | E::Queue | E::Changed { .. } => Exit::Backend,
        E::Unknown { .. } | E::History(_) => Exit::Usage,
        E::Foreign { .. } | E::NotOurs { .. } => Exit::Refused,
        E::Older { .. } | E::Newer { .. } | E::File { .. } | E::Damaged { .. } => Exit::Failed,
    };
    CliError::new(exit, error.to_string())
}

const AGAIN: &str =
    "nothing is lost: send the same message again, and the turn goes on where it stopped";

pub fn turn_error(error: &TurnError) -> CliError {
    match error {
        TurnError::Session(error) => session_error(error),
        // A turn is no run that is resumed: the same message goes on with it.
        TurnError::Run(error @ (RunError::Model(_) | RunError::Stuck { .. })) => {
            CliError::new(Exit::from_code(error.exit_code()), error.to_string()).hint(AGAIN)
        }
        TurnError::Run(error) => run_error(error),
        TurnError::NotOpen(_) => CliError::usage(error.to_string()),
        TurnError::TooLong(_) => {
            CliError::usage(error.to_string()).hint("send it in parts, or give it as a file")
        }
    }
}
