//! stdout and stderr as others may leave them: closed, full, or read by nobody. Each has a thread that writes and bytes that wait
//! for it, so that nobody who works (and holds the project's lock meanwhile) waits for a reader. Nothing here panics.
//!
//! stderr loses what nobody reads, and says how much; a stderr that is gone is nobody's concern. Of stdout nothing is lost: the
//! end of the program waits for its reader. A reader that has gone is no error; any other failure is one.

use super::fit;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a system takes from a pipe at once or not at all.
const PIECE: usize = 4096;
/// An answer waits for its reader when more than this waits already.
const ENOUGH: usize = 64 * 1024;
/// What a run may write without a reader. More is an error; the run goes on.
const MOST_OUT: usize = 64 * 1024 * 1024;
/// What stderr may keep for a reader.
const MOST_ERR: usize = 256 * 1024;
/// How long a line is waited for, once: with a reader it is written long before, and the two streams stay in order.
const GLANCE: Duration = Duration::from_millis(100);
/// At the end of the program: how long stderr may take without any progress.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Between two tries, where the other end made the stream one that does not wait.
const AGAIN: Duration = Duration::from_millis(5);

static OUT: Stream = Stream::new(own_stdout, MOST_OUT, Kind::Answer);
static ERR: Stream = Stream::new(own_stderr, MOST_ERR, Kind::Remarks);

/// A remark: waits for nobody, and never fails.
pub(super) fn tell(text: &str) {
    OUT.settle(Some(GLANCE));
    ERR.push(fit::for_stderr(text).as_bytes());
    ERR.settle(Some(GLANCE));
}

/// A line of a log that many write at once: nobody waits until it is written.
#[cfg(feature = "full")]
pub(super) fn log(line: &str) {
    ERR.push(line.as_bytes());
}

/// Remarks of any length that somebody asked for, told when no lock is held: they wait for their reader.
pub(super) fn tell_all(text: &str) {
    OUT.settle(Some(GLANCE));
    for piece in text.as_bytes().chunks(ENOUGH) {
        ERR.push(piece);
        ERR.room();
    }
}

/// Strokes of a picture that is drawn again and again: left out when what came before is not written yet.
#[cfg(feature = "full")]
pub(super) fn draw(strokes: &str) {
    if !ERR.is_behind() {
        ERR.push(strokes.as_bytes());
        ERR.settle(Some(GLANCE));
    }
}

/// A part of the answer, written when no lock is held: it waits for its reader. False when there is no reader any more.
pub(super) fn answer(bytes: &[u8]) -> Result<bool, String> {
    for piece in bytes.chunks(ENOUGH) {
        OUT.push(piece);
        OUT.room();
    }
    OUT.verdict()
}

/// A line of the answer while work goes on: waits for nobody.
pub(super) fn stream(line: &str) -> Result<bool, String> {
    OUT.push(line.as_bytes());
    OUT.settle(Some(GLANCE));
    OUT.verdict()
}

/// The answer is whole: waits until it is written.
pub(super) fn finish_answer() -> Result<bool, String> {
    OUT.settle(None);
    OUT.verdict()
}

/// The program ends: stderr is waited for as long as somebody reads.
pub(super) fn finish() {
    ERR.last_words();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Answer,
    Remarks,
}

struct Stream {
    open: fn() -> io::Result<OwnedFd>,
    most: usize,
    kind: Kind,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The thread is there.
    begun: bool,
    waiting: Vec<u8>,
    /// Bytes that the thread has taken and not written yet.
    taken: usize,
    /// Counts what was written, for who looks whether anything moves.
    moves: u64,
    /// What was written last is not taken by anybody: no further line waits until all is written.
    behind: bool,
    /// Remarks that found no room.
    lost: u64,
    ended: Option<Ended>,
}

enum Ended {
    NoReader,
    Failed(String),
}

impl State {
    fn is_written(&self) -> bool {
        self.ended.is_some() || self.held() == 0
    }

    fn held(&self) -> usize {
        self.waiting.len() + self.taken
    }

    fn end(&mut self, why: &io::Error) {
        self.waiting = Vec::new();
        self.taken = 0;
        self.ended = Some(match why.kind() {
            ErrorKind::BrokenPipe => Ended::NoReader,
            _ => Ended::Failed(why.to_string()),
        });
    }
}

impl Stream {
    const fn new(open: fn() -> io::Result<OwnedFd>, most: usize, kind: Kind) -> Self {
        Stream {
            open,
            most,
            kind,
            state: Mutex::new(State {
                begun: false,
                waiting: Vec::new(),
                taken: 0,
                moves: 0,
                behind: false,
                lost: 0,
                ended: None,
            }),
            changed: Condvar::new(),
        }
    }

