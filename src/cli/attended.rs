//! A question needs somebody who can answer it. What asks would go on reading a terminal that is gone, at full speed and without an
//! end, where no signal told of it (a program that left its session gets none).

use super::signals;
use agentctl_engine::run::Cause;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the terminal is looked at while a question waits.
const LOOK: Duration = Duration::from_millis(500);

/// What `ask` comes to. When the terminal goes away before, the program ends as by a hang-up; what was promised is saved by then.
pub(super) fn attended<T>(ask: impl FnOnce() -> T) -> T {
    let there = || std::io::stdin().is_terminal();
    if !there() {
        return ask();
    }
    let answered = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&answered);
    let watch = std::thread::Builder::new().name("terminal".to_owned());
    // Without the thread the question is asked all the same.
    let watch = watch.spawn(move || {
        while !over.load(Ordering::Acquire) {
            if !there() {
                signals::end(Cause::HangUp);
            }
            std::thread::park_timeout(LOOK);
        }
    });
    let came = ask();
    // Who was just drawing the question then hears of it first.
    if !there() {
        signals::end(Cause::HangUp);
    }
    answered.store(true, Ordering::Release);
    if let Ok(watch) = watch {
        watch.thread().unpark();
    }
    came
}
