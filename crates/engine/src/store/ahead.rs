//! The lines of a long journal, read ahead by as many threads as there are cores: each line by itself (`line`), handed over in the
//! order of the file to who follows them. So reading, checking and folding go on at the same time, and no more than half a megabyte
//! of the file is held. Threads touch no file; where none can be had, the lines are read in place.

use super::{
    StoreError,
    line::{Alone, Wanted},
};
use std::{
    collections::VecDeque,
    io::{self, BufRead},
    num::NonZero,
    sync::mpsc::{Receiver, Sender, channel},
    thread::{self, Scope},
};

/// Lines of about as many bytes are read by one thread at once.
const BATCH: usize = 64 * 1024;

/// As many bytes of the file are held at most, or one batch.
const HELD: usize = 512 * 1024;

/// More threads than these would wait for who follows.
const MOST_HANDS: usize = 4;

/// How many threads read a long journal: beside the one that follows, none on a single core.
pub(super) fn hands() -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    if cores == 1 { 0 } else { cores.min(MOST_HANDS) }
}

/// How lines are read ahead.
pub(super) struct Ahead<'a> {
    /// Where in the file the first of them begins.
    pub from: u64,
    /// As [`Wanted::of`] has it.
    pub current: bool,
    /// What is to be known of the line that begins there in the file.
    pub wanted: &'a (dyn Fn(u64) -> Wanted<'a> + Sync),
    /// How many threads read; 0: the lines are few.
    pub hands: usize,
}

/// Why not all lines were followed.
pub(super) enum Stopped {
    Reading(io::Error),
    Here(StoreError),
}

type Read = Result<Alone, String>;

/// Follows a line, with what it says by itself.
type Follow<'a> = &'a mut dyn FnMut(&[u8], Read) -> Result<(), StoreError>;

/// Whole lines of the file, and the last one, however it ends.
struct Batch {
    from: u64,
    lines: Vec<u8>,
    read: Vec<Read>,
}

impl Batch {
    /// None: the file is at its end.
    fn next(from: u64, file: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut lines = Vec::new();
        while lines.len() < BATCH && file.read_until(b'\n', &mut lines)? > 0 {}
        let batch = Batch {
            from,
            lines,
            read: Vec::new(),
        };
        Ok((!batch.lines.is_empty()).then_some(batch))
    }

    fn each(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.split_inclusive(|b| *b == b'\n')
    }

    fn end(&self) -> u64 {
        self.from + self.lines.len() as u64
    }

    fn follow(mut self, follow: Follow<'_>) -> Result<(), Stopped> {
        let read = std::mem::take(&mut self.read);
        for (line, read) in self.each().zip(read) {
            follow(line, read).map_err(Stopped::Here)?;
        }
        Ok(())
    }
}

/// A thread that reads batches.
struct Hand {
    todo: Sender<Batch>,
    done: Receiver<Batch>,
}

impl Hand {
    fn begin<'scope, 'a>(
        scope: &'scope Scope<'scope, 'a>,
        ahead: &'a Ahead<'a>,
    ) -> io::Result<Self> {
        let (todo, batches) = channel();
        let (told, done) = channel();
        let read = move || {
            while let Ok(batch) = batches.recv() {
                // Where nobody waits for it any more, no other is read.
                if told.send(ahead.read(batch)).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().spawn_scoped(scope, read)?;
        Ok(Hand { todo, done })
    }

    fn gone() -> Stopped {
        Stopped::Reading(io::Error::other("a thread that read lines of it ended"))
    }
}

impl<'a> Ahead<'a> {
    /// Follows each line of the file, in order.
    pub fn each_line(&'a self, mut file: impl BufRead, follow: Follow<'_>) -> Result<(), Stopped> {
        thread::scope(|scope| {
            let hands = (0..self.hands).map_while(|_| Hand::begin(scope, self).ok());
            let hands: Vec<Hand> = hands.collect();
            self.with(&hands, &mut file, follow)
        })
    }

    fn with(
        &self,
        hands: &[Hand],
        file: &mut impl BufRead,
        follow: Follow<'_>,
    ) -> Result<(), Stopped> {
        let (mut from, mut held, mut more) = (self.from, 0, true);
        let mut turns = hands.iter().cycle();
        let mut under_way: VecDeque<(&Hand, usize)> = VecDeque::new();
        loop {
            while more && (held < HELD || under_way.is_empty()) {
                let Some(batch) = Batch::next(from, file).map_err(Stopped::Reading)? else {
                    more = false;
                    break;
                };
                from = batch.end();
                let Some(hand) = turns.next() else {
                    self.read(batch).follow(follow)?;
                    continue;
                };
                let bytes = batch.lines.len();
                held += bytes;
                under_way.push_back((hand, bytes));
                hand.todo.send(batch).map_err(|_| Hand::gone())?;
            }
            let Some((hand, bytes)) = under_way.pop_front() else {
                return Ok(());
            };
            held -= bytes;
            let batch = hand.done.recv().map_err(|_| Hand::gone())?;
            batch.follow(follow)?;
        }
    }

    /// Reads each line of the batch by itself.
    fn read(&self, mut batch: Batch) -> Batch {
        let mut from = batch.from;
        let read = batch.each().map(|line| {
            let wanted = (self.wanted)(from);
            from += line.len() as u64;
            wanted.of(line, self.current)
        });
        batch.read = read.collect();
        batch
    }
}
