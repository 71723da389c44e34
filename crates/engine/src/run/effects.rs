//! The one seam to time, ids and processes. A run asks here and nowhere else, so that a test (or a durable-execution
//! engine) can answer the same every time.

use agentctl_base::BoxFuture;
use jiff::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};

pub trait Effects: Send + Sync {
    fn now(&self) -> Timestamp;
    /// A new id, unique among all runs.
    fn new_id(&self) -> String;
    fn pid(&self) -> u32;
    /// Milliseconds since some fixed moment; never goes back. For limits on wall time.
    fn elapsed_ms(&self) -> u64;
    /// Ready after so many milliseconds.
    fn sleep(&self, ms: u64) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(std::time::Duration::from_millis(ms)))
    }
    /// Ready when that much time is over; where no time passes, never.
    fn over(&self, ms: u64) -> BoxFuture<'static, ()> {
        self.sleep(ms)
    }
}

/// The real world.
pub struct System {
    since: std::time::Instant,
}

impl Default for System {
    fn default() -> Self {
        System {
            since: std::time::Instant::now(),
        }
    }
}

impl Effects for System {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
    fn new_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
    fn pid(&self) -> u32 {
        std::process::id()
    }
    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A world in which every look at the clock is one second later and ids count up.
pub struct Counted {
    clock: AtomicU64,
    ids: AtomicU64,
    start: i64,
}

impl Counted {
    /// `start`: seconds since 1970.
    pub fn from(start: i64) -> Self {
        Counted {
            clock: AtomicU64::new(0),
            ids: AtomicU64::new(0),
            start,
        }
    }
}

impl Effects for Counted {
    fn now(&self) -> Timestamp {
        let tick = self.clock.fetch_add(1, Ordering::Relaxed);
        let second = self.start.saturating_add_unsigned(tick);
        Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
    }
    fn new_id(&self) -> String {
        let n = self.ids.fetch_add(1, Ordering::Relaxed) + 1;
        uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, &n.to_be_bytes()).to_string()
    }
    fn pid(&self) -> u32 {
        1
    }
    fn elapsed_ms(&self) -> u64 {
        0
    }
    fn sleep(&self, _: u64) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
    fn over(&self, _: u64) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}
