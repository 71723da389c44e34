//! Signals that end the program: Ctrl-C, SIGTERM, SIGHUP and SIGQUIT. The first one stops a run between two steps, the second one ends
//! the program at once; where nothing has to be saved the first one does. No child is left, however it ends.

use super::error::CliError;
use super::streams;
use agentctl_engine::run::{Cancel, Cause};
use agentctl_host::family;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::sync::{Arc, Mutex, PoisonError};

/// What the first signal stops; None: there is nothing to save.
static WORK: Mutex<Option<Cancel>> = Mutex::new(None);

/// Hears them from here on, on a thread of its own: the others may be busy.
pub(super) fn listen() -> Result<(), CliError> {
    let failed = |e: std::io::Error| CliError::failed(format!("signals cannot be heard: {e}"));
    // A write beyond the limit for files (`ulimit -f`) is then an error of that write, like a full disk, and ends nobody unheard.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    let mut signals = Signals::new(heard()).map_err(failed)?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || signals.forever().filter_map(cause).for_each(stop))
        .map_err(failed)?;
    Ok(())
}

/// While this is kept, the first signal stops this work.
#[cfg(feature = "full")]
#[must_use]
pub(super) struct Stoppable(Option<Cancel>);

#[cfg(feature = "full")]
pub(super) fn stop_first(work: &Cancel) -> Stoppable {
    Stoppable(change(|now| now.replace(work.clone())))
}

#[cfg(feature = "full")]
impl Drop for Stoppable {
    fn drop(&mut self) {
        change(|now| *now = self.0.take());
    }
}

/// A holder that panicked left it whole: each change of it is one assignment.
fn change<T>(with: impl FnOnce(&mut Option<Cancel>) -> T) -> T {
    with(&mut WORK.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether what was at work was told to stop.
#[cfg(feature = "full")]
pub(super) fn is_stopping() -> bool {
    change(|work| work.as_ref().is_some_and(|work| work.cause().is_some()))
}

fn stop(cause: Cause) {
    if change(|work| work.as_ref().is_some_and(|work| work.request(cause))) {
        streams::tell("stopping after this step; again to stop at once\n");
        return;
    }
    end(cause);
}

/// Ends the program and its children now. Everything that was promised is on the disk already.
pub(super) fn end(cause: Cause) -> ! {
    family::end_all();
    std::process::exit(i32::from(cause.exit_code()))
}

fn cause(signal: i32) -> Option<Cause> {
    match signal {
        SIGHUP => Some(Cause::HangUp),
        SIGINT => Some(Cause::Interrupt),
        SIGQUIT => Some(Cause::Quit),
        SIGTERM => Some(Cause::Terminate),
        _ => None,
    }
}

/// `nohup` means: go on without the terminal.
fn heard() -> Vec<i32> {
    let mut heard = vec![SIGINT, SIGTERM, SIGQUIT];
    if !hang_up_is_ignored() {
        heard.push(SIGHUP);
    }
    heard
}

/// As `/proc` tells; false where there is none.
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    // The first bit is signal 1.
    ignored.is_some_and(|set| set >> (SIGHUP - 1) & 1 == 1)
}
