//! One turn at a time. A session has one turn to hold and [`MOST_WAITING`](crate::MOST_WAITING) places to wait in; each is a lock that
//! its holder's end takes away, however it ends.

use std::fs::File;
use std::time::Duration;

/// A session's one turn; dropped, the next one may begin.
#[derive(Debug)]
pub struct Turn {
    _held: Held,
}

#[derive(Debug)]
pub(crate) enum Held {
    /// A lock of the operating system on a file of the session's.
    File(#[expect(dead_code, reason = "held, not read")] File),
    /// Advisory locks of a connection that nobody else uses: closing it lets go of them.
    Connection(#[expect(dead_code, reason = "held, not read")] Box<sqlx::PgConnection>),
}

impl Turn {
    pub(crate) fn new(held: Held) -> Turn {
        Turn { _held: held }
    }
}

/// How long to wait before looking again: a little at first, as most turns are short.
pub(crate) fn pause(attempt: u32) -> Duration {
    Duration::from_millis(u64::from(2 + attempt.min(23)))
}
