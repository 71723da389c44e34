//! The connected n8n, for commands that need one.

use super::error::{CliError, Exit};
use super::folder_trust;
use super::session::Session;
use agentctl_n8n_tools::backend::{Backend, BackendError, BackendErrorKind};

/// The n8n that is connected; files are none.
pub fn connected(session: &Session) -> Result<&dyn Backend, CliError> {
    let backend = session.n8n()?.backend();
    if backend.can().execute {
        return Ok(backend);
    }
    folder_trust::could_be_connected(&session.in_force)?;
    Err(CliError::usage(format!("no n8n is connected: this project works on the {} backend", backend.name()))
        .hint("name one in .mcp.json, or with --backend; `agentctl n8n up --write-mcp` starts one to develop against"))
}

pub fn unavailable(error: BackendError) -> CliError {
    let exit = match error.kind {
        BackendErrorKind::Unavailable => unreached(&error),
        _ => Exit::Failed,
    };
    told(exit, error)
}

/// What went wrong, with what to do next where that is known.
pub fn told(exit: Exit, error: BackendError) -> CliError {
    let told = CliError::new(exit, error.message);
    match error.hint {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

/// Whose fault it is that there was no answer.
pub fn unreached(error: &BackendError) -> Exit {
    match error.machine {
        true => Exit::Failed,
        false => Exit::Backend,
    }
}
