//! A spinner below the lines of stderr, on a terminal. A terminal that takes nothing (Ctrl-S) holds nobody up.

use super::streams;
use agentctl_host::home::variable;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Between two strokes.
const TICK: Duration = Duration::from_millis(120);

/// One that turns; None where stderr is no terminal.
pub(super) fn spinner(template: &str) -> Option<ProgressBar> {
    drawn(ProgressBar::new_spinner(), template)
}

/// The same of any bar.
pub(super) fn drawn(bar: ProgressBar, template: &str) -> Option<ProgressBar> {
    // What cannot move a cursor, or is kept as a log, has lines only.
    let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
    if is_dumb || variable("CI").is_some() || !console::user_attended_stderr() {
        return None;
    }
    let target = ProgressDrawTarget::term_like(Box::new(Strokes::default()));
    bar.set_draw_target(target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    Some(bar)
}

/// What indicatif draws between two flushes.
#[derive(Debug, Default)]
struct Strokes(Mutex<String>);

impl Strokes {
    fn add(&self, text: &str) -> io::Result<()> {
        let mut strokes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        strokes.push_str(text);
        Ok(())
    }

    /// Moves the cursor; nothing for no step, which a terminal takes for one.
    fn step(&self, steps: usize, to: char) -> io::Result<()> {
        match steps {
            0 => Ok(()),
            steps => self.add(&format!("\x1b[{steps}{to}")),
        }
    }
}

impl TermLike for Strokes {
    fn width(&self) -> u16 {
        Term::stderr().size().1
    }
    fn height(&self) -> u16 {
        Term::stderr().size().0
    }
    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.step(n, 'A')
    }
    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.step(n, 'B')
    }
    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.step(n, 'C')
    }
    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.step(n, 'D')
    }
    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(text)?;
        self.add("\n")
    }
    fn write_str(&self, text: &str) -> io::Result<()> {
        // A line that is filled up with blanks becomes several ones when the terminal gets narrower.
        match text.chars().all(|c| c == ' ') {
            true => Ok(()),
            false => self.add(text),
        }
    }
    fn clear_line(&self) -> io::Result<()> {
        // All of it, also what a narrower terminal broke off below.
        self.add("\r\x1b[J")
    }
    fn flush(&self) -> io::Result<()> {
        // The cursor waits where the line begins, and stays there when the terminal breaks the line otherwise.
        self.add("\r")?;
        let mut strokes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        streams::draw(&std::mem::take(&mut *strokes));
        Ok(())
    }
}
