//! Async work of a command, on a runtime of its own; signals stop it.

use super::error::{CliError, Exit};
use agentctl_engine::run::{Cancel, Cause};
use std::pin::{Pin, pin};

/// Runs an activation on a runtime of its own; Ctrl-C and SIGTERM stop it between two actions, a second one at once.
pub fn block_on<T>(cancel: &Cancel, work: impl Future<Output = T>) -> Result<T, CliError> {
    let mut done = None;
    let work = async { done = Some(work.await) };
    drive(cancel, pin!(work))?;
    done.ok_or_else(|| {
        CliError::new(
            Exit::Internal,
            "the runtime stopped before the command's work",
        )
    })
}

/// For all commands one: a runtime that knows each future's type would be compiled once for each of them.
fn drive(cancel: &Cancel, work: Pin<&mut dyn Future<Output = ()>>) -> Result<(), CliError> {
    let broken =
        |e: std::io::Error| CliError::new(Exit::Internal, format!("cannot start the runtime: {e}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(broken)?;
    listen(cancel.clone()).map_err(broken)?;
    runtime.block_on(work);
    // A thread that still waits for a line of stdin is not waited for.
    runtime.shutdown_background();
    Ok(())
}

/// Signals are heard on a thread of their own: the run's may be busy, or stuck in a write that nobody reads. When this comes
/// back they are heard.
fn listen(cancel: Cancel) -> std::io::Result<()> {
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            match runtime {
                Ok(runtime) => runtime.block_on(watch_signals(cancel, &ready)),
                Err(error) => drop(ready.send(Err(error))),
            }
        })?;
    // A listener that is gone without a word has failed.
    is_ready
        .recv()
        .unwrap_or_else(|_| Err(std::io::Error::other("no signals can be heard")))
}

async fn watch_signals(cancel: Cancel, ready: &std::sync::mpsc::Sender<std::io::Result<()>>) {
    use tokio::signal::unix::{SignalKind, signal};
    let both = signal(SignalKind::interrupt())
        .and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)));
    let (mut interrupt, mut terminate) = match both {
        Ok(both) => both,
        Err(error) => return drop(ready.send(Err(error))),
    };
    if ready.send(Ok(())).is_err() {
        return;
    }
    loop {
        let cause = tokio::select! {
            _ = interrupt.recv() => Cause::Interrupt,
            _ = terminate.recv() => Cause::Terminate,
        };
        if !cancel.request(cause) {
            // The second request: everything that was promised is on the disk already.
            std::process::exit(match cause {
                Cause::Interrupt => Exit::Interrupted.code().into(),
                Cause::Terminate => Exit::Terminated.code().into(),
            });
        }
        eprintln!("stopping after this step; again to stop at once");
    }
}
