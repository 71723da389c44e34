//! How far a long work is, on a terminal: a bar where its end is known, a count where it is not. Elsewhere there is nothing to see.

use super::output::Output;
use super::spinner::drawn;
use indicatif::ProgressBar;

/// Gone from the terminal when it is dropped.
pub(super) struct Bar(Option<ProgressBar>);

impl Bar {
    /// So many files.
    pub fn of_files(end: usize, what: &str, out: &Output) -> Bar {
        let bar = ProgressBar::new(u64::try_from(end).unwrap_or(u64::MAX));
        Bar::of(bar, "{bar:24.cyan} {pos} of {len} {msg:.dim}", what, out)
    }

    /// So many bytes; None: it is not known how many.
    pub fn of_bytes(end: Option<u64>, what: &str, out: &Output) -> Bar {
        match end {
            Some(end) => {
                let bar = ProgressBar::new(end);
                Bar::of(
                    bar,
                    "{bar:24.cyan} {bytes} of {total_bytes} {msg:.dim}",
                    what,
                    out,
                )
            }
            None => {
                let count = ProgressBar::new_spinner();
                Bar::of(count, "{spinner:.cyan} {bytes} {msg:.dim}", what, out)
            }
        }
    }

    fn of(bar: ProgressBar, template: &str, what: &str, out: &Output) -> Bar {
        if out.quiet {
            return Bar(None);
        }
        let bar = drawn(bar, template);
        if let Some(bar) = &bar {
            bar.set_message(what.to_owned());
        }
        Bar(bar)
    }

    pub fn more(&self, by: usize) {
        if let Some(bar) = &self.0 {
            bar.inc(u64::try_from(by).unwrap_or(u64::MAX));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
