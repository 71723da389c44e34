//! Reading in turn: what one client has read for itself takes the others' cores by no more than a few readings at once, and half of
//! the time, however many connections ask for it.

use crate::threads::half_the_cores;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Readings of one client that are made at once, so that the others have the other half.
static AT_ONCE: LazyLock<usize> = LazyLock::new(half_the_cores);

/// One client's, however many callers come in its name.
#[derive(Debug, Clone)]
pub struct Reads {
    places: Arc<Semaphore>,
    /// Before this no further one begins: as long as the last one took is rested after it.
    next: Arc<Mutex<Instant>>,
}

impl Default for Reads {
    fn default() -> Reads {
        Reads {
            places: Arc::new(Semaphore::new(*AT_ONCE)),
            next: Arc::new(Mutex::new(Instant::now())),
        }
    }
}

/// A reading under way; it is over when this is dropped, which must be before anything waits for the reader.
pub struct Reading {
    _place: Option<OwnedSemaphorePermit>,
    began: Instant,
    next: Arc<Mutex<Instant>>,
}

impl Reads {
    /// Waits until this one may be made.
    pub async fn begin(&self) -> Reading {
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let next = *self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next > Instant::now() {
            tokio::time::sleep_until(next).await;
        }
        Reading {
            _place: place,
            began: Instant::now(),
            next: Arc::clone(&self.next),
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = now + now.saturating_duration_since(self.began);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Whether a reading may begin without waiting.
    async fn may(reads: &Reads) -> bool {
        tokio::select! {
            biased;
            _ = reads.begin() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn a_reading_waits_for_its_own_clients_others_and_for_nobody_elses() {
        let (one, two) = (Reads::default(), Reads::default());
        let mut under_way = Vec::new();
        for _ in 0..*AT_ONCE {
            under_way.push(one.begin().await);
        }
        assert!(!may(&one).await);
        assert!(may(&two).await);
        under_way.pop();
        drop(one.begin().await);
    }

    #[tokio::test]
    async fn as_long_as_a_reading_took_none_of_the_same_client_is_made_after_it() {
        let (one, two) = (Reads::default(), Reads::default());
        let reading = one.begin().await;
        std::thread::sleep(Duration::from_millis(30));
        drop(reading);
        let ended = Instant::now();
        assert!(may(&two).await);
        assert!(!may(&one).await);
        drop(one.begin().await);
        assert!(ended.elapsed() >= Duration::from_millis(29));
    }
}
