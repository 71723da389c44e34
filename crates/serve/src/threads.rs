//! Who does what: connections, reading and turns have threads of their own, so that no crowd at the door and no reader takes the
//! time of turns.

use std::io;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle, Runtime};

/// Where what is asked for is done.
#[derive(Debug, Clone)]
pub(crate) struct Hands {
    /// Turns, and what changes something.
    pub works: Handle,
    pub reads: Handle,
}

/// So many threads leave the others half of the machine; at least one.
pub(crate) fn half_the_cores() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores / 2).max(1)
}

/// Threads for one kind of work. What they have not done when this is dropped is broken off.
pub(crate) struct Threads {
    pub handle: Handle,
    runtime: Option<Runtime>,
}

impl Threads {
    /// Of connections: callers who come and go as fast as they can leave half of the cores, and turns the first place on the other.
    pub fn at_doors() -> io::Result<Threads> {
        Threads::start("door", half_the_cores(), 5)
    }

    /// Who comes is heard of here and wakes nobody else: the threads that made the listener are those of turns.
    pub fn hand(&self, listener: TcpListener) -> io::Result<TcpListener> {
        let listener = listener.into_std()?;
        let _here = self.handle.enter();
        TcpListener::from_std(listener)
    }

    /// Of who only wants to see something.
    pub fn readers() -> io::Result<Threads> {
        Threads::start("reader", READERS, 5)
    }

    /// `nice`: how far they make way for turns.
    fn start(name: &str, count: usize, nice: i32) -> io::Result<Threads> {
        let mut threads = Builder::new_multi_thread();
        threads.worker_threads(count).thread_name(name);
        threads.on_thread_start(move || make_way(nice));
        let runtime = threads.enable_all().build()?;
        Ok(Threads {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
        })
    }
}

/// More than cores: one that waits for the disk does nothing else meanwhile.
const READERS: usize = 4;

/// This thread gives way to those that do not.
#[cfg(target_os = "linux")]
fn make_way(nice: i32) {
    // Where the system does not allow it, it is as quick as the others.
    if let Ok(now) = rustix::process::getpriority_process(None) {
        let _ = rustix::process::setpriority_process(None, now.saturating_add(nice).min(19));
    }
}

/// Elsewhere a process has one priority for all its threads.
#[cfg(not(target_os = "linux"))]
fn make_way(_nice: i32) {}

impl Drop for Threads {
    fn drop(&mut self) {
        // Waiting for them is not allowed where this may be dropped.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
