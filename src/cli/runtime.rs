//! Async work of a command, on a runtime of its own; signals end or stop it.

use super::error::{CliError, Exit};
use super::signals;
use agentctl_engine::run::Cancel;
use std::pin::{Pin, pin};

/// Runs what a signal ends at once.
pub fn block_on<T>(work: impl Future<Output = T>) -> Result<T, CliError> {
    let mut done = None;
    let work = async { done = Some(work.await) };
    drive(pin!(work), tokio::runtime::Builder::new_current_thread)?;
    done.ok_or_else(unfinished)
}

/// Runs a server, on several threads; signals as for [`block_on_until`].
pub fn block_on_many<T>(stop: &Cancel, work: impl Future<Output = T>) -> Result<T, CliError> {
    let _stoppable = signals::stop_first(stop);
    let mut done = None;
    let work = async { done = Some(work.await) };
    drive(pin!(work), || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(THREADS);
        builder
    })?;
    done.ok_or_else(unfinished)
}

/// More than cores: a thread that waits for the disk to have a journal's lines does nothing else meanwhile.
const THREADS: usize = 16;

fn unfinished() -> CliError {
    CliError::new(
        Exit::Internal,
        "the runtime stopped before the command's work",
    )
}

/// Runs what has something to save: the first signal asks it to stop, a second one ends the program at once.
pub fn block_on_until<T>(stop: &Cancel, work: impl Future<Output = T>) -> Result<T, CliError> {
    let _stoppable = signals::stop_first(stop);
    block_on(work)
}

/// For all commands one: a runtime that knows each future's type would be compiled once for each of them.
fn drive(
    work: Pin<&mut dyn Future<Output = ()>>,
    kind: fn() -> tokio::runtime::Builder,
) -> Result<(), CliError> {
    // tokio panics where it gets no pipe for the signals of children.
    let built = std::panic::catch_unwind(|| kind().enable_all().build());
    let runtime = built
        .unwrap_or_else(|_| Err(std::io::Error::other("no file handle is left for it")))
        .map_err(|e| CliError::failed(format!("cannot start the runtime: {e}")))?;
    runtime.block_on(work);
    runtime.block_on(agentctl_tools::left());
    // A thread that still waits for a line of stdin is not waited for.
    runtime.shutdown_background();
    Ok(())
}
