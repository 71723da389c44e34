//! The same for many runs, as many at a time as there are cores: each is read by itself, and none waits for another.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// So few are read before a thread has begun.
const FEW: usize = 16;

/// What `work` gives for each run, in the order in which they are given.
pub(super) fn for_each<T: Send>(runs: &[String], work: impl Fn(&str) -> T + Sync) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    by(cores.min(runs.len() / FEW), runs, &work)
}

/// The same by so many threads, and where none can be had by this one.
fn by<T: Send>(threads: usize, runs: &[String], work: &(impl Fn(&str) -> T + Sync)) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match runs.get(at) {
                Some(run) => done.push((at, work(run))),
                None => return done,
            }
        }
    };
    let mut all = thread::scope(|scope| {
        let more =
            (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, take).ok());
        let more: Vec<_> = more.collect();
        let mut all = take();
        for thread in more {
            all.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn each_run_is_looked_at_once_and_told_in_its_place() {
        let runs: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        for threads in [0, 1, 3] {
            let seen = Mutex::new(Vec::new());
            let told = by(threads, &runs, &|run: &str| {
                seen.lock().unwrap().push(run.to_owned());
                run.len()
            });
            let lengths: Vec<usize> = runs.iter().map(String::len).collect();
            assert_eq!(told, lengths, "{threads} threads");
            let mut seen = seen.into_inner().unwrap();
            seen.sort_by_key(|run| run.parse::<usize>().unwrap());
            assert_eq!(seen, runs, "{threads} threads");
        }
        assert_eq!(for_each(&[], str::len), [0; 0]);
    }
}
