//! Where the journals of runs are shared, where the settings name such a place.

use super::conversations::{address, session_error};
use super::error::{CliError, Exit};
use super::output::Output;
use crate::config::Journals;
use agentctl_engine::store::{Ledger, LedgerError};
use agentctl_sessions::{PostgresJournals, Schema, SessionError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The ones that this process has open, by address: each has connections and a thread of its own.
static OPEN: Mutex<Vec<(String, Arc<dyn Ledger>)>> = Mutex::new(Vec::new());

/// The place that the settings name, in words.
pub fn place(named: &Journals) -> String {
    format!("in the Postgres that {} names", named.url_env)
}

/// The Postgres that the settings name.
///
/// Errors: exit code 2 for a variable that is not set, 7 for a database that cannot be reached.
pub fn ledger(named: &Journals, schema: Schema, out: &Output) -> Result<Arc<dyn Ledger>, CliError> {
    let without = "journals are then kept in this folder alone";
    let url = address("journal", &named.url_env, without, out)?;
    let mut all = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = all.iter().find(|(known, _)| *known == url) {
        return Ok(Arc::clone(known));
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
    Ok(opened)
}