    /// Each change of the state is whole, whoever panicked meanwhile.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&'static self, bytes: &[u8]) {
        let mut state = self.lock();
        if state.ended.is_some() || bytes.is_empty() {
            return;
        }
        if state.held() + bytes.len() > self.most {
            match self.kind {
                Kind::Remarks => state.lost += 1,
                Kind::Answer => {
                    let most = self.most / 1024 / 1024;
                    let why = format!("nobody reads it, and more than {most} MiB wait");
                    state.end(&io::Error::other(why));
                }
            }
            return;
        }
        // A thread that writes looks for more by itself: each of many lines would wake it in vain.
        let is_idle = state.is_written();
        state.waiting.extend_from_slice(bytes);
        if !state.begun {
            match self.begin() {
                Ok(()) => state.begun = true,
                Err(why) => state.end(&why),
            }
        }
        if is_idle {
            self.changed.notify_all();
        }
    }

    fn begin(&'static self) -> io::Result<()> {
        let file = File::from((self.open)()?);
        std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || self.write(file))
            .map(drop)
    }

    /// Waits until everything is written, or for so long; once that was in vain it waits no more until all is written.
    fn settle(&self, patience: Option<Duration>) {
        let state = self.lock();
        match patience {
            None => drop(self.wait_while(state, |state| !state.is_written())),
            Some(_) if state.behind => {}
            Some(patience) => {
                let waited = self
                    .changed
                    .wait_timeout_while(state, patience, |state| !state.is_written());
                let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
                state.behind = !state.is_written();
            }
        }
    }

    /// Waits until there is room for more.
    fn room(&self) {
        let state = self.lock();
        drop(self.wait_while(state, |state| {
            state.ended.is_none() && state.held() > ENOUGH
        }));
    }

    fn wait_while<'a>(
        &self,
        state: MutexGuard<'a, State>,
        condition: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'a, State> {
        self.changed
            .wait_while(state, condition)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for what is left, as long as it becomes less.
    fn last_words(&self) {
        let mut state = self.lock();
        while !state.is_written() {
            let before = state.moves;
            let waited = self.changed.wait_timeout_while(state, LAST_WORDS, |state| {
                !state.is_written() && state.moves == before
            });
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() {
                return;
            }
            state = now;
        }
    }

    #[cfg(feature = "full")]
    fn is_behind(&self) -> bool {
        self.lock().behind
    }

    fn verdict(&self) -> Result<bool, String> {
        match &self.lock().ended {
            None => Ok(true),
            Some(Ended::NoReader) => Ok(false),
            Some(Ended::Failed(why)) => Err(why.clone()),
        }
    }

    /// The thread: writes what waits, until the stream ends.
    fn write(&self, mut file: File) {
        loop {
            let bytes = self.take();
            for piece in bytes.chunks(PIECE) {
                let written = write_piece(&mut file, piece);
                let mut state = self.lock();
                match written {
                    Ok(()) => state.taken = state.taken.saturating_sub(piece.len()),
                    Err(why) => state.end(&why),
                }
                state.moves += 1;
                if state.is_written() && state.lost == 0 {
                    state.behind = false;
                }
                let is_over = state.ended.is_some();
                drop(state);
                self.changed.notify_all();
                if is_over {
                    return;
                }
            }
        }
    }

    /// What is to be written next.
    fn take(&self) -> Vec<u8> {
        let state = self.lock();
        let mut state = self.wait_while(state, |state| state.waiting.is_empty() && state.lost == 0);
        if state.waiting.is_empty() {
            let lost = std::mem::take(&mut state.lost);
            state.waiting = format!("({lost} lines are missing here: nobody read them)\n").into();
        }
        let bytes = std::mem::take(&mut state.waiting);
        state.taken = bytes.len();
        bytes
    }
}

fn write_piece(file: &mut File, mut piece: &[u8]) -> io::Result<()> {
    while !piece.is_empty() {
        match file.write(piece) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => piece = piece.get(count..).unwrap_or_default(),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => std::thread::sleep(AGAIN),
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this is what writes there")]
fn own_stdout() -> io::Result<OwnedFd> {
    io::stdout().as_fd().try_clone_to_owned()
}

#[expect(clippy::disallowed_methods, reason = "this is what writes there")]
fn own_stderr() -> io::Result<OwnedFd> {
    io::stderr().as_fd().try_clone_to_owned()
}
