//! Where the journals of runs are shared, where the settings name such a place.

use super::conversations::session_error;
use super::error::{CliError, Exit};
use super::output::Output;
use super::settings;
use agentctl_engine::store::{Ledger, LedgerError};
use agentctl_host::home::variable;
use agentctl_sessions::{PostgresJournals, Schema, SessionError};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The ones that this process has open, by address: each has connections and a thread of its own.
static OPEN: Mutex<Vec<(String, Arc<dyn Ledger>)>> = Mutex::new(Vec::new());

/// The Postgres that the settings name for journals; None: they name none, and journals are the folder's alone.
///
/// Errors: exit code 2 for a variable that is not set, 7 for a database that cannot be reached.
pub fn ledger(root: &Path, out: &Output) -> Result<Option<Arc<dyn Ledger>>, CliError> {
    open(root, out, Schema::Refused)
}

/// The same, its tables brought to this version where an older agentctl made them.
pub fn migrate(root: &Path, out: &Output) -> Result<Option<Arc<dyn Ledger>>, CliError> {
    open(root, out, Schema::Migrated)
}

/// The variable that names it, in words; None: journals are the folder's alone.
pub fn place(root: &Path, out: &Output) -> Result<Option<String>, CliError> {
    let journal = settings::of_project(root, out)?.journal;
    Ok(journal.map(|journal| format!("in the Postgres that {} names", journal.url_env)))
}

fn open(root: &Path, out: &Output, schema: Schema) -> Result<Option<Arc<dyn Ledger>>, CliError> {
    let Some(named) = settings::of_project(root, out)?.journal else {
        return Ok(None);
    };
    let Some(url) = variable(&named.url_env) else {
        return Err(CliError::usage(format!(
            "[journal] url_env names the variable {}, which is not set",
            named.url_env
        ))
        .hint("set it to postgres://user:password@host:5432/database, or take the setting out: journals are then kept in this folder alone"));
    };
    out.hide([url.clone()]);
    let mut all = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = all.iter().find(|(known, _)| *known == url) {
        return Ok(Some(Arc::clone(known)));
    }
    let opened = PostgresJournals::open(&url, Duration::from_secs(named.lease), schema);
    let opened: Arc<dyn Ledger> = Arc::new(opened.map_err(|error| match error {
        SessionError::Unreachable { place, why } => {
            let away = LedgerError::Away { place, why };
            CliError::new(Exit::Backend, away.to_string())
        }
        error => session_error(&error),
    })?);
    all.push((url, Arc::clone(&opened)));
    Ok(Some(opened))
}
