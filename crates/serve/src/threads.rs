//! Who does what: connections, reading and turns have threads of their own, so that no crowd at the door and no reader takes the
//! time of turns.

use std::io;
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
    /// Of connections: callers who come and go as fast as they can leave half of the cores.
    pub fn at_doors() -> io::Result<Threads> {
        let mut threads = Builder::new_multi_thread();
        threads.worker_threads(half_the_cores()).thread_name("door");
        Threads::start(threads)
    }

    /// Of who only wants to see something: they make way for turns.
    pub fn readers() -> io::Result<Threads> {
        let mut threads = Builder::new_multi_thread();
        threads.worker_threads(READERS).thread_name("reader");
        threads.on_thread_start(make_way);
        Threads::start(threads)
    }

    fn start(mut threads: Builder) -> io::Result<Threads> {
        let runtime = threads.enable_all().build()?;
        Ok(Threads {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
        })
    }
}

/// More than cores: one that waits for the disk does nothing else meanwhile.
const READERS: usize = 4;

/// Of -20 to 19.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// This thread gives way to those that do not.
#[cfg(target_os = "linux")]
fn make_way() {
    // Where the system does not allow it, they are as quick as the others.
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// Elsewhere a process has one priority for all its threads.
#[cfg(not(target_os = "linux"))]
fn make_way() {}

impl Drop for Threads {
    fn drop(&mut self) {
        // Waiting for them is not allowed where this may be dropped.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
